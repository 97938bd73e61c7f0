#include "twin/kube/rbac.h"

#include <algorithm>

namespace instantstart::twin::kube {

namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

bool has_value(const JsonArray& list, std::string_view wanted) {
    return std::any_of(list.begin(), list.end(), [wanted](const JsonValue& value) {
        return value.is_string() && (value.get_string() == wanted || value.get_string() == "*");
    });
}

bool path_matches(const JsonArray& list, std::string_view path) {
    return std::any_of(list.begin(), list.end(), [path](const JsonValue& value) {
        if (!value.is_string()) return false;
        const std::string_view pattern = value.get_string();
        if (pattern.ends_with("*")) return path.starts_with(pattern.substr(0, pattern.size() - 1));
        return pattern == path;
    });
}

bool allows(const JsonValue& rule, const Attributes& asked) {
    if (!has_value(base::get_array(rule, "verbs"), asked.verb)) return false;
    if (!asked.path.empty()) return path_matches(base::get_array(rule, "nonResourceURLs"), asked.path);
    if (!has_value(base::get_array(rule, "apiGroups"), asked.group)) return false;
    const auto& resources = base::get_array(rule, "resources");
    const auto wanted = asked.subresource.empty() ? asked.resource : asked.resource + "/" + asked.subresource;
    if (!has_value(resources, wanted) &&
        (asked.subresource.empty() || !has_value(resources, "*/" + asked.subresource)))
        return false;
    const auto& names = base::get_array(rule, "resourceNames");
    return names.empty() || has_value(names, asked.name);
}

bool is_subject(const JsonObject& binding, const User& user) {
    for (const auto& subject : base::get_array(binding, "subjects")) {
        const auto kind = base::get_string(subject, "kind");
        const auto name = base::get_string(subject, "name");
        if (kind == "User" && name == user.name) return true;
        if (kind == "Group" && std::find(user.groups.begin(), user.groups.end(), name) != user.groups.end())
            return true;
        if (kind == "ServiceAccount" &&
            user.name == "system:serviceaccount:" + base::get_string(subject, "namespace") + ":" + name) {
            return true;
        }
    }
    return false;
}

void add_rules(const ObjectStore& objects, const JsonObject& binding, std::string_view ns, JsonArray& out) {
    const bool of_cluster = base::get_string(binding, "roleRef.kind") == "ClusterRole";
    const Kind kind(std::string(kRbac), of_cluster ? "clusterroles" : "roles");
    const auto role = objects.get(kind, of_cluster ? "" : ns, base::get_string(binding, "roleRef.name"));
    if (role == nullptr) return;
    for (const auto& rule : base::get_array(*role, "rules")) out.push_back(rule);
}

}  // namespace

JsonArray rules_for(const ObjectStore& objects, const User& user, std::string_view ns) {
    JsonArray rules;
    for (const auto& binding : objects.list(Kind(std::string(kRbac), "clusterrolebindings"))) {
        if (is_subject(*binding, user)) add_rules(objects, *binding, "", rules);
    }
    if (ns.empty()) return rules;
    for (const auto& binding : objects.list(Kind(std::string(kRbac), "rolebindings"), ns)) {
        if (is_subject(*binding, user)) add_rules(objects, *binding, ns, rules);
    }
    return rules;
}

bool is_authorised(const ObjectStore& objects, const User& user, const Attributes& asked) {
    if (std::find(user.groups.begin(), user.groups.end(), "system:masters") != user.groups.end()) return true;
    const auto rules = rules_for(objects, user, asked.ns);
    return std::any_of(rules.begin(), rules.end(),
                       [&asked](const JsonValue& rule) { return allows(rule, asked); });
}

std::string refusal(const User& user, const Attributes& asked) {
    auto text = "User \"" + user.name + "\" cannot " + asked.verb;
    if (!asked.path.empty()) return text + " path \"" + asked.path + "\"";
    text += " resource \"" + asked.resource + (asked.subresource.empty() ? "" : "/" + asked.subresource) +
            "\" in API group \"" + asked.group + "\"";
    return text + (asked.ns.empty() ? " at the cluster scope" : " in the namespace \"" + asked.ns + "\"");
}

}  // namespace instantstart::twin::kube
