#include "flows/removal_steps.h"

#include "flows/eks_steps.h"

namespace instantstart::flows {

namespace {

// --- Services with load balancers, while their controllers still run

Task<JsonArray> balancer_services(Clusters& env, StepCall call) {
    auto client = co_await env.kube(call.context, eks_of(call));
    if (!client) co_return JsonArray{};  // the control plane is gone or never came
    const auto services = kube::known_resource("services");
    CHECK(services.has_value());
    kube::ListOptions options;
    auto list = co_await (*client)->list(call.context, *services, options);
    if (!list) {
        if (list.error().code == "KubernetesUnreachable" || list.error().kind == base::ErrorKind::denied)
            co_return JsonArray{};
        co_return std::move(list).error();
    }
    JsonArray found;
    for (const auto& service : base::get_array(*list, "items")) {
        if (base::get_string(service, "spec.type") == "LoadBalancer") found.push_back(service);
    }
    co_return found;
}

Task<JsonArray> our_balancers(Clusters& env, StepCall call) {
    CO_TRY(auto all,
           co_await env.aws().collect(call.context, "elbv2", "DescribeLoadBalancers", JsonObject{}));
    JsonArray ours;
    for (std::size_t start = 0; start < all.size(); start += 20) {  // the call takes twenty at most
        JsonArray arns;
        for (std::size_t at = start; at < all.size() && at < start + 20; ++at)
            arns.emplace_back(base::get_string(all[at], "LoadBalancerArn"));
        JsonObject parameters{{"ResourceArns", std::move(arns)}};
        CO_TRY(auto tags,
               co_await env.aws().call(call.context, "elbv2", "DescribeTags", std::move(parameters)));
        for (const auto& row : base::get_array(tags, "TagDescriptions")) {
            const auto& list = base::get_array(row, "Tags");
            const bool of_cluster = domain::tag_of(list, "elbv2.k8s.aws/cluster") == eks_of(call) ||
                                    !domain::tag_of(list, "kubernetes.io/cluster/" + eks_of(call)).empty();
            if (of_cluster) ours.emplace_back(base::get_string(row, "ResourceArn"));
        }
    }
    co_return ours;
}

Task<Observation> observe_workloads(Clusters& env, StepCall call, JsonObject) {
    if (base::get_bool(call.params, "imported"))
        co_return ops::skipped("an imported cluster keeps its workloads");
    CO_TRY(auto services, co_await balancer_services(env, call));
    if (!services.empty() && !base::get_bool(call.memory, "asked")) co_return ops::absent();
    CO_TRY(auto balancers, co_await our_balancers(env, call));
    if (services.empty() && balancers.empty()) co_return ops::done({});
    co_return ops::in_progress(std::to_string(balancers.size()) + " load balancers are still there");
}

Task<JsonObject> act_workloads(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto services, co_await balancer_services(env, call));
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto kind = kube::known_resource("services");
    for (const auto& service : services) {
        CO_CHECK_OK(co_await client->remove(call.context, *kind,
                                            base::get_string(service, "metadata.namespace"),
                                            base::get_string(service, "metadata.name"), "Foreground"));
    }
    co_return JsonObject{{"asked", true}};
}

// --- HyperPod

Task<Observation> observe_hyperpod_gone(Clusters& env, StepCall call, JsonObject) {
    const auto name = base::get_string(call.params, "hyperpod_name");
    JsonObject parameters{{"ClusterName", name}};
    auto answer = co_await env.aws().call(call.context, "sagemaker", "DescribeCluster", std::move(parameters),
                                          look(call));
    env.forget(eks_of(call));
    if (!answer) {
        if (is_absent(answer.error())) co_return ops::done({});
        co_return std::move(answer).error();
    }
    if (!base::get_string(*answer, "Orchestrator.Eks.ClusterArn").ends_with(":cluster/" + eks_of(call))) {
        co_return ops::skipped("HyperPod cluster " + name + " belongs to another EKS cluster");
    }
    if (base::get_string(*answer, "ClusterStatus") == "Deleting")
        co_return ops::in_progress("SageMaker says Deleting");
    co_return ops::absent();
}

Task<JsonObject> act_hyperpod_gone(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"ClusterName", base::get_string(call.params, "hyperpod_name")}};
    auto answer = co_await env.aws().call(call.context, "sagemaker", "DeleteCluster", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    env.forget(eks_of(call));
    co_return JsonObject{};
}

