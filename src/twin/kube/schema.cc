#include "twin/kube/schema.h"

#include "base/embedded.h"
#include "base/result.h"

namespace instantstart::twin::kube {

namespace {

using Type = Schema::Type;

// Built lazily and once: the text is a constant of the binary.
class BuiltinTypes {
public:
    BuiltinTypes() {
        for (const auto& file : embedded::data()) {
            if (file.name != "kubernetes-types.json") continue;
            auto parsed = base::parse_json(file.content);
            CHECK(parsed.has_value());
            source_ = base::get_object(*parsed, "types");
        }
    }

    SchemaPtr get(std::string_view name) {
        if (const auto found = made_.find(name); found != made_.end()) return found->second;
        const auto* members = source_.if_contains(name);
        if (members == nullptr) return nullptr;
        auto schema = std::make_shared<Schema>();
        schema->type = Type::object;
        schema->name = name;
        made_.emplace(std::string(name), schema);
        for (const auto& member : members->get_object())
            add_member(*schema, member.key(), member.value().get_array());
        return schema;
    }

private:
    void add_member(Schema& schema, std::string_view name, const JsonArray& row) {
        static const JsonObject kNoFlags;
        const auto& flags = row.size() > 1 ? row[1].get_object() : kNoFlags;
        if (name == "~") {
            schema.atomic = true;
            return;
        }
        auto field = make_field(base::get_string(JsonValue(row), "0"), flags);
        if (field.number != 0) schema.protobuf[field.number] = {std::string(name), field};
        if (!flags.contains("i")) {
            schema.fields[std::string(name)] = std::move(field);
            return;
        }
        for (const auto& [inner, inner_field] : field.schema->fields) {
            auto copy = inner_field;
            schema.fields[inner] = std::move(copy);
        }
    }

    SchemaField make_field(std::string_view type, const JsonObject& flags) {
        SchemaField field;
        field.schema = make_type(type);
        field.number = static_cast<int>(base::get_int(flags, "n"));
        field.required = flags.contains("q");
        field.atomic = flags.contains("a") || field.schema->atomic;
        field.set = flags.contains("s");
        field.keeps_zero = flags.contains("p") || field.required;
        field.retain_keys = flags.contains("r");
        if (flags.contains("m")) field.merge_key = base::get_string(flags, "m");
        for (const auto& key : base::get_array(flags, "k")) field.keys.emplace_back(key.get_string());
        const bool plain_list = field.schema->type == Type::list && field.keys.empty() && !field.set;
        field.atomic = field.atomic || plain_list;
        return field;
    }

    SchemaPtr make_type(std::string_view type) {
        if (type.starts_with("[]") || type.starts_with("{}")) {
            auto schema = std::make_shared<Schema>();
            schema->type = type[0] == '[' ? Type::list : Type::map;
            schema->item = make_field(type.substr(2), JsonObject());
            return schema;
        }
        if (auto named = get(type)) return named;
        auto schema = std::make_shared<Schema>();
        schema->type = scalar(type);
        schema->keeps_unknown = schema->type == Type::any;
        return schema;
    }

    static Type scalar(std::string_view type) {
        static const std::map<std::string_view, Type> kScalars = {{"string", Type::string},
                                                                  {"int", Type::integer},
                                                                  {"bool", Type::boolean},
                                                                  {"float", Type::number},
                                                                  {"bytes", Type::bytes},
                                                                  {"time", Type::time},
                                                                  {"microtime", Type::micro_time},
                                                                  {"quantity", Type::quantity},
                                                                  {"intorstring", Type::int_or_string}};
        const auto found = kScalars.find(type);
        return found == kScalars.end() ? Type::any : found->second;
    }

