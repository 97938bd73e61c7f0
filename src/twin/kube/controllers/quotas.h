// Quotas: what the namespace's objects take of each ResourceQuota, counted anew when they change.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

class Quotas final : public Controller {
public:
    explicit Quotas(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

private:
    Env& env_;
};

}  // namespace instantstart::twin::kube::controllers
