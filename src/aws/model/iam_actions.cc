#include "aws/model/iam_actions.h"

#include <algorithm>

#include "aws/model/iam_table.h"
#include "base/check.h"
#include "base/embedded.h"
#include "base/result.h"
#include "base/text.h"

namespace instantstart::aws::model {

namespace {

const base::JsonObject& table() {
    static const base::JsonObject kTable = base::get_object(iam_table(), "operations");
    return kTable;
}

RequiredAction read_row(const base::JsonValue& from) {
    RequiredAction row;
    row.action = base::get_string(from, "action");
    row.resource = base::get_string(from, "resource", "*");
    row.when = base::get_string(from, "when");
    row.unless_role = base::get_string(from, "unless_role");
    row.makes = base::get_bool(from, "makes");
    for (const auto& entry : base::get_object(from, "condition")) {
        if (entry.value().is_string()) row.condition[std::string(entry.key())] = entry.value().get_string();
    }
    return row;
}

void collect(const base::JsonValue& value, const std::vector<std::string>& path, std::size_t at,
             std::vector<std::string>& out) {
    if (at == path.size()) {
        if (value.is_string() && !value.get_string().empty()) out.emplace_back(value.get_string());
        if (value.is_bool() && value.get_bool()) out.emplace_back("true");
        if (value.is_number()) out.push_back(base::to_text(value));
        if (value.is_array() && !value.get_array().empty()) out.emplace_back("[]");
        if (value.is_object() && !value.get_object().empty()) out.emplace_back("{}");
        return;
    }
    if (path[at] == "*" && value.is_array()) {
        for (const auto& item : value.get_array()) collect(item, path, at + 1, out);
    } else if (value.is_object()) {
        const auto* found = value.get_object().if_contains(path[at]);
        if (found != nullptr) collect(*found, path, at + 1, out);
    }
}

std::vector<std::string> values_at(const base::JsonObject& parameters, const std::string& path) {
    std::vector<std::string> out;
    collect(base::JsonValue(parameters), base::split(path, '.'), 0, out);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

// `without_scheme(path)` is the value at the path without "https://".
std::vector<std::string> values_named(const std::string& name, const base::JsonObject& parameters) {
    constexpr std::string_view kWithoutScheme = "without_scheme(";
    if (!name.starts_with(kWithoutScheme)) return values_at(parameters, name);
    auto values =
        values_at(parameters, name.substr(kWithoutScheme.size(), name.size() - kWithoutScheme.size() - 1));
    for (std::string& value : values) value = value.substr(value.starts_with("https://") ? 8 : 0);
    return values;
}

// Every text that a template stands for. `missing` takes the place of a path that leads nowhere.
std::vector<std::string> filled(const std::string& text, const base::JsonObject& parameters,
                                const AccountPlace& place, const std::string& missing) {
    const std::size_t open = text.find('{');
    const std::size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return {text};
    const std::string name = text.substr(open + 1, close - open - 1);
    std::vector<std::string> values;
    if (name == "partition") {
        values = {place.partition};
    } else if (name == "region") {
        values = {place.region};
    } else if (name == "account") {
        values = {place.account};
    } else {
        values = values_named(name, parameters);
        if (values.empty()) values = {missing};
    }
    std::vector<std::string> out;
    for (const std::string& rest : filled(text.substr(close + 1), parameters, place, missing)) {
        for (const std::string& value : values) out.push_back(text.substr(0, open) + value + rest);
    }
    return out;
}

}  // namespace

const base::JsonObject& iam_table() {
    static const base::JsonObject kTable = [] {
        for (const base::EmbeddedFile& file : embedded::models()) {
            if (file.name != "iam-actions.json") continue;
            auto parsed = base::parse_json(file.content);
            CHECK(parsed.has_value() && parsed.value().is_object());
            return parsed.value().get_object();
        }
        return base::JsonObject();
    }();
    return kTable;
}

std::vector<std::string> iam_table_operations() {
    std::vector<std::string> out;
    for (const auto& row : table()) out.emplace_back(row.key());
    return out;
}

std::string iam_prefix(std::string_view service) {
    static const std::map<std::string, std::string, std::less<>> kOthers = {
        {"elbv2", "elasticloadbalancing"}, {"service-quotas", "servicequotas"}, {"amp", "aps"}};
    const auto found = kOthers.find(service);
    return found == kOthers.end() ? std::string(service) : found->second;
}

std::vector<RequiredAction> iam_actions(std::string_view service, std::string_view operation) {
    const auto* row = table().if_contains(std::string(service) + ":" + std::string(operation));
    std::vector<RequiredAction> out;
    if (row == nullptr) {
        RequiredAction same;
        same.action = iam_prefix(service) + ":" + std::string(operation);
        same.resource = "*";
        out.push_back(std::move(same));
        return out;
    }
    for (const auto& action : base::get_array(*row, "actions")) out.push_back(read_row(action));
    return out;
}

std::vector<RequiredAction> iam_actions_of_call(std::string_view service, std::string_view operation,
                                                const base::JsonObject& parameters,
                                                const AccountPlace& place) {
    std::vector<RequiredAction> out;
    for (const RequiredAction& row : iam_actions(service, operation)) {
        if (!row.when.empty() && values_at(parameters, row.when).empty()) continue;
        for (const std::string& resource : filled(row.resource, parameters, place, "*")) {
            RequiredAction made = row;
            made.resource = resource;
            made.condition.clear();
            for (const auto& [key, value] : row.condition) {
                const std::string text = filled(value, parameters, place, "").front();
                if (!text.empty()) made.condition[key] = text;
            }
            out.push_back(std::move(made));
        }
    }
    return out;
}

}  // namespace instantstart::aws::model
