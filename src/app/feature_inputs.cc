#include "app/feature_inputs.h"

#include "flows/features/feature.h"

namespace instantstart::app {

namespace {

std::vector<Field> setting_fields(const std::string& at) {
    return {
        Field(at + "tiered_checkpointing.memory_percent",
              "Share of each node's memory that holds checkpoints, in percent.")
            .range(20, 100)
            .like(20),
        Field(at + "autoscaling.instance_groups",
              "Groups that Karpenter scales from zero; all that were added with autoscaled where left out.")
            .length(0, 10)
            .like(JsonArray{"burst"}),
        Field(at + "autoscaling.limits",
              "The most that it may start in all: nodes, cpu, memory, nvidia.com/gpu, aws.amazon.com/neuron.")
            .like(JsonObject{{"nodes", 8}}),
        Field(at + "autoscaling.consolidate_after", "How long a node stays empty before it goes, or Never.")
            .matches("^(([0-9]+(s|m|h))+|Never)$")
            .like("60s"),
        Field(at + "observability.workspace_arn",
              "An existing Prometheus workspace of this region; one is made where left out.")
            .matches("^(arn:aws[a-z-]*:aps:[a-z0-9-]+:[0-9]{12}:workspace/[0-9A-Za-z_.-]{1,64})?$")
            .like("arn:aws:aps:us-west-2:111122223333:workspace/ws-0f5c0c22-0000-4000-8000-000000000001"),
        Field(at + "mlflow.kind",
              "An app (minutes, serverless), or a tracking server (half an hour, always on).")
            .one_of({"app", "tracking_server"})
            .like("app"),
    };
}

}  // namespace

std::vector<Field> feature_fields(const std::string& prefix) {
    std::vector<Field> list;
    for (const auto& feature : flows::features()) {
        list.emplace_back(prefix + feature.id, feature.title + ".");
        list.push_back(Field(prefix + feature.id + ".enabled", "Whether it is on.").like(true));
    }
    auto all = joined({std::move(list), setting_fields(prefix)});
    // Within a larger body they would crowd a tool's schema; feature_update shows them whole.
    for (auto& field : all) field.is_rare = !prefix.empty();
    return all;
}

}  // namespace instantstart::app
