#include "aws/credentials/instance.h"

#include <algorithm>
#include <charconv>

#include "aws/credentials/documents.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

constexpr const char* kService = "the instance metadata service";
constexpr const char* kFolder = "/latest/meta-data/iam/security-credentials/";
// The service goes on giving the keys it has where it cannot renew them; AWS goes on accepting them.
constexpr auto kExtension = std::chrono::minutes(15);
constexpr auto kPause = std::chrono::milliseconds(200);

struct Settings {
    Settings() = default;
    std::string root;
    base::Duration timeout = std::chrono::seconds(1);
    int attempts = 1;
};

// A whole number from 1 to `most`; the usual where nothing is set.
base::Result<int> count_of(const SourceNeeds& needs, const Profiles& profiles, const char* variable,
                           const char* key, int most) {
    const std::string text = setting(needs.environment, profiles, variable, key);
    int value = 1;
    if (text.empty()) return value;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    if (whole && value >= 1 && value <= most) return value;
    return no_credentials(std::string(variable) + " (or " + key + " of the profile) is \"" +
                          cleaned(text, 40) + "\", not a number from 1 to " + std::to_string(most));
}

base::Result<Settings> read_settings(const SourceNeeds& needs, const Profiles& profiles) {
    Settings out;
    TRY(const int seconds,
        count_of(needs, profiles, "AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout", 60));
    out.timeout = std::chrono::seconds(seconds);
    TRY(out.attempts,
        count_of(needs, profiles, "AWS_METADATA_SERVICE_NUM_ATTEMPTS", "metadata_service_num_attempts", 20));
    const std::string mode = setting(needs.environment, profiles, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
                                     "ec2_metadata_service_endpoint_mode");
    if (!mode.empty() && !base::iequals(mode, "IPv4") && !base::iequals(mode, "IPv6"))
        return no_credentials("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE is " + cleaned(mode, 40) +
                              ", neither IPv4 nor IPv6");
    out.root = setting(needs.environment, profiles, "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                       "ec2_metadata_service_endpoint");
    if (out.root.empty())
        out.root = base::iequals(mode, "IPv6") ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
    while (out.root.ends_with('/')) out.root.pop_back();
    if (!http::parse_url(out.root).has_value())
        return no_credentials("AWS_EC2_METADATA_SERVICE_ENDPOINT is not a URL: " + cleaned(out.root, 80));
    return out;
}

// Asks until there is an answer below 500, or the attempts are used up.
Task<LocalAnswer> ask(Context context, const SourceNeeds& needs, Settings settings, http::Request request) {
    LocalAnswer last;
    for (int attempt = 1; attempt <= settings.attempts; ++attempt) {
        if (attempt > 1) CO_CHECK_OK(co_await needs.clock->sleep(kPause));
        http::Request copy = request;
        CO_TRY(last, co_await ask_locally(context, *needs.transport, std::move(copy), settings.timeout));
        if (last.failure.empty() && last.response.status < 500 && last.response.status != 429) break;
    }
    co_return last;
}

base::Error unanswered(const LocalAnswer& answer, const Settings& settings) {
    const std::string at = std::string(kService) + " at " + settings.root;
    if (answer.connected) {
        return no_credentials(at +
                              " takes the connection but its session does not arrive; in a container a hop "
                              "limit of 1 hides it")
            .with_hint(
                "Raise it: aws ec2 modify-instance-metadata-options --instance-id ID "
                "--http-put-response-hop-limit 2. Or give the container credentials of its own.");
    }
    return no_credentials(at + " cannot be reached (" + answer.failure +
                          "); this may not be an EC2 instance");
}

Task<std::string> session(Context context, const SourceNeeds& needs, Settings settings) {
    CO_TRY(http::Request request, local_request("PUT", settings.root + "/latest/api/token"));
    request.headers.set("X-aws-ec2-metadata-token-ttl-seconds", "21600");
    CO_TRY(const LocalAnswer answer, co_await ask(context, needs, settings, std::move(request)));
    if (!answer.failure.empty()) co_return unanswered(answer, settings);
    if (answer.response.status == 403)
        co_return no_credentials(std::string(kService) + " is switched off for this instance (HTTP 403)");
    const std::string token(base::trim(answer.response.body));
    const bool usable = answer.response.status == 200 && !token.empty() &&
                        token.find_first_of(" \t\r\n<") == std::string::npos;
    if (!usable)
        co_return no_credentials(std::string(kService) + " gave no session (HTTP " +
                                 std::to_string(answer.response.status) + ")");
    co_return token;
}

Task<std::string> read(Context context, const SourceNeeds& needs, Settings settings, std::string token,
                       std::string path) {
    CO_TRY(http::Request request, local_request("GET", settings.root + path));
    request.headers.set("X-aws-ec2-metadata-token", token);
    CO_TRY(LocalAnswer answer, co_await ask(context, needs, settings, std::move(request)));
    if (!answer.failure.empty())
        co_return no_credentials(std::string(kService) + " does not answer: " + answer.failure);
    if (answer.response.status == 404 && path == kFolder)
        co_return no_credentials("this instance has no role (" + std::string(kService) +
                                 " answered HTTP 404)");
    if (answer.response.status != 200)
        co_return no_credentials(std::string(kService) + " answered HTTP " +
                                 std::to_string(answer.response.status) + " for " + path);
    co_return std::move(answer.response.body);
}

}  // namespace

bool is_instance_metadata_off(const Environment& environment) {
    return base::iequals(environment("AWS_EC2_METADATA_DISABLED"), "true");
}

Task<Credentials> from_instance(Context context, const SourceNeeds& needs, Profiles profiles) {
    if (is_instance_metadata_off(needs.environment))
        co_return no_credentials(std::string(kService) + " is switched off by AWS_EC2_METADATA_DISABLED");
    CO_TRY(const Settings settings, read_settings(needs, profiles));
    CO_TRY(const std::string token, co_await session(context, needs, settings));
    CO_TRY(const std::string listing, co_await read(context, needs, settings, token, kFolder));
    const std::string role(base::trim(listing.substr(0, listing.find('\n'))));
    if (role.empty()) co_return no_credentials("this instance has no role");
    CO_TRY(const std::string text,
           co_await read(context, needs, settings, token, kFolder + base::percent_encode(role)));
    const std::string source = std::string(kService) + ", role " + cleaned(role, 80);
    CO_TRY(const base::JsonObject document, object_of(text, source));
    const std::string code = base::get_string(document, "Code");
    if (!code.empty() && code != "Success")
        co_return no_credentials(source + ": " + cleaned(base::get_string(document, "Message", code)) + " (" +
                                 cleaned(code, 60) + ")");
    CO_TRY(Credentials found, credentials_of(document, source));
    const base::TimePoint now = needs.clock->now();
    if (found.expires && *found.expires - now < kExtension) {
        context.log(base::LogLevel::warn, "instance_credentials_not_renewed",
                    {{"expires", base::JsonValue(base::format_time(*found.expires))}});
        found.expires = now + kExtension;
    }
    co_return found;
}

}  // namespace instantstart::aws
