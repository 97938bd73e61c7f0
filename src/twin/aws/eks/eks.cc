#include "twin/aws/eks/eks.h"

#include "twin/aws/eks/operators.h"
#include "twin/aws/resources/page_token.h"

namespace instantstart::twin::eks {

namespace {

struct Saved {
    const char* name;
    Table State::* table;
};
constexpr Saved kSaved[] = {{"clusters", &State::clusters},     {"addons", &State::addons},
                            {"updates", &State::updates},       {"associations", &State::associations},
                            {"nodegroups", &State::nodegroups}, {"entries", &State::entries}};

Reply no_profiles(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    return listed(call, "fargateProfileNames", JsonArray());
}

bool reads(std::string_view operation) {
    return operation.starts_with("Describe") || operation.starts_with("List");
}

}  // namespace

Eks::Eks(World& world, kube::ClusterHost& host) : state_(world, host) {
    add_cluster_operations(operations_);
    add_update_operations(operations_);
    add_addon_operations(operations_);
    add_entry_operations(operations_);
    add_association_operations(operations_);
    add_nodegroup_operations(operations_);
    add_tag_operations(operations_);
    add_version_operations(operations_);
    operations_["ListFargateProfiles"] = no_profiles;
}

Reply Eks::handle(const Call& call) {
    const auto found = operations_.find(call.operation);
    if (found == operations_.end())
        return failure("InvalidRequestException", "The twin does not simulate eks:" + call.operation + ".");
    if (!page_position(base::get_string(call.params, "nextToken")))
        return invalid("The nextToken is not one that this call has answered.");
    Reply reply = found->second(state_, call);
    if (!reads(call.operation)) state_.world.touched();
    return reply;
}

void Eks::on_timer(const std::string& kind, const JsonObject& payload) {
    if (kind.starts_with("cluster_")) cluster_timer(state_, kind, payload);
    if (kind.starts_with("update_")) update_timer(state_, kind, payload);
    if (kind.starts_with("addon_")) addon_timer(state_, kind, payload);
    if (kind.starts_with("nodegroup_")) nodegroup_timer(state_, kind, payload);
    if (kind == "operator_look") operator_timer(state_, payload);
    state_.world.touched();
}

JsonValue Eks::save() const {
    JsonObject saved;
    for (const Saved& entry : kSaved) saved[entry.name] = (state_.*entry.table).save();
    JsonObject tokens;
    for (const auto& [token, id] : state_.tokens) tokens[token] = id;
    saved["tokens"] = std::move(tokens);
    return saved;
}

void Eks::load(const JsonValue& state) {
    const JsonObject* saved = state.if_object();
    for (const std::string& name : state_.host.names()) state_.host.remove(name);
    state_.tokens.clear();
    state_.watches.clear();
    state_.operator_looks.clear();
    for (const Saved& entry : kSaved) {
        const JsonValue* table = saved == nullptr ? nullptr : saved->if_contains(entry.name);
        (state_.*entry.table).load(table == nullptr ? JsonValue() : *table);
    }
    if (saved != nullptr) {
        for (const auto& [token, id] : base::get_object(*saved, "tokens"))
            state_.tokens[token] = std::string(id.as_string());
    }
    for (const auto& [name, cluster] : state_.clusters) {
        if (base::get_string(cluster.data, "status") != "CREATING") make_kube_cluster(state_, cluster);
    }
}

void Eks::set_endpoint(std::string kube_url, std::string ca_pem) {
    state_.kube_url = std::move(kube_url);
    state_.ca_pem = std::move(ca_pem);
}

const Record* Eks::cluster_by_arn(std::string_view arn) const {
    for (const auto& [name, cluster] : state_.clusters) {
        if (base::get_string(cluster.data, "arn") == arn) return &cluster;
    }
    return nullptr;
}

void Eks::ensure_entry(const std::string& cluster, const std::string& principal, const std::string& type) {
    if (state_.entries.find(entry_key(cluster, principal)) != nullptr) return;
    make_entry(state_, cluster, principal, type,
               type == "HYPERPOD_LINUX" ? JsonArray{"system:nodes"} : JsonArray());
}

void Eks::delete_entry(const std::string& cluster, const std::string& principal) {
    state_.entries.erase(entry_key(cluster, principal));
}

}  // namespace instantstart::twin::eks

namespace instantstart::twin {

std::unique_ptr<Service> make_eks(World& world, kube::ClusterHost& clusters) {
    return std::make_unique<eks::Eks>(world, clusters);
}

}  // namespace instantstart::twin
