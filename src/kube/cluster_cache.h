// ClusterCache: what is kept of one cluster's objects, shared by all who read it. Caches: one for each
// cluster in use.
//
// A kind is listed and watched from its first use on; a cluster that nobody has asked about for
// kIdle is let go. Readers call need(), then read the tables without awaiting in between.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/cache/events.h"
#include "kube/cache/nodes.h"
#include "kube/cache/pods.h"
#include "kube/client.h"
#include "kube/informer.h"
#include "rt/task_group.h"

namespace instantstart::kube {

enum class Cached : std::uint8_t { nodes, pods, events };

// How far what was asked for can be trusted.
struct Freshness {
    Freshness() = default;
    bool complete = true;                // every kind has been listed at least once
    std::optional<base::Error> problem;  // why a kind is not being kept up to date
};

// What a kind of a cluster's cache has come to, for metrics.
struct CacheFigures {
    CacheFigures() = default;
    std::string cluster, kind;
    std::size_t objects = 0;
    std::uint64_t lists = 0, changes = 0;  // changes: that watches told
    std::string resource_version;          // the newest seen; "" before the first list
    bool fresh = false;                    // listed, and no trouble for some seconds
};

class ClusterCache {
public:
    ClusterCache(boost::asio::any_io_executor executor, rt::Clock& clock, std::shared_ptr<Client> client);
    ~ClusterCache();
    ClusterCache(const ClusterCache&) = delete;
    ClusterCache& operator=(const ClusterCache&) = delete;

    // Waits for the first list of these kinds, `limit` at most. Errors of the server are no error of this:
    // what is there can be read, and `problem` says why it is not all. Error{cancelled} only.
    Task<Freshness> need(std::vector<Cached> kinds, base::Duration limit);

    const NodeTable& nodes() const { return nodes_; }
    const PodTable& pods() const { return pods_; }
    const EventTable& events() const { return events_; }
    const Symbols& symbols() const { return symbols_; }
    Informer& informer(Cached kind) const { return *informers_.at(static_cast<std::size_t>(kind)); }

    // Of the kinds that are kept.
    std::vector<CacheFigures> figures(const std::string& cluster) const;

    const std::shared_ptr<Client>& client() const { return client_; }
    base::Duration used_at() const { return used_at_; }
    boost::asio::awaitable<void> stop();

private:
    rt::Clock& clock_;
    std::shared_ptr<Client> client_;
    Symbols symbols_;
    NodeTable nodes_;
    PodTable pods_;
    EventTable events_;
    std::vector<Table*> tables_;                        // by Cached
    std::vector<std::unique_ptr<Informer>> informers_;  // by Cached
    std::vector<bool> started_;
    bool stopped_ = false;
    base::Duration used_at_{};
};

class Caches {
public:
    static constexpr auto kIdle = std::chrono::minutes(10);

    Caches(boost::asio::any_io_executor executor, rt::Clock& clock);
    // The cache of a cluster reached by `client`; another client of the same name is another cluster.
    std::shared_ptr<ClusterCache> of(const std::string& name, std::shared_ptr<Client> client);
    std::size_t size() const { return caches_.size(); }
    std::vector<CacheFigures> figures() const;
    // Must end before it dies.
    boost::asio::awaitable<void> stop();

private:
    Task<void> let_idle_go();
    void let_go(std::shared_ptr<ClusterCache> cache);
    Task<void> end(std::shared_ptr<ClusterCache> cache);

    boost::asio::any_io_executor executor_;
    rt::Clock& clock_;
    std::unordered_map<std::string, std::shared_ptr<ClusterCache>> caches_;
    std::vector<std::shared_ptr<ClusterCache>> ending_;
    bool watching_idle_ = false;
    rt::TaskGroup tasks_;
};

}  // namespace instantstart::kube
