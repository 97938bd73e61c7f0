// node_group.list: the EKS managed node groups of a cluster, and what their operations share.
#include <algorithm>
#include <map>

#include "app/cluster_inputs.h"
#include "app/domain_makers.h"
#include "app/node_group_rows.h"
#include "app/typed_operation.h"
#include "domain/names.h"
#include "flows/node_group_steps.h"

namespace instantstart::app {

namespace {

struct NodeGroupList {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(NodeGroupList, (), (cluster))

JsonArray conditions_of(const JsonObject& group) {
    JsonArray list;
    for (const auto& issue : base::get_array(group, "health.issues")) {
        list.push_back(JsonObject{{"type", base::get_string(issue, "code")},
                                  {"message", domain::clean_text(base::get_string(issue, "message"), 300)}});
    }
    return list;
}

}  // namespace

Meta node_group_meta(std::string id, std::string method, std::string path, std::string summary) {
    Meta meta;
    meta.id = std::move(id);
    meta.method = std::move(method);
    meta.path = "/clusters/{cluster}/node-groups" + std::move(path);
    meta.summary = std::move(summary);
    meta.area = "nodes";
    meta.default_tool = false;
    if (meta.method != "GET") {
        meta.role = Role::operator_role;
        meta.shows_result = "node_group.list";
    }
    return meta;
}

JsonObject node_group_row(const JsonObject& group) {
    return {{"name", base::get_string(group, "nodegroupName")},
            {"status", base::get_string(group, "status")},
            {"instance_types", base::get_array(group, "instanceTypes")},
            {"capacity", base::get_string(group, "capacityType") == "SPOT" ? "spot" : "on_demand"},
            {"target_count", base::get_int(group, "scalingConfig.desiredSize")},
            {"min_count", base::get_int(group, "scalingConfig.minSize")},
            {"max_count", base::get_int(group, "scalingConfig.maxSize")},
            {"version", base::get_string(group, "version")},
            {"ami_type", base::get_string(group, "amiType")},
            {"labels", base::get_object(group, "labels")},
            {"taints", base::get_array(group, "taints")},
            {"subnet_ids", base::get_array(group, "subnets")},
            {"role_arn", base::get_string(group, "nodeRole")},
            {"launch_template", base::get_string(group, "launchTemplate.id")},
            {"created_at", base::get_string(group, "createdAt")},
            {"conditions", conditions_of(group)}};
}

Task<void> add_node_group_zones(Call call, JsonArray& rows) {
    JsonArray ids;
    for (const auto& row : rows) {
        for (const auto& id : base::get_array(row, "subnet_ids")) ids.push_back(id);
    }
    if (ids.empty()) co_return base::ok();
    JsonObject parameters{{"SubnetIds", std::move(ids)}};
    auto subnets =
        co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets", std::move(parameters));
    if (!subnets && subnets.error().kind == base::ErrorKind::cancelled) co_return std::move(subnets).error();
    if (!subnets) co_return base::ok();  // the zones are what is left out then
    for (auto& row : rows) {
        JsonArray zones;
        for (const auto& subnet : *subnets) {
            const auto& own = base::get_array(row, "subnet_ids");
            const JsonValue id(base::get_string(subnet, "SubnetId"));
            if (std::find(own.begin(), own.end(), id) != own.end())
                zones.emplace_back(base::get_string(subnet, "AvailabilityZone"));
        }
        row.as_object()["zones"] = std::move(zones);
    }
    co_return base::ok();
}

namespace {

// Nodes that Kubernetes has Ready, by group; none where it cannot be asked.
Task<std::map<std::string, std::int64_t>> ready_by_group(Call call, std::string eks_name) {
    std::map<std::string, std::int64_t> ready;
    auto client = co_await call.services->clusters.kube(call.context, eks_name);
    if (!client) co_return ready;
    kube::ListOptions options;
    options.label_selector = "eks.amazonaws.com/nodegroup";
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    auto list = co_await (*client)->list(call.context, *nodes, options);
    if (!list && list.error().kind == base::ErrorKind::cancelled) co_return std::move(list).error();
    if (!list) co_return ready;
    for (const auto& node : base::get_array(*list, "items")) {
        const auto& labels = base::get_object(node, "metadata.labels");
        const auto* group = labels.if_contains("eks.amazonaws.com/nodegroup");
        for (const auto& condition : base::get_array(node, "status.conditions")) {
            const bool is_ready = base::get_string(condition, "type") == "Ready" &&
                                  base::get_string(condition, "status") == "True";
            if (is_ready && group != nullptr && group->is_string()) ++ready[std::string(group->get_string())];
        }
    }
    co_return ready;
}

Task<Answer> list(Call call, NodeGroupList input) {
    CO_TRY(auto ref, co_await call.services->clusters.find(call.context, input.cluster));
    JsonObject parameters{{"clusterName", ref.eks_name}};
    CO_TRY(auto names,
           co_await call.services->aws.collect(call.context, "eks", "ListNodegroups", std::move(parameters)));
    CO_TRY(auto ready, co_await ready_by_group(call, ref.eks_name));
    JsonArray rows;
    for (const auto& name : names) {
        const auto text = std::string(name.as_string());
        CO_TRY(auto group, co_await flows::describe_node_group(call.services->clusters, call.context,
                                                               ref.eks_name, text));
        if (group.empty()) continue;
        auto row = node_group_row(group);
        row["current_count"] = ready[text];
        rows.push_back(std::move(row));
    }
    CO_CHECK_OK(co_await add_node_group_zones(call, rows));
    Answer answer;
    answer.cluster = ref.name;
    answer.summary = std::to_string(rows.size()) + " node groups.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["node_groups"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_node_group_list() {
    auto meta = node_group_meta("node_group.list", "GET", "",
                                "The EKS node groups of a cluster: plain EC2 nodes for system pods.");
    meta.uses = {"eks:DescribeCluster", "eks:ListClusters", "eks:ListNodegroups", "eks:DescribeNodegroup",
                 "ec2:DescribeSubnets"};
    return make_query<NodeGroupList>(std::move(meta), {cluster_field()}, &list);
}

}  // namespace instantstart::app
