// Pod identity associations: unique per cluster, namespace and service account.
#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

namespace {

Found require_association(State& state, const Call& call) {
    Found found = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (found.record == nullptr) return found;
    const std::string cluster = found.record->id, id = base::get_string(call.params, "associationId");
    found.record = state.associations.find(id);
    if (found.record == nullptr || base::get_string(found.record->data, "clusterName") != cluster) {
        found.record = nullptr;
        found.error = missing("Association " + id + " not found in cluster " + cluster);
    }
    return found;
}

JsonObject answer_of(const Record& association) {
    JsonObject answer;
    answer["association"] = association.data;
    return answer;
}

Reply create(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    const std::string token = base::get_string(call.params, "clientRequestToken");
    const auto earlier = state.tokens.find("association/" + token);
    if (!token.empty() && earlier != state.tokens.end()) {
        if (const Record* made = state.associations.find(earlier->second)) return answer_of(*made);
    }
    const std::string ns = base::get_string(call.params, "namespace"),
                      account = base::get_string(call.params, "serviceAccount");
    for (const auto& [id, other] : state.associations) {
        if (base::get_string(other.data, "clusterName") == cluster.record->id &&
            base::get_string(other.data, "namespace") == ns &&
            base::get_string(other.data, "serviceAccount") == account) {
            return failure("ResourceInUseException", "Association already exists: " + id, 409);
        }
    }
    const std::string role = base::get_string(call.params, "roleArn");
    if (auto bad = check_role(state, role, "pods.eks.amazonaws.com")) return *bad;
    const std::string id = state.world.hex_id("a-", 17);
    JsonObject data;
    data["clusterName"] = cluster.record->id;
    data["namespace"] = ns;
    data["serviceAccount"] = account;
    data["roleArn"] = role;
    data["associationArn"] = state.arn("podidentityassociation/" + cluster.record->id + "/" + id);
    data["associationId"] = id;
    data["tags"] = base::get_object(call.params, "tags");
    data["createdAt"] = state.time();
    data["modifiedAt"] = state.time();
    data["disableSessionTags"] = base::get_bool(call.params, "disableSessionTags");
    if (call.params.contains("targetRoleArn"))
        data["targetRoleArn"] = base::get_string(call.params, "targetRoleArn");
    if (call.params.contains("ownerArn")) data["ownerArn"] = base::get_string(call.params, "ownerArn");
    if (!token.empty()) state.tokens["association/" + token] = id;
    return answer_of(state.associations.add(id, std::move(data), state.world.now()));
}

Reply describe(State& state, const Call& call) {
    const Found found = require_association(state, call);
    if (found.record == nullptr) return found.error;
    return answer_of(*found.record);
}

Reply update(State& state, const Call& call) {
    const Found found = require_association(state, call);
    if (found.record == nullptr) return found.error;
    if (call.params.contains("roleArn")) {
        const std::string role = base::get_string(call.params, "roleArn");
        if (auto bad = check_role(state, role, "pods.eks.amazonaws.com")) return *bad;
        found.record->data["roleArn"] = role;
    }
    found.record->data["modifiedAt"] = state.time();
    return answer_of(*found.record);
}

Reply remove(State& state, const Call& call) {
    const Found found = require_association(state, call);
    if (found.record == nullptr) return found.error;
    JsonObject answer = answer_of(*found.record);
    state.associations.erase(std::string(found.record->id));
    return answer;
}

Reply list(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    const std::string ns = base::get_string(call.params, "namespace"),
                      account = base::get_string(call.params, "serviceAccount");
    JsonArray summaries;
    for (const auto& [id, association] : state.associations) {
        const JsonObject& data = association.data;
        if (base::get_string(data, "clusterName") != cluster.record->id || !call.shows(association.created))
            continue;
        if (!ns.empty() && base::get_string(data, "namespace") != ns) continue;
        if (!account.empty() && base::get_string(data, "serviceAccount") != account) continue;
        JsonObject summary;
        for (const char* member :
             {"clusterName", "namespace", "serviceAccount", "associationArn", "associationId", "ownerArn"}) {
            if (const JsonValue* value = data.if_contains(member)) summary[member] = *value;
        }
        summaries.push_back(std::move(summary));
    }
    return listed(call, "associations", summaries);
}

}  // namespace

void add_association_operations(Operations& operations) {
    operations["CreatePodIdentityAssociation"] = create;
    operations["DescribePodIdentityAssociation"] = describe;
    operations["UpdatePodIdentityAssociation"] = update;
    operations["DeletePodIdentityAssociation"] = remove;
    operations["ListPodIdentityAssociations"] = list;
}

}  // namespace instantstart::twin::eks
