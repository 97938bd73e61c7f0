#include "base/text.h"
#include "http/message.h"
#include "twin/aws/iam/iam_service.h"
#include "twin/aws/iam/managed.h"
#include "twin/aws/services.h"
#include "twin/aws/sigv4.h"

namespace instantstart::twin {

std::unique_ptr<Service> make_iam(World& world) {
    return std::make_unique<iam::IamService>(world);
}

namespace iam {

namespace {

// How long services do not yet know a role, its trust or its policies.
constexpr base::Duration kPropagation = std::chrono::seconds(8);
constexpr std::string_view kAccessKey = "AKIATWIN000000000000";
constexpr std::string_view kSecret = "twin";
constexpr std::string_view kAdminRole = "instantstart-admin";
// A token of EKS lives this long from its signing, whatever its URL says.
constexpr std::int64_t kTokenSeconds = 15 * 60;
constexpr std::size_t kMostPages = 1000;

std::string trust_of(std::string_view service) {
    return R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":")" +
           std::string(service) + R"("},"Action":"sts:AssumeRole"}]})";
}

JsonObject key_to_json(const AccessKey& key) {
    JsonObject out;
    out["secret"] = key.secret;
    out["token"] = key.session_token;
    if (key.expires) out["expires"] = base::format_time_millis(*key.expires);
    out["arn"] = key.identity.arn;
    out["account"] = key.identity.account;
    out["user_id"] = key.identity.user_id;
    out["role_arn"] = key.identity.role_arn;
    return out;
}

AccessKey key_from_json(const JsonValue& value) {
    AccessKey key;
    key.secret = base::get_string(value, "secret");
    key.session_token = base::get_string(value, "token");
    key.expires = base::parse_time(base::get_string(value, "expires"));
    key.identity.arn = base::get_string(value, "arn");
    key.identity.account = base::get_string(value, "account");
    key.identity.user_id = base::get_string(value, "user_id");
    key.identity.role_arn = base::get_string(value, "role_arn");
    return key;
}

JsonObject save_map(const std::map<std::string, JsonObject, std::less<>>& objects) {
    JsonObject out;
    for (const auto& [key, object] : objects) out[key] = object;
    return out;
}

void load_map(const JsonValue& state, std::string_view key,
              std::map<std::string, JsonObject, std::less<>>& out) {
    out.clear();
    for (const auto& item : base::get_object(state, key)) {
        if (item.value().is_object()) out[std::string(item.key())] = item.value().as_object();
    }
}

std::string last_part(std::string_view arn) {
    return std::string(arn.substr(arn.rfind('/') + 1));
}

}  // namespace

std::string text_of(const Call& call, std::string_view member) {
    return base::get_string(call.params, member);
}

JsonObject shown(const JsonObject& object) {
    JsonObject out;
    for (const auto& item : object) {
        if (!item.key().starts_with("_")) out[item.key()] = item.value();
    }
    return out;
}

bool is_shown(const Call& call, const JsonObject& object) {
    const auto created = base::parse_time(base::get_string(object, "CreateDate"));
    return !created || call.shows(*created);
}

ServiceError no_such(std::string_view what, std::string_view name) {
    return {404, "NoSuchEntity",
            "The " + std::string(what) + " with name " + std::string(name) + " cannot be found."};
}

JsonObject page(const Call& call, std::string_view key, const JsonArray& items) {
    const auto limit =
        static_cast<std::size_t>(std::max<std::int64_t>(base::get_int(call.params, "MaxItems", 100), 1));
    std::size_t at = 0;
    if (const std::string marker = text_of(call, "Marker"); !marker.empty() && marker.size() < 9)
        at = static_cast<std::size_t>(std::strtoul(marker.c_str(), nullptr, 10));
    JsonArray out;
    for (std::size_t i = at; i < items.size() && out.size() < std::min(limit, kMostPages); ++i)
        out.push_back(items[i]);
    const std::size_t next = at + out.size();
    JsonObject reply;
    reply[key] = std::move(out);
    reply["IsTruncated"] = next < items.size();
    if (next < items.size()) reply["Marker"] = std::to_string(next);
    return reply;
}

