#include "twin/kube/validate_parts.h"

#include <algorithm>
#include <regex>
#include <set>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

using Type = Schema::Type;

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void check_required(const JsonValue& value, const SchemaPtr& schema, const std::string& path, Causes& causes);
void check_distinct(const JsonValue& value, const SchemaField& field, const std::string& path,
                    Causes& causes);

// Patterns of schemas are searched for, not matched whole; one that cannot be read refuses nothing.
bool matches_pattern(const std::string& text, const std::string& pattern) {
    if (text.size() > 4096) return true;  // the library recurses over the text
    try {
        return std::regex_search(text, std::regex(pattern));
    } catch (const std::regex_error&) {
        return true;
    }
}

void check_members(const JsonObject& object, const Schema& schema, const std::string& path, Causes& causes) {
    for (const auto& [name, field] : schema.fields) {
        const auto below = path.empty() ? name : path + "." + name;
        const auto* member = object.if_contains(name);
        // A built-in status is written by the system; what it leaves out is empty there.
        if (path.empty() && name == "status" && schema.rules.empty() && !schema.name.empty()) continue;
        if (member == nullptr) {
            if (field.required && field.schema->type != Type::boolean &&
                field.schema->type != Type::integer) {
                // A required structure without required members of its own may be left out.
                const bool open = field.schema->type == Type::object && schema.rules.empty();
                if (!open) required(causes, below);
            } else if (field.required && !schema.rules.empty()) {
                required(causes, below);
            }
            continue;
        }
        check_required(*member, field.schema, below, causes);
        if (!field.schema->rules.empty() || schema.name.empty())
            check_distinct(*member, field, below, causes);
    }
}

std::string_view type_word(Type type) {
    switch (type) {
        case Type::string: return "string";
        case Type::integer: return "integer";
        case Type::boolean: return "boolean";
        case Type::number: return "number";
        case Type::list: return "array";
        case Type::int_or_string: return "integer,string";
        default: return "object";
    }
}

std::string_view value_word(const JsonValue& value) {
    if (value.is_string()) return "string";
    if (value.is_bool()) return "boolean";
    if (value.is_array()) return "array";
    if (value.is_object()) return "object";
    return value.is_double() ? "number" : "integer";
}

bool fits(const JsonValue& value, Type type) {
    const auto word = value_word(value);
    if (type == Type::int_or_string) return word == "string" || word == "integer";
    if (type == Type::any || (type == Type::number && word == "integer")) return true;
    return word == type_word(type);
}

void check_text(const std::string& text, const Schema& schema, const std::string& path, Causes& causes) {
    const auto size = static_cast<std::int64_t>(text.size());
    const auto& rules = schema.rules;
    if (rules.contains("minLength") && size < base::get_int(rules, "minLength"))
        invalid(causes, path, text.c_str(),
                path + " in body should be at least " + base::to_text(rules.at("minLength")) + " chars long");
    if (rules.contains("maxLength") && size > base::get_int(rules, "maxLength"))
        causes.emplace_back(
            "FieldValueTooLong",
            "Too long: may not be more than " + base::to_text(rules.at("maxLength")) + " bytes", path);
    const auto pattern = base::get_string(rules, "pattern");
    if (!pattern.empty() && !matches_pattern(text, pattern))
        invalid(causes, path, text.c_str(), path + " in body should match '" + pattern + "'");
    if (base::get_string(rules, "format") == "date-time" && !base::parse_time(text))
        causes.emplace_back("FieldValueTypeInvalid",
                            "Invalid value: \"" + text + "\": " + path +
                                " in body must be of type date-time: \"" + text + "\"",
                            path);
}

void check_count(const JsonArray& list, const Schema& schema, const std::string& path, Causes& causes) {
    const auto size = static_cast<std::int64_t>(list.size());
    if (schema.rules.contains("minItems") && size < base::get_int(schema.rules, "minItems"))
        invalid(
            causes, path, size,
            path + " in body should have at least " + base::to_text(schema.rules.at("minItems")) + " items");
    if (schema.rules.contains("maxItems") && size > base::get_int(schema.rules, "maxItems"))
        causes.emplace_back("FieldValueTooMany",
                            "Too many: " + std::to_string(size) + ": must have at most " +
                                base::to_text(schema.rules.at("maxItems")) + " items",
                            path);
}

