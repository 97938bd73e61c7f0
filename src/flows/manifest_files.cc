#include "flows/manifest_files.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/embedded.h"

namespace instantstart::flows {

namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using Documents = base::Result<std::vector<JsonObject>>;

JsonValue scalar(const YAML::Node& node) {
    const auto& text = node.Scalar();
    if (node.Tag() == "!") return JsonValue(text);  // quoted: text whatever it looks like
    if (text == "true" || text == "false") return text == "true";
    if (text == "null" || text == "~" || text.empty()) return nullptr;
    const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits && text.size() < 18 && (text.size() == 1 || text[0] != '0'))
        return static_cast<std::int64_t>(std::stoll(text));
    return JsonValue(text);
}

JsonValue to_json(const YAML::Node& node) {
    if (node.IsMap()) {
        JsonObject object;
        for (const auto& entry : node) object[entry.first.Scalar()] = to_json(entry.second);
        return object;
    }
    if (node.IsSequence()) {
        JsonArray array;
        for (const auto& item : node) array.push_back(to_json(item));
        return array;
    }
    return node.IsScalar() ? scalar(node) : JsonValue();
}

Documents parsed(const std::string& text) {
    try {
        std::vector<JsonObject> documents;
        for (const auto& document : YAML::LoadAll(text)) {
            if (document.IsMap()) documents.push_back(to_json(document).as_object());
        }
        return documents;
    } catch (const YAML::Exception& fault) {
        return base::invalid_error("invalid_yaml", fault.what());
    }
}

const std::map<std::string, Documents, std::less<>>& manifests() {
    static const auto kParsed = [] {
        std::map<std::string, Documents, std::less<>> all;
        for (const auto& file : embedded::manifests()) {
            // Those of crds/ are JSON, and read by their group (features/manifests.h).
            if (file.name.ends_with(".yaml") && !file.name.starts_with("crds/"))
                all.emplace(file.name, parsed(std::string(file.content)));
        }
        return all;
    }();
    return kParsed;
}

// Fills a value in place; `left` becomes the first mark that nothing stands for.
void fill(JsonValue& value, const ManifestValues& values, std::string& left) {
    if (auto* object = value.if_object()) {
        for (auto& entry : *object) fill(entry.value(), values, left);
        return;
    }
    if (auto* list = value.if_array()) {
        for (auto& item : *list) fill(item, values, left);
        return;
    }
    if (!value.is_string()) return;
    std::string text(value.get_string());
    for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at)) {
        const auto end = text.find('}', at);
        const auto found =
            end == std::string::npos ? values.end() : values.find(text.substr(at + 2, end - at - 2));
        const bool is_whole = at == 0 && end + 1 == text.size();
        if (found == values.end() || (!is_whole && !found->second.is_string())) {
            if (left.empty()) left = text.substr(at, 30);
            return;
        }
        if (is_whole) {
            value = found->second;
            return;
        }
        const std::string_view part = found->second.get_string();
        text.replace(at, end + 1 - at, part);
        at += part.size();
        value = text;
    }
}

}  // namespace

base::Result<std::vector<JsonObject>> filled_manifest(const std::string& file, const ManifestValues& values) {
    const auto found = manifests().find(file);
    if (found == manifests().end()) return base::internal_error("manifest " + file + " is not built in");
    TRY(auto list, found->second);
    std::string left;
    for (auto& object : list) {
        for (auto& entry : object) fill(entry.value(), values, left);
    }
    if (left.empty()) return list;
    return base::Error(base::ErrorKind::internal, kMarkWithoutValue,
                       "manifest " + file + " lacks a value: " + left);
}

}  // namespace instantstart::flows
