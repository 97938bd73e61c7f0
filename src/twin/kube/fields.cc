#include "twin/kube/fields.h"

#include <algorithm>

#include "base/result.h"

namespace instantstart::twin::kube {

namespace {

constexpr std::string_view kServerMetadata[] = {
    "name",        "namespace",     "uid",      "creationTimestamp", "resourceVersion",
    "generation",  "managedFields", "selfLink", "deletionTimestamp", "deletionGracePeriodSeconds",
    "generateName"};

JsonObject without_server_fields(const JsonObject& object) {
    JsonObject copy = object;
    copy.erase("apiVersion");
    copy.erase("kind");
    if (auto* meta = copy.if_contains("metadata"); meta != nullptr && meta->is_object()) {
        for (auto name : kServerMetadata) meta->get_object().erase(name);
        if (meta->get_object().empty()) copy.erase("metadata");
    }
    return copy;
}

void collect(const JsonValue& value, const SchemaField& field, Containers containers, FieldSet& out);

void collect_list(const JsonArray& list, const SchemaField& field, Containers containers, FieldSet& out) {
    for (const auto& item : list) {
        if (field.set) {
            out.children["v:" + base::to_text(item)].member = true;
            continue;
        }
        auto& child = out.children[item_element(item, field)];
        child.member = true;
        if (item.is_object()) collect(item, field.schema->item, containers, child);
    }
}

void collect(const JsonValue& value, const SchemaField& field, Containers containers, FieldSet& out) {
    if (!is_granular(value, field)) {
        out.member = true;
        return;
    }
    if (const auto* list = value.if_array()) {
        if (list->empty() || containers == Containers::included) out.member = true;
        collect_list(*list, field, containers, out);
        return;
    }
    const auto& object = value.get_object();
    const bool is_map = field.schema->type != Schema::Type::object;
    if (object.empty() || (is_map && containers == Containers::included)) out.member = true;
    for (const auto& member : object) {
        if (member.value().is_null()) continue;
        collect(member.value(), field_of(field.schema, member.key()), containers,
                out.children["f:" + std::string(member.key())]);
    }
}

void compare(const JsonValue* before, const JsonValue& after, const SchemaField& field, FieldSet& out) {
    if (before == nullptr) {
        collect(after, field, Containers::included, out);
        return;
    }
    if (*before == after) return;
    if (!is_granular(after, field) || before->kind() != after.kind()) {
        out.member = true;
        return;
    }
    const auto visit = [&](const std::string& element, const JsonValue& value, const SchemaField& inner) {
        FieldSet child;
        const auto* old = child_of(*before, field, element);
        compare(old, value, inner, child);
        if (old == nullptr && element[0] == 'k') child.member = true;
        if (!child.empty()) out.children[element] = std::move(child);
    };
    if (const auto* list = after.if_array()) {
        for (const auto& item : *list) {
            if (field.set) {
                visit("v:" + base::to_text(item), item, unknown_field());
            } else {
                visit(item_element(item, field), item, field.schema->item);
            }
        }
        return;
    }
    for (const auto& member : after.get_object()) {
        visit("f:" + std::string(member.key()), member.value(), field_of(field.schema, member.key()));
    }
}

SchemaField root_field(const SchemaPtr& schema) {
    SchemaField field;
    field.schema = schema == nullptr ? unknown_field().schema : schema;
    return field;
}

}  // namespace

FieldSet FieldSet::from_json(const JsonObject& fields) {
    FieldSet out;
    out.member = fields.empty();
    for (const auto& member : fields) {
        if (member.key() == ".") {
            out.member = true;
        } else if (member.value().is_object()) {
            out.children[std::string(member.key())] = from_json(member.value().get_object());
        }
    }
    return out;
}

JsonObject FieldSet::to_json() const {
    JsonObject out;
    if (children.empty()) return out;
    if (member) out["."] = JsonObject();
    for (const auto& [element, child] : children) out[element] = child.to_json();
    return out;
}

void FieldSet::add(const FieldSet& other) {
    member = member || other.member;
    for (const auto& [element, child] : other.children) children[element].add(child);
}

void FieldSet::subtract(const FieldSet& other, bool below) {
    if (other.member) {
        member = false;
        if (below && other.children.empty()) children.clear();
    }
    for (const auto& [element, child] : other.children) {
        const auto found = children.find(element);
        if (found == children.end()) continue;
        found->second.subtract(child, below);
        if (found->second.empty()) children.erase(found);
    }
}

void FieldSet::intersect(const FieldSet& other) {
    member = member && other.member;
    for (auto at = children.begin(); at != children.end();) {
        const auto found = other.children.find(at->first);
        if (found != other.children.end()) at->second.intersect(found->second);
        at = found == other.children.end() || at->second.empty() ? children.erase(at) : std::next(at);
    }
}

FieldSet fields_of(const JsonObject& object, const SchemaPtr& schema, Containers containers) {
    FieldSet out;
    const JsonObject own = without_server_fields(object);
    for (const auto& member : own) {
        collect(member.value(), field_of(schema, member.key()), containers,
                out.children["f:" + std::string(member.key())]);
    }
    return out;
}

FieldSet changed_fields(const JsonObject& before, const JsonObject& after, const SchemaPtr& schema) {
    FieldSet out;
    const JsonValue old = without_server_fields(before);
    const JsonValue now = without_server_fields(after);
    compare(&old, now, root_field(schema), out);
    out.member = false;
    return out;
}

std::string item_element(const JsonValue& item, const SchemaField& field) {
    if (!item.is_object()) return "v:" + base::to_text(item);
    JsonObject keys;
    for (const auto& key : field.keys) {
        const auto* value = item.get_object().if_contains(key);
        if (value != nullptr) {
            keys[key] = *value;
        } else if (key == "protocol") {
            keys[key] = "TCP";
        }
    }
    return "k:" + base::canonical_text(keys);
}

const JsonValue* child_of(const JsonValue& value, const SchemaField& field, std::string_view element) {
    if (element.starts_with("f:")) {
        return value.is_object() ? value.get_object().if_contains(element.substr(2)) : nullptr;
    }
    if (!value.is_array()) return nullptr;
    const auto& list = value.get_array();
    const auto found = std::find_if(list.begin(), list.end(), [&](const JsonValue& item) {
        return element == (field.set ? "v:" + base::to_text(item) : item_element(item, field));
    });
    return found == list.end() ? nullptr : &*found;
}

bool is_granular(const JsonValue& value, const SchemaField& field) {
    if (field.atomic) return false;
    if (value.is_object()) return !field.schema->atomic;
    return value.is_array() && (field.set || !field.keys.empty());
}

std::string readable_path(const std::vector<std::string>& elements) {
    std::string out;
    for (const auto& element : elements) {
        const auto rest = element.substr(2);
        if (element[0] == 'f') {
            out += "." + rest;
        } else if (element[0] == 'v') {
            out += "[=" + rest + "]";
        } else {
            std::string keys;
            const auto parsed = base::parse_json(rest);
            if (parsed.has_value() && parsed->is_object()) {
                for (const auto& key : parsed->get_object()) {
                    keys +=
                        (keys.empty() ? "" : ",") + std::string(key.key()) + "=" + base::to_text(key.value());
                }
            }
            out += "[" + keys + "]";
        }
    }
    return out;
}

}  // namespace instantstart::twin::kube
