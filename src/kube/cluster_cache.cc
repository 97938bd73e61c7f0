#include "kube/cluster_cache.h"

#include <algorithm>
#include <array>
#include <utility>

namespace instantstart::kube {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kEvents = 5'000;
constexpr std::size_t kObjects = 300'000;
constexpr auto kIdleCheck = 1min;
// An outage that is shorter is not worth a word: the server is asked again meanwhile.
constexpr auto kSilentOutage = 5s;
// For what is known already and only may be old.
constexpr auto kLookAgain = 1s;

// Labels by which pods of one job, service or queue are known.
const std::vector<std::string>& kept_labels() {
    static const std::vector<std::string> kKeys = {"app",
                                                   "app.kubernetes.io/name",
                                                   "app.kubernetes.io/instance",
                                                   "batch.kubernetes.io/job-name",
                                                   "training.kubeflow.org/job-name",
                                                   "ray.io/cluster",
                                                   "kueue.x-k8s.io/queue-name"};
    return kKeys;
}

constexpr std::array<const char*, 3> kPlurals = {"nodes", "pods", "events"};  // by Cached

}  // namespace

ClusterCache::ClusterCache(boost::asio::any_io_executor executor, rt::Clock& clock,
                           std::shared_ptr<Client> client)
    : clock_(clock),
      client_(std::move(client)),
      nodes_(symbols_),
      pods_(symbols_, kept_labels()),
      events_(symbols_, kEvents),
      tables_{&nodes_, &pods_, &events_},
      started_(kPlurals.size()),
      used_at_(clock.monotonic()) {
    for (std::size_t i = 0; i < kPlurals.size(); ++i) {
        InformerOptions options;
        options.resource = known_resource(kPlurals.at(i)).value();
        options.list.max_items = kObjects;
        if (kPlurals.at(i) == std::string_view("events")) options.silence = InformerOptions::kBeyondWatch;
        informers_.push_back(
            std::make_unique<Informer>(executor, *client_, clock, *tables_.at(i), std::move(options)));
    }
}
ClusterCache::~ClusterCache() = default;

Task<Freshness> ClusterCache::need(std::vector<Cached> kinds, base::Duration limit) {
    used_at_ = clock_.monotonic();
    const auto deadline = used_at_ + limit;
    const auto patience = used_at_ + std::min<base::Duration>(limit, kLookAgain);
    Freshness found;
    if (stopped_) {
        found.complete = false;
        found.problem = base::Error(base::ErrorKind::unavailable, "KubernetesUnreachable",
                                    "the server is stopping, or the cluster was made anew meanwhile");
        co_return found;
    }
    for (const auto kind : kinds) {
        const auto i = static_cast<std::size_t>(kind);
        if (started_[i]) continue;
        started_[i] = true;
        informers_[i]->start();
    }
    // All of them at the same time: the waits below are one wait.
    for (const auto kind : kinds) informer(kind).hurry();
    for (const auto kind : kinds) {
        auto& each = informer(kind);
        base::Result<void> waited = base::ok();
        if (!each.is_ready()) {
            waited = co_await each.wait_ready(deadline - clock_.monotonic());
        } else if (each.error(kSilentOutage) != nullptr) {
            waited = co_await each.look_again(patience - clock_.monotonic());
        }
        if (!waited.has_value() && waited.error().kind == base::ErrorKind::cancelled) {
            co_return std::move(waited).error();
        }
        found.complete = found.complete && each.is_ready();
        const auto* problem = each.error(each.is_ready() ? base::Duration(kSilentOutage) : base::Duration(0));
        if (problem != nullptr && !found.problem) found.problem = *problem;
    }
    co_return found;
}

std::vector<CacheFigures> ClusterCache::figures(const std::string& cluster) const {
    std::vector<CacheFigures> found;
    for (std::size_t i = 0; i < kPlurals.size(); ++i) {
        if (!started_[i]) continue;
        const auto& informer = *informers_[i];
        CacheFigures figures;
        figures.cluster = cluster;
        figures.kind = kPlurals.at(i);
        figures.objects = tables_[i]->size();
        figures.lists = informer.lists();
        figures.changes = informer.events();
        figures.resource_version = informer.resource_version();
        figures.fresh = informer.is_ready() && informer.error(kSilentOutage) == nullptr;
        found.push_back(std::move(figures));
    }
    return found;
}

boost::asio::awaitable<void> ClusterCache::stop() {
    stopped_ = true;
    for (const auto& each : informers_) co_await each->stop();
}

Caches::Caches(boost::asio::any_io_executor executor, rt::Clock& clock)
    : executor_(executor), clock_(clock), tasks_(std::move(executor), "caches") {}

std::shared_ptr<ClusterCache> Caches::of(const std::string& name, std::shared_ptr<Client> client) {
    auto& cache = caches_[name];
    if (cache && cache->client() == client) return cache;
    if (cache) let_go(std::move(cache));
    cache = std::make_shared<ClusterCache>(executor_, clock_, std::move(client));
    if (!watching_idle_) watching_idle_ = tasks_.spawn("let idle caches go", let_idle_go());
    return cache;
}

std::vector<CacheFigures> Caches::figures() const {
    std::vector<CacheFigures> found;
    for (const auto& [name, cache] : caches_) {
        for (auto& figures : cache->figures(name)) found.push_back(std::move(figures));
    }
    return found;
}

// It stays in `ending_` until it has stopped, so that stop() finds it whatever becomes of the task.
void Caches::let_go(std::shared_ptr<ClusterCache> cache) {
    ending_.push_back(cache);
    tasks_.spawn("stop a cache", end(std::move(cache)));
}

Task<void> Caches::end(std::shared_ptr<ClusterCache> cache) {
    co_await cache->stop();
    std::erase(ending_, cache);
    co_return base::ok();
}

Task<void> Caches::let_idle_go() {
    while (!caches_.empty()) {
        CO_CHECK_OK(co_await clock_.sleep(kIdleCheck));
        std::erase_if(caches_, [this](auto& entry) {
            if (clock_.monotonic() - entry.second->used_at() < kIdle) return false;
            let_go(std::move(entry.second));
            return true;
        });
    }
    watching_idle_ = false;
    co_return base::ok();
}

boost::asio::awaitable<void> Caches::stop() {
    tasks_.cancel();
    co_await tasks_.join();
    for (const auto& [name, cache] : std::exchange(caches_, {})) ending_.push_back(cache);
    for (const auto& cache : std::exchange(ending_, {})) co_await cache->stop();
}

}  // namespace instantstart::kube
