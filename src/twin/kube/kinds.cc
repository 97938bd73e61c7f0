#include "twin/kube/kinds.h"

#include <algorithm>

#include "base/text.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

std::vector<std::string> strings(const JsonArray& array) {
    std::vector<std::string> out;
    for (const auto& value : array) {
        if (value.is_string()) out.emplace_back(value.get_string());
    }
    return out;
}

KindPtr make_custom(const JsonObject& definition, const JsonValue& version) {
    auto info = std::make_shared<KindInfo>();
    const auto& names = base::get_object(definition, "spec.names");
    info->kind = Kind(base::get_string(definition, "spec.group"), base::get_string(names, "plural"));
    info->version = base::get_string(version, "name");
    info->name = base::get_string(names, "kind");
    info->singular = base::get_string(names, "singular", base::to_lower(info->name));
    info->short_names = strings(base::get_array(names, "shortNames"));
    info->categories = strings(base::get_array(names, "categories"));
    info->namespaced = base::get_string(definition, "spec.scope") != "Cluster";
    info->custom = true;
    info->verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
    const auto& subresources = base::get_object(version, "subresources");
    if (subresources.contains("status")) info->subresources.emplace_back("status");
    if (subresources.contains("scale")) info->subresources.emplace_back("scale");
    info->scale = base::get_object(subresources, "scale");
    info->schema = custom_schema(base::get_object(version, "schema.openAPIV3Schema"));
    info->printer_columns = base::get_array(version, "additionalPrinterColumns");
    info->selectable = base::get_array(version, "selectableFields");
    return info;
}

const Kind& definitions() {
    static const Kind kKind("apiextensions.k8s.io", "customresourcedefinitions");
    return kKind;
}

}  // namespace

bool KindInfo::has(std::string_view subresource) const {
    return std::find(subresources.begin(), subresources.end(), subresource) != subresources.end();
}

bool KindInfo::may(std::string_view verb) const {
    return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const std::vector<KindPtr>& KindRegistry::custom(const ObjectPtr& definition) const {
    auto& made = made_[name_of(*definition)];
    if (made.definition == definition) return made.kinds;
    // Status changes of a definition must not cost a new schema tree.
    const bool same_spec = made.definition != nullptr && base::get_object(*made.definition, "spec") ==
                                                             base::get_object(*definition, "spec");
    made.definition = definition;
    if (same_spec) return made.kinds;
    made.kinds.clear();
    for (const auto& version : base::get_array(*definition, "spec.versions")) {
        if (base::get_bool(version, "served")) made.kinds.push_back(make_custom(*definition, version));
    }
    return made.kinds;
}

KindPtr KindRegistry::find(std::string_view group, std::string_view version, std::string_view plural) const {
    for (const auto& info : builtin_kinds()) {
        if (info->kind.plural == plural && info->kind.group == group)
            return info->version == version ? info : nullptr;
    }
    const auto definition = objects_.get(definitions(), "", std::string(plural) + "." + std::string(group));
    if (definition == nullptr) return nullptr;
    for (const auto& info : custom(definition)) {
        if (info->version == version) return info;
    }
    return nullptr;
}

KindPtr KindRegistry::find_object(std::string_view api_version, std::string_view kind) const {
    for (const auto& info : all()) {
        if (info->name == kind && info->api_version() == api_version) return info;
    }
    return nullptr;
}

std::vector<KindPtr> KindRegistry::all() const {
    auto out = builtin_kinds();
    std::map<std::string, std::vector<KindPtr>> by_group;
    for (const auto& definition : objects_.list(definitions())) {
        for (const auto& info : custom(definition)) by_group[info->kind.group].push_back(info);
    }
    for (const auto& [group, customs] : by_group) out.insert(out.end(), customs.begin(), customs.end());
    return out;
}

}  // namespace instantstart::twin::kube
