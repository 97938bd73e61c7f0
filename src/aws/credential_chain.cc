// The sources of the chain. Each is small: configuration in, credentials out.
#include <set>

#include "aws/credentials.h"
#include "base/text.h"
#include "base/time.h"

namespace instantstart::aws {

namespace {

using base::get_string;

constexpr auto kLocalTimeout = std::chrono::seconds(2);

base::Result<Credentials> from_json(const base::JsonObject& from, std::string_view source) {
    Credentials out;
    out.access_key = get_string(from, "AccessKeyId");
    out.secret_key = get_string(from, "SecretAccessKey");
    out.session_token = get_string(from, "Token", get_string(from, "SessionToken"));
    out.expires = base::parse_time(get_string(from, "Expiration"));
    if (out.access_key.empty() || out.secret_key.empty()) {
        return no_credentials(std::string(source) + " answered without keys");
    }
    return out;
}

class Chain final : public CredentialSource {
public:
    explicit Chain(SourceNeeds needs) : needs_(std::move(needs)) {}

    Task<Credentials> fetch(Context context) override {
        const std::string access = variable("AWS_ACCESS_KEY_ID");
        if (!access.empty()) co_return from_environment(access);
        const Profiles profiles = Profiles::read(needs_.environment);
        const std::string profile = profile_name(needs_.environment);
        const Section* section = profiles.find(profile);
        if (section == nullptr && profile != "default") {
            co_return no_credentials("the profile " + profile + " is in neither file");
        }
        if (section != nullptr && configures(*section)) {
            std::set<std::string> seen;
            co_return co_await from_profile(context, profiles, profile, seen);
        }
        if (!variable("AWS_WEB_IDENTITY_TOKEN_FILE").empty()) {
            const std::string file = variable("AWS_WEB_IDENTITY_TOKEN_FILE");
            const std::string role = variable("AWS_ROLE_ARN");
            const std::string session = variable("AWS_ROLE_SESSION_NAME");
            co_return co_await from_web_identity(context, file, role, session);
        }
        co_return co_await from_surroundings(context);
    }

private:
    std::string variable(const char* name) const { return needs_.environment(name); }

    base::Result<Credentials> from_environment(const std::string& access) const {
        Credentials out;
        out.access_key = access;
        out.secret_key = variable("AWS_SECRET_ACCESS_KEY");
        out.session_token = variable("AWS_SESSION_TOKEN");
        if (out.secret_key.empty())
            return no_credentials("AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY");
        return out;
    }

    static bool configures(const Section& section) {
        for (const char* key : {"aws_access_key_id", "role_arn", "web_identity_token_file"}) {
            if (section.find(key) != section.end()) return true;
        }
        return false;
    }

    Task<Credentials> from_profile(Context context, Profiles profiles, std::string profile,
                                   std::set<std::string> seen) {
        const std::string role = profiles.value(profile, "role_arn");
        const std::string token_file = profiles.value(profile, "web_identity_token_file");
        const std::string session = profiles.value(profile, "role_session_name");
        if (!role.empty() && !token_file.empty())
            co_return co_await from_web_identity(context, token_file, role, session);
        const bool again = !seen.insert(profile).second;
        if (role.empty() || again) co_return keys_of(profiles, profile);
        const std::string source = profiles.value(profile, "source_profile");
        const std::string surroundings = profiles.value(profile, "credential_source");
        Credentials base;
        if (!source.empty()) {
            CO_TRY(base, co_await from_profile(context, profiles, source, seen));
        } else if (surroundings == "Environment") {
            CO_TRY(base, from_environment(variable("AWS_ACCESS_KEY_ID")));
        } else if (!surroundings.empty()) {
            CO_TRY(base, co_await from_surroundings(context));
        } else {
            co_return no_credentials("profile " + profile +
                                     " has role_arn without source_profile or credential_source");
        }
        base::JsonObject parameters = {{"RoleArn", role}, {"RoleSessionName", session_name(session)}};
        const std::string external = profiles.value(profile, "external_id");
        if (!external.empty()) parameters["ExternalId"] = external;
        CO_TRY(const base::JsonObject answer, co_await needs_.sts(context, "AssumeRole", parameters, base));
        co_return from_json(base::get_object(answer, "Credentials"), "STS");
    }

    static base::Result<Credentials> keys_of(const Profiles& profiles, const std::string& profile) {
        Credentials out;
        out.access_key = profiles.value(profile, "aws_access_key_id");
        out.secret_key = profiles.value(profile, "aws_secret_access_key");
        out.session_token = profiles.value(profile, "aws_session_token");
        if (out.access_key.empty()) return no_credentials("profile " + profile + " has no aws_access_key_id");
        if (out.secret_key.empty())
            return no_credentials("profile " + profile + " has no aws_secret_access_key");
        return out;
    }

