// A simulated Kubernetes cluster: object store, API server, controllers. EKS and SageMaker of the twin make
// and drive them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "http/server.h"
#include "rt/clock.h"

namespace instantstart::twin::kube {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

// Group and plural, "" group for core: identifies a kind of object.
struct Kind {
    Kind() = default;
    Kind(std::string group, std::string plural) : group(std::move(group)), plural(std::move(plural)) {}
    std::string group, plural;
    auto operator<=>(const Kind&) const = default;
};

struct Change {
    enum class Type : std::uint8_t { added, modified, deleted };
    Type type = Type::added;
    Kind kind;
    std::int64_t revision = 0;
    std::shared_ptr<const JsonObject>
        object;  // as it is now (for deleted: as it was last, with the new resourceVersion)
    std::shared_ptr<const JsonObject> previous;  // null for added
};

using ObjectPtr = std::shared_ptr<const JsonObject>;

// All objects of one cluster. Every write gives a new resourceVersion and is told to the subscribers, in
// order, after the write. Objects are immutable values: copy, change, put back. Sets uid, creationTimestamp,
// generation as an API server does.
class ObjectStore {
public:
    virtual ~ObjectStore() = default;
    virtual ObjectPtr get(const Kind& kind, std::string_view ns, std::string_view name) const = 0;
    virtual std::vector<ObjectPtr> list(const Kind& kind,
                                        std::string_view ns = "") const = 0;  // "" = all namespaces
    // Errors: AlreadyExists, NotFound, Conflict (where metadata.resourceVersion is given and old) as
    // base::Error codes.
    virtual base::Result<ObjectPtr> create(const Kind& kind, JsonObject object) = 0;
    virtual base::Result<ObjectPtr> update(const Kind& kind,
                                           JsonObject object) = 0;  // spec, metadata and status alike
    // Respects finalizers: with any, only sets deletionTimestamp. True when the object is gone.
    virtual base::Result<bool> remove(const Kind& kind, std::string_view ns, std::string_view name) = 0;
    // Server-side apply as a field manager ("eks", "hyperpod"); creates where absent.
    virtual base::Result<ObjectPtr> apply(const Kind& kind, JsonObject object, std::string_view manager) = 0;
    // Called for every change until the handle is destroyed.
    using Subscription = std::shared_ptr<void>;
    virtual Subscription subscribe(std::function<void(const Change&)> on_change) = 0;
    virtual std::int64_t revision() const = 0;
};

struct User {
    User() = default;
    std::string name;
    std::vector<std::string> groups;  // "system:masters" may all
};

struct ClusterConfig {
    ClusterConfig() = default;
    std::string name;
    std::string version = "1.33";  // Kubernetes minor version
    std::string cluster_cidr = "10.0.0.0/16", service_cidr = "172.20.0.0/16";
    // Token → user; nullopt is 401. Asked for every request.
    std::function<std::optional<User>(std::string_view token)> authenticate;
    double speed = 60;
    std::string ca_pem;  // the authority of the port, for kube-root-ca.crt
};

class Cluster {
public:
    virtual ~Cluster() = default;
    virtual const ClusterConfig& config() const = 0;
    virtual ObjectStore& objects() = 0;
    // What a container would have printed: appended to the pod's log; exit_code ends the container.
    virtual base::Result<void> append_log(std::string_view ns, std::string_view pod,
                                          std::string_view container, const std::vector<std::string>& lines,
                                          std::optional<int> exit_code) = 0;
    // Images whose name begins with `prefix` (a registry, a repository) cannot be pulled from now on:
    // "not_found", "denied", "unreachable"; "" lets them be pulled again. Errors name the member at fault.
    virtual base::Result<void> fail_images(std::string_view prefix, std::string_view failure) = 0;
    virtual void set_speed(double speed) = 0;
    // Makes pods change at this rate for a while, as a busy fleet's do: containers end and start again, pods
    // of replica sets are deleted and made anew. 0 ends it.
    virtual void churn(double changes_per_second, base::Duration length) = 0;
    // How much there is and how much has changed: {revision, objects: {plural: count}, pod_changes,
    // churning}.
    virtual JsonObject figures() const = 0;
    // Forgets all past revisions, as etcd does in time: old watches and continued lists are refused after it.
    virtual void compact() = 0;
    virtual JsonValue save() const = 0;
    // The text of save() as it is now, to be made on any thread: a fleet takes seconds to write down.
    virtual std::function<std::string()> saver() const = 0;
    virtual void load(const JsonValue& state) = 0;
};

// All simulated clusters behind one HTTPS port: https://127.0.0.1:3098/clusters/NAME/…
class ClusterHost {
public:
    virtual ~ClusterHost() = default;
    virtual Cluster& create(ClusterConfig config) = 0;  // with its namespaces and system objects
    virtual Cluster* find(std::string_view name) = 0;
    virtual void remove(std::string_view name) = 0;
    virtual std::vector<std::string> names() const = 0;
    // The handler of the port.
    virtual http::Handler handler() = 0;
    using Journal = std::function<void(const std::string& user, const std::string& operation,
                                       const JsonObject& parameters, int status, const std::string& code)>;
    // Told of every write that came over the wire: user, verb, resource, object path, status (for the
    // journal).
    virtual void set_journal(Journal sink) = 0;
    virtual boost::asio::awaitable<void> stop() = 0;  // ends watches and logs
    virtual void break_watches() = 0;                 // what an API server restart does to clients
};

std::unique_ptr<ClusterHost> make_cluster_host(boost::asio::any_io_executor executor, rt::Clock& clock,
                                               double speed);

// The controllers of a cluster (src/twin/kube/controllers): scheduler, DaemonSet, Deployment, ReplicaSet,
// StatefulSet, Job, CronJob, pod life, claims, namespaces, nodes, garbage collection, endpoints, budgets,
// quotas. Called by ClusterHost::create; stepped by changes and by the clock.
class Controllers {
public:
    virtual ~Controllers() = default;
    virtual void set_speed(double speed) = 0;
    // Log lines of a pod's container so far; nullopt where there is no such container.
    virtual const std::vector<std::string>* log(std::string_view ns, std::string_view pod,
                                                std::string_view container) const = 0;
    virtual base::Result<void> append_log(std::string_view ns, std::string_view pod,
                                          std::string_view container, const std::vector<std::string>& lines,
                                          std::optional<int> exit_code) = 0;
    // Called when new lines or an end come, for followers. The handle ends the subscription.
    virtual std::shared_ptr<void> on_log(
        std::function<void(const std::string& ns, const std::string& pod)> callback) = 0;
    virtual void churn(double /*changes_per_second*/, base::Duration /*length*/) {}
    virtual JsonObject figures() const { return {}; }
    virtual base::Result<void> fail_images(std::string_view prefix, std::string_view failure) = 0;
    virtual JsonValue save()
        const = 0;  // logs and pending timers (pod life is derived from objects and continues)
    virtual void load(const JsonValue& state) = 0;
    virtual boost::asio::awaitable<void> stop() = 0;
};
std::unique_ptr<Controllers> make_controllers(boost::asio::any_io_executor executor, rt::Clock& clock,
                                              ObjectStore& objects, double speed);

}  // namespace instantstart::twin::kube
