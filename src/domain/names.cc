#include "domain/names.h"

#include <algorithm>
#include <array>
#include <regex>

#include "base/digest.h"
#include "base/text.h"
#include "domain/untrusted.h"

namespace instantstart::domain {

bool is_reserved_name(std::string_view name) {
    static constexpr std::array<std::string_view, 3> kReserved = {"active", "import", "launch"};
    return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

base::Result<void> check_cluster_name(std::string_view name, std::string_view pointer) {
    static const std::regex kPattern{std::string(kClusterNamePattern)};
    if (!std::regex_match(name.begin(), name.end(), kPattern)) {
        return base::invalid_field(
            std::string(pointer),
            "must be 1 to 28 lower-case letters, digits and hyphens, begin with a letter and not end "
            "with a hyphen");
    }
    if (is_reserved_name(name)) {
        return base::invalid_field(std::string(pointer),
                                   "\"" + std::string(name) + "\" is reserved; choose another name");
    }
    return base::ok();
}

std::string shorten(std::string name, std::size_t limit) {
    if (name.size() <= limit) return name;
    const auto digest = base::sha256_hex(name).substr(0, 8);
    name.resize(limit - 9);
    while (!name.empty() && name.back() == '-') name.pop_back();
    return name + "-" + digest;
}

std::string role_name(std::string_view cluster, std::string_view region, std::string_view purpose) {
    auto name = "instantstart-" + std::string(cluster) + "-" + std::string(region) + "-";
    if (name.size() + purpose.size() <= 64) return name + std::string(purpose);
    // The purpose stays readable and the names of two clusters stay apart.
    const auto digest = base::sha256_hex(name).substr(0, 8);
    name.resize(64 - purpose.size() - 10);
    return name + "-" + digest + "-" + std::string(purpose);
}

std::string bucket_name(std::string_view cluster, std::string_view account, std::string_view region) {
    return shorten(
        "sagemaker-" + std::string(cluster) + "-" + std::string(account) + "-" + std::string(region), 63);
}

namespace {

std::map<std::string, std::string> all_tags(const Owner& owner) {
    auto tags = owner.user;
    tags[std::string(kTagCluster)] = owner.cluster;
    tags[std::string(kTagRegion)] = owner.region;
    tags[std::string(kTagOperation)] = owner.operation;
    tags[std::string(kTagStep)] = owner.step;
    return tags;
}

base::JsonArray as_list(const std::map<std::string, std::string>& tags) {
    base::JsonArray list;
    for (const auto& [key, value] : tags) list.push_back(base::JsonObject{{"Key", key}, {"Value", value}});
    return list;
}

}  // namespace

base::JsonArray tag_list(const Owner& owner) {
    return as_list(all_tags(owner));
}

base::JsonObject tag_map(const Owner& owner) {
    base::JsonObject map;
    for (const auto& [key, value] : all_tags(owner)) map[key] = value;
    return map;
}

base::JsonArray tag_specifications(const Owner& owner, std::string_view resource_type, std::string_view name,
                                   const std::map<std::string, std::string>& further) {
    auto tags = all_tags(owner);
    for (const auto& [key, value] : further) tags[key] = value;
    if (!name.empty()) tags.try_emplace("Name", name);
    return {base::JsonObject{{"ResourceType", resource_type}, {"Tags", as_list(tags)}}};
}

std::string tag_of(const base::JsonValue& tags, std::string_view key) {
    if (const auto* map = tags.if_object()) {
        const auto* value = map->if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
    }
    if (const auto* list = tags.if_array()) {
        for (const auto& tag : *list) {
            auto name = base::get_string(tag, "Key");
            if (name.empty()) name = base::get_string(tag, "key");
            if (name != key) continue;
            return base::get_string(tag, "Value", base::get_string(tag, "value"));
        }
    }
    return "";
}

std::string clean_text(std::string_view text, std::size_t limit) {
    std::int64_t redactions = 0;
    return cut(without_secrets(without_hidden(text), redactions), limit);
}

}  // namespace instantstart::domain