    static std::string session_name(const std::string& given) {
        return given.empty() ? "instantstart" : given;
    }

    Task<Credentials> from_web_identity(Context context, std::string file, std::string role,
                                        std::string session) {
        const std::string token(base::trim(read_small_file(file)));
        if (token.empty())
            co_return no_credentials("the web identity token file " + file + " cannot be read");
        if (role.empty()) co_return no_credentials("a web identity token is configured without a role");
        const base::JsonObject parameters = {
            {"RoleArn", role}, {"RoleSessionName", session_name(session)}, {"WebIdentityToken", token}};
        const Credentials none;
        CO_TRY(const base::JsonObject answer,
               co_await needs_.sts(context, "AssumeRoleWithWebIdentity", parameters, none));
        co_return from_json(base::get_object(answer, "Credentials"), "STS");
    }

    // What the machine offers: the container's endpoint where it is named, else the instance's metadata.
    Task<Credentials> from_surroundings(Context context) {
        const std::string relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        std::string full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        if (!relative.empty()) full = "http://169.254.170.2" + relative;
        if (!full.empty()) co_return co_await from_container(context, full);
        if (base::iequals(variable("AWS_EC2_METADATA_DISABLED"), "true")) {
            co_return no_credentials(
                "none in the environment or in a profile, and instance metadata is switched off");
        }
        co_return co_await from_instance(context);
    }

    Task<Credentials> from_container(Context context, std::string url) {
        CO_TRY(http::Request request, request_to(url, ""));
        std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        const std::string token_file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        if (!token_file.empty()) token = base::trim(read_small_file(token_file));
        if (!token.empty()) request.headers.set("Authorization", token);
        CO_TRY(const std::string text,
               co_await ask(context, std::move(request), "the container's credential endpoint"));
        co_return read_document(text, "the container's credential endpoint");
    }

    Task<Credentials> from_instance(Context context) {
        const std::string what = "the instance metadata service";
        std::string root = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
        if (root.empty()) root = "http://169.254.169.254";
        while (root.ends_with('/')) root.pop_back();
        CO_TRY(http::Request session, request_to(root, "/latest/api/token"));
        session.method = "PUT";
        session.headers.set("X-aws-ec2-metadata-token-ttl-seconds", "21600");
        CO_TRY(const std::string token, co_await ask(context, std::move(session), what));
        const std::string folder = "/latest/meta-data/iam/security-credentials/";
        CO_TRY(http::Request listing, request_to(root, folder));
        listing.headers.set("X-aws-ec2-metadata-token", token);
        CO_TRY(const std::string roles, co_await ask(context, std::move(listing), what));
        const std::string role(base::trim(roles.substr(0, roles.find('\n'))));
        CO_TRY(http::Request keys, request_to(root, folder + role));
        keys.headers.set("X-aws-ec2-metadata-token", token);
        CO_TRY(const std::string text, co_await ask(context, std::move(keys), what));
        co_return read_document(text, what);
    }

    static base::Result<http::Request> request_to(const std::string& root, const std::string& path) {
        TRY(const http::Url url, http::parse_url(root + path));
        http::Request request;
        request.scheme = url.scheme;
        request.host = url.host;
        request.port = url.port;
        request.target = url.target;
        return request;
    }

    Task<std::string> ask(Context context, http::Request request, std::string what) {
        http::SendOptions options;
        options.connect_timeout = kLocalTimeout;
        options.timeout = kLocalTimeout;
        auto answer = co_await needs_.transport->send(context, std::move(request), options);
        if (!answer.has_value()) {
            if (answer.error().kind == base::ErrorKind::cancelled) co_return std::move(answer).error();
            base::Error error = no_credentials(what + " cannot be reached");
            error.detail = answer.error().chain();
            co_return error;
        }
        const http::Response& response = answer.value();
        if (response.status != 200) {
            co_return no_credentials(what + " answered HTTP " + std::to_string(response.status));
        }
        co_return response.body;
    }

    static base::Result<Credentials> read_document(const std::string& text, const std::string& what) {
        auto parsed = base::parse_json(text);
        if (!parsed.has_value() || !parsed.value().is_object())
            return no_credentials(what + " did not answer JSON");
        return from_json(parsed.value().get_object(), what);
    }

    SourceNeeds needs_;
};

}  // namespace

std::unique_ptr<CredentialSource> make_credential_chain(SourceNeeds needs) {
    return std::make_unique<Chain>(std::move(needs));
}

}  // namespace instantstart::aws