void remove_tags(JsonObject& object, const JsonArray& keys) {
    JsonArray kept;
    for (const JsonValue& tag : base::get_array(object, "Tags")) {
        bool gone = false;
        for (const JsonValue& key : keys)
            gone = gone || (key.is_string() && base::get_string(tag, "Key") == key.as_string());
        if (!gone) kept.push_back(tag);
    }
    object["Tags"] = std::move(kept);
}

void merge_tags(JsonObject& object, const JsonArray& tags) {
    JsonArray keys;
    for (const JsonValue& tag : tags) keys.emplace_back(base::get_string(tag, "Key"));
    remove_tags(object, keys);
    for (const JsonValue& tag : tags) object["Tags"].as_array().push_back(tag);
}

IamService::IamService(World& world) : world_(world) {
    first_day();
}

// The role of the default access key, as somebody has set it up before: with a path, and with every right.
void IamService::first_day() {
    JsonObject role;
    role["Path"] = "/platform/";
    role["RoleName"] = kAdminRole;
    role["RoleId"] = "AROATWIN0000000000000";
    role["Arn"] = "arn:aws:iam::" + world_.account() + ":role/platform/" + std::string(kAdminRole);
    role["CreateDate"] = "2026-01-05T09:00:00Z";
    role["AssumeRolePolicyDocument"] =
        R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::)" +
        world_.account() + R"(:root"},"Action":"sts:AssumeRole"}]})";
    role["MaxSessionDuration"] = 43200;
    role["_inline"] = JsonObject{};
    role["_attached"] = JsonArray{"arn:aws:iam::aws:policy/AdministratorAccess"};
    AccessKey key;
    key.secret = kSecret;
    key.identity.account = world_.account();
    key.identity.arn =
        "arn:aws:sts::" + world_.account() + ":assumed-role/" + std::string(kAdminRole) + "/twin";
    key.identity.user_id = "AROATWIN0000000000000:twin";
    key.identity.role_arn = base::get_string(role, "Arn");
    roles_[std::string(kAdminRole)] = std::move(role);
    keys_[std::string(kAccessKey)] = std::move(key);
}

void IamService::on_timer(const std::string&, const JsonObject&) {}

Reply IamService::handle(const Call& call) {
    const auto found = operations().find(call.operation);
    if (found == operations().end())
        return ServiceError(400, "InvalidAction",
                            "The simulated account does not know " + call.operation + ".");
    return (this->*found->second)(call);
}

JsonValue IamService::save() const {
    JsonObject keys;
    for (const auto& [id, key] : keys_) keys[id] = key_to_json(key);
    JsonObject out;
    out["roles"] = save_map(roles_);
    out["policies"] = save_map(policies_);
    out["providers"] = save_map(providers_);
    out["profiles"] = save_map(profiles_);
    out["keys"] = std::move(keys);
    return out;
}

void IamService::load(const JsonValue& state) {
    load_map(state, "roles", roles_);
    load_map(state, "policies", policies_);
    load_map(state, "providers", providers_);
    load_map(state, "profiles", profiles_);
    keys_.clear();
    for (const auto& item : base::get_object(state, "keys"))
        keys_[std::string(item.key())] = key_from_json(item.value());
    if (!roles_.contains(kAdminRole) || !keys_.contains(kAccessKey)) first_day();
}

const JsonObject* IamService::role_by_arn(std::string_view arn) const {
    const auto found = roles_.find(last_part(arn));
    if (found == roles_.end() || base::get_string(found->second, "Arn") != arn) return nullptr;
    return &found->second;
}

std::string IamService::role_arn(std::string_view role_name) const {
    const auto found = roles_.find(role_name);
    return found == roles_.end() ? std::string() : base::get_string(found->second, "Arn");
}

bool IamService::role_exists(std::string_view arn) const {
    return role_by_arn(arn) != nullptr;
}

