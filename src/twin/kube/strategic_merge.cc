#include <algorithm>

#include "twin/kube/patch.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

constexpr std::string_view kOrder = "$setElementOrder/";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";

void merge(JsonValue& target, const JsonValue& patch, const SchemaField& field);

bool same_key(const JsonValue& a, const JsonValue& b, std::string_view key) {
    if (!a.is_object() || !b.is_object()) return false;
    const auto* left = a.get_object().if_contains(key);
    const auto* right = b.get_object().if_contains(key);
    return left != nullptr && right != nullptr && *left == *right;
}

JsonValue without_directives(JsonValue value);

JsonArray clean_list(const JsonArray& list) {
    JsonArray out;
    for (const auto& item : list) {
        const auto directive = item.is_object() ? base::get_string(item, "$patch") : "";
        if (directive == "delete" || (directive == "replace" && item.get_object().size() == 1)) continue;
        out.push_back(without_directives(item));
    }
    return out;
}

// What a patch means where there is nothing to merge with: no directives, no nulls.
JsonValue without_directives(JsonValue value) {
    if (auto* list = value.if_array()) return clean_list(*list);
    auto* object = value.if_object();
    if (object == nullptr) return value;
    JsonObject out;
    for (const auto& member : *object) {
        if (member.key().starts_with("$") || member.value().is_null()) continue;
        out[member.key()] = without_directives(member.value());
    }
    return out;
}

// Where the patch does not say the order: its items in its order, the others in theirs, and where both know
// the place of two items, that of the list as it was.
void weave(JsonArray& merged, const JsonArray& before, const JsonArray& patch, std::string_view key) {
    const auto place = [&](const JsonArray& list, const JsonValue& item) -> std::ptrdiff_t {
        const auto found = std::find_if(list.begin(), list.end(), [&](const JsonValue& other) {
            return key.empty() ? item == other : same_key(item, other, key);
        });
        return found == list.end() ? -1 : found - list.begin();
    };
    JsonArray patched;
    JsonArray rest;
    for (const auto& item : merged) (place(patch, item) < 0 ? rest : patched).push_back(item);
    std::sort(patched.begin(), patched.end(),
              [&](const JsonValue& a, const JsonValue& b) { return place(patch, a) < place(patch, b); });
    JsonArray out;
    auto other = rest.begin();
    for (const auto& item : patched) {
        const auto at = place(before, item);
        for (; other != rest.end() && at >= 0 && place(before, *other) < at; ++other) out.push_back(*other);
        out.push_back(item);
    }
    for (; other != rest.end(); ++other) out.push_back(*other);
    merged = std::move(out);
}

void merge_scalars(JsonArray& target, const JsonArray& patch) {
    const JsonArray before = target;
    for (const auto& item : patch) {
        if (std::find(target.begin(), target.end(), item) == target.end()) target.push_back(item);
    }
    weave(target, before, patch, "");
}

void merge_items(JsonArray& target, const JsonArray& patch, std::string_view key,
                 const SchemaField& item_field) {
    const bool replaces = std::any_of(patch.begin(), patch.end(), [](const JsonValue& item) {
        return item.is_object() && item.get_object().size() == 1 &&
               base::get_string(item, "$patch") == "replace";
    });
    if (replaces) {
        target = clean_list(patch);
        return;
    }
    const JsonArray before = target;
    for (const auto& item : patch) {
        const auto same = [&](const JsonValue& mine) { return same_key(mine, item, key); };
        const auto found = std::find_if(target.begin(), target.end(), same);
        if (item.is_object() && base::get_string(item, "$patch") == "delete") {
            if (found != target.end()) target.erase(found);
        } else if (found != target.end()) {
            merge(*found, item, item_field);
        } else {
            target.push_back(without_directives(item));
        }
    }
    weave(target, before, patch, key);
}

