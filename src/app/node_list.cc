// node.list: the nodes of a cluster, HyperPod's and others, as SageMaker and Kubernetes see them together.
#include "app/cluster_facts.h"
#include "app/cursor.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

constexpr std::int64_t kDefaultLimit = 100;

struct NodeList {
    std::string cluster;
    std::optional<std::string> group;
    std::optional<std::string> health;
    std::optional<std::int64_t> limit;
    std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(NodeList, (), (cluster, group, health, limit, cursor))

bool matches(const JsonValue& row, const NodeList& input) {
    if (input.group && base::get_string(row, "group") != *input.group) return false;
    if (!input.health) return true;
    const bool healthy =
        base::get_bool(row, "ready") && base::get_string(row, "health", "Schedulable") == "Schedulable";
    return *input.health == "healthy" ? healthy : !healthy;
}

Task<Answer> run(Call call, NodeList input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    JsonObject filter{{"cluster", input.cluster},
                      {"group", input.group.value_or("")},
                      {"health", input.health.value_or("")}};
    const auto scope = cursor_scope("node.list", call.caller, filter);
    CO_TRY(const auto after, read_cursor(scope, input.cursor.value_or("")));
    CO_TRY(auto facts, co_await node_facts(call, target));
    const auto limit = static_cast<std::size_t>(input.limit.value_or(kDefaultLimit));
    JsonArray rows;
    std::int64_t total = 0;
    std::string next;
    for (auto& row : facts.nodes) {
        if (!matches(row, input)) continue;
        ++total;
        const auto name = base::get_string(row, "name");
        if (!after.empty() && name <= after) continue;
        if (rows.size() == limit) {
            if (next.empty()) next = base::get_string(rows.back(), "name");
            continue;
        }
        rows.push_back(std::move(row));
    }
    Answer answer;
    answer.cluster = target.ref.name;
    answer.summary = std::to_string(total) + " nodes, " + std::to_string(facts.ready) + " ready.";
    if (facts.unreachable) answer.warnings.push_back("Only what AWS knows: " + facts.unreachable->message);
    answer.body["nodes"] = std::move(rows);
    answer.body["total"] = total;
    if (!next.empty()) {
        answer.body["next_cursor"] = make_cursor(scope, next);
        answer.body["truncated"] = true;
    }
    co_return answer;
}

struct NodeGet {
    std::string cluster;
    std::string node;
};
BOOST_DESCRIBE_STRUCT(NodeGet, (), (cluster, node))

Task<Answer> get(Call call, NodeGet input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto facts, co_await node_facts(call, target));
    for (auto& row : facts.nodes) {
        if (base::get_string(row, "name") != input.node && base::get_string(row, "instance_id") != input.node)
            continue;
        Answer answer;
        answer.cluster = target.ref.name;
        answer.summary = "Node " + base::get_string(row, "name") +
                         (base::get_bool(row, "ready") ? " is ready." : " is not ready.");
        answer.body["node"] = std::move(row);
        co_return answer;
    }
    std::vector<std::string> names;
    for (const auto& row : facts.nodes) names.push_back(base::get_string(row, "name"));
    const auto near = base::nearest(input.node, names);
    co_return base::not_found_error("node \"" + input.node + "\"")
        .with_hint(near.empty() ? "node.list names the nodes." : "Is " + near + " meant?");
}

}  // namespace

std::unique_ptr<Operation> make_node_list() {
    Meta meta;
    meta.id = "node.list";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}/nodes";
    meta.summary = "The nodes of a cluster: instance and Kubernetes state, health, accelerators in use.";
    meta.area = "nodes";
    meta.uses = {"eks:DescribeCluster", "sagemaker:DescribeCluster", "sagemaker:ListClusters",
                 "sagemaker:ListClusterNodes"};
    return make_query<NodeList>(
        std::move(meta),
        {cluster_field(), Field("group", "Only nodes of this instance group.").length(1, 63).like("workers"),
         Field("health", "Only nodes that are usable, or that are not.")
             .one_of({"healthy", "unhealthy"})
             .like("unhealthy"),
         Field("limit", "How many at most; 100 where left out.").range(1, 500).like(50),
         Field("cursor", "next_cursor of the page before.").length(0, 1024)},
        &run);
}

std::unique_ptr<Operation> make_node_get() {
    Meta meta;
    meta.id = "node.get";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}/nodes/{node}";
    meta.summary =
        "One node by its Kubernetes name or instance id: state in both layers, health and accelerators.";
    meta.area = "nodes";
    meta.uses = {"eks:DescribeCluster", "sagemaker:DescribeCluster", "sagemaker:ListClusters",
                 "sagemaker:ListClusterNodes"};
    return make_query<NodeGet>(std::move(meta),
                               {cluster_field(), Field("node", "Kubernetes name or instance id.")
                                                     .length(1, 253)
                                                     .like("hyperpod-i-0123456789abcdef0")},
                               &get);
}

}  // namespace instantstart::app
