// Eks: the twin's EKS, and what HyperPod asks of it.
#pragma once

#include "twin/aws/eks/state.h"
#include "twin/aws/resource_tags.h"

namespace instantstart::twin::eks {

class Eks final : public Service, public ResourceTags {
public:
    Eks(World& world, kube::ClusterHost& host);

    std::string_view name() const override { return "eks"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override;
    // Makes the clusters in the host; their objects are loaded by whoever saved them.
    void load(const JsonValue& state) override;
    JsonArray resource_tags(std::string_view arn) const override;

    // Where the clusters are reached and by which CA: called at start and when the port is known.
    void set_endpoint(std::string kube_url, std::string ca_pem);

    const Record* cluster_by_arn(std::string_view arn) const;
    const Record* cluster(std::string_view name) const { return state_.clusters.find(name); }
    // Makes the entry where there is none.
    void ensure_entry(const std::string& cluster, const std::string& principal, const std::string& type);
    void delete_entry(const std::string& cluster, const std::string& principal);

private:
    State state_;
    Operations operations_;
};

}  // namespace instantstart::twin::eks
