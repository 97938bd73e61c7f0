// Scheduler: binds pods to nodes, and says why not.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

class Scheduler final : public Controller {
public:
    explicit Scheduler(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    void clear() { waiting_.clear(); }

private:
    void wake_waiting();
    std::vector<ObjectPtr> candidates(const JsonObject& pod) const;
    std::string claims_problem(const JsonObject& pod) const;
    void choose_volumes_node(const JsonObject& pod, const std::string& node);
    void bind(const JsonObject& pod, const std::string& node);
    void refuse(const JsonObject& pod, const std::string& message);

    Env& env_;
    std::set<Key> waiting_;  // found no node
};

}  // namespace instantstart::twin::kube::controllers