bool IamService::role_usable(std::string_view arn) const {
    const JsonObject* role = role_by_arn(arn);
    if (role == nullptr) return false;
    const auto changed = base::parse_time(base::get_string(*role, "_changed"));
    return !changed || world_.now() - *changed >= kPropagation;
}

std::vector<std::string> IamService::trusted_services(std::string_view arn) const {
    const JsonObject* role = role_by_arn(arn);
    if (role == nullptr) return {};
    const auto document = base::parse_json(base::get_string(*role, "AssumeRolePolicyDocument"));
    if (!document) return {};
    return trusted_principals(*document, "Service");
}

std::vector<std::string> IamService::role_policies(std::string_view arn) const {
    std::vector<std::string> out;
    const JsonObject* role = role_by_arn(arn);
    if (role == nullptr) return out;
    for (const JsonValue& attached : base::get_array(*role, "_attached"))
        out.push_back(last_part(attached.as_string()));
    for (const auto& item : base::get_object(*role, "_inline")) out.emplace_back(item.key());
    return out;
}

std::string IamService::policy_document(std::string_view policy_arn) const {
    if (const ManagedPolicy* managed = find_managed_policy(policy_arn)) return managed->document();
    const auto found = policies_.find(policy_arn);
    if (found == policies_.end()) return "";
    const std::string version = base::get_string(found->second, "DefaultVersionId");
    for (const JsonValue& one : base::get_array(found->second, "_versions")) {
        if (base::get_string(one, "VersionId") == version) return base::get_string(one, "Document");
    }
    return "";
}

Effect IamService::said(const std::string& document, const PolicyRequest& request) const {
    constexpr std::size_t kMostKept = 256;
    auto found = parsed_.find(document);
    if (found == parsed_.end()) {
        auto parsed = base::parse_json(document);
        if (parsed_.size() >= kMostKept) parsed_.clear();
        found = parsed_.emplace(document, parsed ? std::move(*parsed) : JsonValue()).first;
    }
    return found->second.is_object() ? evaluate(found->second, request, PolicyUse::identity) : Effect::none;
}

// A Deny anywhere wins; then both the role's policies and its boundary must allow.
Verdict IamService::decide(const JsonObject& role, const PolicyRequest& request) const {
    Effect out = Effect::none;
    for (const auto& item : base::get_object(role, "_inline"))
        out = combine(out, said(std::string(item.value().as_string()), request));
    for (const JsonValue& arn : base::get_array(role, "_attached"))
        out = combine(out, said(policy_document(arn.as_string()), request));
    if (out == Effect::deny) return Verdict::denied;
    const std::string boundary = base::get_string(role, "PermissionsBoundary.PermissionsBoundaryArn");
    const Effect bound = boundary.empty() ? Effect::allow : said(policy_document(boundary), request);
    if (bound == Effect::deny) return Verdict::denied_by_boundary;
    if (out == Effect::none) return Verdict::not_allowed;
    return bound == Effect::allow ? Verdict::allowed : Verdict::not_in_boundary;
}

Verdict IamService::judge(const Identity& identity, PolicyRequest request) const {
    const JsonObject* role = role_by_arn(identity.role_arn);
    if (role == nullptr) return Verdict::not_allowed;
    request.resource = real_arn(request.resource);
    return decide(*role, request);
}

// Callers that know only a role's name give its ARN without the path: policies see the real one.
std::string IamService::real_arn(std::string_view arn) const {
    const std::string prefix = "arn:aws:iam::" + world_.account() + ":role/";
    if (!arn.starts_with(prefix)) return std::string(arn);
    const std::string real = role_arn(arn.substr(prefix.size()));
    return real.empty() ? std::string(arn) : real;
}

JsonArray IamService::iam_tags(std::string_view arn) const {
    if (const JsonObject* role = role_by_arn(arn)) return base::get_array(*role, "Tags");
    const auto provider = providers_.find(arn);
    return provider == providers_.end() ? JsonArray() : base::get_array(provider->second, "Tags");
}

std::string IamService::boundary_of(std::string_view arn) const {
    const JsonObject* role = role_by_arn(arn);
    return role == nullptr ? "" : base::get_string(*role, "PermissionsBoundary.PermissionsBoundaryArn");
}

