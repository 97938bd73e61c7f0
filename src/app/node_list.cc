// node.list: the nodes of a cluster, HyperPod's and others, as SageMaker and Kubernetes see them together.
#include <algorithm>

#include "app/cluster_facts.h"
#include "app/cursor.h"
#include "app/domain_makers.h"
#include "app/node_details.h"
#include "app/typed_operation.h"
#include "base/text.h"
#include "flows/node_steps.h"

namespace instantstart::app {

namespace {

constexpr std::int64_t kDefaultLimit = 100;

struct NodeList {
    std::string cluster;
    std::optional<std::string> group;
    std::optional<std::string> health;
    std::optional<std::string> search;
    std::optional<std::int64_t> limit;
    std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(NodeList, (), (cluster, group, health, search, limit, cursor))

// Kubernetes' word on the group and the health counts where there is one.
bool is_in_group(const FleetNodes& nodes, const HyperpodNode* aws, const kube::Node* node,
                 const std::string& group) {
    if (node != nullptr && node->group != 0) return nodes.kubernetes->symbols().text(node->group) == group;
    return aws != nullptr && *aws->group == group;
}

bool is_healthy(const FleetNodes& nodes, const kube::Node* node) {
    if (node == nullptr || !node->ready) return false;
    const auto& health = nodes.kubernetes->symbols().text(node->health);
    return health.empty() || health == "Schedulable";
}

bool matches(const FleetNodes& nodes, const std::string& name, const HyperpodNode* aws,
             const kube::Node* node, const NodeList& input) {
    if (input.group && !is_in_group(nodes, aws, node, *input.group)) return false;
    if (input.health && is_healthy(nodes, node) != (*input.health == "healthy")) return false;
    return !input.search || name.find(*input.search) != std::string::npos;
}

struct Page {
    Page() = default;
    JsonArray rows;
    std::int64_t total = 0, ready = 0;  // of all that match
    std::string last;                   // the last row's name where more follow
};

// One walk over small records; only the page's own rows become JSON.
Page page_of(const FleetNodes& nodes, const NodeList& input, const std::string& after) {
    Page page;
    const auto limit = static_cast<std::size_t>(input.limit.value_or(kDefaultLimit));
    std::string last;
    nodes.each_from("", [&](const std::string& name, const HyperpodNode* aws, const kube::Node* node) {
        if (!matches(nodes, name, aws, node, input)) return true;
        ++page.total;
        page.ready += node != nullptr && node->ready ? 1 : 0;
        if (!after.empty() && name <= after) return true;
        if (page.rows.size() == limit) {
            page.last = last;
            return true;
        }
        page.rows.push_back(node_row(name, aws, node, nodes.kubernetes.get()));
        last = name;
        return true;
    });
    return page;
}

Task<FleetNodes> nodes_of(Call call, Target target) {
    const auto move = last_move(call, target.ref.name);
    co_return co_await call.services->fleet->nodes(target, move.state);
}

void warn_of(const FleetNodes& nodes, Answer& answer) {
    const auto condition = freshness_condition(nodes);
    if (condition.empty()) return;
    const bool known = nodes.kubernetes && nodes.kubernetes->nodes().size() > 0;
    answer.warnings.push_back(
        std::string(known ? "Kubernetes' side as it was seen last: " : "Only what AWS knows: ") +
        base::get_string(condition, "message"));
}

Task<Answer> run(Call call, NodeList input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    JsonObject filter{{"cluster", input.cluster},
                      {"group", input.group.value_or("")},
                      {"health", input.health.value_or("")},
                      {"search", input.search.value_or("")}};
    const auto scope = cursor_scope("node.list", call.caller, filter);
    CO_TRY(const auto after, read_cursor(scope, input.cursor.value_or("")));
    CO_TRY(const auto nodes, co_await nodes_of(call, target));
    auto page = page_of(nodes, input, after);
    Answer answer;
    answer.cluster = target.ref.name;
    answer.summary = std::to_string(page.total) + " nodes, " + std::to_string(page.ready) + " ready.";
    warn_of(nodes, answer);
    answer.body["nodes"] = std::move(page.rows);
    answer.body["total"] = page.total;
    if (!page.last.empty()) {
        answer.body["next_cursor"] = make_cursor(scope, page.last);
        answer.body["truncated"] = true;
    }
    co_return answer;
}

struct NodeGet {
    std::string cluster;
    std::string node;
};
BOOST_DESCRIBE_STRUCT(NodeGet, (), (cluster, node))

// Names that may have been meant: some that stand where it would stand, were its last letters others. To
// compare it with all would take long.
std::vector<std::string> names_near(const FleetNodes& nodes, const std::string& name) {
    constexpr std::size_t kSome = 50;
    std::vector<std::string> names;
    for (const std::size_t cut : {1U, 2U, 4U, 8U}) {
        const auto begin = name.substr(0, name.size() - std::min(cut, name.size()));
        for (const auto& start : {begin, flows::node_name_of(begin)}) {
            std::size_t left = kSome;
            nodes.each_from(start, [&](const std::string& each, const HyperpodNode*, const kube::Node*) {
                names.push_back(each);
                return --left > 0;
            });
        }
    }
    return names;
}

// SageMaker is asked only where the name is neither a Kubernetes node's nor an instance's.
Task<std::string> name_behind(Call call, Target target, std::string node) {
    const bool logical =
        !node.starts_with("i-") && flows::instance_id_of(node) == node && node.find('.') == std::string::npos;
    if (!logical) co_return std::string();
    co_return co_await name_by_logical_id(call, target, node);
}

Task<Answer> get(Call call, NodeGet input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(const auto nodes, co_await nodes_of(call, target));
    Answer answer;
    answer.cluster = target.ref.name;
    JsonObject row;
    CO_TRY(const auto by_logical, co_await name_behind(call, target, input.node));
    for (const auto& wanted : {input.node, flows::node_name_of(input.node), by_logical}) {
        if (wanted.empty() || !row.empty()) continue;
        nodes.each_from(
            wanted, [&](const std::string& name, const HyperpodNode* aws, const kube::Node* node) {
                if (name != wanted) return false;
                answer.summary =
                    "Node " + name + (node != nullptr && node->ready ? " is ready." : " is not ready.");
                row = node_row(name, aws, node, nodes.kubernetes.get());
                return false;
            });
    }
    warn_of(nodes, answer);
    if (!row.empty()) {
        CO_TRY(auto warnings, co_await add_node_details(call, target, nodes.hyperpod, row));
        for (auto& warning : warnings) answer.warnings.push_back(std::move(warning));
        answer.body["node"] = std::move(row);
        co_return answer;
    }
    const auto near = base::nearest(input.node, names_near(nodes, input.node));
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
         Field("search", "Only nodes whose name, which holds HyperPod's instance id, contains this text.")
             .length(1, 253)
             .like("0abc"),
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
        "One node by its Kubernetes name, instance id or logical id: state in both layers, health, deep "
        "check, "
        "faults, image, capacity and its history.";
    meta.area = "nodes";
    meta.uses = {"eks:DescribeCluster",           "sagemaker:DescribeCluster",
                 "sagemaker:DescribeClusterNode", "sagemaker:DescribeClusterEvent",
                 "sagemaker:ListClusterEvents",   "sagemaker:ListClusterNodes",
                 "sagemaker:ListClusters"};
    return make_query<NodeGet>(std::move(meta),
                               {cluster_field(), Field("node", "Kubernetes name, instance id or logical id.")
                                                     .length(1, 253)
                                                     .like("hyperpod-i-0123456789abcdef0")},
                               &get);
}

}  // namespace instantstart::app
