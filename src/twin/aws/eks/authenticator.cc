// Who a bearer of an EKS token is: the access entry of the role behind the session, as the authenticator
// webhook answers it.
#include "base/text.h"
#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

namespace {

using std::chrono::milliseconds;

// A change of access is known to the API server only after some seconds.
milliseconds propagation(std::string_view key) {
    return milliseconds(1500 + stable_hash(key) % 3000);
}

std::string session_of(std::string_view arn) {
    const std::size_t slash = arn.rfind('/');
    return slash == std::string_view::npos ? "" : std::string(arn.substr(slash + 1));
}

std::string username_of(const Record& entry, const Identity& identity) {
    std::string name = base::get_string(entry.data, "username");
    const std::string marker = "{{SessionName}}";
    const std::size_t at = name.find(marker);
    if (at != std::string::npos) name.replace(at, marker.size(), session_of(identity.arn));
    return name;
}

bool is_known(const State& state, const JsonObject& policy, std::string_view key) {
    const auto since = base::parse_time(base::get_string(policy, "associatedAt"));
    return since && state.world.now() - *since >= propagation(key);
}

void add_policy_groups(const State& state, const Record& entry, bool fresh_allowed, kube::User& user) {
    for (const JsonValue& policy : base::get_array(entry.hidden, "policies")) {
        if (!fresh_allowed && !is_known(state, policy.get_object(), entry.id)) continue;
        const std::string arn = base::get_string(policy, "policyArn");
        const std::string name = arn.substr(arn.rfind('/') + 1);
        const bool whole = base::get_string(policy, "accessScope.type") == "cluster";
        if (whole && name == "AmazonEKSClusterAdminPolicy") user.groups.emplace_back("system:masters");
        if (whole) user.groups.push_back("eks-access-policy:" + name);
        for (const std::string& ns : strings(policy.get_object(), "accessScope.namespaces"))
            user.groups.push_back("eks-access-policy:" + name + ":" + ns);
    }
}

}  // namespace

std::optional<kube::User> authenticate(const State& state, const std::string& cluster,
                                       std::string_view token) {
    const Record* record = state.clusters.find(cluster);
    if (record == nullptr) return std::nullopt;
    const std::optional<Identity> identity = state.world.iam().verify_eks_token(token, cluster);
    if (!identity) return std::nullopt;
    const std::string principal = identity->role_arn.empty() ? identity->arn : identity->role_arn;
    const bool creator = base::get_string(record->hidden, "creator") == principal;
    const std::string mode = base::get_string(record->data, "accessConfig.authenticationMode");
    kube::User user;
    user.groups.emplace_back("system:authenticated");
    if (mode == "CONFIG_MAP") {
        if (!creator) return std::nullopt;
        user.name = "kubernetes-admin";
        user.groups.emplace_back("system:masters");
        return user;
    }
    const Record* entry = state.entries.find(entry_key(cluster, principal));
    if (entry == nullptr) return std::nullopt;
    if (!creator && state.world.now() - entry->created < propagation(entry->id)) return std::nullopt;
    user.name = username_of(*entry, *identity);
    for (const std::string& group : strings(entry->data, "kubernetesGroups")) user.groups.push_back(group);
    add_policy_groups(state, *entry, creator, user);
    return user;
}

}  // namespace instantstart::twin::eks