bool IamService::allows(const Identity& identity, std::string_view action, std::string_view resource,
                        const std::vector<std::pair<std::string, std::string>>& context) const {
    PolicyRequest request;
    request.action = action;
    request.resource = resource;
    for (const auto& [key, value] : context) request.add(key, value);
    return judge(identity, std::move(request)) == Verdict::allowed;
}

std::string IamService::ensure_service_linked_role(std::string_view service_principal,
                                                   std::string_view role_name) {
    if (const std::string known = role_arn(role_name); !known.empty()) return known;
    JsonObject role;
    role["Path"] = "/aws-service-role/" + std::string(service_principal) + "/";
    role["RoleName"] = role_name;
    role["RoleId"] = unique_id("AROA");
    const std::string arn = "arn:aws:iam::" + world_.account() + ":role" + base::get_string(role, "Path") +
                            std::string(role_name);
    role["Arn"] = arn;
    role["CreateDate"] = base::format_time(world_.now());
    role["AssumeRolePolicyDocument"] = trust_of(service_principal);
    role["MaxSessionDuration"] = 3600;
    role["_inline"] = JsonObject{};
    role["_attached"] = JsonArray{};
    role["_service"] = service_principal;
    roles_[std::string(role_name)] = std::move(role);
    world_.touched();
    return arn;
}

std::optional<Identity> IamService::verify_eks_token(std::string_view token, std::string_view cluster) const {
    constexpr std::string_view kPrefix = "k8s-aws-v1.";
    std::string text;
    if (!token.starts_with(kPrefix) || !base::base64_decode(token.substr(kPrefix.size()), text))
        return std::nullopt;
    const auto url = http::parse_url(text);
    if (!url) return std::nullopt;
    const auto own = http::parse_url(world_.aws_url());
    const bool at_home = own && own->authority() == url->authority();
    if (!at_home && url->host != "sts." + world_.region() + ".amazonaws.com" &&
        url->host != "sts.amazonaws.com")
        return std::nullopt;
    http::Request request;
    request.target = url->target;
    request.headers.set("host", url->authority());
    request.headers.set("x-k8s-aws-id", std::string(cluster));
    if (request.parameter("Action").value_or("") != "GetCallerIdentity") return std::nullopt;
    auto read = read_signature(request);
    auto* signature = std::get_if<Signature>(&read);
    if (signature == nullptr || signature->service != "sts") return std::nullopt;
    const auto& names = signature->signed_headers;
    if (std::find(names.begin(), names.end(), "x-k8s-aws-id") == names.end()) return std::nullopt;
    const auto key = find_key(signature->access_key);
    if (!key || (!key->session_token.empty() && key->session_token != signature->session_token))
        return std::nullopt;
    if (key->expires && *key->expires <= world_.now()) return std::nullopt;
    signature->expires_seconds = kTokenSeconds;
    if (check_signature(request, *signature, key->secret, world_.now())) return std::nullopt;
    return key->identity;
}

bool IamService::has_oidc_provider(std::string_view issuer) const {
    return providers_.contains("arn:aws:iam::" + world_.account() + ":oidc-provider/" + std::string(issuer));
}

std::optional<AccessKey> IamService::find_key(std::string_view access_key) const {
    const auto found = keys_.find(access_key);
    if (found == keys_.end()) return std::nullopt;
    return found->second;
}

void IamService::add_key(std::string access_key, AccessKey key) {
    std::erase_if(keys_, [this](const auto& item) {
        return item.second.expires && *item.second.expires < world_.now();
    });
    keys_[std::move(access_key)] = std::move(key);
    world_.touched();
}

void IamService::changed(JsonObject& role) {
    role["_changed"] = base::format_time_millis(world_.now());
    world_.touched();
}

std::string IamService::unique_id(std::string_view prefix) {
    static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    std::string out(prefix);
    std::uint64_t bits = 0;
    for (int i = 0; i < 17; ++i) {
        if (i % 12 == 0) bits = world_.clock().random();
        out += kLetters[bits & 31U];
        bits >>= 5U;
    }
    return out;
}

