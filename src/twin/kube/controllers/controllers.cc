// All controllers of one cluster: fed by the store's changes, run by one loop.
#include <algorithm>

#include "rt/task_group.h"
#include "twin/kube/controllers/logs.h"
#include "twin/kube/controllers/pod_life.h"
#include "twin/kube/controllers/scheduler.h"
#include "twin/kube/controllers/system.h"
#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"
#include "twin/kube/object_store.h"

namespace instantstart::twin::kube {

namespace controllers {

namespace {

// Kinds that live where the store cannot tell which it holds.
const Kind kUsual[] = {kNamespaces,
                       kNodes,
                       kPods,
                       kServices,
                       kClaims,
                       kVolumes,
                       kDaemonSets,
                       kReplicaSets,
                       kDeployments,
                       kStatefulSets,
                       kJobs,
                       Kind("", "serviceaccounts"),
                       Kind("", "configmaps"),
                       Kind("", "secrets"),
                       Kind("", "events")};

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
          all_{&garbage_,        &namespaces_,   &node_life_,   &scheduler_,     &pod_life_,
               &daemon_sets_,    &replica_sets_, &deployments_, &stateful_sets_, &jobs_,
               &device_plugins_, &claims_,       &endpoints_},
          tasks_(std::move(executor), "kube controllers") {
        read_all();
        subscription_ = objects.subscribe([this](const Change& change) { changed(change); });
        tasks_.spawn("loop", run());
    }

    void set_speed(double speed) override {
        const double factor = env_.speed / speed;
        env_.queue.rescale(factor);
        pod_life_.rescale(factor);
        claims_.rescale(factor);
        env_.speed = speed;
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
        const bool known = std::any_of(containers.begin(), containers.end(), [&](const JsonValue& one) {
            return base::get_string(one, "name") == name;
        });
        if (!known) return base::not_found_error("container " + name + " of pod " + key.ns + "/" + key.name);
        if (!lines.empty()) logs_.append(key, name, lines);
        if (exit_code) return pod_life_.exit(key, name, *exit_code);
        return base::ok();
    }

    std::shared_ptr<void> on_log(
        std::function<void(const std::string&, const std::string&)> callback) override {
        return logs_.subscribe(std::move(callback));
    }

    JsonValue save() const override { return JsonObject{{"logs", logs_.save()}}; }

    // The store has been loaded before: everything is read and looked at again.
    void load(const JsonValue& state) override {
        env_.queue.clear();
        env_.index.clear();
        scheduler_.clear();
        pod_life_.clear();
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
        if (change.kind == Kind("", "events")) return;
        for (auto* controller : all_) controller->changed(change);
    }

    // In portions, so that requests come between; the yield is a turn of the loop.
    rt::Task<void> run() {
        while (true) {
            if (env_.queue.work(200)) {
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