// Of a list with keys no two items have the same, of a set no two are equal.
void check_distinct(const JsonValue& value, const SchemaField& field, const std::string& path,
                    Causes& causes) {
    const auto* list = value.if_array();
    if (list == nullptr || (field.keys.empty() && !field.set)) return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < list->size(); ++i) {
        JsonValue key = (*list)[i];
        if (!field.set) {
            JsonObject keys;
            for (const auto& name : field.keys) {
                const auto* part = key.is_object() ? key.get_object().if_contains(name) : nullptr;
                if (part != nullptr) keys[name] = *part;
            }
            key = std::move(keys);
        }
        if (!seen.insert(base::to_text(key)).second)
            causes.emplace_back("FieldValueDuplicate", "Duplicate value: " + base::to_text(key),
                                path + "[" + std::to_string(i) + "]");
    }
}

// The rules of a custom schema: type, enum, bounds, pattern.
bool check_rules(const JsonValue& value, const Schema& schema, const std::string& path, Causes& causes) {
    if (!fits(value, schema.type)) {
        causes.emplace_back("FieldValueTypeInvalid",
                            "Invalid value: \"" + std::string(value_word(value)) + "\": " + path +
                                " in body must be of type " + std::string(type_word(schema.type)) + ": \"" +
                                std::string(value_word(value)) + "\"",
                            path);
        return false;
    }
    const auto& choices = base::get_array(schema.rules, "enum");
    if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
        std::string names;
        for (const auto& choice : choices) names += (names.empty() ? "" : ", ") + base::to_text(choice);
        causes.emplace_back("FieldValueNotSupported",
                            "Unsupported value: " + base::to_text(value) + ": supported values: " + names,
                            path);
    }
    const auto bound = [&](const char* key, bool wrong, const char* words) {
        if (wrong)
            invalid(causes, path, value,
                    path + " in body should be " + words + " " + base::to_text(schema.rules.at(key)));
    };
    if (value.is_number()) {
        const auto number = value.to_number<double>();
        const auto* low = schema.rules.if_contains("minimum");
        const auto* high = schema.rules.if_contains("maximum");
        if (low != nullptr && low->is_number())
            bound("minimum", number < low->to_number<double>(), "greater than or equal to");
        if (high != nullptr && high->is_number())
            bound("maximum", number > high->to_number<double>(), "less than or equal to");
    }
    if (value.is_string()) check_text(std::string(value.get_string()), schema, path, causes);
    if (const auto* list = value.if_array()) check_count(*list, schema, path, causes);
    return true;
}

void check_required(const JsonValue& value, const SchemaPtr& schema, const std::string& path,
                    Causes& causes) {
    if (schema == nullptr || causes.size() > 20) return;
    if (!schema->rules.empty() && !check_rules(value, *schema, path, causes)) return;
    if (const auto* object = value.if_object()) {
        if (schema->type == Type::object) {
            check_members(*object, *schema, path, causes);
        } else if (schema->type == Type::map) {
            for (const auto& member : *object)
                check_required(member.value(), schema->item.schema, path + "." + std::string(member.key()),
                               causes);
        }
    } else if (const auto* list = value.if_array(); list != nullptr && schema->type == Type::list) {
        for (std::size_t i = 0; i < list->size(); ++i) {
            check_required((*list)[i], schema->item.schema, path + "[" + std::to_string(i) + "]", causes);
        }
    }
}