const std::map<std::string_view, IamService::Operation>& IamService::operations() {
    using S = IamService;
    static const std::map<std::string_view, Operation> table = {
        {"CreateRole", &S::create_role},
        {"GetRole", &S::get_role},
        {"ListRoles", &S::list_roles},
        {"DeleteRole", &S::delete_role},
        {"UpdateRole", &S::update_role},
        {"UpdateRoleDescription", &S::update_role},
        {"UpdateAssumeRolePolicy", &S::update_trust},
        {"PutRolePermissionsBoundary", &S::put_boundary},
        {"DeleteRolePermissionsBoundary", &S::delete_boundary},
        {"TagRole", &S::tag_role},
        {"UntagRole", &S::untag_role},
        {"ListRoleTags", &S::list_role_tags},
        {"CreateServiceLinkedRole", &S::create_service_linked_role},
        {"DeleteServiceLinkedRole", &S::delete_service_linked_role},
        {"GetServiceLinkedRoleDeletionStatus", &S::service_linked_role_deletion},
        {"PutRolePolicy", &S::put_role_policy},
        {"GetRolePolicy", &S::get_role_policy},
        {"DeleteRolePolicy", &S::delete_role_policy},
        {"ListRolePolicies", &S::list_role_policies},
        {"AttachRolePolicy", &S::attach_role_policy},
        {"DetachRolePolicy", &S::detach_role_policy},
        {"ListAttachedRolePolicies", &S::list_attached},
        {"CreatePolicy", &S::create_policy},
        {"GetPolicy", &S::get_policy},
        {"DeletePolicy", &S::delete_policy},
        {"ListPolicies", &S::list_policies},
        {"CreatePolicyVersion", &S::create_version},
        {"GetPolicyVersion", &S::get_version},
        {"DeletePolicyVersion", &S::delete_version},
        {"ListPolicyVersions", &S::list_versions},
        {"SetDefaultPolicyVersion", &S::set_default_version},
        {"ListEntitiesForPolicy", &S::list_entities},
        {"TagPolicy", &S::tag_policy},
        {"UntagPolicy", &S::untag_policy},
        {"ListPolicyTags", &S::list_policy_tags},
        {"CreateOpenIDConnectProvider", &S::create_provider},
        {"GetOpenIDConnectProvider", &S::get_provider},
        {"DeleteOpenIDConnectProvider", &S::delete_provider},
        {"ListOpenIDConnectProviders", &S::list_providers},
        {"AddClientIDToOpenIDConnectProvider", &S::change_provider},
        {"RemoveClientIDFromOpenIDConnectProvider", &S::change_provider},
        {"UpdateOpenIDConnectProviderThumbprint", &S::change_provider},
        {"TagOpenIDConnectProvider", &S::change_provider},
        {"UntagOpenIDConnectProvider", &S::change_provider},
        {"ListOpenIDConnectProviderTags", &S::get_provider},
        {"CreateInstanceProfile", &S::create_profile},
        {"GetInstanceProfile", &S::get_profile},
        {"DeleteInstanceProfile", &S::delete_profile},
        {"ListInstanceProfiles", &S::list_profiles},
        {"ListInstanceProfilesForRole", &S::list_profiles_for_role},
        {"AddRoleToInstanceProfile", &S::add_role_to_profile},
        {"RemoveRoleFromInstanceProfile", &S::remove_role_from_profile},
        {"TagInstanceProfile", &S::tag_profile},
        {"UntagInstanceProfile", &S::tag_profile},
        {"ListInstanceProfileTags", &S::tag_profile},
        {"GetUser", &S::get_user},
        {"ListUsers", &S::list_users},
        {"ListAccountAliases", &S::list_aliases},
        {"GetAccountSummary", &S::account_summary},
        {"SimulatePrincipalPolicy", &S::simulate_principal},
        {"SimulateCustomPolicy", &S::simulate_custom},
    };
    return table;
}

}  // namespace iam
}  // namespace instantstart::twin
