#include "twin/kube/validate.h"

#include <algorithm>
#include <set>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

using Causes = std::vector<Cause>;
using Type = Schema::Type;

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void required(Causes& causes, std::string field, std::string_view note = "") {
    causes.emplace_back("FieldValueRequired",
                        "Required value" + (note.empty() ? "" : ": " + std::string(note)), std::move(field));
}

void invalid(Causes& causes, std::string field, const JsonValue& value, std::string_view why) {
    causes.emplace_back("FieldValueInvalid",
                        "Invalid value: " + base::to_text(value) + ": " + std::string(why), std::move(field));
}

void check_name(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    const auto name = name_of(object);
    static const std::set<std::string> kLabels = {"namespaces", "services"};
    if (kind.kind.group == "rbac.authorization.k8s.io") {
        if (name.find('/') != std::string::npos)
            invalid(causes, "metadata.name", name.c_str(), "may not contain '/'");
        return;
    }
    if (kLabels.contains(kind.kind.plural) && !kind.custom) {
        if (!is_dns_label(name)) {
            invalid(
                causes, "metadata.name", name.c_str(),
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
                "must start and end "
                "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
        }
        return;
    }
    if (!is_dns_subdomain(name)) {
        invalid(causes, "metadata.name", name.c_str(),
                "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
                "'.', and must start and "
                "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    }
}

bool is_label_value(std::string_view text) {
    const auto good = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    if (text.empty()) return true;
    if (text.size() > 63 || !good(text.front()) || !good(text.back())) return false;
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return good(c) || c == '-' || c == '_' || c == '.'; });
}

void check_labels(const JsonObject& labels, const std::string& path, Causes& causes) {
    for (const auto& label : labels) {
        const std::string_view key = label.key();
        const auto slash = key.find('/');
        const auto last = slash == std::string_view::npos ? key : key.substr(slash + 1);
        if (last.empty() || !is_label_value(last) ||
            (slash != std::string_view::npos && !is_dns_subdomain(key.substr(0, slash)))) {
            invalid(causes, path, JsonValue(label.key()),
                    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
                    "end with an "
                    "alphanumeric character");
        }
        if (!label.value().is_string() || !is_label_value(label.value().get_string())) {
            invalid(causes, path, label.value(),
                    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' "
                    "or '.', and must start "
                    "and end with an alphanumeric character");
        }
    }
}

void check_required(const JsonValue& value, const SchemaPtr& schema, const std::string& path, Causes& causes);

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
    }
}

std::string_view type_word(Type type) {
    switch (type) {
        case Type::string: return "string";
        case Type::integer: return "integer";
        case Type::boolean: return "boolean";
        case Type::number: return "number";
        case Type::list: return "array";
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
    if (type == Type::any || (type == Type::int_or_string && (word == "string" || word == "integer")))
        return true;
    if (type == Type::number && word == "integer") return true;
    return type != Type::int_or_string && word == type_word(type);
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
    if (value.is_string()) {
        const auto size = static_cast<std::int64_t>(value.get_string().size());
        if (schema.rules.contains("minLength"))
            bound("minLength", size < base::get_int(schema.rules, "minLength"), "at least");
        if (schema.rules.contains("maxLength"))
            bound("maxLength", size > base::get_int(schema.rules, "maxLength"), "at most");
    }
    if (value.is_array() && schema.rules.contains("minItems")) {
        bound("minItems",
              static_cast<std::int64_t>(value.get_array().size()) < base::get_int(schema.rules, "minItems"),
              "at least");
    }
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

void check_containers(const JsonObject& spec, const std::string& path, Causes& causes) {
    const auto& containers = base::get_array(spec, "containers");
    if (containers.empty()) required(causes, path + ".containers");
    std::set<std::string> names;
    for (auto list_name : {"containers", "initContainers"}) {
        const auto& list = base::get_array(spec, list_name);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto at = path + "." + list_name + "[" + std::to_string(i) + "]";
            const auto name = base::get_string(list[i], "name");
            if (!name.empty() && !is_dns_label(name))
                invalid(causes, at + ".name", name.c_str(), "a lowercase RFC 1123 label is required");
            if (!name.empty() && !names.insert(name).second) {
                causes.emplace_back("FieldValueDuplicate", "Duplicate value: \"" + name + "\"", at + ".name");
            }
            if (base::get_string(list[i], "image").empty()) required(causes, at + ".image");
            for (const auto& mount : base::get_array(list[i], "volumeMounts")) {
                const auto volume = base::get_string(mount, "name");
                const auto& volumes = base::get_array(spec, "volumes");
                const bool known = std::any_of(volumes.begin(), volumes.end(), [&](const JsonValue& v) {
                    return base::get_string(v, "name") == volume;
                });
                if (!known)
                    causes.emplace_back("FieldValueNotFound", "Not found: \"" + volume + "\"",
                                        at + ".volumeMounts[0].name");
            }
        }
    }
}

void check_workload(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    const auto& labels = base::get_object(object, "spec.template.metadata.labels");
    check_containers(base::get_object(object, "spec.template.spec"), "spec.template.spec", causes);
    const auto policy = base::get_string(object, "spec.template.spec.restartPolicy");
    if (kind.is("batch", "jobs")) {
        if (policy != "OnFailure" && policy != "Never") {
            causes.emplace_back("FieldValueNotSupported",
                                "Unsupported value: \"" + (policy.empty() ? "Always" : policy) +
                                    "\": supported values: \"OnFailure\", \"Never\"",
                                "spec.template.spec.restartPolicy");
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

void check_kind(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    static const std::set<std::string> kWorkloads = {"deployments", "daemonsets", "statefulsets",
                                                     "replicasets", "jobs"};
    if (kind.is("", "pods")) check_containers(base::get_object(object, "spec"), "spec", causes);
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
    }
}

}  // namespace

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
    check_name(kind, object, causes);
    check_labels(base::get_object(object, "metadata.labels"), "metadata.labels", causes);
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
            return c.field == cause.field && c.reason == cause.reason;
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
    if (kind.is("", "pods") && !is_terminating(before)) {
        fixed("spec.nodeName");
        fixed("spec.restartPolicy");
    }
    if (base::get_bool(before, "immutable")) fixed("data");
    if (causes.empty()) return base::ok();
    return invalid_object(kind.name, kind.kind.group, name_of(after), causes);
}

}  // namespace instantstart::twin::kube
