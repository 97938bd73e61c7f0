#include "app/fleet.h"

#include <algorithm>
#include <optional>

#include "aws/pages.h"
#include "domain/instance_type.h"
#include "domain/names.h"

namespace instantstart::app {

namespace {

using namespace std::chrono_literals;

// For the first list of a cluster's objects: 10,000 nodes and 100,000 pods take some seconds.
constexpr auto kFirstList = 3s;
constexpr auto kCountsFresh = 100ms;
constexpr std::size_t kMostEntries = 1000;

// A hundred nodes a page: ten thousand take AWS half a minute, and are rarely others than a minute ago;
// whether they are ready is Kubernetes' word, which is always new.
KeptSettings node_settings() {
    KeptSettings settings;
    settings.freshest = 2min;
    settings.patience = 2s;
    return settings;
}

HyperpodNode node_of(const JsonValue& summary) {
    HyperpodNode node;
    node.id = base::get_string(summary, "InstanceId");
    node.name = "hyperpod-" + node.id;
    node.group = base::get_string(summary, "InstanceGroupName");
    node.type = base::get_string(summary, "InstanceType");
    node.status = base::get_string(summary, "InstanceStatus.Status");
    node.message = domain::clean_text(base::get_string(summary, "InstanceStatus.Message"), 300);
    node.launched_at = base::get_string(summary, "LaunchTime");
    node.image_status = base::get_string(summary, "ImageVersionStatus");
    return node;
}

}  // namespace

void FleetNodes::each_from(const std::string& from, const Visit& visit) const {
    static const kube::NodeTable::Nodes kNone;
    static const HyperpodNodes kNobody;
    const auto& nodes = kubernetes ? kubernetes->nodes().nodes() : kNone;
    const auto& machines = hyperpod ? *hyperpod : kNobody;
    auto node = nodes.lower_bound(from);
    auto machine = std::partition_point(machines.begin(), machines.end(),
                                        [&](const HyperpodNode& each) { return each.name < from; });
    while (node != nodes.end() || machine != machines.end()) {
        const bool left = node != nodes.end();
        const int order = !left ? 1 : machine == machines.end() ? -1 : node->first.compare(machine->name);
        const auto* seen_by_aws = order >= 0 ? &*machine : nullptr;
        const auto* seen_by_kubernetes = order <= 0 ? &node->second : nullptr;
        const auto& name = order <= 0 ? node->first : machine->name;
        if (!visit(name, seen_by_aws, seen_by_kubernetes)) return;
        if (order <= 0) ++node;
        if (order >= 0) ++machine;
    }
}

// What counts were made of.
struct Counted {
    Counted() = default;
    std::shared_ptr<const HyperpodNodes> hyperpod;
    std::weak_ptr<kube::ClusterCache> kubernetes;
    std::uint64_t nodes = 0, use = 0;
};

struct Fleet::Entry {
    Entry(const boost::asio::any_io_executor& executor, rt::Clock& clock)
        : nodes(executor, clock, node_settings()), view(executor, clock) {}
    Kept<HyperpodNodes> nodes;
    Kept<ClusterView> view;

    FleetCounts counts;
    std::optional<Counted> counted;
    base::Duration counted_at{};
};

Fleet::Fleet(boost::asio::any_io_executor executor, rt::Clock& clock, flows::Clusters& clusters,
             aws::Client& aws)
    : executor_(executor),
      clock_(clock),
      clusters_(clusters),
      aws_(aws),
      caches_(executor, clock),
      tasks_(std::move(executor), "fleet") {}

// Entries go when there are too many; who reads one, or reads for it, holds it.
std::shared_ptr<Fleet::Entry> Fleet::entry(const std::string& cluster) {
    if (entries_.size() >= kMostEntries && !entries_.contains(cluster)) entries_.erase(entries_.begin());
    auto& found = entries_[cluster];
    if (!found) found = std::make_shared<Entry>(executor_, clock_);
    return found;
}

base::Result<std::shared_ptr<kube::ClusterCache>> Fleet::kubernetes(const Target& target) {
    TRY(auto client, clusters_.client_of(target.eks));
    return caches_.of(target.ref.eks_name, std::move(client));
}

Task<HyperpodNodes> Fleet::read_nodes(std::string hyperpod) {
    HyperpodNodes nodes;
    JsonObject parameters{{"ClusterName", hyperpod}};
    aws::PageBound bound;
    bound.page_size = 100;
    aws::Pages pages(aws_, Context(), "sagemaker", "ListClusterNodes", std::move(parameters), bound);
    while (true) {
        CO_TRY(const auto page, co_await pages.next());
        if (!page) break;
        for (const auto& summary : *page) nodes.push_back(node_of(summary));
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const HyperpodNode& a, const HyperpodNode& b) { return a.name < b.name; });
    nodes.shrink_to_fit();
    co_return nodes;
}

