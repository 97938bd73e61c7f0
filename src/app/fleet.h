// Fleet: what queries read of running clusters without asking for each answer: the Kubernetes objects from
// caches that follow the API server, what AWS says from values kept for seconds.
//
// Flows do not use it: who decides to act looks freshly. Built once in server/, stopped after the faces and
// before what it reads from.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/cluster_inputs.h"
#include "app/kept.h"
#include "aws/client.h"
#include "domain/instance_type.h"
#include "flows/clusters.h"
#include "kube/cluster_cache.h"
#include "rt/task_group.h"

namespace instantstart::app {

// A node as SageMaker sees it. The texts that many share are those of its HyperpodNodes.
struct HyperpodNode {
    HyperpodNode() = default;
    std::string name;  // the Kubernetes node's: flows::node_name_of the instance's id
    const std::string* group = nullptr;
    const std::string* type = nullptr;
    const std::string* status = nullptr;
    const std::string* message = nullptr;
    const std::string* image_status = nullptr;  // UpToDate, UpdateAvailable; "" where AWS does not say
    const std::string* launched_at = nullptr;
};

// The nodes of a HyperPod cluster by name. Read page by page, so that no turn of the loop takes long.
class HyperpodNodes {
public:
    HyperpodNodes() = default;
    HyperpodNodes(HyperpodNodes&&) = default;
    HyperpodNodes& operator=(HyperpodNodes&&) = default;
    HyperpodNodes(const HyperpodNodes&) = delete;
    HyperpodNodes& operator=(const HyperpodNodes&) = delete;
    ~HyperpodNodes() = default;

    // A page of ListClusterNodes.
    void add(const JsonArray& summaries);

    using Iterator = std::vector<HyperpodNode>::const_iterator;
    Iterator begin() const { return nodes_.begin(); }
    Iterator end() const { return nodes_.end(); }
    // The first whose name is not before `name`.
    Iterator from(std::string_view name) const;
    bool holds(std::string_view name) const;
    std::size_t size() const { return nodes_.size(); }

private:
    const std::string* shared(std::string text);

    std::vector<HyperpodNode> nodes_;
    std::set<std::string> texts_;  // their places stay
};

// What AWS and the add-ons say of a cluster.
struct ClusterView {
    ClusterView() = default;
    Target target;
    JsonArray groups;  // rows of instance_group.list, with what they wait for
    std::optional<JsonArray> dependencies, storages;
    bool degraded = false;  // a part could not be seen because of an error
};

// Of all nodes, seen by either side.
struct FleetCounts {
    FleetCounts() = default;
    std::int64_t total = 0, ready = 0;
    std::int64_t accelerators = 0, accelerators_ready = 0, accelerators_in_use = 0;
};

// The nodes of both sides together, and how far they can be trusted.
struct FleetNodes {
    FleetNodes() = default;
    std::shared_ptr<const HyperpodNodes> hyperpod;
    std::shared_ptr<kube::ClusterCache> kubernetes;  // null where there is no client for it
    bool complete = false;                           // Kubernetes' nodes and pods have all come in once
    std::optional<base::Error> problem;              // why they are not being kept up to date

    // In order of their names, from the first that is not before `from` on; either may be null. Stops where
    // `visit` says false.
    using Visit =
        std::function<bool(const std::string& name, const HyperpodNode* aws, const kube::Node* node)>;
    void each_from(const std::string& from, const Visit& visit) const;
};

// How many of the node's accelerators pods can have.
std::int64_t allocatable_accelerators(const kube::Node& node, const domain::InstanceType& type);

class Fleet {
public:
    Fleet(boost::asio::any_io_executor executor, rt::Clock& clock, flows::Clusters& clusters,
          aws::Client& aws);

    // The cache of the cluster's objects. Error where it has no endpoint yet.
    base::Result<std::shared_ptr<kube::ClusterCache>> kubernetes(const Target& target);
    // Waits some seconds for a cluster's first list, then answers with what is there. `version` as Kept's.
    Task<FleetNodes> nodes(Target target, std::string version);
    // Counts of `nodes`; where nodes come and go, at most a tenth of a second old.
    FleetCounts counts(const std::string& cluster, const FleetNodes& nodes);
    Task<Kept<ClusterView>::Value> view(std::string cluster, std::string version,
                                        Kept<ClusterView>::Read read);

    // Of the caches in use, for metrics.
    std::vector<kube::CacheFigures> caches() const { return caches_.figures(); }

    boost::asio::awaitable<void> stop();

private:
    struct Entry;
    std::shared_ptr<Entry> entry(const std::string& cluster);
    Task<HyperpodNodes> read_nodes(std::string hyperpod);

    boost::asio::any_io_executor executor_;
    rt::Clock& clock_;
    flows::Clusters& clusters_;
    aws::Client& aws_;
    kube::Caches caches_;
    std::map<std::string, std::shared_ptr<Entry>> entries_;  // by cluster
    rt::TaskGroup tasks_;
};

}  // namespace instantstart::app
