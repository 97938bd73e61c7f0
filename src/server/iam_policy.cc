#include "server/iam_policy.h"

#include <algorithm>
#include <map>
#include <set>

#include "aws/model/iam_actions.h"

namespace instantstart::server {

namespace {

// A template with its places filled in: what is only known at the time of a call becomes "*".
std::string filled(const std::string& text) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
        const auto open = text.find('{', at);
        if (open == std::string::npos) return out + text.substr(at);
        const auto close = text.find('}', open);
        if (close == std::string::npos) return out + text.substr(at);
        out += text.substr(at, open - at) + "*";
        at = close + 1;
    }
    return out;
}

// The condition block of a statement, {} where there is none. Values with places say nothing beforehand and
// are left out.
base::JsonObject condition_of(const std::map<std::string, std::string>& condition) {
    base::JsonObject equal;
    for (const auto& [key, value] : condition) {
        if (value.find('{') == std::string::npos) equal[key] = value;
    }
    base::JsonObject made;
    if (!equal.empty()) made["StringEquals"] = std::move(equal);
    return made;
}

}  // namespace

std::vector<std::string> used_aws_operations(const app::Catalogue& catalogue) {
    std::set<std::string> uses;
    for (const auto& operation : catalogue.operations()) {
        uses.insert(operation->meta().uses.begin(), operation->meta().uses.end());
    }
    return {uses.begin(), uses.end()};
}

base::JsonObject iam_policy(const app::Catalogue& catalogue) {
    std::map<std::pair<std::string, std::string>, std::set<std::string>>
        groups;  // resource, condition -> actions
    for (const auto& use : used_aws_operations(catalogue)) {
        const auto colon = use.find(':');
        if (colon == std::string::npos) continue;
        for (const auto& needed : aws::model::iam_actions(use.substr(0, colon), use.substr(colon + 1))) {
            groups[{filled(needed.resource), base::canonical_text(condition_of(needed.condition))}].insert(
                needed.action);
        }
    }
    base::JsonArray statements;
    for (const auto& [key, actions] : groups) {
        base::JsonObject statement;
        statement["Effect"] = "Allow";
        base::JsonArray list;
        for (const auto& action : actions) list.emplace_back(action);
        statement["Action"] = std::move(list);
        statement["Resource"] = key.first;
        auto condition = base::parse_json(key.second);
        if (condition && !condition->as_object().empty())
            statement["Condition"] = std::move(condition).value();
        statements.push_back(std::move(statement));
    }
    base::JsonObject policy;
    policy["Version"] = "2012-10-17";
    policy["Statement"] = std::move(statements);
    return policy;
}

}  // namespace instantstart::server
