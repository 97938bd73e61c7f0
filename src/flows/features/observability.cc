// HyperPod observability: exporters and collectors whose metrics go to a Prometheus workspace. Grafana is
// not ours: it needs an Identity Center organisation and people's sign-in.
#include <algorithm>
#include <cstdlib>

#include "domain/instance_type.h"
#include "flows/features/kinds.h"
#include "flows/features/prometheus.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kAddon = "amazon-sagemaker-hyperpod-observability";
constexpr const char* kNamespace = "hyperpod-observability";
constexpr const char* kAccount = "hyperpod-observability-operator-otel-collector";
constexpr const char* kGiven = "$desired.observability.workspace_arn";
constexpr std::int64_t kCores = 16;  // its collectors ask for more than a node below 4xlarge has

std::string permissions(const StepCall& call) {
    return domain::observability_policy(scope_of(call), cluster_of(call),
                                        base::get_string(call.params, "desired.observability.workspace_arn"));
}

std::vector<Part> parts(const JsonObject& settings) {
    const bool given = !base::get_string(settings, "workspace_arn").empty();
    return {
        component_part("pod_identity_agent"),
        Part("workspace", workspace_kind(),
             given ? std::string("Prometheus workspace ") + kGiven : "Prometheus workspace of the cluster",
             {{"workspace_arn", kGiven}}),
        role_part("role", "observability", {{"trust", "pods"}}).grants(&permissions),
        Part("association", association_kind(), "Pod Identity association of its collector",
             {{"namespace", kNamespace}, {"service_account", kAccount}, {"purpose", "observability"}}),
        Part("addon", observer_kind(), std::string("EKS add-on ") + kAddon,
             {{"name", kAddon}, {"workspace_arn", kGiven}})
            .anchors()};
}

// What the type has by AWS's table: HyperPod's nodes show half of it where their cores run one thread.
std::int64_t vcpus_of(const JsonValue& node) {
    const auto* labels = base::find_path(node, "metadata.labels");
    const auto type = labels == nullptr ? "" : domain::tag_of(*labels, "node.kubernetes.io/instance-type");
    const auto* known = domain::find_instance_type(type.starts_with("ml.") ? type : "ml." + type);
    if (known != nullptr) return known->vcpus;
    const auto* cpu = base::find_path(node, "status.capacity.cpu");
    if (cpu == nullptr) return 0;
    if (cpu->is_number()) return cpu->to_number<std::int64_t>();
    return cpu->is_string() ? std::strtoll(cpu->get_string().c_str(), nullptr, 10) : 0;
}

// Metrics do not move: a workspace that was made here would be left over.
Task<std::string> moved_workspace(Clusters& env, StepCall call) {
    const auto given = base::get_string(call.params, "desired.observability.workspace_arn");
    if (given.empty()) co_return std::string();
    CO_TRY(const auto own, co_await own_workspace(env, call));
    if (own.empty() || own == given) co_return std::string();
    co_return "metrics go to " + own +
        ", which was made for it: switch it off, then on with the other workspace";
}

Task<bool> has_large_node(Clusters& env, StepCall call) {
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    kube::ListOptions options;
    options.page_size = 500;
    CO_TRY(auto list, co_await client->list(call.context, *nodes, options));
    for (const auto& node : base::get_array(list, "items")) {
        if (vcpus_of(node) >= kCores) co_return true;
    }
    co_return false;
}

// HyperPod may take any of a group's types.
bool has_cores(const domain::InstanceGroup& group) {
    const auto types = group.types();
    return group.count > 0 && !types.empty() &&
           std::all_of(types.begin(), types.end(), [](const std::string& name) {
               const auto* type = domain::find_instance_type(name);
               return type == nullptr || type->vcpus >= kCores;
           });
}

std::vector<base::FieldError> launch_faults(const std::vector<domain::InstanceGroup>& groups,
                                            const JsonObject&) {
    if (std::any_of(groups.begin(), groups.end(), &has_cores)) return {};
    base::FieldError small;
    small.message =
        "its collectors need a node of 16 vCPU (4xlarge) or more, and no instance group with a count above 0 "
        "has such: choose a larger type, or leave the feature out";
    return {std::move(small)};
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    std::vector<std::string> found;
    CO_TRY(auto moved, co_await moved_workspace(env, call));
    if (!moved.empty()) found.push_back(std::move(moved));
    CO_TRY(const bool large, co_await has_large_node(env, call));
    if (!large)
        found.emplace_back(
            "its collectors need a node of 16 vCPU (4xlarge) or more, and the cluster has none: add an "
            "instance group of such a type");
    co_return found;
}

}  // namespace

Feature observability() {
    Feature feature;
    feature.id = "observability";
    feature.title = "HyperPod observability";
    feature.summary =
        "Sends metrics of nodes, accelerators, network and jobs to a workspace of Amazon Managed Prometheus.";
    feature.defaults = {{"workspace_arn", ""}};
    feature.needs_hyperpod = true;
    feature.needs_nodes = true;
    feature.loss = "the metrics in a workspace that was made for it (a given workspace stays)";
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    feature.launch_faults = &launch_faults;
    return feature;
}

}  // namespace instantstart::flows