// --- node groups and EKS

Task<JsonArray> node_groups(Clusters& env, StepCall call) {
    JsonObject parameters{{"clusterName", eks_of(call)}};
    auto answer =
        co_await env.aws().call(call.context, "eks", "ListNodegroups", std::move(parameters), look(call));
    if (!answer) {
        if (is_absent(answer.error())) co_return JsonArray{};
        co_return std::move(answer).error();
    }
    co_return base::get_array(*answer, "nodegroups");
}

Task<Observation> observe_node_groups(Clusters& env, StepCall call, JsonObject) {
    if (base::get_bool(call.params, "imported"))
        co_return ops::skipped("an imported cluster keeps its node groups");
    CO_TRY(auto groups, co_await node_groups(env, call));
    if (groups.empty()) co_return ops::done({});
    if (base::get_bool(call.memory, "asked"))
        co_return ops::in_progress(std::to_string(groups.size()) + " node groups are being deleted");
    co_return ops::absent();
}

Task<JsonObject> act_node_groups(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto groups, co_await node_groups(env, call));
    for (const auto& group : groups) {
        JsonObject parameters{{"clusterName", eks_of(call)}, {"nodegroupName", group}};
        auto answer = co_await env.aws().call(call.context, "eks", "DeleteNodegroup", std::move(parameters));
        const bool fine =
            answer || is_absent(answer.error()) || answer.error().code == "ResourceInUseException";
        if (!fine) co_return std::move(answer).error();
    }
    co_return JsonObject{{"asked", true}};
}

Task<Observation> observe_eks_gone(Clusters& env, StepCall call, JsonObject) {
    if (base::get_bool(call.params, "imported")) co_return ops::skipped("the imported EKS cluster stays");
    JsonObject parameters{{"name", eks_of(call)}};
    auto answer =
        co_await env.aws().call(call.context, "eks", "DescribeCluster", std::move(parameters), look(call));
    env.forget(eks_of(call));
    if (!answer) {
        if (is_absent(answer.error())) co_return ops::done({});
        co_return std::move(answer).error();
    }
    const auto* tags = base::find_path(*answer, "cluster.tags");
    if (tags == nullptr || domain::tag_of(*tags, domain::kTagCluster) != cluster_of(call)) {
        co_return ops::impossible(
            base::conflict_error("not_ours", "the EKS cluster does not carry our tags"));
    }
    const auto status = base::get_string(*answer, "cluster.status");
    if (status == "DELETING") co_return ops::in_progress("EKS says DELETING");
    if (status == "CREATING")
        co_return ops::in_progress("EKS says CREATING: it can be deleted once that has ended");
    co_return ops::absent();
}

Task<JsonObject> act_eks_gone(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"name", eks_of(call)}};
    auto answer = co_await env.aws().call(call.context, "eks", "DeleteCluster", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    env.forget(eks_of(call));
    co_return JsonObject{};
}

// --- import

Task<Observation> observe_access_mode(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"name", eks_of(call)}};
    CO_TRY(auto answer, co_await env.aws().call(call.context, "eks", "DescribeCluster", std::move(parameters),
                                                look(call)));
    env.forget(eks_of(call));
    const auto mode = base::get_string(answer, "cluster.accessConfig.authenticationMode");
    const auto status = base::get_string(answer, "cluster.status");
    if (mode != "CONFIG_MAP" && status == "ACTIVE") co_return ops::done({{"mode", mode}});
    if (status == "UPDATING" || mode != "CONFIG_MAP") co_return ops::in_progress("EKS says " + status);
    co_return ops::absent();
}