// Orders the items as the patch names them; items it does not name keep their places after those they
// followed.
void set_order(JsonArray& list, const JsonArray& order, std::string_view key) {
    const auto place = [&](const JsonValue& item) -> std::ptrdiff_t {
        const auto found = std::find_if(order.begin(), order.end(), [&](const JsonValue& wanted) {
            return key.empty() ? item == wanted : same_key(item, wanted, key);
        });
        return found == order.end() ? -1 : found - order.begin();
    };
    JsonArray known;
    JsonArray rest;
    for (const auto& item : list) (place(item) < 0 ? rest : known).push_back(item);
    std::sort(known.begin(), known.end(),
              [&](const JsonValue& a, const JsonValue& b) { return place(a) < place(b); });
    for (const auto& item : rest) known.push_back(item);
    list = std::move(known);
}

void merge_list(JsonValue& target, const JsonArray& patch, const SchemaField& field) {
    if (!field.merge_key || !target.is_array()) {
        target = clean_list(patch);
    } else if (field.merge_key->empty()) {
        merge_scalars(target.get_array(), patch);
    } else {
        merge_items(target.get_array(), patch, *field.merge_key, field.schema->item);
    }
}

void retain_keys(JsonObject& target, const JsonArray& keys) {
    std::vector<std::string> gone;
    for (const auto& member : target) {
        if (std::find(keys.begin(), keys.end(), JsonValue(member.key())) == keys.end())
            gone.emplace_back(member.key());
    }
    for (const auto& key : gone) target.erase(key);
}

void apply_directive(JsonObject& target, std::string_view key, const JsonValue& value,
                     const SchemaPtr& schema) {
    const bool deletes = key.starts_with(kDelete);
    const auto member = key.substr(deletes ? kDelete.size() : kOrder.size());
    auto* list = target.if_contains(member);
    if (list == nullptr || !list->is_array() || !value.is_array()) return;
    if (!deletes) {
        set_order(list->get_array(), value.get_array(), field_of(schema, member).merge_key.value_or(""));
        return;
    }
    JsonArray kept;
    for (const auto& item : list->get_array()) {
        if (std::find(value.get_array().begin(), value.get_array().end(), item) == value.get_array().end())
            kept.push_back(item);
    }
    *list = std::move(kept);
}

void merge_object(JsonObject& target, const JsonObject& patch, const SchemaPtr& schema) {
    if (const auto* keys = patch.if_contains("$retainKeys"); keys != nullptr && keys->is_array()) {
        retain_keys(target, keys->get_array());
    }
    for (const auto& member : patch) {
        const std::string_view key = member.key();
        if (key.starts_with("$")) continue;
        if (member.value().is_null()) {
            target.erase(key);
            continue;
        }
        auto* mine = target.if_contains(key);
        if (mine == nullptr) {
            target[key] = without_directives(member.value());
        } else {
            merge(*mine, member.value(), field_of(schema, key));
        }
    }
    for (const auto& member : patch) {
        const std::string_view key = member.key();
        if (key.starts_with(kDelete)) apply_directive(target, key, member.value(), schema);
    }
    for (const auto& member : patch) {
        const std::string_view key = member.key();
        if (key.starts_with(kOrder)) apply_directive(target, key, member.value(), schema);
    }
}

void merge(JsonValue& target, const JsonValue& patch, const SchemaField& field) {
    if (const auto* list = patch.if_array()) {
        merge_list(target, *list, field);
        return;
    }
    const auto* object = patch.if_object();
    if (object == nullptr || !target.is_object()) {
        target = without_directives(patch);
        return;
    }
    const auto directive = base::get_string(*object, "$patch");
    if (directive == "replace") {
        target = without_directives(patch);
    } else if (directive == "delete") {
        target = JsonObject();
    } else {
        merge_object(target.get_object(), *object, field.schema);
    }
}

}  // namespace

base::Result<JsonValue> strategic_merge(JsonValue target, const JsonValue& patch, const SchemaPtr& schema) {
    if (!patch.is_object() || !target.is_object())
        return bad_request("a strategic merge patch must be an object");
    SchemaField root;
    root.schema = schema;
    merge(target, patch, root);
    return target;
}

}  // namespace instantstart::twin::kube
