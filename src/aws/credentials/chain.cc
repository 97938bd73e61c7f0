// The order of the sources, and the profiles that lead from one to the next.
#include <algorithm>
#include <charconv>

#include "aws/credentials.h"
#include "aws/credentials/container.h"
#include "aws/credentials/documents.h"
#include "aws/credentials/instance.h"
#include "aws/credentials/process.h"
#include "aws/credentials/sso.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

using Found = std::optional<Credentials>;

constexpr int kRoleSecondsLeast = 900, kRoleSecondsMost = 43200;

std::string session_name(const std::string& given) {
    return given.empty() ? "instantstart" : given;
}

base::Error profile_fault(const Profiles& profiles, const std::string& profile, const std::string& key,
                          const std::string& what) {
    return no_credentials("profile " + profile + " in " + profiles.file_of(profile, key) + " " + what);
}

// Whether keys are configured in the one file or the other, whole or in part.
bool has_keys(const Profiles& profiles, const std::string& profile) {
    return profiles.has(profile, "aws_access_key_id") || profiles.has(profile, "aws_secret_access_key");
}

bool is_role(const Profiles& profiles, const std::string& profile) {
    return profiles.has(profile, "role_arn") && !profiles.has(profile, "web_identity_token_file");
}

base::Result<Credentials> keys_of(const Profiles& profiles, const std::string& profile) {
    Credentials out;
    const std::string file = profiles.file_of(profile, "aws_access_key_id");
    out.source = "keys of profile " + profile + " in " + file;
    out.access_key = profiles.value(profile, "aws_access_key_id");
    out.secret_key = profiles.value(profile, "aws_secret_access_key");
    const std::string old = profiles.value(profile, "aws_security_token");
    out.session_token = old.empty() ? profiles.value(profile, "aws_session_token") : old;
    for (const auto& [key, other, value] : {std::tuple<const char*, const char*, const std::string&>(
                                                "aws_access_key_id", "aws_secret_access_key", out.access_key),
                                            {"aws_secret_access_key", "aws_access_key_id", out.secret_key}}) {
        if (value.empty())
            return profile_fault(profiles, profile, other, std::string("has no ") + key + " beside " + other);
    }
    return out;
}

class Chain final : public CredentialSource {
public:
    explicit Chain(SourceNeeds needs) : needs_(std::move(needs)) {}

    Task<Credentials> fetch(Context context) override {
        tried_.clear();
        CO_TRY(const Found keys, from_environment());
        if (keys) co_return *keys;
        auto read = Profiles::read(needs_.environment);
        if (!read.has_value()) co_return no_credentials(read.error().message);
        const Profiles profiles = std::move(read).value();
        const std::string profile = profile_name(needs_.environment);
        if (profiles.find(profile) == nullptr && profile != "default") {
            co_return no_credentials("the profile " + profile + " is neither in " + profiles.config_file() +
                                     " nor in " + profiles.credentials_file());
        }
        CO_TRY(const Found configured, co_await from_configuration(context, profiles, profile));
        if (configured) co_return *configured;
        co_return co_await from_surroundings(context, profiles);
    }

    std::vector<std::string> tried() const override { return tried_; }

private:
    // Whose variables count: the chain's own profile reads them, a source profile does not.
    enum class Variables : std::uint8_t { read, ignored };

    std::string variable(const char* name) const { return needs_.environment(name); }
    void note(std::string what) { tried_.push_back(std::move(what)); }

    base::Result<Found> from_environment() {
        Credentials out;
        out.source = "the environment (AWS_ACCESS_KEY_ID)";
        out.access_key = variable("AWS_ACCESS_KEY_ID");
        out.secret_key = variable("AWS_SECRET_ACCESS_KEY");
        const std::string old = variable("AWS_SECURITY_TOKEN");
        out.session_token = old.empty() ? variable("AWS_SESSION_TOKEN") : old;
        if (out.access_key.empty()) {
            note(out.secret_key.empty() ? "environment: AWS_ACCESS_KEY_ID is not set"
                                        : "environment: AWS_SECRET_ACCESS_KEY is set without "
                                          "AWS_ACCESS_KEY_ID, which leaves it out");
            return Found();
        }
        note("environment: AWS_ACCESS_KEY_ID is set");
        if (out.secret_key.empty())
            return no_credentials("AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY");
        const std::string end = variable("AWS_CREDENTIAL_EXPIRATION");
        out.expires = base::parse_time(end);
        if (!end.empty() && !out.expires)
            return no_credentials("AWS_CREDENTIAL_EXPIRATION is not a time: " + cleaned(end, 40));
        return Found(std::move(out));
    }

    Task<Found> from_configuration(Context context, Profiles profiles, std::string profile) {
        const std::vector<std::string> visited;
        if (is_role(profiles, profile)) {
            auto assumed = co_await from_role(context, profiles, profile, visited);
            CO_TRY(Credentials keys, std::move(assumed));
            co_return Found(std::move(keys));
        }
        co_return co_await from_profile(context, profiles, profile, Variables::read);
    }

