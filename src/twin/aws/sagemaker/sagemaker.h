// SageMaker: the twin's HyperPod.
#pragma once

#include "twin/aws/sagemaker/state.h"
#include "twin/aws/services.h"

namespace instantstart::twin::sagemaker {

class SageMaker final : public Service, public NodeControl {
public:
    SageMaker(World& world, kube::ClusterHost& host);

    std::string_view name() const override { return "sagemaker"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override;
    void load(const JsonValue& state) override;
    base::Result<void> fail_node(const std::string& instance_id, const std::string& fault,
                                 std::optional<std::int64_t> code) override;

private:
    State state_;
    Operations operations_;
};

}  // namespace instantstart::twin::sagemaker
