// Updates of clusters: one at a time, authentication only forward.
#include <algorithm>

#include "base/text.h"
#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

int mode_rank(std::string_view mode) {
    return mode == "API" ? 2 : mode == "API_AND_CONFIG_MAP" ? 1 : 0;
}

JsonObject answer_of(const Record& update) {
    JsonObject answer;
    answer["update"] = update.data;
    return answer;
}

Found require_idle(State& state, const Call& call) {
    Found found = require_cluster(state, base::get_string(call.params, "name"));
    if (found.record == nullptr) return found;
    const std::string name = found.record->id;
    if (base::get_string(found.record->data, "status") != "ACTIVE") {
        found.record = nullptr;
        found.error = failure("ResourceInUseException", "Cluster currently has update in progress", 409);
        found.error.members["clusterName"] = name;
    }
    return found;
}

// What the call would change: type, parameters and the changed data.
struct Change {
    std::string type;
    JsonArray params;
    JsonObject data;
    std::optional<ServiceError> refused;
};

void change_access(const Record& cluster, const Call& call, Change& change) {
    const std::string now = base::get_string(cluster.data, "accessConfig.authenticationMode");
    const std::string wanted = base::get_string(call.params, "accessConfig.authenticationMode", now);
    change.type = "AccessConfigUpdate";
    if (wanted == now)
        change.refused =
            invalid("Cluster is already at the desired configuration with authenticationMode: " + now);
    if (mode_rank(wanted) < mode_rank(now))
        change.refused = invalid("Unsupported authentication mode update from " + now + " to " + wanted);
    change.data["accessConfig"] = {{"authenticationMode", wanted}};
    change.params.push_back(param("AuthenticationMode", "\"" + wanted + "\""));
}

void change_network(const Record& cluster, const Call& call, Change& change) {
    const JsonObject& given = base::get_object(call.params, "resourcesVpcConfig");
    JsonObject config = base::get_object(cluster.data, "resourcesVpcConfig");
    const bool lists = given.contains("subnetIds") || given.contains("securityGroupIds");
    change.type = lists ? "VpcConfigUpdate" : "EndpointAccessUpdate";
    bool differs = false;
    for (const auto& [member, value] : given) {
        differs = differs || config[member] != value;
        config[member] = value;
        std::string type(member);
        type[0] = static_cast<char>(type[0] - 'a' + 'A');
        change.params.push_back(param(type, base::to_text(value)));
    }
    if (!differs) {
        auto flag = [&config](const char* member) {
            return base::get_bool(config, member) ? "true" : "false";
        };
        change.refused = invalid(
            std::string("Cluster is already at the desired configuration with endpointPrivateAccess: ") +
            flag("endpointPrivateAccess") + ", endpointPublicAccess: " + flag("endpointPublicAccess"));
    }
    change.data["resourcesVpcConfig"] = std::move(config);
}

Change change_of(const Record& cluster, const Call& call) {
    Change change;
    std::size_t given = 0;
    for (const char* member :
         {"accessConfig", "resourcesVpcConfig", "logging", "upgradePolicy", "deletionProtection"})
        given += call.params.contains(member) ? 1 : 0;
    if (given != 1) {
        change.refused = invalid("Exactly one type of update must be given");
    } else if (call.params.contains("accessConfig")) {
        change_access(cluster, call, change);
    } else if (call.params.contains("resourcesVpcConfig")) {
        change_network(cluster, call, change);
    } else {
        const bool logging = call.params.contains("logging");
        const bool policy = call.params.contains("upgradePolicy");
        const char* member = logging ? "logging" : policy ? "upgradePolicy" : "deletionProtection";
        change.type = logging ? "LoggingUpdate" : policy ? "UpgradePolicyUpdate" : "DeletionProtectionUpdate";
        change.data[member] = *call.params.if_contains(member);
        change.params.push_back(param(logging  ? "ClusterLogging"
                                      : policy ? "UpgradePolicy"
                                               : "DeletionProtection",
                                      base::to_text(change.data[member])));
    }
    return change;
}