Task<FleetNodes> Fleet::nodes(Target target, std::string version) {
    FleetNodes found;
    const auto hyperpod = base::get_string(target.hyperpod, "ClusterName");
    if (!hyperpod.empty()) {
        const auto kept = entry(target.ref.name);
        Kept<HyperpodNodes>::Read read = [this, hyperpod, kept] { return read_nodes(hyperpod); };
        CO_TRY(found.hyperpod, co_await kept->nodes.get(tasks_, hyperpod + "\n" + version, std::move(read)));
    }
    auto cache = kubernetes(target);
    if (!cache) {
        found.problem = std::move(cache).error();
        co_return found;
    }
    found.kubernetes = std::move(*cache);
    std::vector<kube::Cached> kinds = {kube::Cached::nodes, kube::Cached::pods};
    CO_TRY(auto freshness, co_await found.kubernetes->need(std::move(kinds), kFirstList));
    found.complete = freshness.complete;
    found.problem = std::move(freshness.problem);
    co_return found;
}

namespace {

FleetCounts count(const FleetNodes& nodes) {
    FleetCounts counts;
    std::string_view last_type;
    const domain::InstanceType* known = nullptr;
    // Nodes of a group stand together, so the type seldom changes.
    const auto type_of = [&](std::string_view type) {
        if (type != last_type) known = domain::find_instance_type(type);
        last_type = type;
        return known;
    };
    nodes.each_from("", [&](const std::string&, const HyperpodNode* aws, const kube::Node* node) {
        ++counts.total;
        const auto* cache = nodes.kubernetes.get();
        const std::string_view label =
            node == nullptr ? std::string_view() : cache->symbols().text(node->instance_type);
        const auto* type = type_of(!label.empty() || aws == nullptr ? label : aws->type);
        counts.accelerators += type == nullptr ? 0 : type->accelerators;
        if (node == nullptr) return true;
        counts.accelerators_in_use += cache->pods().use_of(node->name).accelerators;
        if (!node->ready) return true;
        ++counts.ready;
        if (type != nullptr) counts.accelerators_ready += allocatable_accelerators(*node, *type);
        return true;
    });
    return counts;
}

}  // namespace

std::int64_t allocatable_accelerators(const kube::Node& node, const domain::InstanceType& type) {
    if (type.accelerator_resource == "nvidia.com/gpu") return node.gpus;
    if (type.accelerator_resource == "aws.amazon.com/neuron") return node.neurons;
    return type.accelerator_resource == "aws.amazon.com/neurondevice" ? node.neuron_devices : 0;
}

FleetCounts Fleet::counts(const std::string& cluster, const FleetNodes& nodes) {
    const auto kept = entry(cluster);
    const auto now = clock_.monotonic();
    Counted made_of;
    made_of.hyperpod = nodes.hyperpod;
    made_of.kubernetes = nodes.kubernetes;
    const bool same_sources = kept->counted && made_of.hyperpod == kept->counted->hyperpod &&
                              nodes.kubernetes == kept->counted->kubernetes.lock();
    if (nodes.kubernetes) {
        made_of.nodes = nodes.kubernetes->nodes().revision();
        made_of.use = nodes.kubernetes->pods().use_revision();
    }
    const bool unchanged =
        same_sources && made_of.nodes == kept->counted->nodes && made_of.use == kept->counted->use;
    if (unchanged || (same_sources && now - kept->counted_at < kCountsFresh)) return kept->counts;
    kept->counts = count(nodes);
    kept->counted = std::move(made_of);
    kept->counted_at = now;
    return kept->counts;
}

Task<Kept<ClusterView>::Value> Fleet::view(std::string cluster, std::string version,
                                           Kept<ClusterView>::Read read) {
    const auto kept = entry(cluster);
    Kept<ClusterView>::Read held = [kept, read = std::move(read)] { return read(); };
    co_return co_await kept->view.get(tasks_, std::move(version), std::move(held));
}

boost::asio::awaitable<void> Fleet::stop() {
    tasks_.cancel();
    co_await tasks_.join();
    co_await caches_.stop();
}

}  // namespace instantstart::app