    // What one profile has of its own, in botocore's order.
    Task<Found> from_profile(Context context, Profiles profiles, std::string profile, Variables variables) {
        CO_TRY(const Found by_token, co_await from_web_identity(context, profiles, profile, variables));
        if (by_token) co_return by_token;
        if (uses_sso(profiles, profile)) {
            note("profile " + profile + ": IAM Identity Center");
            CO_TRY(Credentials keys, co_await from_sso(context, needs_, profiles, profile));
            co_return Found(std::move(keys));
        }
        if (profiles.in_credentials_file(profile, "aws_access_key_id")) {
            note("profile " + profile + ": keys in " + profiles.credentials_file());
            CO_TRY(Credentials keys, keys_of(profiles, profile));
            co_return Found(std::move(keys));
        }
        if (profiles.has(profile, "login_session")) {
            co_return profile_fault(profiles, profile, "login_session",
                                    "uses `aws login` (login_session), which is not read here")
                .with_hint("Add: credential_process = aws configure export-credentials --profile " + profile +
                           " to another profile, and use that.");
        }
        const std::string command = profiles.value(profile, "credential_process");
        if (!command.empty()) {
            note("profile " + profile + ": credential_process");
            const ProcessLimits limits;
            CO_TRY(Credentials keys, co_await from_process(context, *needs_.clock, command, profile, limits));
            co_return Found(std::move(keys));
        }
        if (profiles.has(profile, "aws_access_key_id")) {
            note("profile " + profile + ": keys in " + profiles.config_file());
            CO_TRY(Credentials keys, keys_of(profiles, profile));
            co_return Found(std::move(keys));
        }
        note("profile " + profile + ": " + lacking(profiles, profile));
        co_return Found();
    }

    static std::string lacking(const Profiles& profiles, const std::string& profile) {
        if (has_keys(profiles, profile))
            return "aws_secret_access_key without aws_access_key_id in " +
                   profiles.file_of(profile, "aws_secret_access_key") + ", which leaves it out";
        if (profiles.find(profile) != nullptr) return "it configures no credentials";
        return "neither in " + profiles.config_file() + " nor in " + profiles.credentials_file();
    }

    // The role of a profile, assumed with what its source gives. `visited` are the profiles on the way here.
    Task<Credentials> from_role(Context context, Profiles profiles, std::string profile,
                                std::vector<std::string> visited) {
        note("profile " + profile + ": role " + profiles.value(profile, "role_arn"));
        CO_TRY(base::JsonObject parameters, role_parameters(profiles, profile));
        visited.push_back(profile);
        CO_TRY(const Credentials base, co_await source_of_role(context, profiles, profile, visited));
        const std::string role = profiles.value(profile, "role_arn");
        SourceCall call;
        call.service = "sts";
        call.operation = "AssumeRole";
        call.parameters = std::move(parameters);
        call.credentials = base;
        auto answered = co_await needs_.call(context, std::move(call));
        if (!answered.has_value()) {
            co_return source_error(answered.error(), "the role " + role + " of profile " + profile +
                                                         " cannot be assumed with " + base.source);
        }
        co_return credentials_of(base::get_object(*answered, "Credentials"),
                                 "role " + role + " of profile " + profile + ", assumed with " + base.source);
    }

    static base::Result<base::JsonObject> role_parameters(const Profiles& profiles,
                                                          const std::string& profile) {
        if (profiles.has(profile, "mfa_serial")) {
            return profile_fault(profiles, profile, "mfa_serial",
                                 "wants a code of an MFA device (mfa_serial), which a server cannot ask for")
                .with_hint("Use IAM Identity Center, or a credential_process that signs in beforehand.");
        }
        base::JsonObject out = {
            {"RoleArn", profiles.value(profile, "role_arn")},
            {"RoleSessionName", session_name(profiles.value(profile, "role_session_name"))}};
        const std::string external = profiles.value(profile, "external_id");
        if (!external.empty()) out["ExternalId"] = external;
        const std::string text = profiles.value(profile, "duration_seconds");
        if (text.empty()) return out;
        int seconds = 0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
        const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
        if (!whole || seconds < kRoleSecondsLeast || seconds > kRoleSecondsMost)
            return profile_fault(
                profiles, profile, "duration_seconds",
                "has duration_seconds = " + cleaned(text, 40) + ", which is not a number from 900 to 43200");
        out["DurationSeconds"] = seconds;
        return out;
    }

