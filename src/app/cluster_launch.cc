// cluster.launch: control plane, HyperPod with its groups, and storage as one operation on its critical path.
#include <set>

#include "app/domain_makers.h"
#include "app/feature_planning.h"
#include "app/group_planning.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "domain/cidr.h"

namespace instantstart::app {

namespace {

struct LaunchInput : ClusterInput {
    LaunchInput() = default;
    std::vector<domain::InstanceGroup> instance_groups;
    std::optional<StorageInput> storage;
    std::optional<FeaturesInput> features;
};
BOOST_DESCRIBE_STRUCT(LaunchInput, (ClusterInput), (instance_groups, storage, features))

bool wants(const std::optional<FeaturesInput>& features, std::string_view feature) {
    return features && base::get_bool(wish_of(*features), std::string(feature) + ".enabled");
}

GroupRequest group_request(const LaunchInput& input) {
    GroupRequest request;
    request.groups = input.instance_groups;
    request.pods.s3 = input.storage.has_value();
    request.pods.inference_operator = wants(input.features, "inference_operator");
    request.pods.whole_cluster = true;
    return request;
}

// Each zone with groups takes a /20 of the new VPC, whose last /20 is for gateways and control plane.
void check_room(const JsonObject& params, const LaunchInput& input, Findings& found) {
    const auto range = domain::parse_cidr(base::get_string(params, "network.vpc_cidr"));
    if (!range || range->prefix > 20) return;
    std::set<std::string> zones;
    for (const auto& group : input.instance_groups) {
        if (!group.subnet_id) zones.insert(group.zone);
    }
    const auto room = (std::size_t{1} << static_cast<unsigned>(20 - range->prefix)) - 1;
    if (zones.size() <= room) return;
    found.faults.push_back(
        fault("/network/vpc_cidr", "has room for compute subnets in " + std::to_string(room) +
                                       " zones, the groups stand in " + std::to_string(zones.size()) +
                                       ": choose a larger range or fewer zones"));
}

Task<Plan> plan(Call call, LaunchInput input) {
    Findings found;
    CO_TRY(auto params, co_await plan_cluster(call, input, found));
    auto request = group_request(input);
    CO_TRY(auto groups, co_await check_instance_groups(call, request));
    merge(found, std::move(groups));
    check_room(params, input, found);
    CO_CHECK_OK(co_await check_service_roles(call, hyperpod_roles(), found));
    put_groups(params, input.instance_groups, JsonObject{});
    Plan made;
    Wanted features;
    if (input.features) {
        CO_TRY(features, first_features(*input.features, input.instance_groups));
        found.faults.insert(found.faults.end(), features.faults.begin(), features.faults.end());
    }
    made.creates = cluster_creates(params);
    made.creates.push_back("HyperPod cluster " + input.name);
    for (const auto& sentence : group_sentences(input.instance_groups)) made.creates.push_back(sentence);
    if (input.storage) {
        CO_CHECK_OK(co_await put_storage(call, *input.storage, "/storage", params, found));
        made.creates.push_back("storage " + input.storage->name);
    }
    made.resource = "cluster/" + input.name;
    made.covers_children = true;
    made.flow = "cluster_launch";
    made.flow_params = std::move(params);
    plan_first_features(features, made);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

}  // namespace

std::unique_ptr<Operation> make_cluster_launch() {
    Meta meta;
    meta.id = "cluster.launch";
    meta.method = "POST";
    meta.path = "/clusters/launch";
    meta.summary =
        "Create EKS, HyperPod with instance groups, and storage as one operation, as much as possible side "
        "by side. Takes about 20 minutes.";
    meta.role = Role::admin;
    meta.area = "cluster";
    meta.creates_cluster = true;
    meta.shows_result = "cluster.get";
    meta.uses = used_by_cluster_launch();
    std::vector<Field> own{Field("storage", "Storage to mount in pods."),
                           Field("features", "Features to switch on, once the nodes are there.")};
    return make_long_running<LaunchInput>(
        std::move(meta),
        joined({cluster_fields(), group_fields("instance_groups."), std::move(own),
                storage_fields("storage."), feature_fields("features.")}),
        &plan);
}

}  // namespace instantstart::app
