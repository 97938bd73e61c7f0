// Access entries and their policies.
#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

namespace {

constexpr std::string_view kPolicies[] = {"AmazonEKSAdminPolicy",
                                          "AmazonEKSAdminViewPolicy",
                                          "AmazonEKSClusterAdminPolicy",
                                          "AmazonEKSEditPolicy",
                                          "AmazonEKSViewPolicy",
                                          "AmazonEKSSecretReaderPolicy",
                                          "AmazonSagemakerHyperpodClusterPolicy",
                                          "AmazonSagemakerHyperpodControllerPolicy"};

std::string policy_arn(std::string_view name) {
    return "arn:aws:eks::aws:cluster-access-policy/" + std::string(name);
}

std::string name_of(std::string_view principal) {
    const std::size_t slash = principal.rfind('/');
    return slash == std::string_view::npos ? std::string(principal)
                                           : std::string(principal.substr(slash + 1));
}

std::string default_username(const State& state, const std::string& principal, const std::string& type) {
    if (principal.find(":user/") != std::string::npos) return principal;
    if (type != "STANDARD") return "system:node:{{EC2PrivateDNSName}}";
    return "arn:aws:sts::" + state.world.account() + ":assumed-role/" + name_of(principal) +
           "/{{SessionName}}";
}

// The cluster of the call, in a mode that has entries.
Found require_entries(State& state, const Call& call) {
    Found found = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (found.record == nullptr) return found;
    if (base::get_string(found.record->data, "accessConfig.authenticationMode") == "CONFIG_MAP") {
        found.record = nullptr;
        found.error = failure("InvalidRequestException",
                              "The cluster's authentication mode must be set to one of [API, "
                              "API_AND_CONFIG_MAP] to perform this operation.");
    }
    return found;
}

Found require_entry(State& state, const Call& call) {
    Found found = require_entries(state, call);
    if (found.record == nullptr) return found;
    const std::string principal = base::get_string(call.params, "principalArn");
    found.record = state.entries.find(entry_key(base::get_string(call.params, "clusterName"), principal));
    if (found.record == nullptr)
        found.error = missing("The specified principalArn could not be found: " + principal + ".");
    return found;
}

JsonObject answer_of(const Record& entry) {
    JsonObject answer;
    answer["accessEntry"] = entry.data;
    return answer;
}

Reply create_entry(State& state, const Call& call) {
    const Found cluster = require_entries(state, call);
    if (cluster.record == nullptr) return cluster.error;
    const std::string principal = base::get_string(call.params, "principalArn");
    const std::string type = base::get_string(call.params, "type", "STANDARD");
    if (principal.find(":assumed-role/") != std::string::npos || !principal.starts_with("arn:")) {
        return invalid("The specified principalArn is invalid: invalid format.");
    }
    if (principal.find(":role/") != std::string::npos && !state.world.iam().role_exists(principal)) {
        return invalid("The specified principalArn is invalid: invalid principal.");
    }
    const bool has_groups = !base::get_array(call.params, "kubernetesGroups").empty();
    if (type != "STANDARD" && has_groups) {
        return invalid("The kubernetesGroups field cannot be specified for access entries of type " + type +
                       ".");
    }
    for (const std::string& group : strings(call.params, "kubernetesGroups")) {
        if (group.starts_with("system:"))
            return invalid("The kubernetes group name " + group +
                           " is invalid, it cannot start with system:");
    }
    const std::string name = cluster.record->id;
    if (state.entries.find(entry_key(name, principal)) != nullptr) {
        return failure("ResourceInUseException",
                       "The specified access entry resource is already in use on this cluster.", 409);
    }
    Record& entry =
        make_entry(state, name, principal, type, base::get_array(call.params, "kubernetesGroups"));
    if (call.params.contains("username")) entry.data["username"] = base::get_string(call.params, "username");
    entry.data["tags"] = base::get_object(call.params, "tags");
    return answer_of(entry);
}

Reply describe_entry(State& state, const Call& call) {
    const Found entry = require_entry(state, call);
    if (entry.record == nullptr) return entry.error;
    if (!call.shows(entry.record->created))
        return missing("The specified principalArn could not be found: " +
                       base::get_string(call.params, "principalArn") + ".");
    return answer_of(*entry.record);
}

Reply update_entry(State& state, const Call& call) {
    const Found entry = require_entry(state, call);
    if (entry.record == nullptr) return entry.error;
    if (call.params.contains("kubernetesGroups"))
        entry.record->data["kubernetesGroups"] = base::get_array(call.params, "kubernetesGroups");
    if (call.params.contains("username"))
        entry.record->data["username"] = base::get_string(call.params, "username");
    entry.record->data["modifiedAt"] = state.time();
    return answer_of(*entry.record);
}

Reply delete_entry(State& state, const Call& call) {
    const Found entry = require_entry(state, call);
    if (entry.record == nullptr) return entry.error;
    state.entries.erase(std::string(entry.record->id));
    return JsonObject();
}

Reply list_entries(State& state, const Call& call) {
    const Found cluster = require_entries(state, call);
    if (cluster.record == nullptr) return cluster.error;
    const std::string wanted = base::get_string(call.params, "associatedPolicyArn");
    JsonArray principals;
    for (const auto& [key, entry] : state.entries) {
        if (base::get_string(entry.data, "clusterName") != cluster.record->id || !call.shows(entry.created))
            continue;
        bool chosen = wanted.empty();
        for (const JsonValue& policy : base::get_array(entry.hidden, "policies"))
            chosen = chosen || base::get_string(policy, "policyArn") == wanted;
        if (chosen) principals.emplace_back(base::get_string(entry.data, "principalArn"));
    }
    return listed(call, "accessEntries", principals);
}

Reply associate_policy(State& state, const Call& call) {
    const Found entry = require_entry(state, call);
    if (entry.record == nullptr) return entry.error;
    const std::string arn = base::get_string(call.params, "policyArn");
    bool known = false;
    for (std::string_view name : kPolicies) known = known || arn == policy_arn(name);
    if (!known) return missing("The specified policyArn could not be found: " + arn + ".");
    const std::string type = base::get_string(entry.record->data, "type");
    if (type != "STANDARD")
        return invalid("Access policies cannot be associated with access entries of type " + type + ".");
    const JsonObject& scope = base::get_object(call.params, "accessScope");
    const bool namespaced = base::get_string(scope, "type") == "namespace";
    if (namespaced == base::get_array(scope, "namespaces").empty()) {
        return invalid(
            "The access scope of type namespace needs namespaces, and that of type cluster has none.");
    }
    add_policy(state, *entry.record, arn, scope);
    JsonObject answer;
    answer["clusterName"] = base::get_string(call.params, "clusterName");
    answer["principalArn"] = base::get_string(call.params, "principalArn");
    for (const JsonValue& policy : base::get_array(entry.record->hidden, "policies")) {
        if (base::get_string(policy, "policyArn") == arn) answer["associatedAccessPolicy"] = policy;
    }
    return answer;
}

Reply disassociate_policy(State& state, const Call& call) {
    const Found entry = require_entry(state, call);
    if (entry.record == nullptr) return entry.error;
    const std::string arn = base::get_string(call.params, "policyArn");
    if (ec2::remove_where(ec2::array_of(entry.record->hidden, "policies"), "policyArn", arn) == 0) {
        return missing("The specified policyArn could not be found: " + arn + ".");
    }
    return JsonObject();
}

Reply list_policies_of(State& state, const Call& call) {
    const Found entry = require_entry(state, call);
    if (entry.record == nullptr) return entry.error;
    JsonObject answer =
        listed(call, "associatedAccessPolicies", base::get_array(entry.record->hidden, "policies"));
    answer["clusterName"] = base::get_string(call.params, "clusterName");
    answer["principalArn"] = base::get_string(call.params, "principalArn");
    return answer;
}

Reply list_policies(State&, const Call& call) {
    JsonArray policies;
    for (std::string_view name : kPolicies) policies.push_back({{"name", name}, {"arn", policy_arn(name)}});
    return listed(call, "accessPolicies", policies);
}

}  // namespace

