// Components: what HyperPod needs inside the cluster, as desired state: EKS add-ons and our own manifests.
// The table, the state of each as it is, and the steps that bring it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flows/eks_steps.h"
#include "flows/step_kit.h"

namespace instantstart::flows {

struct Component {
    Component() = default;
    std::string id;  // "nvidia_device_plugin"
    std::string title;
    std::string addon;     // EKS add-on, or
    std::string manifest;  // our manifest file
    bool base = false;     // wanted in every cluster
    bool needs_nodes = false;
    std::string configuration;
    std::vector<std::string> after;  // components that come first
};
const std::vector<Component>& components();
const Component* find_component(std::string_view id);

// The base ones and what these instance types need, in the table's order.
std::vector<std::string> components_for(const std::set<std::string>& instance_types);

// Objects of a component with region's images and type lists filled in. Error where the region has no known
// image.
base::Result<std::vector<JsonObject>> component_objects(const Component& component,
                                                        const std::string& region);

// True where `live` has everything that `wanted` says: absent and empty are the same.
bool covers(const JsonValue& live, const JsonValue& wanted);

// {name, state, version?, detail?}: state is absent, drifted, waiting_for_nodes, starting, ready or failed.
Task<JsonObject> component_state(Clusters& env, Context context, std::string eks_name, std::string region,
                                 std::string id);
// Whether the cluster's API server is the obstacle: no answer, or none to us.
bool is_unreachable(const base::Error& error);
// How long a query waits for what the API server has to say of components, or of storage, all together.
inline constexpr base::Duration kSightLimit = std::chrono::seconds(5);
// One row for each component of the table: `wanted` by `wanted_ids`, `actual`, `healthy`. State "unknown",
// with neither of the latter two, where the API server is the obstacle or says nothing within kSightLimit:
// `detail` says why.
Task<JsonArray> dependency_rows(Clusters& env, Context context, ClusterRef ref,
                                std::set<std::string> wanted_ids);
// What the cluster's groups make wanted.
std::set<std::string> wanted_components(const JsonObject& hyperpod);

// Adds a step for each of `ids` ("kubernetes_access" and "eks" come first); needs are told apart by kind.
void add_components(Steps& steps, const std::vector<std::string>& ids);

// The object as it stands, {} where it does not, also where its kind is unknown there.
Task<JsonObject> live_object(std::shared_ptr<kube::Client> client, Context context, JsonObject wanted);
// {state, detail, standing, ours}: the least ready state of them all, how many stand and how many carry our
// label.
Task<JsonObject> objects_state(std::shared_ptr<kube::Client> client, Context context,
                               std::vector<JsonObject> objects);

// Server-side apply of objects that are missing or differ; shared with storage.
Task<Observation> observe_objects(Clusters& env, StepCall call, std::vector<JsonObject> objects);
Task<JsonObject> apply_objects(Clusters& env, StepCall call, std::vector<JsonObject> objects);

}  // namespace instantstart::flows
