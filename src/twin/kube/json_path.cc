#include "twin/kube/json_path.h"

#include <cstdlib>
#include <string>

namespace instantstart::twin::kube {

namespace {

using base::JsonValue;
using Values = std::vector<const JsonValue*>;

// One step of the path: a member, or what stands in brackets.
struct Step {
    bool bracket = false;
    std::string text;
};

std::vector<Step> steps_of(std::string_view path) {
    std::vector<Step> out;
    std::string name;
    const auto flush = [&] {
        if (!name.empty()) out.push_back({false, std::move(name)});
        name.clear();
    };
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = path[i];
        if (c == '\\' && i + 1 < path.size()) {
            name += path[++i];
        } else if (c == '.') {
            flush();
        } else if (c == '[') {
            flush();
            const auto close = path.find(']', i);
            if (close == std::string_view::npos) return out;
            out.push_back({true, std::string(path.substr(i + 1, close - i - 1))});
            i = close;
        } else if (c != '{' && c != '}' && c != '$') {
            name += c;
        }
    }
    flush();
    return out;
}

std::string unquoted(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '"' || text.front() == '\''))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '"' || text.back() == '\''))
        text.remove_suffix(1);
    return std::string(text);
}

void filter(const JsonValue& list, std::string_view condition, Values& out) {
    const auto equals = condition.find("==");
    const auto start = condition.find("@.");
    if (!list.is_array() || equals == std::string_view::npos || start == std::string_view::npos) return;
    const auto member = unquoted(condition.substr(start + 2, equals - start - 2));
    auto value = condition.substr(equals + 2);
    if (value.ends_with(")")) value.remove_suffix(1);
    for (const auto& item : list.get_array()) {
        if (item.is_object() && base::get_string(item.get_object(), member) == unquoted(value))
            out.push_back(&item);
    }
}

void follow(const JsonValue& at, const Step& step, Values& out) {
    if (!step.bracket || step.text.starts_with("'") || step.text.starts_with("\"")) {
        const auto name = step.bracket ? unquoted(step.text) : step.text;
        if (const auto* object = at.if_object()) {
            if (const auto* value = object->if_contains(name)) out.push_back(value);
        }
        return;
    }
    if (step.text.starts_with("?(")) {
        filter(at, step.text, out);
        return;
    }
    const auto* list = at.if_array();
    if (list == nullptr) return;
    if (step.text == "*") {
        for (const auto& item : *list) out.push_back(&item);
        return;
    }
    const auto index = std::strtol(step.text.c_str(), nullptr, 10);
    const auto from_start = index < 0 ? index + static_cast<long>(list->size()) : index;
    if (from_start >= 0 && from_start < static_cast<long>(list->size()))
        out.push_back(&(*list)[static_cast<std::size_t>(from_start)]);
}

}  // namespace

std::vector<const JsonValue*> json_path(const JsonValue& root, std::string_view path) {
    Values at{&root};
    for (const auto& step : steps_of(path)) {
        Values next;
        for (const auto* value : at) follow(*value, step, next);
        at = std::move(next);
    }
    return at;
}

}  // namespace instantstart::twin::kube
