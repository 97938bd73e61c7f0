// STS: who is calling, and sessions of roles.
#include "base/text.h"
#include "twin/aws/iam/policy.h"
#include "twin/aws/keys.h"
#include "twin/aws/services.h"

namespace instantstart::twin {

namespace {

constexpr std::size_t kSecretLength = 40;

class Sts final : public Service {
public:
    explicit Sts(World& world) : world_(world) {}
    std::string_view name() const override { return "sts"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string&, const JsonObject&) override {}
    JsonValue save() const override { return JsonObject{}; }
    void load(const JsonValue&) override {}

private:
    Reply assume_role(const Call& call);
    Reply assume_with_web_identity(const Call& call);
    Reply session_token(const Call& call);
    JsonObject issue(Identity identity, std::int64_t seconds);
    std::string upper_id(std::size_t length);
    Reply session_of(const Call& call, const JsonObject& role);

    World& world_;
};

ServiceError denied(const Call& call, const std::string& action, const std::string& on) {
    return {403, "AccessDenied",
            "User: " + call.caller.arn + " is not authorized to perform: " + action + " on resource: " + on};
}

Reply Sts::handle(const Call& call) {
    if (call.operation == "GetCallerIdentity")
        return JsonObject{
            {"UserId", call.caller.user_id}, {"Account", call.caller.account}, {"Arn", call.caller.arn}};
    if (call.operation == "AssumeRole") return assume_role(call);
    if (call.operation == "AssumeRoleWithWebIdentity") return assume_with_web_identity(call);
    if (call.operation == "GetSessionToken") return session_token(call);
    if (call.operation == "GetAccessKeyInfo") return JsonObject{{"Account", world_.account()}};
    return ServiceError(400, "InvalidAction", "The simulated account does not know " + call.operation + ".");
}

std::string Sts::upper_id(std::size_t length) {
    std::string out = world_.clock().random_id(length);
    for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return out;
}

JsonObject Sts::issue(Identity identity, std::int64_t seconds) {
    AccessKey key;
    key.secret = world_.clock().random_id(kSecretLength);
    key.session_token = base::base64_encode(world_.clock().random_id(100));
    key.expires = world_.now() + std::chrono::seconds(seconds);
    key.identity = std::move(identity);
    const std::string id = "ASIA" + upper_id(16);
    JsonObject out;
    out["AccessKeyId"] = id;
    out["SecretAccessKey"] = key.secret;
    out["SessionToken"] = key.session_token;
    out["Expiration"] = base::format_time(*key.expires);
    world_.get<Keys>("iam").add_key(id, std::move(key));
    return out;
}

Reply Sts::session_of(const Call& call, const JsonObject& role) {
    const std::int64_t seconds = base::get_int(call.params, "DurationSeconds", 3600);
    if (seconds < 900 || seconds > base::get_int(role, "MaxSessionDuration", 3600)) {
        return ServiceError(
            400, "ValidationError",
            "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.");
    }
    const std::string session = base::get_string(call.params, "RoleSessionName");
    Identity identity;
    identity.account = world_.account();
    identity.role_arn = base::get_string(role, "Arn");
    identity.user_id = base::get_string(role, "RoleId") + ":" + session;
    identity.arn = "arn:aws:sts::" + world_.account() + ":assumed-role/" +
                   base::get_string(role, "RoleName") + "/" + session;
    JsonObject out;
    out["AssumedRoleUser"] = JsonObject{{"AssumedRoleId", identity.user_id}, {"Arn", identity.arn}};
    out["Credentials"] = issue(std::move(identity), seconds);
    return out;
}

Reply Sts::assume_role(const Call& call) {
    const std::string arn = base::get_string(call.params, "RoleArn");
    const JsonObject* role = world_.get<Keys>("iam").role_by_arn(arn);
    // A role that is not there and one that may not be assumed look the same.
    if (role == nullptr) return denied(call, "sts:AssumeRole", arn);
    const auto trust = base::parse_json(base::get_string(*role, "AssumeRolePolicyDocument"));
    iam::PolicyRequest request;
    request.action = "sts:AssumeRole";
    request.principal = call.caller.role_arn.empty() ? call.caller.arn : call.caller.role_arn;
    request.add("aws:PrincipalAccount", call.caller.account);
    request.add("aws:PrincipalArn", request.principal);
    if (call.params.contains("ExternalId"))
        request.add("sts:ExternalId", base::get_string(call.params, "ExternalId"));
    if (!trust || iam::evaluate(*trust, request, iam::PolicyUse::trust) != iam::Effect::allow)
        return denied(call, "sts:AssumeRole", arn);
    return session_of(call, *role);
}

// The token is one of the account's own clusters; who signed it is not looked at, whom the role trusts is.
Reply Sts::assume_with_web_identity(const Call& call) {
    const std::string arn = base::get_string(call.params, "RoleArn");
    const JsonObject* role = world_.get<Keys>("iam").role_by_arn(arn);
    ServiceError refused(403, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity");
    if (role == nullptr) return refused;
    const auto parts = base::split(base::get_string(call.params, "WebIdentityToken"), '.');
    std::string text;
    if (parts.size() != 3 || !base::base64_decode(parts[1], text))
        return ServiceError(400, "InvalidIdentityToken", "The ID Token provided is not a valid JWT.");
    const auto claims = base::parse_json(text);
    const auto trust = base::parse_json(base::get_string(*role, "AssumeRolePolicyDocument"));
    if (!claims || !trust)
        return ServiceError(400, "InvalidIdentityToken", "The ID Token provided is not a valid JWT.");
    std::string issuer = base::get_string(*claims, "iss");
    if (issuer.starts_with("https://")) issuer.erase(0, 8);
    if (!world_.iam().has_oidc_provider(issuer))
        return ServiceError(400, "InvalidIdentityToken",
                            "No OpenIDConnect provider found in your account for https://" + issuer);
    iam::PolicyRequest request;
    request.action = "sts:AssumeRoleWithWebIdentity";
    request.principal = "arn:aws:iam::" + world_.account() + ":oidc-provider/" + issuer;
    request.add(issuer + ":sub", base::get_string(*claims, "sub"));
    request.add(issuer + ":aud", base::get_string(*claims, "aud"));
    if (iam::evaluate(*trust, request, iam::PolicyUse::trust) != iam::Effect::allow) return refused;
    return session_of(call, *role);
}

Reply Sts::session_token(const Call& call) {
    if (!call.caller.role_arn.empty())
        return ServiceError(403, "AccessDenied", "Cannot call GetSessionToken with session credentials");
    return JsonObject{
        {"Credentials", issue(call.caller, base::get_int(call.params, "DurationSeconds", 43200))}};
}

}  // namespace

std::unique_ptr<Service> make_sts(World& world) {
    return std::make_unique<Sts>(world);
}

}  // namespace instantstart::twin
