#include "aws/model/iam_statements.h"

#include <algorithm>

#include "aws/model/iam_actions.h"
#include "aws/model/iam_table.h"

namespace instantstart::aws::model {

namespace {

std::vector<std::string> texts(const base::JsonArray& list) {
    std::vector<std::string> out;
    for (const auto& item : list) {
        if (item.is_string()) out.emplace_back(item.get_string());
    }
    return out;
}

std::vector<PolicyStatement> read_statements() {
    std::vector<PolicyStatement> out;
    for (const auto& row : base::get_array(iam_table(), "statements")) {
        PolicyStatement made;
        made.sid = base::get_string(row, "sid");
        made.purpose = base::get_string(row, "purpose");
        made.actions = texts(base::get_array(row, "actions"));
        made.resources = texts(base::get_array(row, "resources"));
        made.condition = base::get_object(row, "condition");
        made.bound_roles = base::get_bool(row, "boundary");
        made.only_with = base::get_string(row, "only_with");
        out.push_back(std::move(made));
    }
    return out;
}

std::vector<std::string> values_of(const std::string& name, const PolicyLimits& limits) {
    if (name == "partition") return {limits.partition};
    if (name == "region") return {limits.region};
    if (name == "account") return {limits.account};
    if (name == "execution_role") return limits.execution_roles;
    return limits.kms_keys;
}

// Every text that a template stands for; none where a place has no value. An empty region or account becomes
// `otherwise`; where that is empty, too, nothing is left.
std::vector<std::string> filled(const std::string& text, const PolicyLimits& limits,
                                const std::string& otherwise) {
    const auto open = text.find('{');
    const auto close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return {text};
    std::vector<std::string> out;
    for (std::string value : values_of(text.substr(open + 1, close - open - 1), limits)) {
        if (value.empty()) value = otherwise;
        if (value.empty()) continue;
        for (const auto& rest : filled(text.substr(close + 1), limits, otherwise))
            out.push_back(text.substr(0, open) + value + rest);
    }
    return out;
}

base::JsonValue one_or_list(const std::vector<std::string>& values) {
    if (values.size() == 1) return base::JsonValue(values.front());
    base::JsonArray list;
    for (const auto& value : values) list.emplace_back(value);
    return list;
}

// What is limited by an account or region that is not given is no condition.
base::JsonObject condition_json(const PolicyStatement& statement, const PolicyLimits& limits) {
    base::JsonObject out;
    for (const auto& [op, keys] : statement.condition) {
        if (!keys.is_object()) continue;
        base::JsonObject made;
        for (const auto& [key, wanted] : keys.get_object()) {
            std::vector<std::string> values;
            const auto given = wanted.is_array() ? texts(wanted.get_array())
                                                 : std::vector<std::string>{std::string(wanted.get_string())};
            for (const auto& value : given) {
                // A condition on an ARN takes wildcards, one on an account or region does not.
                for (auto& text : filled(value, limits, op.starts_with("Arn") ? "*" : ""))
                    values.push_back(std::move(text));
            }
            if (!values.empty()) made[key] = one_or_list(values);
        }
        if (!made.empty()) out[op] = std::move(made);
    }
    if (statement.bound_roles && !limits.permissions_boundary.empty()) {
        if (!out.contains("StringEquals")) out["StringEquals"] = base::JsonObject();
        out["StringEquals"].get_object()["iam:PermissionsBoundary"] = limits.permissions_boundary;
    }
    return out;
}

PolicyLimits no_limits() {
    PolicyLimits limits;
    limits.partition = "*";
    limits.execution_roles = {"*"};
    limits.kms_keys = {"*"};
    limits.custom_images = true;
    return limits;
}

using Found = std::vector<const PolicyStatement*>;

// Narrows to those that fit; where none does, the sign says nothing.
template <class Fits>
void keep(Found& found, Fits fits) {
    Found fitting;
    for (const auto* statement : found) {
        if (fits(*statement)) fitting.push_back(statement);
    }
    if (!fitting.empty()) found = std::move(fitting);
}

// What an operation needs of one action.
std::vector<RequiredAction> rows_of(std::string_view action, std::string_view operation) {
    const auto colon = operation.find(':');
    if (colon == std::string_view::npos) return {};
    auto rows = iam_actions(operation.substr(0, colon), operation.substr(colon + 1));
    std::erase_if(rows, [action](const RequiredAction& row) { return row.action != action; });
    return rows;
}

// Whether the values that the operation brings (the service that a role is passed to) are those of the
// statement.
bool agrees(const PolicyStatement& statement, const std::vector<RequiredAction>& rows) {
    const auto& equal = base::get_object(statement.condition, "StringEquals");
    return std::any_of(rows.begin(), rows.end(), [&equal](const RequiredAction& row) {
        return std::all_of(row.condition.begin(), row.condition.end(), [&equal](const auto& given) {
            const auto* wanted = equal.if_contains(given.first);
            if (wanted == nullptr) return true;
            if (wanted->is_string()) return wanted->get_string() == given.second;
            const auto values = texts(wanted->get_array());
            return std::find(values.begin(), values.end(), given.second) != values.end();
        });
    });
}

bool is_for_new(const PolicyStatement& statement) {
    for (const auto& key : base::get_object(statement.condition, "Null")) {
        if (key.key().starts_with("aws:RequestTag/")) return true;
    }
    return false;
}

}  // namespace

const std::vector<PolicyStatement>& policy_statements() {
    static const std::vector<PolicyStatement> kStatements = read_statements();
    return kStatements;
}

bool is_printed(const PolicyStatement& statement, const PolicyLimits& limits) {
    if (statement.only_with == "--kms-key") return !limits.kms_keys.empty();
    return statement.only_with.empty() || limits.custom_images;
}

base::JsonObject statement_json(const PolicyStatement& statement, const std::vector<std::string>& actions,
                                const PolicyLimits& limits) {
    std::vector<std::string> resources;
    for (const auto& text : statement.resources) {
        for (auto& resource : filled(text, limits, "*")) resources.push_back(std::move(resource));
    }
    base::JsonArray list;  // always a list, also of one: who reads it need not tell apart
    for (const auto& action : actions) list.emplace_back(action);
    base::JsonObject out{{"Sid", statement.sid},
                         {"Effect", "Allow"},
                         {"Action", std::move(list)},
                         {"Resource", one_or_list(resources)}};
    auto condition = condition_json(statement, limits);
    if (!condition.empty()) out["Condition"] = std::move(condition);
    return out;
}

bool covers(const PolicyStatement& statement, std::string_view resource) {
    static const PolicyLimits kNone = no_limits();
    return std::any_of(statement.resources.begin(), statement.resources.end(), [&](const std::string& text) {
        const auto patterns = filled(text, kNone, "*");
        return std::any_of(patterns.begin(), patterns.end(),
                           [&](const std::string& pattern) { return matches_pattern(pattern, resource); });
    });
}

std::vector<const PolicyStatement*> statements_for(std::string_view action, std::string_view resource,
                                                   std::string_view operation) {
    std::vector<const PolicyStatement*> found;
    for (const auto& statement : policy_statements()) {
        const auto& actions = statement.actions;
        if (std::find(actions.begin(), actions.end(), action) != actions.end()) found.push_back(&statement);
    }
    const auto rows = rows_of(action, operation);
    keep(found, [&rows](const PolicyStatement& statement) { return agrees(statement, rows); });
    if (resource.empty()) return found;
    keep(found, [resource](const PolicyStatement& statement) { return covers(statement, resource); });
    // AWS calls what a call is about to make by its kind alone: "…:subnet/*".
    const bool made_now = resource.ends_with("/*");
    keep(found, [made_now](const PolicyStatement& statement) { return is_for_new(statement) == made_now; });
    return found;
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
    std::size_t at = 0, in = 0, star = std::string_view::npos, resume = 0;
    while (in < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            resume = in;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in])) {
            ++at;
            ++in;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            in = ++resume;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    return at == pattern.size();
}

}  // namespace instantstart::aws::model
