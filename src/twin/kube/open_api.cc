// OpenAPI v3: an index, and a document per group and version made from the schemas.
#include <algorithm>
#include <map>
#include <set>

#include "base/digest.h"
#include "base/text.h"
#include "twin/kube/api_server.h"
#include "twin/kube/descriptions.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

using Type = Schema::Type;

// Makes component schemas for the built-in types that are referred to.
class Components {
public:
    JsonObject take() { return std::move(schemas_); }

    // "core/v1.Pod" is known to clients as "io.k8s.api.core.v1.Pod".
    static std::string public_name(std::string_view name) {
        const auto slash = name.find('/');
        const auto label = std::string(name.substr(0, slash));
        const auto rest = std::string(name.substr(slash + 1));
        if (label == "meta") return "io.k8s.apimachinery.pkg.apis.meta." + rest;
        if (label == "apiextensions") return "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions." + rest;
        return "io.k8s.api." + label + "." + rest;
    }

    JsonObject reference(const SchemaPtr& schema) {
        const auto name = public_name(schema->name);
        if (!schemas_.contains(name)) {
            schemas_[name] = JsonObject();
            auto body = members(*schema, schema->name);
            schemas_[name] = std::move(body);
        }
        return JsonObject{{"$ref", "#/components/schemas/" + name}};
    }

    void add(const std::string& name, JsonObject body) { schemas_[name] = std::move(body); }
    JsonObject* find(const std::string& name) {
        auto* found = schemas_.if_contains(name);
        return found == nullptr ? nullptr : &found->get_object();
    }

    JsonObject members(const Schema& schema, const std::string& type_name) {
        JsonObject out = rules_of(schema);
        out["type"] = "object";
        if (!out.contains("description")) out["description"] = describe(type_name, "");
        JsonObject properties;
        JsonArray required;
        for (const auto& [name, field] : schema.fields) {
            properties[name] = property(field, describe(type_name, name));
            if (field.required) required.emplace_back(name);
        }
        if (!properties.empty()) out["properties"] = std::move(properties);
        if (!required.empty()) out["required"] = std::move(required);
        return out;
    }

private:
    static JsonObject rules_of(const Schema& schema) {
        JsonObject out;
        for (const auto& rule : schema.rules) out[rule.key()] = rule.value();
        return out;
    }

    static JsonArray either(const char* one, const char* other) {
        return JsonArray{JsonObject{{"type", one}}, JsonObject{{"type", other}}};
    }

    JsonObject property(const SchemaField& field, const std::string& description) {
        auto out = type_of(field.schema);
        if (const auto* reference_text = out.if_contains("$ref")) {
            // A sibling of $ref is ignored by readers, so the text goes around it.
            out = JsonObject{{"allOf", JsonArray{JsonObject{{"$ref", *reference_text}}}},
                             {"default", JsonObject()}};
        }
        if (!description.empty() && !out.contains("description")) out["description"] = description;
        if (!field.keys.empty()) {
            JsonArray keys;
            for (const auto& key : field.keys) keys.emplace_back(key);
            out["x-kubernetes-list-map-keys"] = std::move(keys);
            out["x-kubernetes-list-type"] = "map";
        }
        if (field.schema->type == Type::list && field.atomic) out["x-kubernetes-list-type"] = "atomic";
        if (field.schema->type == Type::list && field.set) out["x-kubernetes-list-type"] = "set";
        if (field.merge_key) {
            out["x-kubernetes-patch-strategy"] = field.retain_keys ? "merge,retainKeys" : "merge";
            if (!field.merge_key->empty()) out["x-kubernetes-patch-merge-key"] = *field.merge_key;
        }
        return out;
    }

    JsonObject type_of(const SchemaPtr& schema) {
        if (!schema->name.empty()) return reference(schema);
        auto out = rules_of(*schema);
        switch (schema->type) {
            case Type::object: return members(*schema, "");
            case Type::map:
                out["type"] = "object";
                out["additionalProperties"] = type_of(schema->item.schema);
                return out;
            case Type::list:
                out["type"] = "array";
                out["items"] = type_of(schema->item.schema);
                return out;
            case Type::integer: out["type"] = "integer"; break;
            case Type::boolean: out["type"] = "boolean"; break;
            case Type::number: out["type"] = "number"; break;
            case Type::time:
            case Type::micro_time:
                out["type"] = "string";
                out["format"] = "date-time";
                break;
            case Type::bytes:
                out["type"] = "string";
                out["format"] = "byte";
                break;
            case Type::string: out["type"] = "string"; break;
            case Type::quantity: out["oneOf"] = either("string", "number"); break;
            case Type::int_or_string:
                out["format"] = "int-or-string";
                out["oneOf"] = either("integer", "string");
                break;
            case Type::any: out["type"] = "object"; break;
        }
        return out;
    }

    JsonObject schemas_;
};

JsonObject group_version_kind(const KindInfo& kind) {
    return JsonObject{{"group", kind.kind.group}, {"version", kind.version}, {"kind", kind.name}};
}

