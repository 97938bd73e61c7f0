#include "app/catalogue.h"

#include <algorithm>

#include "app/domain_operations.h"
#include "base/check.h"
#include "base/text.h"

namespace instantstart::app {

std::string tool_name(const Meta& meta) {
    std::string name = meta.id;
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

std::string noun_of(const Meta& meta) {
    return meta.id.substr(0, meta.id.find('.'));
}

std::string verb_of(const Meta& meta) {
    return meta.id.substr(meta.id.find('.') + 1);
}

std::vector<std::string> path_parameters(const Meta& meta) {
    std::vector<std::string> names;
    for (const auto& part : base::split(meta.path, '/')) {
        if (part.size() > 2 && part.front() == '{' && part.back() == '}')
            names.push_back(part.substr(1, part.size() - 2));
    }
    return names;
}

bool is_write(const Meta& meta) {
    return meta.kind != Kind::query;
}

Catalogue::Catalogue(std::vector<std::unique_ptr<Operation>> operations)
    : operations_(std::move(operations)) {
    for (const auto& operation : operations_) {
        CHECK(by_id_.emplace(operation->meta().id, operation.get()).second);
        CHECK(by_tool_.emplace(tool_name(operation->meta()), operation.get()).second);
    }
}

const Operation* Catalogue::find(std::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
}

const Operation* Catalogue::find_tool(std::string_view name) const {
    const auto found = by_tool_.find(name);
    return found == by_tool_.end() ? nullptr : found->second;
}

std::vector<std::string> Catalogue::ids() const {
    std::vector<std::string> made;
    made.reserve(operations_.size());
    for (const auto& operation : operations_) made.push_back(operation->meta().id);
    return made;
}

namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

// How many parts of the pattern are literal where it matches, or -1: /clusters/launch goes before
// /clusters/{cluster}.
int match(const std::vector<std::string>& pattern, const std::vector<std::string>& path,
          Parameters& parameters) {
    if (pattern.size() != path.size()) return -1;
    int literal = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i].size() > 2 && pattern[i].front() == '{') {
            if (path[i].empty()) return -1;
            parameters.emplace_back(pattern[i].substr(1, pattern[i].size() - 2),
                                    base::percent_decode(path[i]));
        } else if (pattern[i] == path[i]) {
            ++literal;
        } else {
            return -1;
        }
    }
    return literal;
}

}  // namespace

Catalogue::Route Catalogue::route(std::string_view method, std::string_view path) const {
    const auto parts = base::split(path, '/');
    Route best;
    int best_literal = -1;
    for (const auto& operation : operations_) {
        Parameters parameters;
        const int literal = match(base::split(operation->meta().path, '/'), parts, parameters);
        if (literal < 0) continue;
        const std::string& allowed = operation->meta().method;
        if (std::find(best.allowed_methods.begin(), best.allowed_methods.end(), allowed) ==
            best.allowed_methods.end()) {
            best.allowed_methods.push_back(allowed);
        }
        if (allowed != method || literal <= best_literal) continue;
        best.operation = operation.get();
        best.parameters = std::move(parameters);
        best_literal = literal;
    }
    return best;
}

std::unique_ptr<Catalogue> make_catalogue() {
    std::vector<std::unique_ptr<Operation>> operations = make_framework_operations();
    for (auto& operation : make_domain_operations()) operations.push_back(std::move(operation));
    return std::make_unique<Catalogue>(std::move(operations));
}

}  // namespace instantstart::app
