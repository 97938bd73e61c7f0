// Add-ons: their life and their health.
#include "base/text.h"
#include "twin/aws/eks/addon_objects.h"
#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

namespace {

using std::chrono::seconds;

std::string key_of(const std::string& cluster, const std::string& addon) {
    return cluster + "/" + addon;
}

JsonObject issue(std::string_view code, std::string_view message) {
    JsonObject made;
    made["code"] = code;
    made["message"] = message;
    made["resourceIds"] = JsonArray();
    return made;
}

// An add-on that has been installed is as well as its Deployments are.
JsonObject shown(State& state, const Record& addon) {
    JsonObject data = addon.data;
    const std::string status = base::get_string(data, "status");
    if (status != "ACTIVE") return data;
    const Health health =
        addon_health(state, base::get_string(data, "clusterName"), base::get_string(data, "addonName"));
    if (health == Health::ready) return data;
    data["status"] = "DEGRADED";
    data["health"] = {
        {"issues", JsonArray{issue(
                       "InsufficientNumberOfReplicas",
                       "The add-on is unhealthy because it doesn't have the desired number of replicas.")}}};
    return data;
}

JsonObject answer_of(State& state, const Record& addon) {
    JsonObject answer;
    answer["addon"] = shown(state, addon);
    return answer;
}

struct AddonFound {
    Record* cluster = nullptr;
    Record* addon = nullptr;
    ServiceError error;
};

AddonFound require_addon(State& state, const Call& call) {
    AddonFound found;
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    found.cluster = cluster.record;
    found.error = cluster.error;
    if (cluster.record == nullptr) return found;
    const std::string name = base::get_string(call.params, "addonName");
    found.addon = state.addons.find(key_of(cluster.record->id, name));
    if (found.addon != nullptr && !call.shows(found.addon->created)) found.addon = nullptr;
    if (found.addon == nullptr) {
        found.error = missing("No addon: " + name + " found in cluster: " + cluster.record->id);
        found.error.members["addonName"] = name;
        found.error.members["clusterName"] = cluster.record->id;
    }
    return found;
}

std::optional<ServiceError> read_configuration(const Call& call, JsonObject& configuration) {
    const std::string text = base::get_string(call.params, "configurationValues");
    if (text.empty()) return std::nullopt;
    base::Result<JsonValue> parsed = base::parse_json(text);
    if (parsed && parsed->is_object()) {
        configuration = parsed->get_object();
        return std::nullopt;
    }
    // YAML is allowed, too; its keys mean nothing to the stand-ins.
    if (!parsed && text.find(':') != std::string::npos && text.front() != '{') return std::nullopt;
    return invalid("ConfigurationValue provided in request is not supported: it is no JSON or YAML object");
}

std::optional<ServiceError> check_identity(State& state, const Addon& addon, const Call& call,
                                           const std::string& version) {
    const std::string role = base::get_string(call.params, "serviceAccountRoleArn");
    if (!role.empty() && !state.world.iam().role_exists(role)) {
        return invalid(
            "Role with arn: " + role +
            ", could not be assumed because it does not exist or the trusted entity is not correct");
    }
    const JsonArray& associations = base::get_array(call.params, "podIdentityAssociations");
    if (!associations.empty() && !addon.needs_permissions) {
        return invalid("Pod Identity feature is not supported for addon version " + version + " of " +
                       addon.name);
    }
    for (const JsonValue& association : associations) {
        if (auto bad = check_role(state, base::get_string(association, "roleArn"), "pods.eks.amazonaws.com"))
            return bad;
    }
    return std::nullopt;
}

// Replaces all associations that the add-on owns.
std::optional<ServiceError> put_associations(State& state, Record& addon, const Call& call,
                                             const std::string& ns) {
    const std::string arn = base::get_string(addon.data, "addonArn");
    std::vector<std::string> own;
    for (const auto& [id, association] : state.associations) {
        if (base::get_string(association.data, "ownerArn") == arn) own.push_back(id);
    }
    for (const std::string& id : own) state.associations.erase(id);
    Operations operations;
    add_association_operations(operations);
    JsonArray arns;
    for (const JsonValue& wanted : base::get_array(call.params, "podIdentityAssociations")) {
        Call create = call;
        create.params = JsonObject{{"clusterName", base::get_string(addon.data, "clusterName")},
                                   {"namespace", ns},
                                   {"serviceAccount", base::get_string(wanted, "serviceAccount")},
                                   {"roleArn", base::get_string(wanted, "roleArn")},
                                   {"ownerArn", arn}};
        Reply reply = operations["CreatePodIdentityAssociation"](state, create);
        if (const ServiceError* error = std::get_if<ServiceError>(&reply)) return *error;
        arns.emplace_back(base::get_string(std::get<JsonObject>(reply), "association.associationArn"));
    }
    if (!arns.empty()) addon.data["podIdentityAssociations"] = std::move(arns);
    return std::nullopt;
}

std::optional<ServiceError> check_version(const Addon& addon, const Record& cluster, std::string& version) {
    const std::string kubernetes = base::get_string(cluster.data, "version");
    if (version.empty()) version = default_addon_version(addon, kubernetes);
    if (contains(addon_versions(addon, kubernetes), version)) return std::nullopt;
    return invalid("Addon version specified is not supported: " + version + " for " + addon.name +
                   " on Kubernetes " + kubernetes);
}

bool conflicts(const Record& cluster, const std::string& addon, const Call& call) {
    const bool bootstrapped = addon == "vpc-cni" || addon == "kube-proxy" || addon == "coredns";
    return bootstrapped && base::get_bool(cluster.hidden, "bootstrap_addons") &&
           base::get_string(call.params, "resolveConflicts", "NONE") == "NONE";
}

Reply create_addon(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    const std::string cluster_name = cluster.record->id, name = base::get_string(call.params, "addonName");
    const Addon* addon = find_addon(name);
    if (addon == nullptr) return invalid("Addon " + name + " specified is not supported");
    if (base::get_string(cluster.record->data, "status") != "ACTIVE") {
        return failure("ResourceInUseException", "Cluster " + cluster_name + " is not in ACTIVE status", 409);
    }
    if (state.addons.find(key_of(cluster_name, name)) != nullptr) {
        ServiceError error = failure("ResourceInUseException", "Addon already exists.", 409);
        error.members["clusterName"] = cluster_name;
        error.members["addonName"] = name;
        return error;
    }
    std::string version = base::get_string(call.params, "addonVersion");
    if (auto bad = check_version(*addon, *cluster.record, version)) return *bad;
    JsonObject configuration;
    if (auto bad = read_configuration(call, configuration)) return *bad;
    if (auto bad = check_identity(state, *addon, call, version)) return *bad;
    JsonObject data;
    data["addonName"] = name;
    data["clusterName"] = cluster_name;
    data["status"] = "CREATING";
    data["addonVersion"] = version;
    data["health"] = {{"issues", JsonArray()}};
    data["addonArn"] = state.arn("addon/" + cluster_name + "/" + name + "/" + state.world.uuid());
    data["createdAt"] = state.time();
    data["modifiedAt"] = state.time();
    data["tags"] = base::get_object(call.params, "tags");
    data["owner"] = addon->owner;
    data["publisher"] = addon->publisher;
    data["namespaceConfig"] = {{"namespace", addon->ns}};
    for (const char* member : {"serviceAccountRoleArn", "configurationValues"}) {
        if (call.params.contains(member)) data[member] = base::get_string(call.params, member);
    }
    Record& record = state.addons.add(key_of(cluster_name, name), std::move(data), state.world.now());
    record.hidden["configuration"] = std::move(configuration);
    record.hidden["conflict"] = conflicts(*cluster.record, name, call);
    if (auto bad = put_associations(state, record, call, addon->ns)) {
        state.addons.erase(key_of(cluster_name, name));
        return *bad;
    }
    const std::string arn = base::get_string(record.data, "addonArn");
    state.world.after(state.world.about(seconds(10)), "eks", "addon_apply",
                      {{"key", record.id}, {"arn", arn}});
    state.world.after(state.world.about(seconds(60)), "eks", "addon_ready",
                      {{"key", record.id}, {"arn", arn}, {"turn", 0}});
    return answer_of(state, record);
}

Reply describe_addon(State& state, const Call& call) {
    const AddonFound found = require_addon(state, call);
    if (found.addon == nullptr) return found.error;
    return answer_of(state, *found.addon);
}

Reply update_addon(State& state, const Call& call) {
    const AddonFound found = require_addon(state, call);
    if (found.addon == nullptr) return found.error;
    const Addon* addon = find_addon(base::get_string(found.addon->data, "addonName"));
    const std::string status = base::get_string(found.addon->data, "status");
    if (status == "CREATING" || status == "UPDATING" || status == "DELETING") {
        return failure(
            "ResourceInUseException",
            "Addon " + addon->name + " cannot be updated as it is currently in " + status + " state", 409);
    }
    std::string version =
        base::get_string(call.params, "addonVersion", base::get_string(found.addon->data, "addonVersion"));
    if (auto bad = check_version(*addon, *found.cluster, version)) return *bad;
    JsonObject configuration;
    if (auto bad = read_configuration(call, configuration)) return *bad;
    if (auto bad = check_identity(state, *addon, call, version)) return *bad;
    if (call.params.contains("podIdentityAssociations")) {
        if (auto bad = put_associations(state, *found.addon, call, addon->ns)) return *bad;
    }
    for (const char* member : {"serviceAccountRoleArn", "configurationValues"}) {
        if (call.params.contains(member)) found.addon->data[member] = base::get_string(call.params, member);
    }
    if (call.params.contains("configurationValues"))
        found.addon->hidden["configuration"] = std::move(configuration);
    found.addon->data["addonVersion"] = version;
    found.addon->data["status"] = "UPDATING";
    found.addon->data["modifiedAt"] = state.time();
    found.addon->hidden["conflict"] = false;
    Record& update = start_update(state, found.cluster->id, "AddonUpdate",
                                  JsonArray{param("AddonVersion", version)}, addon->name);
    const std::string arn = base::get_string(found.addon->data, "addonArn");
    state.world.after(state.world.about(seconds(10)), "eks", "addon_apply",
                      {{"key", found.addon->id}, {"arn", arn}});
    state.world.after(state.world.about(seconds(45)), "eks", "addon_ready",
                      {{"key", found.addon->id}, {"arn", arn}, {"turn", 0}, {"update", update.id}});
    JsonObject answer;
    answer["update"] = update.data;
    return answer;
}

Reply delete_addon(State& state, const Call& call) {
    const AddonFound found = require_addon(state, call);
    if (found.addon == nullptr) return found.error;
    if (base::get_string(found.addon->data, "status") != "DELETING") {
        found.addon->data["status"] = "DELETING";
        found.addon->hidden["preserve"] = base::get_bool(call.params, "preserve");
        state.world.after(
            state.world.about(seconds(30)), "eks", "addon_gone",
            {{"key", found.addon->id}, {"arn", base::get_string(found.addon->data, "addonArn")}});
    }
    return answer_of(state, *found.addon);
}

Reply list_addons(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    JsonArray names;
    for (const auto& [key, addon] : state.addons) {
        const bool here = base::get_string(addon.data, "clusterName") == cluster.record->id;
        if (here && call.shows(addon.created)) names.emplace_back(base::get_string(addon.data, "addonName"));
    }
    return listed(call, "addons", names);
}

JsonObject version_entry(const Addon& addon, const std::vector<std::string>& kubernetes,
                         const std::string& version) {
    JsonArray compatibilities;
    for (const std::string& cluster : kubernetes) {
        if (!contains(addon_versions(addon, cluster), version)) continue;
        compatibilities.push_back({{"clusterVersion", cluster},
                                   {"platformVersions", JsonArray{"*"}},
                                   {"defaultVersion", version == default_addon_version(addon, cluster)}});
    }
    JsonObject entry;
    entry["addonVersion"] = version;
    entry["architecture"] = JsonArray{"amd64", "arm64"};
    entry["computeTypes"] = JsonArray{"ec2", "auto", "hybrid"};
    entry["compatibilities"] = std::move(compatibilities);
    entry["requiresConfiguration"] = false;
    entry["requiresIamPermissions"] = addon.needs_permissions;
    return entry;
}

// Versions newest first, as EKS lists them.
JsonArray version_entries(const Addon& addon, const std::string& wanted_kubernetes) {
    std::vector<std::string> kubernetes = kubernetes_versions();
    if (!wanted_kubernetes.empty()) kubernetes = {wanted_kubernetes};
    JsonArray entries;
    std::vector<std::string> seen;
    for (auto cluster = kubernetes.rbegin(); cluster != kubernetes.rend(); ++cluster) {
        const std::vector<std::string> versions = addon_versions(addon, *cluster);
        for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
            if (contains(seen, *version)) continue;
            seen.push_back(*version);
            entries.push_back(version_entry(addon, kubernetes, *version));
        }
    }
    return entries;
}

