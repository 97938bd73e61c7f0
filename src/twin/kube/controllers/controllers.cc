// All controllers of one cluster: fed by the store's changes, run by one loop.
#include <algorithm>

#include "rt/task_group.h"
#include "twin/kube/controllers/churn.h"
#include "twin/kube/controllers/claims.h"
#include "twin/kube/controllers/disruption.h"
#include "twin/kube/controllers/jobs/cron_jobs.h"
#include "twin/kube/controllers/jobs/jobs.h"
#include "twin/kube/controllers/logs.h"
#include "twin/kube/controllers/nodes.h"
#include "twin/kube/controllers/pods/pod_life.h"
#include "twin/kube/controllers/quotas.h"
#include "twin/kube/controllers/scheduling/scheduler.h"
#include "twin/kube/controllers/services.h"
#include "twin/kube/controllers/system.h"
#include "twin/kube/controllers/volumes.h"
#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"
#include "twin/kube/object_store.h"

namespace instantstart::twin::kube {

namespace controllers {

namespace {

// Kinds that live where the store cannot tell which it holds.
const Kind kUsual[] = {kNamespaces,       kNodes,       kPods,
                       kServices,         kClaims,      kVolumes,
                       kDaemonSets,       kReplicaSets, kDeployments,
                       kStatefulSets,     kJobs,        kCronJobs,
                       kStorageClasses,   kBudgets,     kServiceAccounts,
                       kConfigMaps,       kSecrets,     Kind("", "resourcequotas"),
                       Kind("", "events")};

constexpr std::size_t kPortion = 4;

class ControllersImpl final : public Controllers {
public:
    ControllersImpl(boost::asio::any_io_executor executor, rt::Clock& clock, ObjectStore& objects,
                    double speed)
        : env_(objects, clock, executor, speed),
          garbage_(env_),
          namespaces_(env_),
          node_life_(env_),
          scheduler_(env_),
          pod_life_(env_, logs_),
          daemon_sets_(env_),
          replica_sets_(env_),
          deployments_(env_),
          stateful_sets_(env_),
          jobs_(env_),
          device_plugins_(env_),
          claims_(env_),
          endpoints_(env_),
          cron_jobs_(env_),
          taint_eviction_(env_),
          pod_garbage_(env_),
          disruption_(env_),
          quotas_(env_),
          churn_(env_, pod_life_, executor),
          all_{&garbage_,        &namespaces_,   &node_life_,   &scheduler_,     &pod_life_,
               &daemon_sets_,    &replica_sets_, &deployments_, &stateful_sets_, &jobs_,
               &device_plugins_, &claims_,       &endpoints_,   &cron_jobs_,     &taint_eviction_,
               &pod_garbage_,    &disruption_,   &quotas_},
          tasks_(std::move(executor), "kube controllers") {
        read_all();
        subscription_ = objects.subscribe([this](const Change& change) { changed(change); });
        tasks_.spawn("loop", run());
        tasks_.spawn("churn", churn_.run());
    }

    void set_speed(double speed) override {
        const double factor = env_.speed / speed;
        env_.queue.rescale(factor);
        pod_life_.rescale(factor);
        claims_.rescale(factor);
        jobs_.rescale(factor);
        deployments_.rescale(factor);
        taint_eviction_.rescale(factor);
        pod_garbage_.rescale(factor);
        env_.speed = speed;
        cron_jobs_.rescale();
    }

    const std::vector<std::string>* log(std::string_view ns, std::string_view pod,
                                        std::string_view container) const override {
        return logs_.find(ns, pod, container);
    }

    base::Result<void> append_log(std::string_view ns, std::string_view pod, std::string_view container,
                                  const std::vector<std::string>& lines,
                                  std::optional<int> exit_code) override {
        const Key key{std::string(ns), std::string(pod)};
        const auto object = env_.get(kPods, key);
        if (!object) return base::not_found_error("pod " + key.ns + "/" + key.name);
        std::string name(container);
        const auto& containers = base::get_array(*object, "spec.containers");
        if (name.empty() && !containers.empty()) name = base::get_string(containers[0], "name");
        const auto named = [&](const JsonValue& one) { return base::get_string(one, "name") == name; };
        const auto& init = base::get_array(*object, "spec.initContainers");
        const bool known = std::any_of(containers.begin(), containers.end(), named) ||
                           std::any_of(init.begin(), init.end(), named);
        if (!known) return base::not_found_error("container " + name + " of pod " + key.ns + "/" + key.name);
        if (!lines.empty()) logs_.append(key, name, lines);
        if (exit_code) return pod_life_.exit(key, name, *exit_code);
        return base::ok();
    }