void check_workload(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    const auto& labels = base::get_object(object, "spec.template.metadata.labels");
    check_pod_spec(base::get_object(object, "spec.template.spec"), "spec.template.spec", causes);
    const auto policy = base::get_string(object, "spec.template.spec.restartPolicy");
    if (kind.is("batch", "jobs")) {
        if (policy != "OnFailure" && policy != "Never") {
            required(causes, "spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"");
        }
        return;
    }
    if (base::get_int(object, "spec.replicas") < 0) {
        invalid(causes, "spec.replicas", base::get_int(object, "spec.replicas"),
                "must be greater than or equal to 0");
    }
    const auto& selector = base::get_object(object, "spec.selector");
    if (selector.empty()) {
        required(causes, "spec.selector");
        return;
    }
    for (const auto& wanted : base::get_object(selector, "matchLabels")) {
        const auto* mine = labels.if_contains(wanted.key());
        if (mine != nullptr && *mine == wanted.value()) continue;
        invalid(causes, "spec.template.metadata.labels", labels,
                "`selector` does not match template `labels`");
        break;
    }
}

// One version is the stored one, and each says what its objects are like.
void check_versions(const JsonObject& definition, Causes& causes) {
    const auto& versions = base::get_array(definition, "spec.versions");
    int stored = 0;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        stored += base::get_bool(versions[i], "storage") ? 1 : 0;
        if (base::find_path(versions[i], "schema.openAPIV3Schema") == nullptr)
            required(causes, "spec.versions[" + std::to_string(i) + "].schema.openAPIV3Schema");
    }
    if (stored != 1)
        invalid(causes, "spec.versions", versions, "must have exactly one version marked as storage version");
}

void check_taints(const JsonObject& node, Causes& causes) {
    const auto& taints = base::get_array(node, "spec.taints");
    for (std::size_t i = 0; i < taints.size(); ++i) {
        const auto effect = base::get_string(taints[i], "effect");
        if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
            not_supported(causes, "spec.taints[" + std::to_string(i) + "].effect", effect,
                          "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"");
    }
}

// An event stands in the namespace of what it is about.
void check_event(const JsonObject& event, Causes& causes) {
    const auto about = base::get_string(event, "involvedObject.namespace");
    const auto ns = namespace_of(event);
    if (about.empty() ? ns != "default" : about != ns)
        invalid(causes, "involvedObject.namespace", about.c_str(), "does not match event.namespace");
}

void check_kind(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    static const std::set<std::string> kWorkloads = {"deployments", "daemonsets", "statefulsets",
                                                     "replicasets", "jobs"};
    if (kind.is("", "pods")) check_pod_spec(base::get_object(object, "spec"), "spec", causes);
    if (kind.is("", "nodes")) check_taints(object, causes);
    if (kind.is("", "events")) check_event(object, causes);
    if ((kind.kind.group == "apps" || kind.kind.group == "batch") && kWorkloads.contains(kind.kind.plural)) {
        check_workload(kind, object, causes);
    }
    if (kind.is("", "services") && base::get_array(object, "spec.ports").empty() &&
        base::get_string(object, "spec.clusterIP") != "None" &&
        base::get_string(object, "spec.type") != "ExternalName") {
        required(causes, "spec.ports");
    }
    if (kind.is("", "persistentvolumeclaims")) {
        if (base::get_array(object, "spec.accessModes").empty())
            required(causes, "spec.accessModes", "at least 1 access mode is required");
        if (base::find_path(object, "spec.resources.requests.storage") == nullptr)
            required(causes, "spec.resources[storage]");
    }
    if (kind.is("", "persistentvolumes") && base::get_object(object, "spec.capacity").empty())
        required(causes, "spec.capacity");
    if (kind.is("storage.k8s.io", "storageclasses") && base::get_string(object, "provisioner").empty())
        required(causes, "provisioner");
    if (kind.is("apiextensions.k8s.io", "customresourcedefinitions")) {
        const auto wanted =
            base::get_string(object, "spec.names.plural") + "." + base::get_string(object, "spec.group");
        if (name_of(object) != wanted)
            invalid(causes, "metadata.name", name_of(object).c_str(),
                    "must be spec.names.plural+\".\"+spec.group");
        check_versions(object, causes);
    }
}

void check_immutable(const JsonObject& before, const JsonObject& after, Causes& causes) {
    for (auto member : {"data", "binaryData"}) {
        if (base::get_object(before, member) != base::get_object(after, member))
            causes.emplace_back("FieldValueForbidden",
                                "Forbidden: field is immutable when `immutable` is set", member);
    }
}

}  // namespace

