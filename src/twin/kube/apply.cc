#include "twin/kube/apply.h"

#include <algorithm>
#include <vector>

#include "twin/kube/fields.h"
#include "twin/kube/metadata.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

struct Owner {
    Owner() = default;
    std::string manager, operation, api_version, time, subresource;
    FieldSet fields;
    bool is(const ApplyOptions& options, std::string_view wanted) const {
        return manager == options.manager && operation == wanted && subresource == options.subresource;
    }
    std::string described() const {
        auto text = "\"" + manager + "\"";
        if (!subresource.empty()) text += " with subresource \"" + subresource + "\"";
        if (operation == "Update") text += " using " + api_version;
        return text;
    }
};

std::vector<Owner> owners_of(const JsonObject& object) {
    std::vector<Owner> owners;
    for (const auto& entry : base::get_array(object, "metadata.managedFields")) {
        Owner owner;
        owner.manager = base::get_string(entry, "manager");
        owner.operation = base::get_string(entry, "operation");
        owner.api_version = base::get_string(entry, "apiVersion");
        owner.time = base::get_string(entry, "time");
        owner.subresource = base::get_string(entry, "subresource");
        owner.fields = FieldSet::from_json(base::get_object(entry, "fieldsV1"));
        owners.push_back(std::move(owner));
    }
    return owners;
}

void write_owners(JsonObject& object, const std::vector<Owner>& owners) {
    JsonArray entries;
    for (const auto& owner : owners) {
        if (owner.fields.children.empty()) continue;
        JsonObject entry;
        entry["manager"] = owner.manager;
        entry["operation"] = owner.operation;
        entry["apiVersion"] = owner.api_version;
        entry["time"] = owner.time;
        entry["fieldsType"] = "FieldsV1";
        entry["fieldsV1"] = owner.fields.to_json();
        if (!owner.subresource.empty()) entry["subresource"] = owner.subresource;
        entries.emplace_back(std::move(entry));
    }
    auto& meta = metadata_of(object);
    if (entries.empty()) {
        meta.erase("managedFields");
    } else {
        meta["managedFields"] = std::move(entries);
    }
}

SchemaPtr schema_for(const JsonObject& object, const ApplyOptions& options) {
    if (options.schema != nullptr) return options.schema;
    return builtin_schema_of(base::get_string(object, "apiVersion"), base::get_string(object, "kind"));
}

SchemaField root_field(const SchemaPtr& schema) {
    SchemaField field;
    field.schema = schema == nullptr ? unknown_field().schema : schema;
    return field;
}

void lay_over(JsonValue& target, const JsonValue& applied, const SchemaField& field);

void lay_over_list(JsonArray& target, const JsonArray& applied, const SchemaField& field) {
    for (const auto& item : applied) {
        const auto element = field.set ? "v:" + base::to_text(item) : item_element(item, field);
        const auto found = std::find_if(target.begin(), target.end(), [&](const JsonValue& mine) {
            return element == (field.set ? "v:" + base::to_text(mine) : item_element(mine, field));
        });
        if (found == target.end()) {
            target.push_back(item);
        } else {
            lay_over(*found, item, field.schema->item);
        }
    }
}

void lay_over(JsonValue& target, const JsonValue& applied, const SchemaField& field) {
    if (!is_granular(applied, field) || target.kind() != applied.kind()) {
        target = applied;
        return;
    }
    if (const auto* list = applied.if_array()) {
        lay_over_list(target.get_array(), *list, field);
        return;
    }
    auto& object = target.get_object();
    for (const auto& member : applied.get_object()) {
        if (member.value().is_null()) continue;
        auto* mine = object.if_contains(member.key());
        if (mine == nullptr) {
            object[member.key()] = member.value();
        } else {
            lay_over(*mine, member.value(), field_of(field.schema, member.key()));
        }
    }
}

const SchemaField& inner_field(const SchemaField& field, std::string_view element) {
    if (element.starts_with("f:")) return field_of(field.schema, element.substr(2));
    return field.schema->type == Schema::Type::list ? field.schema->item : unknown_field();
}

// Removes the paths of `gone` from the value, but none that has something of `kept` below it; what becomes an
// empty container by it goes too.
void take_out(JsonValue& value, const SchemaField& field, const FieldSet& gone, const FieldSet& kept) {
    static const FieldSet kNothing;
    for (const auto& [element, child] : gone.children) {
        const auto* found = child_of(value, field, element);
        if (found == nullptr) continue;
        auto& inner = const_cast<JsonValue&>(*found);
        const auto below = kept.children.find(element);
        const auto& kept_below = below == kept.children.end() ? kNothing : below->second;
        if (!child.children.empty()) take_out(inner, inner_field(field, element), child, kept_below);
        const bool emptied = !child.children.empty() && ((inner.is_object() && inner.get_object().empty()) ||
                                                         (inner.is_array() && inner.get_array().empty()));
        const bool whole =
            child.member && kept_below.empty() && (child.children.empty() || element[0] != 'f');
        if (!whole && !emptied) continue;
        if (value.is_object()) {
            value.get_object().erase(std::string_view(element).substr(2));
        } else if (value.is_array()) {
            auto& list = value.get_array();
            list.erase(list.begin() + (&inner - list.data()));
        }
    }
}

struct Clash {
    std::string owner, path;
};