Reply describe_versions(State&, const Call& call) {
    const std::string name = base::get_string(call.params, "addonName"),
                      kubernetes = base::get_string(call.params, "kubernetesVersion");
    if (!name.empty() && find_addon(name) == nullptr)
        return missing("Addon " + name + " specified is not supported");
    JsonArray list;
    for (const Addon& addon : addon_catalogue()) {
        if (!name.empty() && addon.name != name) continue;
        if (!kubernetes.empty() && !contains(kubernetes_versions(), kubernetes)) continue;
        JsonObject entry;
        entry["addonName"] = addon.name;
        entry["type"] = addon.type;
        entry["addonVersions"] = version_entries(addon, kubernetes);
        entry["publisher"] = addon.publisher;
        entry["owner"] = addon.owner;
        entry["defaultNamespace"] = addon.ns;
        list.push_back(std::move(entry));
    }
    return listed(call, "addons", list);
}

Reply describe_configuration(State&, const Call& call) {
    const Addon* addon = find_addon(base::get_string(call.params, "addonName"));
    if (addon == nullptr) return missing("Addon specified is not supported");
    JsonObject schema;
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["type"] = "object";
    schema["properties"] = {{"tolerations", {{"type", "array"}}},
                            {"resources", {{"type", "object"}}},
                            {"replicaCount", {{"type", "integer"}}}};
    JsonObject answer;
    answer["addonName"] = addon->name;
    answer["addonVersion"] = base::get_string(call.params, "addonVersion");
    answer["configurationSchema"] = base::to_text(schema);
    JsonArray identity;
    if (!addon->pod_identity_account.empty()) {
        identity.push_back({{"serviceAccount", addon->pod_identity_account},
                            {"recommendedManagedPolicies", to_array(addon->policies)}});
    }
    answer["podIdentityConfiguration"] = std::move(identity);
    return answer;
}

