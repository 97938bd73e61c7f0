#include <algorithm>
#include <regex>

#include "base/text.h"

#include "twin/kube/validate.h"

namespace instantstart::twin::kube {

namespace {

using Type = Schema::Type;

struct Walk {
    bool custom = false;
    bool fills = true;
    std::vector<std::string>& unknown;
    std::string wrong;  // the first wrong type, "" for none
};

std::string_view json_name(const JsonValue& value) {
    switch (value.kind()) {
        case boost::json::kind::string: return "string";
        case boost::json::kind::bool_: return "bool";
        case boost::json::kind::array: return "array";
        case boost::json::kind::object: return "object";
        default: return "number";
    }
}

// The Go type that the real server would name.
std::string_view go_name(Type type) {
    switch (type) {
        case Type::string: return "string";
        case Type::integer: return "int32";
        case Type::boolean: return "bool";
        case Type::number: return "float64";
        case Type::bytes: return "[]uint8";
        case Type::list: return "slice";
        case Type::map: return "map[string]string";
        case Type::time:
        case Type::micro_time: return "v1.Time";
        default: return "struct";
    }
}

bool has_type(const JsonValue& value, Type type) {
    const bool integer =
        value.is_int64() || value.is_uint64() ||
        (value.is_double() &&
         value.get_double() == static_cast<double>(static_cast<std::int64_t>(value.get_double())));
    switch (type) {
        case Type::string:
        case Type::bytes:
        case Type::time:
        case Type::micro_time: return value.is_string();
        case Type::integer: return integer;
        case Type::boolean: return value.is_bool();
        case Type::number: return value.is_number();
        case Type::quantity: return value.is_string() || value.is_number();
        case Type::int_or_string: return value.is_string() || integer;
        case Type::list: return value.is_array();
        case Type::object:
        case Type::map: return value.is_object();
        case Type::any: return true;
    }
    return true;
}

void prune(JsonValue& value, const SchemaPtr& schema, const std::string& path, Walk& walk);

// A number with an optional suffix: "1", "0.5", "500m", "1Gi", "1e3".
bool is_quantity(std::string_view text) {
    static const std::regex kForm(
        "[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?");
    return std::regex_match(text.begin(), text.end(), kForm);
}

// An empty list or map of a built-in kind is the same as none, and is not kept.
bool is_left_out(const JsonValue& value, const SchemaField& field) {
    if (field.required) return false;
    if (field.schema->type == Type::list) return value.is_array() && value.get_array().empty();
    return field.schema->type == Type::map && value.is_object() && value.get_object().empty();
}

void prune_members(JsonObject& object, const Schema& schema, const std::string& path, Walk& walk) {
    std::vector<std::string> gone;
    for (auto& member : object) {
        const std::string key(member.key());
        const auto below = path.empty() ? key : path + "." + key;
        const auto found = schema.fields.find(key);
        if (found != schema.fields.end()) {
            if (!member.value().is_null()) prune(member.value(), found->second.schema, below, walk);
            if (member.value().is_null() || (!walk.custom && is_left_out(member.value(), found->second)))
                gone.push_back(key);
        } else if (!schema.keeps_unknown) {
            walk.unknown.push_back(below);
            gone.push_back(key);
        }
    }
    for (const auto& key : gone) object.stable_erase(object.find(key));
    for (const auto& [name, field] : schema.fields) {
        const auto* fallback = field.schema->rules.if_contains("default");
        if (fallback == nullptr || object.contains(name) || !walk.fills) continue;
        object[name] = *fallback;
        prune(object[name], field.schema, path.empty() ? name : path + "." + name, walk);
    }
}

void prune(JsonValue& value, const SchemaPtr& schema, const std::string& path, Walk& walk) {
    if (schema == nullptr || value.is_null()) return;
    if (!has_type(value, schema->type)) {
        if (walk.wrong.empty()) {
            walk.wrong = "json: cannot unmarshal " + std::string(json_name(value)) +
                         " into Go struct field ." + path + " of type " + std::string(go_name(schema->type));
        }
        return;
    }
    if (schema->type == Type::integer && value.is_double())
        value = static_cast<std::int64_t>(value.get_double());
    std::string bytes;
    const bool unreadable =
        (schema->type == Type::quantity && value.is_string() && !is_quantity(value.get_string())) ||
        (schema->type == Type::bytes && !base::base64_decode(std::string(value.get_string()), bytes));
    if (unreadable && walk.wrong.empty())
        walk.wrong = schema->type == Type::bytes ? std::string("illegal base64 data at input byte 0")
                                                 : std::string(
                                                       "quantities must match the regular expression "
                                                       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    if (schema->type == Type::quantity && value.is_number()) value = base::to_text(value);
    if (auto* list = value.if_array(); list != nullptr && schema->type == Type::list) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            prune((*list)[i], schema->item.schema, path + "[" + std::to_string(i) + "]", walk);
        }
    } else if (auto* object = value.if_object()) {
        if (schema->type == Type::object) {
            prune_members(*object, *schema, path, walk);
        } else if (schema->type == Type::map) {
            for (auto& member : *object)
                prune(member.value(), schema->item.schema, path + "." + std::string(member.key()), walk);
        }
    }
}

}  // namespace

base::Result<void> prune_object(const KindInfo& kind, JsonObject& object, std::vector<std::string>& unknown,
                                SchemaDefaults defaults) {
    if (kind.schema == nullptr) return base::ok();
    Walk walk{kind.custom, defaults == SchemaDefaults::filled, unknown, ""};
    const auto api_version = object["apiVersion"];
    const auto name = object["kind"];
    if (!kind.custom) {
        if (auto* at = object.find("apiVersion"); at != object.end()) object.stable_erase(at);
        if (auto* at = object.find("kind"); at != object.end()) object.stable_erase(at);
    }
    JsonValue value = std::move(object);
    // Of a custom kind wrong types are told by validate_object, all together.
    prune(value, kind.schema, "", walk);
    object = std::move(value.get_object());
    object["apiVersion"] = api_version;
    object["kind"] = name;
    if (walk.wrong.empty() || kind.custom) return base::ok();
    return bad_request(kind.name + " in version \"" + kind.version + "\" cannot be handled as a " +
                       kind.name + ": " + walk.wrong);
}

}  // namespace instantstart::twin::kube