    JsonObject source_;
    std::map<std::string, SchemaPtr, std::less<>> made_;
};

BuiltinTypes& builtin_types() {
    static BuiltinTypes types;
    return types;
}

Type custom_type(const JsonObject& source) {
    if (base::get_bool(source, "x-kubernetes-int-or-string")) return Type::int_or_string;
    const auto type = base::get_string(source, "type");
    if (type == "object")
        return source.contains("additionalProperties") && !source.contains("properties") ? Type::map
                                                                                         : Type::object;
    if (type == "array") return Type::list;
    if (type == "string") return Type::string;
    if (type == "integer") return Type::integer;
    if (type == "boolean") return Type::boolean;
    if (type == "number") return Type::number;
    return source.contains("properties") ? Type::object : Type::any;
}

SchemaField custom_field(const JsonObject& source);

SchemaPtr custom_node(const JsonObject& source) {
    auto schema = std::make_shared<Schema>();
    schema->type = custom_type(source);
    schema->keeps_unknown =
        base::get_bool(source, "x-kubernetes-preserve-unknown-fields") || schema->type == Type::any;
    for (const auto& member : source) {
        if (member.key() == "properties" || member.key() == "items" || member.key() == "additionalProperties")
            continue;
        schema->rules[member.key()] = member.value();
    }
    for (const auto& member : base::get_object(source, "properties")) {
        if (!member.value().is_object()) continue;
        schema->fields[std::string(member.key())] = custom_field(member.value().get_object());
    }
    for (const auto& name : base::get_array(source, "required")) {
        if (!name.is_string()) continue;
        if (auto found = schema->fields.find(std::string_view(name.get_string()));
            found != schema->fields.end()) {
            found->second.required = true;
        }
    }
    if (schema->type == Type::list) schema->item = custom_field(base::get_object(source, "items"));
    if (schema->type == Type::map)
        schema->item = custom_field(base::get_object(source, "additionalProperties"));
    return schema;
}

SchemaField custom_field(const JsonObject& source) {
    SchemaField field;
    field.schema = custom_node(source);
    const auto list_type = base::get_string(source, "x-kubernetes-list-type");
    for (const auto& key : base::get_array(source, "x-kubernetes-list-map-keys")) {
        if (key.is_string()) field.keys.emplace_back(key.get_string());
    }
    field.set = list_type == "set";
    field.atomic = base::get_string(source, "x-kubernetes-map-type") == "atomic" ||
                   (field.schema->type == Type::list && list_type != "map" && list_type != "set");
    return field;
}

}  // namespace

SchemaPtr builtin_schema(std::string_view type_name) {
    return builtin_types().get(type_name);
}

SchemaPtr builtin_schema_of(std::string_view api_version, std::string_view kind) {
    const auto slash = api_version.find('/');
    const auto group =
        slash == std::string_view::npos ? std::string_view("core") : api_version.substr(0, slash);
    const auto version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
    // The types are named by the first label of their group: "rbac.authorization.k8s.io" is "rbac".
    const auto label = std::string(group.substr(0, group.find('.')));
    auto name = label + "/" + std::string(version) + "." + std::string(kind);
    if (group.find('.') != std::string_view::npos && !group.ends_with(".k8s.io")) return nullptr;
    return builtin_schema(name);
}

SchemaPtr custom_schema(const JsonObject& open_api) {
    auto schema = std::make_shared<Schema>(*custom_node(open_api));
    schema->type = Type::object;
    const auto string_field = [] {
        SchemaField field;
        auto type = std::make_shared<Schema>();
        type->type = Type::string;
        field.schema = type;
        return field;
    };
    schema->fields["apiVersion"] = string_field();
    schema->fields["kind"] = string_field();
    SchemaField meta;
    meta.schema = builtin_schema("meta/v1.ObjectMeta");
    schema->fields["metadata"] = meta;
    return schema;
}

const SchemaField& unknown_field() {
    static const SchemaField kUnknown = [] {
        SchemaField field;
        auto schema = std::make_shared<Schema>();
        schema->keeps_unknown = true;
        field.schema = schema;
        return field;
    }();
    return kUnknown;
}

const SchemaField& field_of(const SchemaPtr& schema, std::string_view member) {
    if (schema == nullptr) return unknown_field();
    if (schema->type == Type::map) return schema->item;
    const auto found = schema->fields.find(member);
    return found == schema->fields.end() ? unknown_field() : found->second;
}

}  // namespace instantstart::twin::kube