void become_failed(Record& addon, const Obstacle& obstacle) {
    const bool creating = base::get_string(addon.data, "status") == "CREATING";
    addon.data["status"] = creating ? "CREATE_FAILED" : "UPDATE_FAILED";
    addon.data["health"] = {{"issues", JsonArray{issue(obstacle.code, obstacle.message)}}};
}

void become_ready(State& state, Record& addon, const JsonObject& payload) {
    const std::string status = base::get_string(addon.data, "status");
    if (status != "CREATING" && status != "UPDATING") return;
    if (base::get_bool(addon.hidden, "conflict")) {
        addon.data["status"] = "CREATE_FAILED";
        addon.data["health"] = {
            {"issues",
             JsonArray{issue(
                 "ConfigurationConflict",
                 "Conflicts found when trying to apply. Will not continue due to resolve conflicts mode.")}}};
        return;
    }
    // While nodes are there, EKS gives the Deployments some minutes before it calls them degraded.
    const Health health = addon_health(state, base::get_string(addon.data, "clusterName"),
                                       base::get_string(addon.data, "addonName"));
    const std::int64_t turn = base::get_int(payload, "turn");
    if (health == Health::waiting && turn < 20) {
        JsonObject again = payload;
        again["turn"] = turn + 1;
        state.world.after(seconds(15), "eks", "addon_ready", std::move(again));
        return;
    }
    addon.data["status"] = "ACTIVE";
    addon.data["modifiedAt"] = state.time();
    if (Record* update = state.updates.find(base::get_string(payload, "update")))
        update->data["status"] = "Successful";
}

