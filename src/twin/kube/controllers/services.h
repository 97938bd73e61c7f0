// Endpoints: who serves a Service, as Endpoints and EndpointSlices.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

class Endpoints final : public Controller {
public:
    explicit Endpoints(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    void clear();

private:
    void pod_changed(const Change& change);
    void write_endpoints(const JsonObject& service, const std::vector<ObjectPtr>& pods);
    void write_slices(const JsonObject& service, const std::vector<ObjectPtr>& pods);
    void remove_slices(const Key& service, std::size_t from);

    Env& env_;
    std::map<std::string, std::map<std::string, JsonObject>, std::less<>> selectors_;  // namespace: service
    std::map<Key, std::size_t> sizes_;  // pods of a service when it was looked at
};

}  // namespace instantstart::twin::kube::controllers