Task<JsonObject> act_access_mode(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"name", eks_of(call)},
                          {"accessConfig", {{"authenticationMode", "API_AND_CONFIG_MAP"}}},
                          {"clientRequestToken", call.client_token}};
    co_return co_await mutate(env, call, "eks", "UpdateClusterConfig", std::move(parameters));
}

Task<Observation> observe_registered(Clusters& env, StepCall call, JsonObject) {
    auto found = co_await env.find(call.context, cluster_of(call));
    if (found && found->imported && found->eks_name == eks_of(call)) co_return ops::done({});
    if (!found && found.error().kind != base::ErrorKind::not_found && found.error().code != "not_ours") {
        co_return std::move(found).error();
    }
    co_return ops::absent();
}

Task<JsonObject> act_registered(Clusters& env, StepCall call, JsonObject) {
    ClusterRef ref;
    ref.name = cluster_of(call);
    ref.eks_name = eks_of(call);
    ref.hyperpod_name = base::get_string(call.params, "hyperpod_name");
    ref.imported = true;
    CO_CHECK_OK(co_await env.remember_import(call.context, ref));
    co_return JsonObject{};
}

// What was made in the last seconds may be missing from AWS's lists: what is removed is found by them.
constexpr auto kShownAfter = std::chrono::seconds(15);

Task<Observation> observe_shown(Clusters& env, StepCall call, JsonObject) {
    const auto last = base::parse_time(base::get_string(call.params, "last_operation_ended"));
    const auto now = env.clock().now();
    if (!last || now - *last >= kShownAfter || *last > now) co_return ops::done({});
    co_return ops::in_progress("an operation on the cluster has only just ended");
}

}  // namespace

void add_shown(Steps& steps) {
    steps.add(Row("shown", "Wait until AWS lists what was made last", {})
                  .does(&observe_shown, nullptr)
                  .as("check"));
}

void add_workloads_gone(Steps& steps) {
    auto schedule = minutes_of(0.2, 10);
    schedule.limit = std::chrono::minutes(30);
    steps.add(Row("workloads_removed", "Delete load balancers", steps.those_of({"shown"}))
                  .does(&observe_workloads, &act_workloads)
                  .takes(schedule)
                  .as("delete"));
}

void add_hyperpod_gone(Steps& steps, std::vector<std::string> needs) {
    steps.add(Row("hyperpod_removed", "Delete HyperPod cluster", std::move(needs))
                  .does(&observe_hyperpod_gone, &act_hyperpod_gone)
                  .takes(minutes_of(5, 15))
                  .as("delete"));
}

void add_eks_gone(Steps& steps) {
    steps.add(Row("node_groups_removed", "Delete EKS node groups", {"workloads_removed"})
                  .does(&observe_node_groups, &act_node_groups)
                  .takes(minutes_of(0.2, 15))
                  .as("delete"));
    steps.add(Row("eks_removed", "Delete EKS control plane",
                  {"hyperpod_removed", "node_groups_removed", "cross_rules_revoked"})
                  .does(&observe_eks_gone, &act_eks_gone)
                  .takes(minutes_of(3, 15))
                  .as("delete"));
}

void add_hyperpod_removal(Steps& steps) {
    add_hyperpod_gone(steps, {});
    add_roles_gone(steps, "roles_removed", {"hyperpod_removed"}, "nodes");
}

void add_cluster_removal(Steps& steps, const JsonObject&) {
    add_shown(steps);
    add_workloads_gone(steps);
    add_hyperpod_gone(steps, {"workloads_removed"});
    add_managed_gone(steps);
    add_eks_gone(steps);
    add_network_gone(steps);
    add_account_gone(steps);
}

void add_import(Steps& steps, const JsonObject& params) {
    steps.add(Row("access_mode", "Let access entries in", {})
                  .does(&observe_access_mode, &act_access_mode)
                  .takes(minutes_of(2, 15))
                  .as("change"));
    add_find_eks(steps);
    add_access(steps, params);
    steps.add(Row("registered", "Take the cluster in", {"access_mode", "kubernetes_access"})
                  .does(&observe_registered, &act_registered));
}

}  // namespace instantstart::flows