void become_gone(State& state, const Record& addon) {
    const std::string cluster = base::get_string(addon.data, "clusterName"),
                      arn = base::get_string(addon.data, "addonArn");
    if (!base::get_bool(addon.hidden, "preserve") && !base::get_bool(addon.hidden, "conflict")) {
        remove_addon_objects(state, cluster, base::get_string(addon.data, "addonName"));
    }
    std::vector<std::string> own;
    for (const auto& [id, association] : state.associations) {
        if (base::get_string(association.data, "ownerArn") == arn) own.push_back(id);
    }
    for (const std::string& id : own) state.associations.erase(id);
    state.addons.erase(std::string(addon.id));
}

}  // namespace

void addon_timer(State& state, const std::string& kind, const JsonObject& payload) {
    Record* addon = state.addons.find(base::get_string(payload, "key"));
    if (addon == nullptr || base::get_string(addon->data, "addonArn") != base::get_string(payload, "arn"))
        return;
    const Record* cluster = state.clusters.find(base::get_string(addon->data, "clusterName"));
    if (kind == "addon_apply" && cluster != nullptr && !base::get_bool(addon->hidden, "conflict")) {
        if (const auto obstacle =
                addon_obstacle(state, cluster->id, base::get_string(addon->data, "addonName"))) {
            become_failed(*addon, *obstacle);
            return;
        }
        apply_addon(state, *cluster, base::get_string(addon->data, "addonName"),
                    base::get_string(addon->data, "serviceAccountRoleArn"),
                    base::get_object(addon->hidden, "configuration"));
    }
    if (kind == "addon_ready") become_ready(state, *addon, payload);
    if (kind == "addon_gone" && base::get_string(addon->data, "status") == "DELETING")
        become_gone(state, *addon);
}

void add_addon_operations(Operations& operations) {
    operations["CreateAddon"] = create_addon;
    operations["DescribeAddon"] = describe_addon;
    operations["UpdateAddon"] = update_addon;
    operations["DeleteAddon"] = delete_addon;
    operations["ListAddons"] = list_addons;
    operations["DescribeAddonVersions"] = describe_versions;
    operations["DescribeAddonConfiguration"] = describe_configuration;
}

}  // namespace instantstart::twin::eks
