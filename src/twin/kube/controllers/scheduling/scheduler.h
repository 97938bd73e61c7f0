// Scheduler: binds pods to nodes, and says why not.
//
// A pod without affinity takes the first node that fits, the emptiest first. Pods that every node treats
// alike form a group: what refused one refuses all, so that after a change one of the group is tried, and its
// fellows follow where it found a place.
#pragma once

#include "twin/kube/controllers/scheduling/filters.h"

namespace instantstart::twin::kube::controllers {

class Scheduler final : public Controller {
public:
    explicit Scheduler(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    void clear();

private:
    struct Group {
        Group() = default;
        std::set<Key> pods;
        std::string message;
        std::vector<std::string> pinned;
        std::uint64_t generation = 0;  // when it was refused
        bool looks_at_pods = false;
        int failures = 0;
        base::Duration not_before{0};  // kube-scheduler's back-off: 1 s, doubled up to 10 s
    };
    void pod_changed(const Change& change);
    void enqueue(const JsonObject& pod);
    void forget(const Key& key);
    void wake(const std::string& node, bool by_pods_only = false);
    void try_group(const std::string& signature, Group& group);
    void schedule(const Key& key);
    void place(const Cycle& cycle, const std::string& signature, const std::string& node);
    void hold_back(const ObjectPtr& pod);
    void refuse(const Cycle& cycle, const std::string& signature, const std::string& message);
    std::string explain(const Cycle& cycle, const Verdict& verdict, const std::vector<std::string>& helped);
    void write_refusal(const JsonObject& pod, const std::string& message);
    const NodeFacts* choose(const Cycle& cycle, Verdict& verdict, std::vector<std::string>& helped) const;

    Env& env_;
    Nominations nominations_;
    std::uint64_t generation_ = 1;  // rises with everything that may help a waiting pod
    std::uint64_t sequence_ = 0;
    using Turn = std::pair<std::pair<std::int64_t, std::uint64_t>, Key>;  // priority (high first), arrival
    std::set<Turn> pending_;
    std::map<Key, Turn> turns_;
    std::map<std::string, Group> groups_;  // by signature
    std::map<Key, std::string> waiting_;   // found no node: the signature
};

}  // namespace instantstart::twin::kube::controllers
