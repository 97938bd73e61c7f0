#include "flows/eks_steps.h"

#include <set>

#include "base/text.h"
#include "flows/role_steps.h"
#include "ops/proof.h"

namespace instantstart::flows {

JsonObject access_request(const StepCall& call, std::string principal) {
    return {{"clusterName", eks_of(call)},
            {"principalArn", std::move(principal)},
            {"type", "STANDARD"},
            {"tags", domain::tag_map(owner_of(call, "access"))},
            {"clientRequestToken", call.client_token}};
}

JsonObject eks_request(const StepCall& call, JsonArray subnets) {
    JsonObject network{
        {"subnetIds", std::move(subnets)},
        {"securityGroupIds", JsonArray{JsonValue(base::get_string(call.result_of("security_group"), "id"))}},
        {"endpointPublicAccess", true},
        {"endpointPrivateAccess", true}};
    const auto& ranges = base::get_array(call.params, "network.api_cidrs");
    if (!ranges.empty()) network["publicAccessCidrs"] = ranges;
    JsonObject parameters{
        {"name", eks_of(call)},
        {"version", base::get_string(call.params, "kubernetes_version")},
        {"roleArn", base::get_string(call.result_of("cluster_role"), "arn")},
        {"resourcesVpcConfig", std::move(network)},
        {"accessConfig",
         {{"authenticationMode", "API_AND_CONFIG_MAP"}, {"bootstrapClusterCreatorAdminPermissions", false}}},
        {"bootstrapSelfManagedAddons", false},
        {"upgradePolicy", {{"supportType", "STANDARD"}}},
        {"tags", domain::tag_map(owner_of(call, "eks"))},
        {"clientRequestToken", call.client_token}};
    const auto& logs = base::get_array(call.params, "log_types");
    if (!logs.empty()) {
        parameters["logging"] = {
            {"clusterLogging", JsonArray{JsonObject{{"types", logs}, {"enabled", true}}}}};
    }
    const auto key = base::get_string(call.params, "kms_key_arn");
    if (!key.empty()) {
        parameters["encryptionConfig"] =
            JsonArray{JsonObject{{"resources", JsonArray{"secrets"}}, {"provider", {{"keyArn", key}}}}};
    }
    return parameters;
}

JsonObject eks_facts(const JsonObject& cluster) {
    const auto issuer = base::get_string(cluster, "identity.oidc.issuer");
    return {
        {"arn", base::get_string(cluster, "arn")},
        {"endpoint", base::get_string(cluster, "endpoint")},
        {"issuer", issuer.starts_with("https://") ? issuer.substr(8) : issuer},
        {"cluster_security_group_id", base::get_string(cluster, "resourcesVpcConfig.clusterSecurityGroupId")},
        {"vpc_id", base::get_string(cluster, "resourcesVpcConfig.vpcId")},
        {"version", base::get_string(cluster, "version")}};
}

namespace {

Observation of_cluster(const JsonObject& cluster) {
    const auto status = base::get_string(cluster, "status");
    if (status == "FAILED") {
        return ops::impossible(
            base::conflict_error("eks_failed",
                                 "EKS says FAILED: " + base::to_text(base::get_object(cluster, "health")))
                .with_hint("Delete the cluster and create it again."));
    }
    if (status != "ACTIVE" && status != "UPDATING") return ops::in_progress("EKS says " + status);
    return ops::done(eks_facts(cluster));
}

// args: {"make": bool}
Task<Observation> observe_eks(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters{{"name", eks_of(call)}};
    auto answer =
        co_await env.aws().call(call.context, "eks", "DescribeCluster", std::move(parameters), look(call));
    const bool makes = base::get_bool(args, "make");
    if (!answer) {
        if (!is_absent(answer.error())) co_return std::move(answer).error();
        if (makes && is_fresh(env, call)) co_return ops::in_progress("waiting until EKS shows the cluster");
        if (makes) co_return ops::absent();
        co_return ops::impossible(base::not_found_error("EKS cluster \"" + eks_of(call) + "\""));
    }
    const auto& cluster = base::get_object(*answer, "cluster");
    const auto* tags = cluster.if_contains("tags");
    if (makes && (tags == nullptr || domain::tag_of(*tags, domain::kTagCluster) != cluster_of(call))) {
        co_return ops::impossible(
            base::conflict_error("not_ours", "an EKS cluster of this name exists without our tags")
                .with_hint("Choose another name, or take it in with cluster.import."));
    }
    env.forget(eks_of(call));
    co_return of_cluster(cluster);
}

Task<JsonObject> create_eks(Clusters& env, StepCall call, JsonObject just_moved) {
    CO_TRY(auto subnets, co_await control_subnets(env, call, std::move(just_moved)));
    auto parameters = eks_request(call, std::move(subnets));
    co_return co_await mutate(env, call, "eks", "CreateCluster", std::move(parameters));
}

Task<JsonObject> act_eks(Clusters& env, StepCall call, JsonObject) {
    JsonObject moved;
    auto answer = co_await create_eks(env, call, moved);
    if (!answer && has_code(answer.error(), {"UnsupportedAvailabilityZoneException"})) {
        CO_TRY(moved, co_await move_control_subnets(env, call, answer.error()));
        answer = co_await create_eks(env, call, moved);
    }
    if (!answer) co_return std::move(answer).error();
    co_return made(env, eks_of(call));
}

// --- access entries

std::string principal_of(const StepCall& call, const JsonObject& args) {
    const auto& list = base::get_array(call.params, "principals");
    const auto index = static_cast<std::size_t>(base::get_int(args, "index"));
    return index < list.size() ? std::string(list.at(index).as_string()) : "";
}

Task<Observation> observe_entry(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters{{"clusterName", eks_of(call)}, {"principalArn", principal_of(call, args)}};
    auto answer = co_await env.aws().call(call.context, "eks", "DescribeAccessEntry", std::move(parameters),
                                          look(call));
    if (answer) co_return ops::done({});
    if (!is_absent(answer.error())) co_return std::move(answer).error();
    co_return ops::absent();
}

Task<JsonObject> act_entry(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters = access_request(call, principal_of(call, args));
    co_return co_await settle(env, call, "eks", "CreateAccessEntry", std::move(parameters));
}

std::string admin_policy(const StepCall& call) {
    return "arn:" + scope_of(call).partition + ":eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";
}

Task<Observation> observe_entry_policy(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters{{"clusterName", eks_of(call)}, {"principalArn", principal_of(call, args)}};
    auto answer = co_await env.aws().call(call.context, "eks", "ListAssociatedAccessPolicies",
                                          std::move(parameters), look(call));
    if (!answer) {
        if (is_absent(answer.error())) co_return ops::in_progress("waiting until EKS shows the access entry");
        co_return std::move(answer).error();
    }
    for (const auto& policy : base::get_array(*answer, "associatedAccessPolicies")) {
        if (base::get_string(policy, "policyArn") == admin_policy(call)) co_return ops::done({});
    }
    co_return ops::absent();
}

Task<JsonObject> act_entry_policy(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters{{"clusterName", eks_of(call)},
                          {"principalArn", principal_of(call, args)},
                          {"policyArn", admin_policy(call)},
                          {"accessScope", {{"type", "cluster"}}}};
    co_return co_await settle(env, call, "eks", "AssociateAccessPolicy", std::move(parameters));
}

// An access change takes up to two minutes to reach the API server; until then it answers 401 or 403.
Task<Observation> observe_kubernetes(Clusters& env, StepCall call, JsonObject) {
    auto client = co_await env.kube(call.context, eks_of(call));
    if (!client) {
        if (client.error().code == "KubernetesUnreachable")
            co_return ops::in_progress(client.error().message);
        co_return std::move(client).error();
    }
    const auto namespaces = kube::known_resource("namespaces");
    CHECK(namespaces.has_value());
    auto seen = co_await (*client)->get(call.context, *namespaces, "", "kube-system");
    if (seen) co_return ops::done({});
    if (seen.error().kind == base::ErrorKind::denied || seen.error().code == "KubernetesUnreachable") {
        auto waiting = ops::in_progress("waiting for access: " + seen.error().message);
        waiting.conditions = {
            {"type", seen.error().code}, {"message", seen.error().message}, {"hint", seen.error().hint}};
        co_return waiting;
    }
    co_return std::move(seen).error();
}

// --- OIDC provider

}  // namespace

std::string provider_arn(const StepCall& call) {
    const auto scope = scope_of(call);
    return "arn:" + scope.partition + ":iam::" + scope.account + ":oidc-provider/" +
           base::get_string(call.result_of("eks"), "issuer");
}

namespace {

Task<Observation> observe_oidc(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"OpenIDConnectProviderArn", provider_arn(call)}};
    auto answer = co_await env.aws().call(call.context, "iam", "GetOpenIDConnectProvider",
                                          std::move(parameters), look(call));
    if (answer) co_return ops::done({{"arn", provider_arn(call)}});
    if (!is_absent(answer.error())) co_return std::move(answer).error();
    if (is_fresh(env, call)) co_return ops::in_progress("waiting until IAM shows the provider");
    co_return ops::absent();
}