std::string entry_key(std::string_view cluster, std::string_view principal) {
    return std::string(cluster) + "|" + std::string(principal);
}

Record& make_entry(State& state, const std::string& cluster, const std::string& principal,
                   const std::string& type, JsonArray groups) {
    const bool user = principal.find(":user/") != std::string::npos;
    JsonObject data;
    data["clusterName"] = cluster;
    data["principalArn"] = principal;
    data["kubernetesGroups"] = std::move(groups);
    data["accessEntryArn"] =
        state.arn("access-entry/" + cluster + (user ? "/user/" : "/role/") + state.world.account() + "/" +
                  name_of(principal) + "/" + state.world.uuid());
    data["createdAt"] = state.time();
    data["modifiedAt"] = state.time();
    data["tags"] = JsonObject();
    data["username"] = default_username(state, principal, type);
    data["type"] = type;
    Record& entry = state.entries.add(entry_key(cluster, principal), std::move(data), state.world.now());
    entry.hidden["policies"] = JsonArray();
    return entry;
}

void add_policy(State& state, Record& entry, const std::string& policy, JsonObject scope) {
    JsonArray& policies = ec2::array_of(entry.hidden, "policies");
    std::string since = state.time();
    for (const JsonValue& present : policies) {
        if (base::get_string(present, "policyArn") == policy)
            since = base::get_string(present, "associatedAt");
    }
    ec2::remove_where(policies, "policyArn", policy);
    JsonObject association;
    association["policyArn"] = policy;
    if (!scope.contains("namespaces")) scope["namespaces"] = JsonArray();
    association["accessScope"] = std::move(scope);
    association["associatedAt"] = since;
    association["modifiedAt"] = state.time();
    policies.push_back(std::move(association));
}

void add_entry_operations(Operations& operations) {
    operations["CreateAccessEntry"] = create_entry;
    operations["DescribeAccessEntry"] = describe_entry;
    operations["UpdateAccessEntry"] = update_entry;
    operations["DeleteAccessEntry"] = delete_entry;
    operations["ListAccessEntries"] = list_entries;
    operations["AssociateAccessPolicy"] = associate_policy;
    operations["DisassociateAccessPolicy"] = disassociate_policy;
    operations["ListAssociatedAccessPolicies"] = list_policies_of;
    operations["ListAccessPolicies"] = list_policies;
}

}  // namespace instantstart::twin::eks
