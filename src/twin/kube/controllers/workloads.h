// The workload controllers: each keeps the pods (or replica sets) that its objects ask for.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

// Common part: an object of `kind` is looked at when it changes and when something that it controls does.
class WorkloadController : public Controller {
public:
    WorkloadController(Env& env, Kind kind, Kind child, std::string child_owner_kind)
        : env_(env),
          kind_(std::move(kind)),
          child_(std::move(child)),
          owner_kind_(std::move(child_owner_kind)) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

protected:
    virtual void sync_object(const JsonObject& object) = 0;
    virtual void other_changed(const Change&) {}
    virtual void child_changed(const std::string& /*owner_uid*/, const Change&) {}
    // How long changes of its pods are gathered before the object is looked at: a large one is not counted
    // anew for each of them.
    base::Duration gathering(std::size_t children) const;
    // The pods it controls, in order of name.
    std::vector<ObjectPtr> pods_of(const JsonObject& object) const;
    // Writes the object with this status, if it differs.
    void put_status(const JsonObject& object, JsonObject status);
    // Makes a pod and tells of it, or tells why not and tries again later. True when it was made.
    bool create_child(const JsonObject& owner, JsonObject pod, std::string_view component);
    // Ready for minReadySeconds; where that is still to come the object is looked at again then.
    bool is_available(const JsonObject& owner, const JsonObject& pod);
    // The last creation failed, and why; "" for none.
    std::string creation_failure(const JsonObject& owner) const;

    Env& env_;
    Kind kind_;

private:
    struct Failures {
        Failures() = default;
        int count = 0;
        base::Duration not_before{0};
        std::string message;
    };
    Kind child_;
    std::string owner_kind_;
    std::map<std::string, Failures, std::less<>> failures_;  // to make a pod, by the owner's uid
};

// Looks at the nodes where something has changed; at all of them where the set has.
class DaemonSets final : public WorkloadController {
public:
    explicit DaemonSets(Env& env) : WorkloadController(env, kDaemonSets, kPods, "DaemonSet") {}
    void clear() { states_.clear(); }

private:
    // How a node stands with the set, or a sum over nodes.
    struct Tally {
        std::int64_t desired = 0, current = 0, misplaced = 0, ready = 0, available = 0, updated = 0;
        void add(const Tally& other, std::int64_t sign);
    };
    struct State {
        State() = default;
        std::int64_t generation = 0;  // of the set when all nodes were looked at
        std::map<std::string, std::set<Key>> pods;
        std::map<std::string, Tally> nodes;
        Tally sum;
        std::set<std::string> dirty;
        std::set<Key> outdated;
    };
    void sync_object(const JsonObject& object) override;
    void other_changed(const Change& change) override;
    void child_changed(const std::string& owner_uid, const Change& change) override;
    bool create_pod(const JsonObject& set, const std::string& node, const std::string& revision);
    void replace_failed(const JsonObject& set, const JsonObject& pod);
    void remove_pod(const JsonObject& set, const JsonObject& pod);
    ObjectPtr pod_on(const JsonObject& set, State& state, const std::string& node);
    Tally look_at_pod(const JsonObject& set, State& state, const ObjectPtr& pod, const std::string& revision);
    void look_at_nodes(const JsonObject& set, State& state);
    void update(const JsonObject& set, State& state);
    void write_status(const JsonObject& set, const Tally& sum);

    std::map<std::string, State, std::less<>> states_;  // by uid
};

class ReplicaSets final : public WorkloadController {
public:
    explicit ReplicaSets(Env& env) : WorkloadController(env, kReplicaSets, kPods, "ReplicaSet") {}

private:
    void sync_object(const JsonObject& object) override;
    void create_pods(const JsonObject& set, std::int64_t count);
    void remove_pods(const JsonObject& set, std::vector<ObjectPtr> active, std::int64_t count);
};

class Deployments final : public WorkloadController {
public:
    explicit Deployments(Env& env) : WorkloadController(env, kDeployments, kReplicaSets, "Deployment") {}
    void rescale(double factor);
    void clear() { progress_.clear(); }

private:
    void sync_object(const JsonObject& object) override;
    std::vector<ObjectPtr> sets_of(const JsonObject& object) const;
    ObjectPtr new_set(const JsonObject& object, const std::string& hash, std::int64_t revision);
    void scale(const JsonObject& object, const JsonObject& set, std::int64_t replicas);
    void roll(const JsonObject& object, const JsonObject& current, const std::vector<ObjectPtr>& sets);
    void write_status(const JsonObject& object, const JsonObject& current,
                      const std::vector<ObjectPtr>& sets);
    void tell_progress(const JsonObject& object, const JsonObject& current, bool complete,
                       std::int64_t measure, JsonArray& conditions);
    void drop_old(const JsonObject& object, const JsonObject& current, const std::vector<ObjectPtr>& sets);

    struct Progress {
        Progress() = default;
        std::string set;            // what it moves to
        std::int64_t measure = -1;  // of updated, ready and available replicas
        base::Duration since{0};
    };
    std::map<std::string, Progress, std::less<>> progress_;  // by uid
};

class StatefulSets final : public WorkloadController {
public:
    explicit StatefulSets(Env& env) : WorkloadController(env, kStatefulSets, kPods, "StatefulSet") {}

private:
    using Pods = std::map<std::int64_t, ObjectPtr>;  // by ordinal
    void sync_object(const JsonObject& object) override;
    void create_claims(const JsonObject& set, const std::string& pod, JsonObject& spec);
    void create_pod(const JsonObject& set, std::int64_t ordinal, const std::string& revision);
    void remove_pod(const JsonObject& set, const JsonObject& pod);
    void remove_claims(const JsonObject& set, std::int64_t ordinal);
    // True when a pod was made or removed, or one is waited for: the next change goes on.
    bool scale(const JsonObject& set, const Pods& pods, const std::string& current,
               const std::string& update);
    void update_one(const JsonObject& set, const Pods& pods, const std::string& revision);
};

}  // namespace instantstart::twin::kube::controllers
