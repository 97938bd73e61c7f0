// The controllers of nodes: their taints and events, eviction of pods from nodes in trouble, and the pods of
// nodes that are gone.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

// Taints of nodes that are cordoned, not ready or unreachable, and what is told of their changes.
class NodeLife final : public Controller {
public:
    explicit NodeLife(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    void clear() { known_.clear(); }

private:
    struct Known {
        Known() = default;
        std::string ready;  // status of the condition
        bool cordoned = false;
    };
    void tell(const JsonObject& node);
    void tell_pods(const std::string& node);
    Env& env_;
    std::map<std::string, Known> known_;
};

// Ends pods on nodes with a NoExecute taint that they do not tolerate, or not for longer.
class TaintEviction final : public Controller {
public:
    explicit TaintEviction(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    void rescale(double factor);
    void clear() { since_.clear(); }

private:
    void cancel(const JsonObject& pod);
    void evict(const JsonObject& pod);
    Env& env_;
    std::map<std::string, base::Duration, std::less<>>
        since_;  // when it first saw the taint, by the pod's uid
};

// Pods whose node is gone, or that nobody is left to end.
class PodGarbage final : public Controller {
public:
    explicit PodGarbage(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    void rescale(double factor);
    void clear() { since_.clear(); }

private:
    Env& env_;
    std::map<std::string, base::Duration, std::less<>> since_;  // without a node, by the pod's uid
};

}  // namespace instantstart::twin::kube::controllers
