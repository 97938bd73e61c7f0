// The IAM service of the simulated account: its state, its operations, and what other services ask of it.
#pragma once

#include <map>
#include <set>

#include "twin/aws/iam/policy.h"
#include "twin/aws/keys.h"
#include "twin/aws/world.h"

namespace instantstart::twin::iam {

class IamService final : public Service, public IamView, public Keys, public PolicyJudge {
public:
    explicit IamService(World& world);

    // Service
    std::string_view name() const override { return "iam"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override;
    void load(const JsonValue& state) override;

    // IamView
    bool role_exists(std::string_view role_arn) const override;
    bool role_usable(std::string_view role_arn) const override;
    std::vector<std::string> trusted_services(std::string_view role_arn) const override;
    std::vector<std::string> role_policies(std::string_view role_arn) const override;
    bool allows(const Identity& identity, std::string_view action, std::string_view resource,
                const std::vector<std::pair<std::string, std::string>>& context) const override;
    std::string ensure_service_linked_role(std::string_view service_principal,
                                           std::string_view role_name) override;
    std::optional<Identity> verify_eks_token(std::string_view token, std::string_view cluster) const override;
    bool has_oidc_provider(std::string_view issuer_host_and_path) const override;

    // PolicyJudge
    Verdict judge(const Identity& identity, PolicyRequest request) const override;
    JsonArray iam_tags(std::string_view arn) const override;
    std::string boundary_of(std::string_view role_arn) const override;
    std::string real_arn(std::string_view role_arn) const override;

    // Keys
    std::optional<AccessKey> find_key(std::string_view access_key) const override;
    void add_key(std::string access_key, AccessKey key) override;
    std::string role_arn(std::string_view role_name) const override;
    const JsonObject* role_by_arn(std::string_view arn) const override;

private:
    using Operation = Reply (IamService::*)(const Call&);
    static const std::map<std::string_view, Operation>& operations();

    // roles.cc
    Reply create_role(const Call& call);
    Reply get_role(const Call& call);
    Reply list_roles(const Call& call);
    Reply delete_role(const Call& call);
    Reply update_role(const Call& call);
    Reply update_trust(const Call& call);
    Reply put_boundary(const Call& call);
    Reply delete_boundary(const Call& call);
    Reply tag_role(const Call& call);
    Reply untag_role(const Call& call);
    Reply list_role_tags(const Call& call);
    Reply create_service_linked_role(const Call& call);
    Reply delete_service_linked_role(const Call& call);
    Reply service_linked_role_deletion(const Call& call);
    // role_policies.cc
    Reply put_role_policy(const Call& call);
    Reply get_role_policy(const Call& call);
    Reply delete_role_policy(const Call& call);
    Reply list_role_policies(const Call& call);
    Reply attach_role_policy(const Call& call);
    Reply detach_role_policy(const Call& call);
    Reply list_attached(const Call& call);
    // policies.cc
    Reply create_policy(const Call& call);
    Reply get_policy(const Call& call);
    Reply delete_policy(const Call& call);
    Reply list_policies(const Call& call);
    Reply create_version(const Call& call);
    Reply get_version(const Call& call);
    Reply delete_version(const Call& call);
    Reply list_versions(const Call& call);
    Reply set_default_version(const Call& call);
    Reply list_entities(const Call& call);
    Reply tag_policy(const Call& call);
    Reply untag_policy(const Call& call);
    Reply list_policy_tags(const Call& call);
    // providers.cc
    Reply create_provider(const Call& call);
    Reply get_provider(const Call& call);
    Reply delete_provider(const Call& call);
    Reply list_providers(const Call& call);
    Reply change_provider(const Call& call);
    Reply create_profile(const Call& call);
    Reply get_profile(const Call& call);
    Reply delete_profile(const Call& call);
    Reply list_profiles(const Call& call);
    Reply list_profiles_for_role(const Call& call);
    Reply add_role_to_profile(const Call& call);
    Reply remove_role_from_profile(const Call& call);
    Reply tag_profile(const Call& call);
    // account.cc
    Reply get_user(const Call& call);
    Reply list_users(const Call& call);
    Reply list_aliases(const Call& call);
    Reply account_summary(const Call& call);
    Reply simulate_principal(const Call& call);
    Reply simulate_custom(const Call& call);

    JsonObject* role(
        const Call& call);  // by the call's RoleName; null where there is none (or it is not shown yet)
    JsonObject* policy(const Call& call);
    JsonObject* provider(const Call& call);
    JsonObject* profile(const Call& call);
    JsonObject profile_view(const JsonObject& profile) const;
    void changed(JsonObject& role);
    std::string unique_id(std::string_view prefix);
    std::int64_t attachment_count(std::string_view policy_arn) const;
    std::string policy_document(std::string_view policy_arn) const;
    Verdict decide(const JsonObject& role, const PolicyRequest& request) const;
    Effect said(const std::string& document, const PolicyRequest& request) const;
    JsonArray simulate(const Call& call, const std::vector<JsonValue>& documents, const JsonObject* role);
    void first_day();

    World& world_;
    // Roles, profiles by name; policies, providers by ARN. Members that begin with `_` are ours.
    std::map<std::string, JsonObject, std::less<>> roles_, policies_, providers_, profiles_;
    std::map<std::string, AccessKey, std::less<>> keys_;
    mutable std::map<std::string, JsonValue, std::less<>> parsed_;  // documents by their text
};

// Shared by the files of this folder.
std::string text_of(const Call& call, std::string_view member);
JsonObject shown(const JsonObject& object);  // without our own members
bool is_shown(const Call& call, const JsonObject& object);
ServiceError no_such(std::string_view what, std::string_view name);
// `{key: items of the page, IsTruncated, Marker}` by MaxItems and Marker.
JsonObject page(const Call& call, std::string_view key, const JsonArray& items);
void merge_tags(JsonObject& object, const JsonArray& tags);
void remove_tags(JsonObject& object, const JsonArray& keys);

}  // namespace instantstart::twin::iam