JsonObject query_parameter(const char* name, const char* description) {
    return JsonObject{{"name", name},
                      {"in", "query"},
                      {"description", description},
                      {"schema", JsonObject{{"type", "string"}, {"uniqueItems", true}}}};
}

JsonObject operation(const KindInfo& kind, const char* action) {
    JsonArray parameters;
    parameters.emplace_back(query_parameter("dryRun", "All: nothing is stored."));
    parameters.emplace_back(query_parameter("fieldManager", "Who makes this change."));
    parameters.emplace_back(
        query_parameter("fieldValidation", "Ignore, Warn or Strict: what becomes of unknown fields."));
    return JsonObject{{"operationId", std::string(action) + kind.name},
                      {"parameters", std::move(parameters)},
                      {"responses", JsonObject{{"200", JsonObject{{"description", "OK"}}}}},
                      {"x-kubernetes-action", action},
                      {"x-kubernetes-group-version-kind", group_version_kind(kind)}};
}

std::string component_of(const KindInfo& kind) {
    if (kind.schema != nullptr && !kind.schema->name.empty())
        return Components::public_name(kind.schema->name);
    auto labels = base::split(kind.kind.group, '.');
    std::reverse(labels.begin(), labels.end());
    return base::join(labels, ".") + "." + kind.version + "." + kind.name;
}

void add_kind(const KindInfo& kind, Components& components, JsonObject& paths) {
    const auto name = component_of(kind);
    if (kind.schema != nullptr && !kind.schema->name.empty()) {
        components.reference(kind.schema);
    } else if (kind.schema != nullptr) {
        components.add(name, components.members(*kind.schema, ""));
    } else {
        components.add(name, JsonObject{{"type", "object"}});
    }
    auto* component = components.find(name);
    (*component)["x-kubernetes-group-version-kind"] = JsonArray{group_version_kind(kind)};
    auto& properties = (*component)["properties"];
    if (!properties.is_object()) properties.emplace_object();
    for (auto member : {"apiVersion", "kind"}) {
        properties.get_object()[member] =
            JsonObject{{"type", "string"}, {"description", describe("object", member)}};
    }
    const auto prefix = (kind.kind.group.empty() ? "/api/" : "/apis/" + kind.kind.group + "/") + kind.version;
    const auto collection = prefix + (kind.namespaced ? "/namespaces/{namespace}/" : "/") + kind.kind.plural;
    paths[collection] = JsonObject{{"get", operation(kind, "list")}, {"post", operation(kind, "post")}};
    if (!kind.may("get")) return;
    paths[collection + "/{name}"] = JsonObject{{"get", operation(kind, "get")},
                                               {"put", operation(kind, "put")},
                                               {"patch", operation(kind, "patch")},
                                               {"delete", operation(kind, "delete")}};
}

std::string document_path(const std::string& group, const std::string& version) {
    return group.empty() ? "api/" + version : "apis/" + group + "/" + version;
}

http::Response index(const ClusterState& state) {
    std::map<std::string, std::string> signatures;
    for (const auto& kind : state.kinds.all()) {
        auto& text = signatures[document_path(kind->kind.group, kind->version)];
        text += kind->name;
        if (!kind->custom) continue;
        const auto definition = state.store.get(Kind("apiextensions.k8s.io", "customresourcedefinitions"), "",
                                                kind->kind.plural + "." + kind->kind.group);
        if (definition != nullptr)
            text += base::get_string(*definition, "metadata.uid") +
                    std::to_string(base::get_int(*definition, "metadata.generation"));
    }
    JsonObject paths;
    for (const auto& [path, text] : signatures) {
        // The address is below this server's own prefix, which kubectl does not add to absolute paths.
        const auto url = "/clusters/" + state.config.name + "/openapi/v3/" + path +
                         "?hash=" + base::sha256_hex(text).substr(0, 32);
        paths[path] = JsonObject{{"serverRelativeURL", url}};
    }
    return json_response(200, JsonObject{{"paths", std::move(paths)}});
}

}  // namespace

http::Response answer_open_api(const StatePtr& state, const ApiCall& call) {
    const auto& parts = call.segments;
    if (call.method != "GET") return error_response(method_not_allowed());
    if (parts.size() < 2 || parts[1] != "v3") return error_response(no_such_path());
    if (parts.size() == 2) return index(*state);
    const bool core = parts.size() == 4 && parts[2] == "api";
    if (!core && (parts.size() != 5 || parts[2] != "apis")) return error_response(no_such_path());
    const auto group = core ? std::string() : parts[3];
    const auto version = parts.back();
    Components components;
    JsonObject paths;
    for (const auto& kind : state->kinds.all()) {
        if (kind->kind.group == group && kind->version == version) add_kind(*kind, components, paths);
    }
    if (paths.empty()) return error_response(no_such_path());
    return json_response(
        200,
        JsonObject{{"openapi", "3.0.0"},
                   {"info", JsonObject{{"title", "Kubernetes"}, {"version", "v" + state->config.version}}},
                   {"paths", std::move(paths)},
                   {"components", JsonObject{{"schemas", components.take()}}}});
}

}  // namespace instantstart::twin::kube
