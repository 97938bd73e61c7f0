#include "feature_account.h"

#include <array>
#include <string_view>

namespace instantstart::sim {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

namespace {

constexpr const char* kCluster = "phoenix";

std::string documents_of(Simulation& simulation, const std::string& role) {
    std::string text;
    const auto names = simulation.admin("iam", "ListRolePolicies", {{"RoleName", role}});
    for (const auto& name : base::get_array(names, "PolicyNames")) {
        const auto policy =
            simulation.admin("iam", "GetRolePolicy", {{"RoleName", role}, {"PolicyName", name}});
        text += " " + base::to_text(name) + ": " + base::get_string(policy, "PolicyDocument");
    }
    return text;
}

void add_roles(Simulation& simulation, Account& account) {
    const auto roles = simulation.admin("iam", "ListRoles", {{"MaxItems", 1000}});
    for (const auto& each : base::get_array(roles, "Roles")) {
        if (base::get_string(each, "Path") != "/") continue;
        const auto name = base::get_string(each, "RoleName");
        account["role " + name] =
            base::get_string(each, "AssumeRolePolicyDocument") + documents_of(simulation, name) +
            base::to_text(simulation.admin("iam", "ListAttachedRolePolicies", {{"RoleName", name}}));
    }
    const auto providers = simulation.admin("iam", "ListOpenIDConnectProviders", {});
    account["providers"] = base::to_text(base::get_array(providers, "OpenIDConnectProviderList"));
    account["policies"] = base::to_text(
        base::get_array(simulation.admin("iam", "ListPolicies", {{"Scope", "Local"}}), "Policies"));
}

void add_eks(Simulation& simulation, Account& account) {
    const JsonObject of_eks{{"clusterName", kCluster}};
    const auto addons = simulation.admin("eks", "ListAddons", of_eks);
    for (const auto& name : base::get_array(addons, "addons")) {
        auto parameters = of_eks;
        parameters["addonName"] = name;
        const auto addon = base::get_object(simulation.admin("eks", "DescribeAddon", parameters), "addon");
        account["add-on " + std::string(name.as_string())] =
            base::get_string(addon, "addonVersion") + " " + base::get_string(addon, "status") + " " +
            base::get_string(addon, "serviceAccountRoleArn") + " " +
            base::get_string(addon, "configurationValues");
    }
    account["associations"] = base::to_text(
        base::get_array(simulation.admin("eks", "ListPodIdentityAssociations", of_eks), "associations"));
}

void add_sagemaker(Simulation& simulation, Account& account) {
    const auto hyperpod = simulation.admin("sagemaker", "DescribeCluster", {{"ClusterName", kCluster}});
    account["groups"] = base::to_text(base::get_array(hyperpod, "InstanceGroups"));
    account["recovery"] = base::get_string(hyperpod, "NodeRecovery");
    account["tiers"] = base::get_string(hyperpod, "TieredStorageConfig.Mode") == "Enable" ? "on" : "off";
    account["autoscaling"] = base::get_string(hyperpod, "AutoScaling.Mode", "Disable");
    account["tags"] = base::to_text(
        base::get_array(simulation.admin("sagemaker", "ListTags",
                                         {{"ResourceArn", base::get_string(hyperpod, "ClusterArn")}}),
                        "Tags"));
    account["servers"] = base::to_text(base::get_array(
        simulation.admin("sagemaker", "ListMlflowTrackingServers", {}), "TrackingServerSummaries"));
    const auto apps = simulation.admin("sagemaker", "ListMlflowApps", {});
    for (const auto& app : base::get_array(apps, "Summaries")) {
        if (base::get_string(app, "Status") != "Deleted")
            account["app " + base::get_string(app, "Arn")] = base::to_text(app);
    }
    account["workspaces"] =
        base::to_text(base::get_array(simulation.admin("amp", "ListWorkspaces", {}), "workspaces"));
}

void add_buckets(Simulation& simulation, Account& account) {
    const auto buckets = simulation.admin("s3", "ListBuckets", {});
    for (const auto& bucket : base::get_array(buckets, "Buckets")) {
        const auto name = base::get_string(bucket, "Name");
        auto& text = account["bucket " + name];
        if (!name.starts_with("sagemaker-") && !name.starts_with("hyperpod-")) continue;  // the user's own
        for (const char* read :
             {"GetBucketTagging", "GetBucketPolicy", "GetPublicAccessBlock", "GetBucketEncryption"})
            text += base::to_text(simulation.admin("s3", read, {{"Bucket", name}}));
    }
}

void add_rules(Simulation& simulation, Account& account) {
    const auto groups = simulation.admin("ec2", "DescribeSecurityGroups", {});
    for (const auto& group : base::get_array(groups, "SecurityGroups")) {
        account["security group " + base::get_string(group, "GroupId")] =
            base::to_text(base::get_array(group, "IpPermissions")) +
            base::to_text(base::get_array(group, "IpPermissionsEgress"));
    }
}

// AWS brings these with autoscaling, and leaves them.
bool is_karpenters(std::string_view name) {
    return name.ends_with(".karpenter.sh") || name.ends_with(".karpenter.sagemaker.amazonaws.com");
}

// What was asked for: without status, and without what the API server writes of each write.
std::string content_of(JsonObject object) {
    object.erase("status");
    auto metadata = base::get_object(object, "metadata");
    for (const char* member : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})
        metadata.erase(member);
    object["metadata"] = std::move(metadata);
    if (base::get_string(object, "kind") == "PersistentVolume") {
        for (const char* member : {"uid", "resourceVersion"})  // of the claim that it is bound to
            object["spec"].as_object()["claimRef"].as_object().erase(member);
    }
    return base::canonical_text(object);
}

void add_objects(Simulation& simulation, Account& account) {
    for (const char* kind : {"namespaces",
                             "serviceaccounts",
                             "services",
                             "secrets",
                             "configmaps",
                             "deployments.apps",
                             "daemonsets.apps",
                             "customresourcedefinitions.apiextensions.k8s.io",
                             "persistentvolumes",
                             "persistentvolumeclaims",
                             "apiservices.apiregistration.k8s.io",
                             "csidrivers.storage.k8s.io",
                             "clusterroles.rbac.authorization.k8s.io",
                             "clusterrolebindings.rbac.authorization.k8s.io",
                             "roles.rbac.authorization.k8s.io",
                             "rolebindings.rbac.authorization.k8s.io",
                             "ingressclasses.networking.k8s.io",
                             "mutatingwebhookconfigurations.admissionregistration.k8s.io",
                             "validatingwebhookconfigurations.admissionregistration.k8s.io",
                             "nodepools.karpenter.sh",
                             "hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com"}) {
        const auto objects = simulation.objects(kCluster, kind);
        for (const auto& object : objects) {
            const auto name = base::get_string(object, "metadata.name");
            if (is_karpenters(name)) continue;
            account[std::string(kind) + " " + base::get_string(object, "metadata.namespace") + "/" + name] =
                content_of(object.as_object());
        }
    }
}

}  // namespace

Account account_of(Simulation& simulation) {
    Account account;
    add_roles(simulation, account);
    add_eks(simulation, account);
    add_sagemaker(simulation, account);
    add_buckets(simulation, account);
    add_rules(simulation, account);
    add_objects(simulation, account);
    return account;
}

std::string difference(const Account& before, const Account& after) {
    std::string text;
    for (const auto& [key, value] : before) {
        const auto now = after.find(key);
        if (now == after.end()) text += "gone: " + key + "\n";
        if (now != after.end() && now->second != value)
            text += "changed: " + key + ": " + value + " -> " + now->second + "\n";
    }
    for (const auto& [key, value] : after) {
        if (!before.contains(key)) text += "new: " + key + "\n";
    }
    return text;
}

}  // namespace instantstart::sim
