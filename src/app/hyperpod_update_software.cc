// hyperpod.update_software: the newest HyperPod image on instance groups, in batches.
#include <algorithm>

#include "app/cluster_planning.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "base/text.h"
#include "flows/hyperpod_steps.h"

namespace instantstart::app {

namespace {

struct UpdateSoftware {
    UpdateSoftware() = default;
    std::string cluster;
    std::optional<std::vector<std::string>> instance_groups;
    std::optional<std::int64_t> max_batch_percent;
    std::optional<std::string> image_id;
};
BOOST_DESCRIBE_STRUCT(UpdateSoftware, (), (cluster, instance_groups, max_batch_percent, image_id))

std::string image_of(const JsonValue& group) {
    const auto image =
        base::get_string(group, "DesiredImageId", base::get_string(group, "CurrentImageId", "default"));
    return image.empty() ? "default" : image;
}

// Without a list all that have an update; with one those, whatever their state.
bool is_wanted(const UpdateSoftware& input, const std::string& name) {
    if (!input.instance_groups) return true;
    return std::find(input.instance_groups->begin(), input.instance_groups->end(), name) !=
           input.instance_groups->end();
}

std::vector<base::FieldError> unknown_groups(const UpdateSoftware& input, const JsonObject& hyperpod) {
    std::vector<base::FieldError> faults;
    std::vector<std::string> names;
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups"))
        names.push_back(base::get_string(group, "InstanceGroupName"));
    for (std::size_t index = 0; input.instance_groups && index < input.instance_groups->size(); ++index) {
        const auto& name = (*input.instance_groups)[index];
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        auto unknown = fault("/instance_groups/" + std::to_string(index), "is no instance group", names);
        unknown.did_you_mean = base::nearest(name, names);
        faults.push_back(std::move(unknown));
    }
    return faults;
}

// Chooses the groups, and says which and why not the others.
JsonArray choose(const UpdateSoftware& input, const JsonObject& hyperpod, Plan& made) {
    JsonArray chosen;
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        const auto name = base::get_string(group, "InstanceGroupName");
        if (!is_wanted(input, name)) continue;
        const auto image = image_of(group);
        const auto wanted = input.image_id.value_or("default");
        if (image != "default" && !input.image_id) {
            made.warnings.push_back(name + " runs the custom image " + image +
                                    " and is left out: name an image_id to change it");
            continue;
        }
        if (image == wanted && base::get_string(group, "ImageVersionStatus") == "UpToDate") continue;
        made.changes.push_back(name + ": " + std::to_string(base::get_int(group, "CurrentCount")) +
                               " nodes get " +
                               (wanted == "default" ? "the newest HyperPod image" : "image " + wanted) +
                               (image == "default" ? "" : " instead of the custom image " + image));
        chosen.emplace_back(name);
    }
    return chosen;
}

Task<Plan> plan(Call call, UpdateSoftware input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    if (target.hyperpod.empty()) {
        co_return base::conflict_error("no_hyperpod",
                                       "cluster " + target.ref.name + " has no HyperPod cluster yet")
            .with_hint("Create it with hyperpod.create.");
    }
    auto faults = unknown_groups(input, target.hyperpod);
    if (!faults.empty()) co_return faults_error(std::move(faults));
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/hyperpod";
    made.flow = "hyperpod_update_software";
    auto chosen = choose(input, target.hyperpod, made);
    if (chosen.empty()) {
        made.no_change = true;
        made.no_change_result = JsonObject{{"cluster", target.ref.name}};
        co_return made;
    }
    CO_TRY(auto params, co_await base_params(call, target));
    params["groups_to_update"] = std::move(chosen);
    if (input.max_batch_percent) params["max_batch_percent"] = *input.max_batch_percent;
    if (input.image_id) params["image_id"] = *input.image_id;
    made.flow_params = std::move(params);
    Findings found;
    found.warnings.emplace_back(
        "the root volumes of the nodes are made anew, and what runs on a node is stopped while its batch is "
        "updated");
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

}  // namespace

std::unique_ptr<Operation> make_hyperpod_update_software() {
    Meta meta;
    meta.id = "hyperpod.update_software";
    meta.method = "POST";
    meta.path = "/clusters/{cluster}/hyperpod/update-software";
    meta.summary =
        "Bring the newest HyperPod image to instance groups, batch by batch; groups on custom images only "
        "with "
        "an image_id. Done when SageMaker says Succeeded of each.";
    meta.role = Role::operator_role;
    meta.area = "instance_groups";
    meta.default_tool = false;
    meta.disruptive = true;
    meta.idempotent = false;
    meta.shows_result = "instance_group.list";
    meta.uses = used_by_software_update();
    return make_long_running<UpdateSoftware>(
        std::move(meta),
        {cluster_field(),
         Field("instance_groups", "The groups to update; where left out all that have an update.")
             .length(1, 100)
             .like(JsonArray{"workers"}),
         Field("max_batch_percent", "How much of a group is updated at a time, in percent.")
             .range(1, 100)
             .like(20),
         Field("image_id", "A custom AMI of this account, or default for HyperPod's own.")
             .matches("^(default|ami-[0-9a-f]{8,17})$")
             .like("default")},
        &plan);
}

}  // namespace instantstart::app
