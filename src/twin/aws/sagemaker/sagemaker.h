// SageMaker: the twin's HyperPod.
#pragma once

#include "twin/aws/resource_tags.h"
#include "twin/aws/sagemaker/managed.h"
#include "twin/aws/sagemaker/state.h"
#include "twin/aws/services.h"

namespace instantstart::twin::sagemaker {

class SageMaker final : public Service, public NodeControl, public HyperPodView, public ResourceTags {
public:
    SageMaker(World& world, kube::ClusterHost& host);

    std::string_view name() const override { return "sagemaker"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override;
    void load(const JsonValue& state) override;
    JsonArray resource_tags(std::string_view arn) const override;
    base::Result<void> fail_node(const std::string& instance_id, const std::string& fault,
                                 std::optional<std::int64_t> code) override;
    void publish_image() override;
    std::string cluster_on(std::string_view eks_cluster_arn) const override;
    void put_plan(const PlanSpec& spec) override;
    Managed& managed() { return managed_; }

private:
    State state_;
    Managed managed_;
    Operations operations_;
    ManagedOperations managed_operations_;
};

}  // namespace instantstart::twin::sagemaker