void find_clashes(const FieldSet& mine, const Owner& owner, const FieldSet& theirs, const JsonValue* live,
                  const JsonValue* wanted, const SchemaField& field, std::vector<std::string>& path,
                  FieldSet& lost, std::vector<Clash>& out) {
    for (const auto& [element, child] : mine.children) {
        const auto other = theirs.children.find(element);
        if (other == theirs.children.end()) continue;
        const auto* now = live == nullptr ? nullptr : child_of(*live, field, element);
        const auto* then = wanted == nullptr ? nullptr : child_of(*wanted, field, element);
        path.push_back(element);
        const bool leaf = child.member && (child.children.empty() || other->second.children.empty());
        if (leaf && other->second.member && now != nullptr && then != nullptr && *now != *then &&
            !(now->is_object() && then->is_object() && is_granular(*now, inner_field(field, element)))) {
            out.push_back({owner.described(), readable_path(path)});
            lost.children[element].member = true;
        } else {
            FieldSet inner;
            find_clashes(child, owner, other->second, now, then, inner_field(field, element), path, inner,
                         out);
            if (!inner.empty()) lost.children[element] = std::move(inner);
        }
        path.pop_back();
    }
}

base::Error clash_error(const std::vector<Clash>& clashes) {
    JsonArray causes;
    std::string text = "Apply failed with " + std::to_string(clashes.size()) + " conflict" +
                       (clashes.size() == 1 ? "" : "s") + ": ";
    std::string last;
    for (const auto& clash : clashes) {
        causes.emplace_back(JsonObject{{"reason", "FieldManagerConflict"},
                                       {"message", "conflict with " + clash.owner},
                                       {"field", clash.path}});
        const bool many = clashes.size() > 1;
        if (clash.owner != last)
            text += (last.empty() ? "" : "\n") +
                    ("conflict" + std::string(many ? "s" : "") + " with " + clash.owner + ":");
        text += (many ? "\n- " : " ") + clash.path;
        last = clash.owner;
    }
    base::Error error(base::ErrorKind::conflict, "Conflict", text);
    error.extra["status"] = 409;
    error.extra["details"] = JsonObject{{"causes", std::move(causes)}};
    return error;
}

}  // namespace

base::Result<JsonObject> apply_object(const JsonObject* current, const JsonObject& applied,
                                      const ApplyOptions& options) {
    const auto schema = schema_for(applied, options);
    const auto root = root_field(schema);
    const auto wanted_fields = fields_of(applied, schema, Containers::left_out);
    auto owners = current == nullptr ? std::vector<Owner>() : owners_of(*current);
    if (current != nullptr && owners.empty() && options.adopts_unmanaged) {
        Owner before;
        before.manager = "before-first-apply";
        before.operation = "Update";
        before.api_version = base::get_string(*current, "apiVersion");
        before.time = options.time;
        before.fields = changed_fields(JsonObject(), *current, schema);
        owners.push_back(std::move(before));
    }
    const JsonValue wanted = applied;
    JsonValue merged = current == nullptr ? applied : *current;
    const JsonValue live = merged;

    std::vector<Clash> clashes;
    for (auto& owner : owners) {
        if (owner.is(options, "Apply")) continue;
        FieldSet lost;
        std::vector<std::string> path;
        find_clashes(wanted_fields, owner, owner.fields, &live, &wanted, root, path, lost, clashes);
        if (options.force) owner.fields.subtract(lost, true);
    }
    if (!clashes.empty() && !options.force) return clash_error(clashes);

    if (current != nullptr) lay_over(merged, wanted, root);
    const auto mine = std::find_if(owners.begin(), owners.end(),
                                   [&](const Owner& owner) { return owner.is(options, "Apply"); });
    if (mine != owners.end()) {
        auto gone = mine->fields;
        auto kept = wanted_fields;
        for (const auto& owner : owners) {
            if (!owner.is(options, "Apply")) kept.add(owner.fields);
        }
        gone.subtract(kept);
        take_out(merged, root, gone, kept);
    }
    Owner me;
    me.manager = options.manager;
    me.operation = "Apply";
    me.api_version = base::get_string(applied, "apiVersion");
    me.subresource = options.subresource;
    me.fields = wanted_fields;
    auto result = std::move(merged.get_object());
    const bool same = mine != owners.end() && mine->fields.to_json() == me.fields.to_json() &&
                      current != nullptr && result == *current;
    me.time = same ? mine->time : options.time;
    if (mine != owners.end()) {
        *mine = std::move(me);
    } else {
        owners.push_back(std::move(me));
    }
    metadata_of(result).erase("managedFields");
    write_owners(result, owners);
    return result;
}

void track_update(const JsonObject* before, JsonObject& after, const ApplyOptions& options) {
    const auto schema = schema_for(after, options);
    static const JsonObject kNothing;
    const auto& old = before == nullptr ? kNothing : *before;
    // A client may send the entries back, changed or not; without them the stored ones hold.
    auto owners = owners_of(after);
    if (owners.empty()) owners = owners_of(old);
    const auto changed = changed_fields(old, after, schema);
    const auto present = fields_of(after, schema, Containers::included);
    for (auto& owner : owners) {
        if (!owner.is(options, "Update")) owner.fields.subtract(changed);
        owner.fields.intersect(present);
    }
    if (!changed.children.empty()) {
        auto mine = std::find_if(owners.begin(), owners.end(),
                                 [&](const Owner& owner) { return owner.is(options, "Update"); });
        if (mine == owners.end()) {
            Owner me;
            me.manager = options.manager;
            me.operation = "Update";
            me.subresource = options.subresource;
            mine = owners.insert(owners.end(), std::move(me));
        }
        mine->api_version = base::get_string(after, "apiVersion");
        mine->time = options.time;
        mine->fields.add(changed);
    }
    write_owners(after, owners);
}

}  // namespace instantstart::twin::kube