Reply update_config(State& state, const Call& call) {
    const Found cluster = require_idle(state, call);
    if (cluster.record == nullptr) return cluster.error;
    Change change = change_of(*cluster.record, call);
    if (change.refused) return *change.refused;
    cluster.record->data["status"] = "UPDATING";
    Record& update = start_update(state, cluster.record->id, change.type, std::move(change.params), "");
    update.hidden["change"] = std::move(change.data);
    state.world.after(state.world.about(seconds(90)), "eks", "update_done", {{"id", update.id}});
    return answer_of(update);
}

Reply update_version(State& state, const Call& call) {
    const Found cluster = require_idle(state, call);
    if (cluster.record == nullptr) return cluster.error;
    const std::vector<std::string>& versions = kubernetes_versions();
    const std::string now = base::get_string(cluster.record->data, "version"),
                      wanted = base::get_string(call.params, "version");
    const auto at = std::find(versions.begin(), versions.end(), now);
    if (at == versions.end() || at + 1 == versions.end() || *(at + 1) != wanted) {
        return invalid("Unsupported Kubernetes minor version update from " + now + " to " + wanted);
    }
    cluster.record->data["status"] = "UPDATING";
    Record& update = start_update(state, cluster.record->id, "VersionUpdate",
                                  JsonArray{param("Version", wanted), param("PlatformVersion", "eks.7")}, "");
    update.hidden["change"] = {{"version", wanted}};
    state.world.after(state.world.about(minutes(9)), "eks", "update_done", {{"id", update.id}});
    return answer_of(update);
}

Reply describe_update(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "name"));
    if (cluster.record == nullptr) return cluster.error;
    const std::string id = base::get_string(call.params, "updateId");
    const Record* update = state.updates.find(id);
    if (update == nullptr || base::get_string(update->hidden, "cluster") != cluster.record->id)
        return missing("No update found for ID: " + id);
    return answer_of(*update);
}

Reply list_updates(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "name"));
    if (cluster.record == nullptr) return cluster.error;
    JsonArray ids;
    for (const auto& [id, update] : state.updates) {
        const bool here = base::get_string(update.hidden, "cluster") == cluster.record->id;
        if (here && base::get_string(update.hidden, "addon") == base::get_string(call.params, "addonName"))
            ids.emplace_back(id);
    }
    return listed(call, "updateIds", ids);
}

}  // namespace

Record& start_update(State& state, const std::string& cluster, std::string_view type, JsonArray params,
                     const std::string& addon) {
    const std::string id = state.world.uuid();
    JsonObject data;
    data["id"] = id;
    data["status"] = "InProgress";
    data["type"] = type;
    data["params"] = std::move(params);
    data["createdAt"] = state.time();
    data["errors"] = JsonArray();
    Record& update = state.updates.add(id, std::move(data), state.world.now());
    update.hidden["cluster"] = cluster;
    update.hidden["addon"] = addon;
    return update;
}

void update_timer(State& state, const std::string&, const JsonObject& payload) {
    Record* update = state.updates.find(base::get_string(payload, "id"));
    if (update == nullptr) return;
    update->data["status"] = "Successful";
    Record* cluster = state.clusters.find(base::get_string(update->hidden, "cluster"));
    if (cluster == nullptr || base::get_string(cluster->data, "status") != "UPDATING") return;
    for (const auto& [member, value] : base::get_object(update->hidden, "change"))
        cluster->data[member] = value;
    cluster->data["status"] = "ACTIVE";
}

void add_update_operations(Operations& operations) {
    operations["UpdateClusterConfig"] = update_config;
    operations["UpdateClusterVersion"] = update_version;
    operations["DescribeUpdate"] = describe_update;
    operations["ListUpdates"] = list_updates;
}

}  // namespace instantstart::twin::eks
