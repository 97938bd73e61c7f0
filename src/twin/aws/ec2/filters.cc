#include "twin/aws/ec2/filters.h"

#include <algorithm>

#include "base/text.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

void collect(const JsonValue& value, std::span<const std::string> path, std::vector<std::string>& out) {
    if (path.empty()) {
        if (value.is_string()) out.emplace_back(value.get_string());
        if (value.is_bool()) out.emplace_back(value.get_bool() ? "true" : "false");
        if (value.is_int64()) out.emplace_back(std::to_string(value.get_int64()));
        return;
    }
    if (const JsonArray* list = value.if_array(); list != nullptr && path.front() == "*") {
        for (const JsonValue& item : *list) collect(item, path.subspan(1), out);
    }
    if (const JsonObject* object = value.if_object()) {
        if (const JsonValue* child = object->if_contains(path.front())) collect(*child, path.subspan(1), out);
    }
}

const JsonArray& tags_of(const JsonObject& object) {
    return object.contains("TagSet") ? base::get_array(object, "TagSet") : base::get_array(object, "Tags");
}

std::vector<std::string> filter_values(const JsonObject& object, std::string_view name,
                                       std::span<const FilterPath> known) {
    std::vector<std::string> found;
    if (name.starts_with("tag:")) {
        for (const JsonValue& tag : tags_of(object)) {
            if (base::get_string(tag, "Key") == name.substr(4))
                found.push_back(base::get_string(tag, "Value"));
        }
        return found;
    }
    if (name == "tag-key" || name == "tag-value") {
        for (const JsonValue& tag : tags_of(object))
            found.push_back(base::get_string(tag, name == "tag-key" ? "Key" : "Value"));
        return found;
    }
    for (const FilterPath& entry : known) {
        if (entry.filter == name) return values_at(object, entry.path);
    }
    return found;
}

std::string quoted_list(const std::vector<std::string>& ids) {
    return base::join(ids, ", ");
}

}  // namespace

bool wildcard_match(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
            ++p;
            ++t;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::vector<std::string> values_at(const JsonObject& object, std::string_view path) {
    const std::vector<std::string> parts = base::split(path, '.');
    std::vector<std::string> found;
    collect(JsonValue(object), parts, found);
    return found;
}

std::optional<ServiceError> check_filters(const JsonArray& filters, std::span<const FilterPath> known) {
    for (const JsonValue& filter : filters) {
        const std::string name = base::get_string(filter, "Name");
        const bool tag = name.starts_with("tag:") || name == "tag-key" || name == "tag-value";
        const bool is_known = std::any_of(known.begin(), known.end(),
                                          [&name](const FilterPath& f) { return f.filter == name; });
        if (!tag && !is_known)
            return failure("InvalidParameterValue", "The filter '" + name + "' is invalid");
    }
    return std::nullopt;
}

bool matches(const JsonObject& object, const JsonArray& filters, std::span<const FilterPath> known) {
    for (const JsonValue& filter : filters) {
        const std::vector<std::string> have = filter_values(object, base::get_string(filter, "Name"), known);
        bool any = false;
        for (const JsonValue& wanted : base::get_array(filter, "Values")) {
            if (!wanted.is_string()) continue;
            const std::string_view pattern = wanted.get_string();
            any = any || std::any_of(have.begin(), have.end(), [pattern](const std::string& value) {
                      return wildcard_match(pattern, value);
                  });
        }
        if (!any) return false;
    }
    return true;
}

Reply describe_values(const Call& call, const JsonArray& all, const Listing& listing) {
    const JsonArray& filters = base::get_array(call.params, listing.filters_parameter);
    if (auto bad = check_filters(filters, listing.filters)) return *bad;
    JsonArray chosen;
    for (const JsonValue& value : all) {
        if (matches(value.get_object(), filters, listing.filters)) chosen.push_back(value);
    }
    Page page = paginate(chosen, base::get_int(call.params, "MaxResults"),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer[listing.result] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

Reply describe(State& state, const Table& table, const Call& call, const Listing& listing) {
    std::vector<std::string> ids;
    if (!listing.ids_parameter.empty()) ids = strings(call.params, listing.ids_parameter);
    std::vector<std::string> missing;
    for (const std::string& id : ids) {
        const Record* record = table.find(id);
        if (record == nullptr || !state.visible(*record, call)) missing.push_back(id);
    }
    if (!missing.empty()) {
        const bool several = missing.size() > 1;
        const std::string noun(listing.noun);
        std::string message = "The " + noun + (several ? "s '" : " '") + quoted_list(missing) +
                              (several ? "' do not exist" : "' does not exist");
        return failure(std::string(listing.not_found_code), std::move(message));
    }
    JsonArray all;
    for (const auto& [id, record] : table) {
        if (!ids.empty() && !contains(ids, id)) continue;
        if (!state.visible(record, call)) continue;
        all.push_back(listing.render ? listing.render(record) : record.data);
    }
    return describe_values(call, all, listing);
}

}  // namespace instantstart::twin::ec2