    std::shared_ptr<void> on_log(
        std::function<void(const std::string&, const std::string&)> callback) override {
        return logs_.subscribe(std::move(callback));
    }

    base::Result<void> fail_images(std::string_view prefix, std::string_view failure) override {
        if (prefix.empty()) return base::invalid_field("/prefix", "a registry, a repository or an image");
        if (!pod_life_.images().set_failure(std::string(prefix), std::string(failure))) {
            return base::invalid_field(
                "/failure", "not_found, denied or unreachable; left out, the images can be pulled");
        }
        return base::ok();
    }

    void churn(double changes_per_second, base::Duration length) override {
        churn_.start(changes_per_second, length);
    }
    JsonObject figures() const override {
        return {{"pod_changes", churn_.pod_changes()}, {"churning", churn_.is_running()}};
    }

    JsonValue save() const override {
        return JsonObject{{"logs", logs_.save()}, {"images", pod_life_.images().save()}};
    }

    // The store has been loaded before: everything is read and looked at again.
    void load(const JsonValue& state) override {
        env_.queue.clear();
        env_.index.clear();
        scheduler_.clear();
        pod_life_.clear();
        node_life_.clear();
        taint_eviction_.clear();
        pod_garbage_.clear();
        jobs_.clear();
        cron_jobs_.clear();
        deployments_.clear();
        daemon_sets_.clear();
        claims_.clear();
        endpoints_.clear();
        const auto* images = base::find_path(state, "images");
        pod_life_.images().load(images == nullptr ? JsonValue() : *images);
        const auto* logs = base::find_path(state, "logs");
        logs_.load(logs == nullptr ? JsonValue() : *logs);
        read_all();
    }

    boost::asio::awaitable<void> stop() override {
        subscription_.reset();
        tasks_.cancel();
        co_await tasks_.join();
    }

private:
    void read_all() {
        std::set<Kind> kinds(std::begin(kUsual), std::end(kUsual));
        if (const auto* memory = dynamic_cast<const MemoryObjectStore*>(&env_.objects)) {
            for (const auto& [kind, count] : memory->kinds()) kinds.insert(kind);
        }
        std::vector<Change> changes;
        for (const auto& kind : kinds) {
            for (const auto& object : env_.objects.list(kind)) {
                env_.index.add(kind, *object);
                Change change;
                change.kind = kind;
                change.object = object;
                changes.push_back(std::move(change));
            }
        }
        for (const auto& change : changes) {
            for (auto* controller : all_) controller->changed(change);
        }
    }

    void changed(const Change& change) {
        env_.index.apply(change);
        churn_.changed(change);
        if (change.kind == Kind("", "events")) return;
        for (auto* controller : all_) controller->changed(change);
    }

    // In small portions, so that requests come between: the yield is a turn of the loop, and a megabyte of a
    // watch takes a hundred of those.
    rt::Task<void> run() {
        while (true) {
            if (env_.queue.work(kPortion)) {
                CO_CHECK_OK(co_await env_.clock.sleep(base::Duration::zero()));
            } else {
                CO_CHECK_OK(co_await env_.queue.wait());
            }
        }
    }

    Env env_;
    Logs logs_;
    Garbage garbage_;
    Namespaces namespaces_;
    NodeLife node_life_;
    Scheduler scheduler_;
    PodLife pod_life_;
    DaemonSets daemon_sets_;
    ReplicaSets replica_sets_;
    Deployments deployments_;
    StatefulSets stateful_sets_;
    Jobs jobs_;
    DevicePlugins device_plugins_;
    Claims claims_;
    Endpoints endpoints_;
    CronJobs cron_jobs_;
    TaintEviction taint_eviction_;
    PodGarbage pod_garbage_;
    Disruption disruption_;
    Quotas quotas_;
    Churn churn_;
    std::vector<Controller*> all_;
    ObjectStore::Subscription subscription_;
    rt::TaskGroup tasks_;
};

}  // namespace

}  // namespace controllers

std::unique_ptr<Controllers> make_controllers(boost::asio::any_io_executor executor, rt::Clock& clock,
                                              ObjectStore& objects, double speed) {
    return std::make_unique<controllers::ControllersImpl>(std::move(executor), clock, objects, speed);
}

}  // namespace instantstart::twin::kube