    Task<Credentials> source_of_role(Context context, Profiles profiles, std::string profile,
                                     std::vector<std::string> visited) {
        const std::string source = profiles.value(profile, "source_profile");
        const std::string surroundings = profiles.value(profile, "credential_source");
        if (source.empty() == surroundings.empty()) {
            const char* what = source.empty() ? "has role_arn without source_profile or credential_source"
                                              : "has both source_profile and credential_source";
            co_return profile_fault(profiles, profile, "role_arn", what);
        }
        if (!surroundings.empty())
            co_return co_await from_named_source(context, profiles, profile, surroundings);
        if (profiles.find(source) == nullptr)
            co_return profile_fault(profiles, profile, "source_profile",
                                    "names source_profile = " + source + ", which is in neither file");
        const bool again = std::find(visited.begin(), visited.end(), source) != visited.end();
        const bool itself = source == profile && has_keys(profiles, source);
        if (again && !itself)
            co_return profile_fault(
                profiles, profile, "source_profile",
                "closes a ring of source_profile: " + base::join(visited, " -> ") + " -> " + source);
        if (is_role(profiles, source) && !has_keys(profiles, source))
            co_return co_await from_role(context, profiles, source, visited);
        CO_TRY(const Found found, co_await from_profile(context, profiles, source, Variables::ignored));
        if (found) co_return *found;
        co_return profile_fault(profiles, profile, "source_profile",
                                "names source_profile = " + source + ", which configures no credentials");
    }

    // A credential_source.
    Task<Credentials> from_named_source(Context context, Profiles profiles, std::string profile,
                                        std::string name) {
        if (name == "Environment") {
            CO_TRY(const Found keys, from_environment());
            if (keys) co_return *keys;
            co_return profile_fault(profiles, profile, "credential_source",
                                    "has credential_source = Environment, but AWS_ACCESS_KEY_ID is not set");
        }
        if (name == "Ec2InstanceMetadata") {
            note("instance metadata");
            co_return co_await from_instance(context, needs_, profiles);
        }
        if (name == "EcsContainer" && has_container_endpoint(needs_.environment)) {
            note("container endpoint");
            co_return co_await from_container(context, needs_);
        }
        if (name == "EcsContainer")
            co_return profile_fault(profiles, profile, "credential_source",
                                    "has credential_source = EcsContainer, but no "
                                    "AWS_CONTAINER_CREDENTIALS_… variable is set");
        co_return profile_fault(profiles, profile, "credential_source",
                                "has credential_source = " + cleaned(name, 60) +
                                    "; known are Environment, Ec2InstanceMetadata and EcsContainer");
    }

    // Each of the three settings of its own from the environment, else from the profile.
    Task<Found> from_web_identity(Context context, Profiles profiles, std::string profile,
                                  Variables variables) {
        const auto value = [&](const char* name, const char* key) {
            const std::string set = variables == Variables::read ? variable(name) : "";
            return set.empty() ? profiles.value(profile, key) : set;
        };
        const std::string file = value("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
        const std::string role = value("AWS_ROLE_ARN", "role_arn");
        const std::string session = value("AWS_ROLE_SESSION_NAME", "role_session_name");
        if (file.empty()) co_return Found();
        note("web identity: token file " + file);
        if (role.empty())
            co_return no_credentials(
                "the web identity token file " + file +
                " is configured without a role: set AWS_ROLE_ARN, or role_arn in profile " + profile);
        const std::string token(base::trim(read_small_file(home_path(needs_.environment, file))));
        if (token.empty())
            co_return no_credentials("the web identity token file " + file + " cannot be read or is empty");
        SourceCall call;
        call.service = "sts";
        call.operation = "AssumeRoleWithWebIdentity";
        call.parameters = {
            {"RoleArn", role}, {"RoleSessionName", session_name(session)}, {"WebIdentityToken", token}};
        auto answered = co_await needs_.call(context, std::move(call));
        if (!answered.has_value()) {
            co_return source_error(answered.error(), "the web identity token in " + file +
                                                         " cannot be exchanged for role " + role);
        }
        CO_TRY(Credentials keys, credentials_of(base::get_object(*answered, "Credentials"),
                                                "role " + role + " by the web identity token in " + file));
        co_return Found(std::move(keys));
    }

    // What the machine offers: the container's endpoint where it is named, else the instance's metadata.
    Task<Credentials> from_surroundings(Context context, Profiles profiles) {
        if (has_container_endpoint(needs_.environment)) {
            note("container endpoint");
            co_return co_await from_container(context, needs_);
        }
        note("container endpoint: no AWS_CONTAINER_CREDENTIALS_… variable is set");
        note(is_instance_metadata_off(needs_.environment) ? "instance metadata: switched off"
                                                          : "instance metadata");
        auto found = co_await from_instance(context, needs_, std::move(profiles));
        if (found.has_value() || found.error().kind == base::ErrorKind::cancelled) co_return found;
        base::Error error = std::move(found).error();
        error.detail = "tried: " + base::join(tried_, "; ");
        co_return error;
    }

    SourceNeeds needs_;
    std::vector<std::string> tried_;
};

}  // namespace

std::unique_ptr<CredentialSource> make_credential_chain(SourceNeeds needs) {
    return std::make_unique<Chain>(std::move(needs));
}

}  // namespace instantstart::aws