void required(Causes& causes, std::string field, std::string_view note) {
    causes.emplace_back("FieldValueRequired",
                        "Required value" + (note.empty() ? "" : ": " + std::string(note)), std::move(field));
}

void invalid(Causes& causes, std::string field, const JsonValue& value, std::string_view why) {
    causes.emplace_back("FieldValueInvalid",
                        "Invalid value: " + base::to_text(value) + ": " + std::string(why), std::move(field));
}

void not_supported(Causes& causes, std::string field, std::string_view value, std::string_view choices) {
    causes.emplace_back(
        "FieldValueNotSupported",
        "Unsupported value: \"" + std::string(value) + "\": supported values: " + std::string(choices),
        std::move(field));
}

bool is_dns_label(std::string_view text) {
    if (text.empty() || text.size() > 63 || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back()))
        return false;
    return std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view text) {
    if (text.empty() || text.size() > 253) return false;
    std::size_t start = 0;
    while (true) {
        const auto dot = text.find('.', start);
        const auto part = text.substr(start, dot == std::string_view::npos ? dot : dot - start);
        if (part.empty() || !is_alphanumeric(part.front()) || !is_alphanumeric(part.back())) return false;
        if (!std::all_of(part.begin(), part.end(), [](char c) { return is_alphanumeric(c) || c == '-'; }))
            return false;
        if (dot == std::string_view::npos) return true;
        start = dot + 1;
    }
}

base::Result<void> validate_object(const KindInfo& kind, const JsonObject& object) {
    Causes causes;
    check_metadata(kind, object, causes);
    const JsonValue whole = object;
    // Definitions are checked by check_kind; their schemas are free text to us.
    if (kind.kind.plural != "customresourcedefinitions" && kind.kind.plural != "events") {
        check_required(whole, kind.schema, "", causes);
    }
    check_kind(kind, object, causes);
    if (causes.empty()) return base::ok();
    std::vector<Cause> distinct;
    for (auto& cause : causes) {
        const bool seen = std::any_of(distinct.begin(), distinct.end(), [&](const Cause& c) {
            return c.field == cause.field && c.reason == cause.reason && c.message == cause.message;
        });
        if (!seen) distinct.push_back(std::move(cause));
    }
    return invalid_object(kind.name, kind.kind.group, name_of(object), distinct);
}

base::Result<void> validate_change(const KindInfo& kind, const JsonObject& before, const JsonObject& after) {
    Causes causes;
    const auto fixed = [&](std::string_view path) {
        const auto* old = base::find_path(before, path);
        const auto* now = base::find_path(after, path);
        const bool same = old == nullptr || (now != nullptr && *old == *now);
        if (!same)
            invalid(causes, std::string(path), now == nullptr ? JsonValue() : *now, "field is immutable");
    };
    const bool workload = kind.kind.group == "apps" && kind.kind.plural != "controllerrevisions";
    if (workload) fixed("spec.selector");
    if (kind.is("batch", "jobs")) {
        fixed("spec.selector");
        fixed("spec.template");
        fixed("spec.completions");
    }
    if (kind.is("", "services") && base::get_string(after, "spec.type") != "ExternalName")
        fixed("spec.clusterIP");
    if (kind.is("storage.k8s.io", "storageclasses")) {
        fixed("provisioner");
        fixed("parameters");
    }
    if (kind.kind.group == "rbac.authorization.k8s.io" && kind.kind.plural.ends_with("bindings"))
        fixed("roleRef");
    if (kind.is("", "persistentvolumes")) fixed("spec.csi");
    if (kind.is("", "pods") && !is_terminating(before)) check_pod_change(before, after, causes);
    if (kind.is("", "nodes") && !base::get_string(before, "spec.providerID").empty())
        fixed("spec.providerID");
    if (base::get_bool(before, "immutable")) check_immutable(before, after, causes);
    check_metadata_change(before, after, causes);
    if (causes.empty()) return base::ok();
    return invalid_object(kind.name, kind.kind.group, name_of(after), causes);
}

}  // namespace instantstart::twin::kube
