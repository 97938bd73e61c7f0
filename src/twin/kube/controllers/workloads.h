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
    // The pods it controls, in order of name.
    std::vector<ObjectPtr> pods_of(const JsonObject& object) const;
    // Writes the object with this status, if it differs.
    void put_status(const JsonObject& object, JsonObject status);

    Env& env_;
    Kind kind_;

private:
    Kind child_;
    std::string owner_kind_;
};

class DaemonSets final : public WorkloadController {
public:
    explicit DaemonSets(Env& env) : WorkloadController(env, kDaemonSets, kPods, "DaemonSet") {}

private:
    void sync_object(const JsonObject& object) override;
    void other_changed(const Change& change) override;
    void create_pod(const JsonObject& set, const std::string& node, const std::string& revision);
};

class ReplicaSets final : public WorkloadController {
public:
    explicit ReplicaSets(Env& env) : WorkloadController(env, kReplicaSets, kPods, "ReplicaSet") {}

private:
    void sync_object(const JsonObject& object) override;
};

class Deployments final : public WorkloadController {
public:
    explicit Deployments(Env& env) : WorkloadController(env, kDeployments, kReplicaSets, "Deployment") {}

private:
    void sync_object(const JsonObject& object) override;
    std::vector<ObjectPtr> sets_of(const JsonObject& object) const;
    ObjectPtr new_set(const JsonObject& object, const std::string& hash, std::int64_t revision);
    void scale(const JsonObject& set, std::int64_t replicas);
    void roll(const JsonObject& object, const JsonObject& current, const std::vector<ObjectPtr>& sets);
    void write_status(const JsonObject& object, const JsonObject& current,
                      const std::vector<ObjectPtr>& sets);
};

class StatefulSets final : public WorkloadController {
public:
    explicit StatefulSets(Env& env) : WorkloadController(env, kStatefulSets, kPods, "StatefulSet") {}

private:
    void sync_object(const JsonObject& object) override;
    void create_pod(const JsonObject& set, std::int64_t ordinal, const std::string& revision);
    // True when a pod was made or removed: the next change goes on.
    bool scale(const JsonObject& set, const std::map<std::int64_t, ObjectPtr>& pods,
               const std::string& revision);
    void update_one(const JsonObject& set, const std::map<std::int64_t, ObjectPtr>& pods,
                    const std::string& revision);
};

class Jobs final : public WorkloadController {
public:
    explicit Jobs(Env& env) : WorkloadController(env, kJobs, kPods, "Job") {}

private:
    void sync_object(const JsonObject& object) override;
    void create_pods(const JsonObject& job, const std::vector<ObjectPtr>& pods, std::int64_t count);
    void end(const JsonObject& job, JsonObject status, bool complete, std::string_view reason,
             std::string_view message);
};

}  // namespace instantstart::twin::kube::controllers
