#include "app/fleet.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "aws/pages.h"
#include "domain/instance_type.h"
#include "domain/names.h"
#include "flows/node_steps.h"

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
    settings.times = 10;
    settings.patience = 2s;
    return settings;
}

bool is_before(const HyperpodNode& a, const HyperpodNode& b) {
    return a.name < b.name;
}

}  // namespace

const std::string* HyperpodNodes::shared(std::string text) {
    return &*texts_.insert(std::move(text)).first;
}

void HyperpodNodes::add(const JsonArray& summaries) {
    std::vector<HyperpodNode> page;
    page.reserve(summaries.size());
    for (const auto& summary : summaries) {
        auto& node = page.emplace_back();
        node.name = flows::node_name_of(base::get_string(summary, "InstanceId"));
        node.group = shared(base::get_string(summary, "InstanceGroupName"));
        node.type = shared(base::get_string(summary, "InstanceType"));
        node.status = shared(base::get_string(summary, "InstanceStatus.Status"));
        node.message = shared(domain::clean_text(base::get_string(summary, "InstanceStatus.Message"), 300));
        node.image_status = shared(base::get_string(summary, "ImageVersionStatus"));
        node.launched_at = shared(base::get_string(summary, "LaunchTime"));
    }
    std::sort(page.begin(), page.end(), &is_before);
    std::vector<HyperpodNode> all;
    all.reserve(nodes_.size() + page.size());
    std::merge(std::make_move_iterator(nodes_.begin()), std::make_move_iterator(nodes_.end()),
               std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()),
               std::back_inserter(all), &is_before);
    nodes_ = std::move(all);
}

HyperpodNodes::Iterator HyperpodNodes::from(std::string_view name) const {
    return std::partition_point(begin(), end(),
                                [name](const HyperpodNode& each) { return each.name < name; });
}

bool HyperpodNodes::holds(std::string_view name) const {
    const auto at = from(name);
    return at != end() && at->name == name;
}

void FleetNodes::each_from(const std::string& from, const Visit& visit) const {
    static const kube::NodeTable::Nodes kNone;
    static const HyperpodNodes kNobody;
    const auto& nodes = kubernetes ? kubernetes->nodes().nodes() : kNone;
    const auto& machines = hyperpod ? *hyperpod : kNobody;
    auto node = nodes.lower_bound(from);
    auto machine = machines.from(from);
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

// Counts, and what they were made of.
struct Counted {
    Counted() = default;
    std::shared_ptr<const HyperpodNodes> hyperpod;
    std::weak_ptr<kube::ClusterCache> kubernetes;
    std::uint64_t membership = 0, revision = 0, use = 0;
    FleetCounts counts;
    FleetCounts joined;      // the part that no sum of the tables tells
    std::int64_t stray = 0;  // accelerators of pods that are bound to nodes which are not there (any more)
};

struct Fleet::Entry {
    Entry(const boost::asio::any_io_executor& executor, rt::Clock& clock)
        : nodes(executor, clock, node_settings()), view(executor, clock) {}
    Kept<HyperpodNodes> nodes;
    Kept<ClusterView> view;

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
        nodes.add(*page);
    }
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

// How many of `type` are among those that `has` tells of: a node, or the sums of many.
template <class T>
std::int64_t of_type(const domain::InstanceType& type, const T& has) {
    if (type.accelerator_resource == "nvidia.com/gpu") return has.gpus;
    if (type.accelerator_resource == "aws.amazon.com/neuron") return has.neurons;
    return type.accelerator_resource == "aws.amazon.com/neurondevice" ? has.neuron_devices : 0;
}

// What only a look at every node tells: of both sides together, and of nodes that do not name their type.
void join(const FleetNodes& nodes, Counted& made) {
    std::string_view last_type;
    const domain::InstanceType* known = nullptr;
    // Nodes of a group stand together, so the type seldom changes.
    const auto type_of = [&](std::string_view type) {
        if (type != last_type) known = domain::find_instance_type(type);
        last_type = type;
        return known;
    };
    std::int64_t in_use = 0;
    nodes.each_from("", [&](const std::string&, const HyperpodNode* aws, const kube::Node* node) {
        if (node != nullptr) in_use += nodes.kubernetes->pods().use_of(node->name).accelerators;
        if (node == nullptr) ++made.joined.total;
        const bool named = node != nullptr && node->instance_type != 0;
        const auto* type = named || aws == nullptr ? nullptr : type_of(*aws->type);
        if (type == nullptr) return true;
        made.joined.accelerators += type->accelerators;
        if (node != nullptr && node->ready) made.joined.accelerators_ready += of_type(*type, *node);
        return true;
    });
    if (nodes.kubernetes) made.stray = nodes.kubernetes->pods().whole_use().accelerators - in_use;
}

// Adds the sums that the tables keep up.
void sum_up(const kube::ClusterCache* cache, Counted& made) {
    made.counts = made.joined;
    if (cache == nullptr) return;
    made.counts.accelerators_in_use = cache->pods().whole_use().accelerators - made.stray;
    for (const auto& [symbol, tally] : cache->nodes().tallies()) {
        made.counts.total += tally.nodes;
        made.counts.ready += tally.ready;
        const auto* type = domain::find_instance_type(cache->symbols().text(symbol));
        if (type == nullptr) continue;
        made.counts.accelerators += tally.nodes * type->accelerators;
        made.counts.accelerators_ready += of_type(*type, tally);
    }
}

}  // namespace

std::int64_t allocatable_accelerators(const kube::Node& node, const domain::InstanceType& type) {
    return of_type(type, node);
}

// Pods come and go all the time and nodes become ready and unready: sums tell of those. All nodes are looked
// at only where nodes have come or gone, on either side.
FleetCounts Fleet::counts(const std::string& cluster, const FleetNodes& nodes) {
    const auto kept = entry(cluster);
    auto& counted = kept->counted;
    const auto* cache = nodes.kubernetes.get();
    const bool same_sources =
        counted && nodes.hyperpod == counted->hyperpod && nodes.kubernetes == counted->kubernetes.lock();
    Counted made;
    made.hyperpod = nodes.hyperpod;
    made.kubernetes = nodes.kubernetes;
    if (cache != nullptr) {
        made.membership = cache->nodes().membership();
        made.revision = cache->nodes().revision();
        made.use = cache->pods().use_revision();
    }
    if (same_sources && made.revision == counted->revision && made.use == counted->use)
        return counted->counts;
    const auto now = clock_.monotonic();
    const bool still_joined = same_sources && cache != nullptr && made.membership == counted->membership &&
                              !cache->nodes().tallies().contains(0) &&
                              (counted->stray == 0 || made.use == counted->use);
    if (still_joined) {
        made.joined = counted->joined;
        made.stray = counted->stray;
    } else {
        if (same_sources && now - kept->counted_at < kCountsFresh) return counted->counts;
        join(nodes, made);
        kept->counted_at = now;
    }
    sum_up(cache, made);
    counted = std::move(made);
    return counted->counts;
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