Task<JsonObject> act_oidc(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"Url", "https://" + base::get_string(call.result_of("eks"), "issuer")},
                          {"ClientIDList", JsonArray{"sts.amazonaws.com"}},
                          {"Tags", domain::tag_list(owner_of(call, "oidc_provider"))}};
    CO_TRY(auto answer,
           co_await mutate(env, call, "iam", "CreateOpenIDConnectProvider", std::move(parameters)));
    if (base::get_bool(answer, "already")) co_return made(env, provider_arn(call));
    co_return ops::proven(made(env, provider_arn(call)), {{"arn", provider_arn(call)}});
}

}  // namespace

void add_access(Steps& steps, const JsonObject& params) {
    std::vector<std::string> needs{"eks"};
    const auto count = base::get_array(params, "principals").size();
    for (std::size_t index = 0; index < count; ++index) {
        const auto id = "access_" + std::to_string(index);
        const JsonObject args{{"index", static_cast<std::int64_t>(index)}};
        steps.add(
            Row(id,
                "Give access to " + std::string(base::get_array(params, "principals").at(index).as_string()),
                {"eks"})
                .does(&observe_entry, &act_entry)
                .with(args));
        steps.add(Row(id + "_policy", "Make it cluster administrator", {id})
                      .does(&observe_entry_policy, &act_entry_policy)
                      .with(args));
        needs.push_back(id + "_policy");
    }
    steps.add(Row("kubernetes_access", "Reach the Kubernetes API", needs)
                  .does(&observe_kubernetes, nullptr)
                  .as("check"));
}

void add_oidc(Steps& steps) {
    steps.add(Row("oidc_provider", "Create OIDC provider", {"eks"}).does(&observe_oidc, &act_oidc));
}

void add_eks(Steps& steps, const JsonObject& params) {
    RolePlan role("cluster_role", "EKS control plane", "eks");
    role.service = "eks.amazonaws.com";
    role.managed = {"AmazonEKSClusterPolicy"};
    add_role(steps, role);
    std::vector<std::string> needs{"cluster_role_policies", "security_group"};
    for (const auto& id :
         steps.those_of({"vpc_dns", "subnet_control_0", "subnet_control_1", "subnet_control_2"}))
        needs.push_back(id);
    steps.add(Row("eks", "Create EKS control plane", needs)
                  .does(&observe_eks, &act_eks)
                  .with({{"make", true}})
                  .takes(minutes_of(9, 15))
                  .iam());
    add_access(steps, params);
    add_oidc(steps);
}

void add_find_eks(Steps& steps) {
    steps.add(Row("eks", "Find the EKS cluster", steps.those_of({"access_mode"}))
                  .does(&observe_eks, nullptr)
                  .with({{"make", false}})
                  .as("check"));
}

}  // namespace instantstart::flows
