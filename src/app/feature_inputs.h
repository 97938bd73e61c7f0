// The switches of feature.update: one member for each row of the table of features, with its settings.
#pragma once

#include "app/cluster_inputs.h"

namespace instantstart::app {

struct FeatureSwitch {
    FeatureSwitch() = default;
    std::optional<bool> enabled;
};
BOOST_DESCRIBE_STRUCT(FeatureSwitch, (), (enabled))

struct TieredCheckpointingSwitch {
    TieredCheckpointingSwitch() = default;
    std::optional<bool> enabled;
    std::optional<std::int64_t> memory_percent;
};
BOOST_DESCRIBE_STRUCT(TieredCheckpointingSwitch, (), (enabled, memory_percent))

struct AutoscalingSwitch {
    AutoscalingSwitch() = default;
    std::optional<bool> enabled;
    std::optional<std::vector<std::string>> instance_groups;
    std::optional<JsonObject> limits;
    std::optional<std::string> consolidate_after;
};
BOOST_DESCRIBE_STRUCT(AutoscalingSwitch, (), (enabled, instance_groups, limits, consolidate_after))

struct ObservabilitySwitch {
    ObservabilitySwitch() = default;
    std::optional<bool> enabled;
    std::optional<std::string> workspace_arn;
};
BOOST_DESCRIBE_STRUCT(ObservabilitySwitch, (), (enabled, workspace_arn))

struct MlflowSwitch {
    MlflowSwitch() = default;
    std::optional<bool> enabled;
    std::optional<std::string> kind;
};
BOOST_DESCRIBE_STRUCT(MlflowSwitch, (), (enabled, kind))

struct FeaturesInput {
    FeaturesInput() = default;
    std::optional<FeatureSwitch> training_operator;
    std::optional<FeatureSwitch> inference_operator;
    std::optional<FeatureSwitch> kuberay;
    std::optional<FeatureSwitch> keda;
    std::optional<FeatureSwitch> load_balancer_controller;
    std::optional<TieredCheckpointingSwitch> tiered_checkpointing;
    std::optional<AutoscalingSwitch> autoscaling;
    std::optional<ObservabilitySwitch> observability;
    std::optional<MlflowSwitch> mlflow;
    std::optional<FeatureSwitch> task_governance;
};
BOOST_DESCRIBE_STRUCT(FeaturesInput, (),
                      (training_operator, inference_operator, kuberay, keda, load_balancer_controller,
                       tiered_checkpointing, autoscaling, observability, mlflow, task_governance))

// What is known of them; `prefix` "features." where they are part of a larger body.
std::vector<Field> feature_fields(const std::string& prefix);

}  // namespace instantstart::app
