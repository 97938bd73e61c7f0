#include "twin/kube/yaml_body.h"

#include <yaml-cpp/yaml.h>

#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

constexpr int kDepthMax = 100;

// Plain scalars are what JSON would read in them; quoted ones (tag "!") and all others are text.
JsonValue scalar(const YAML::Node& node) {
    const auto& text = node.Scalar();
    if (node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str") return JsonValue(text.c_str());
    if (text == "null" || text == "~" || text.empty()) return nullptr;
    if (text == "true" || text == "false") return text == "true";
    const auto parsed = base::parse_json(text, 1);
    if (parsed.has_value() && parsed->is_number()) return *parsed;
    return JsonValue(text.c_str());
}

// False where the document nests too deep.
bool convert(const YAML::Node& node, JsonValue& out, int depth) {
    if (depth > kDepthMax) return false;
    if (node.IsScalar()) {
        out = scalar(node);
    } else if (node.IsSequence()) {
        auto& list = out.emplace_array();
        for (const auto& item : node) {
            if (!convert(item, list.emplace_back(nullptr), depth + 1)) return false;
        }
    } else if (node.IsMap()) {
        auto& object = out.emplace_object();
        for (const auto& member : node) {
            if (!member.first.IsScalar() || !convert(member.second, object[member.first.Scalar()], depth + 1))
                return false;
        }
    } else {
        out = nullptr;
    }
    return true;
}

}  // namespace

base::Result<base::JsonValue> parse_yaml(const std::string& text) {
    // Aliases can make a small text into a huge value; no client of ours sends them.
    if (text.find('*') != std::string::npos && text.find('&') != std::string::npos) {
        return bad_request("the object provided is unrecognized: YAML aliases are not read");
    }
    try {
        JsonValue out;
        if (convert(YAML::Load(text), out, 0)) return out;
        return bad_request("the object provided is unrecognized: the YAML nests too deep or has odd keys");
    } catch (const YAML::Exception& error) {
        return bad_request(std::string("the object provided is unrecognized: ") + error.what());
    }
}

}  // namespace instantstart::twin::kube
