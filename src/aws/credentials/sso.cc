#include "aws/credentials/sso.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "aws/credentials/documents.h"
#include "base/digest.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

using base::get_string;

constexpr auto kRenewBefore = std::chrono::minutes(15);

struct Settings {
    Settings() = default;
    std::string profile, session, start_url, region, account, role;
    std::string login;  // the command that signs in
    // Of the cache: by the session's name, or by the URL in profiles of the older form.
    const std::string& key() const { return session.empty() ? start_url : session; }
    std::string source() const {
        return "IAM Identity Center (" + key() + "), role " + role + " in account " + account + ", profile " +
               profile;
    }
};

// The profile's keys with those of its session, which must not differ.
base::Result<Section> joined(const Profiles& profiles, const std::string& profile) {
    Section out = *profiles.find(profile);
    const std::string name = profiles.value(profile, "sso_session");
    if (name.empty()) return out;
    const Section* session = profiles.sso_session(name);
    if (session == nullptr) {
        return no_credentials("profile " + profile + " names sso_session = " + name + ", but " +
                              profiles.config_file() + " has no section [sso-session " + name + "]");
    }
    for (const auto& [key, value] : *session) {
        const auto [found, is_new] = out.try_emplace(key, value);
        if (is_new || found->second == value) continue;
        return no_credentials("profile " + profile + " and [sso-session " + name + "] of " +
                              profiles.config_file() + " differ in " + key);
    }
    return out;
}

base::Result<Settings> read_settings(const Profiles& profiles, const std::string& profile) {
    TRY(Section section, joined(profiles, profile));
    std::vector<std::string> missing;
    const auto take = [&](const char* key) {
        if (section[key].empty()) missing.emplace_back(key);
        return section[key];
    };
    Settings out;
    out.profile = profile;
    out.session = section["sso_session"];
    out.role = take("sso_role_name");
    out.account = take("sso_account_id");
    out.start_url = take("sso_start_url");
    out.region = take("sso_region");
    out.login = "aws sso login --profile " + profile;
    if (missing.empty()) return out;
    const std::string where = out.session.empty() ? "" : " (or [sso-session " + out.session + "])";
    return no_credentials("profile " + profile + where + " in " + profiles.config_file() +
                          " uses IAM Identity Center without " + base::join(missing, ", "));
}

base::Error sign_in(const Settings& settings, const std::string& why) {
    return expired_credentials(
        "the sign-in of profile " + settings.profile + " at IAM Identity Center " + why,
        "Run: " + settings.login);
}

base::Result<base::JsonObject> cached_token(const Environment& environment, const Settings& settings) {
    const std::string file = sso_token_file(environment, settings.key());
    const std::string text = read_small_file(file);
    if (text.empty()) return sign_in(settings, "is not there (" + file + ")");
    auto parsed = base::parse_json(text);
    const bool usable = parsed.has_value() && parsed->is_object() &&
                        !get_string(*parsed, "accessToken").empty() &&
                        base::parse_time(get_string(*parsed, "expiresAt")).has_value();
    if (!usable) return sign_in(settings, "cannot be read (" + file + ")");
    return std::move(parsed->get_object());
}

// Replaces the file at once, readable by its owner only: others read the same cache.
bool save_token(const std::string& file, const base::JsonObject& token) {
    const std::string beside = file + ".new";
    std::error_code failed;
    std::filesystem::remove(beside, failed);
    const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return false;
    const std::string text = base::to_text(token);
    const bool written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const bool kept = ::close(descriptor) == 0 && written;
    if (kept) std::filesystem::rename(beside, file, failed);
    return kept && !failed;
}

bool is_renewable(const base::JsonObject& token, base::TimePoint now) {
    for (const char* key : {"refreshToken", "clientId", "clientSecret"}) {
        if (get_string(token, key).empty()) return false;
    }
    const auto end = base::parse_time(get_string(token, "registrationExpiresAt"));
    return end && *end > now;
}

// The token with a new end; an error where the service refuses or is away.
Task<base::JsonObject> renewed(Context context, const SourceNeeds& needs, Settings settings,
                               base::JsonObject token) {
    SourceCall call;
    call.service = "sso-oidc";
    call.operation = "CreateToken";
    call.region = settings.region;
    call.parameters = {{"grantType", "refresh_token"},
                       {"clientId", get_string(token, "clientId")},
                       {"clientSecret", get_string(token, "clientSecret")},
                       {"refreshToken", get_string(token, "refreshToken")}};
    CO_TRY(const base::JsonObject answer, co_await needs.call(context, std::move(call)));
    const std::string fresh = get_string(answer, "accessToken");
    const auto seconds = std::chrono::seconds(base::get_int(answer, "expiresIn"));
    if (fresh.empty() || seconds <= std::chrono::seconds(0))
        co_return no_credentials("IAM Identity Center renewed the sign-in without a token");
    token["startUrl"] = settings.start_url;
    token["region"] = settings.region;
    token["accessToken"] = fresh;
    token["expiresAt"] = base::format_time(needs.clock->now() + seconds);
    const std::string next = get_string(answer, "refreshToken");
    if (next.empty()) {
        token.erase("refreshToken");
    } else {
        token["refreshToken"] = next;
    }
    co_return token;
}

Task<std::string> access_token(Context context, const SourceNeeds& needs, Settings settings) {
    CO_TRY(base::JsonObject token, cached_token(needs.environment, settings));
    const base::TimePoint now = needs.clock->now();
    const base::TimePoint end = *base::parse_time(get_string(token, "expiresAt"));
    const bool renewable = !settings.session.empty() && is_renewable(token, now);
    std::string why = "expired at " + base::format_time(end);
    if (renewable && end - now < kRenewBefore) {
        auto fresh = co_await renewed(context, needs, settings, token);
        if (fresh.has_value()) {
            const std::string file = sso_token_file(needs.environment, settings.key());
            if (!save_token(file, *fresh))
                context.log(base::LogLevel::warn, "sso_token_not_saved", {{"file", base::JsonValue(file)}});
            co_return get_string(*fresh, "accessToken");
        }
        if (fresh.error().kind == base::ErrorKind::cancelled) co_return std::move(fresh).error();
        context.log(base::LogLevel::warn, "sso_token_not_renewed",
                    {{"error", base::JsonValue(fresh.error().chain())}});
        why += " and could not be renewed (" + fresh.error().message + ")";
    }
    if (end <= now) co_return sign_in(settings, why);
    co_return get_string(token, "accessToken");
}

}  // namespace

std::string sso_token_file(const Environment& environment, const std::string& session_or_url) {
    return home_path(environment, "~/.aws/sso/cache/" + base::hex(base::sha1(session_or_url)) + ".json");
}

bool uses_sso(const Profiles& profiles, const std::string& profile) {
    return profiles.has(profile, "sso_account_id") || profiles.has(profile, "sso_role_name");
}

Task<Credentials> from_sso(Context context, const SourceNeeds& needs, Profiles profiles,
                           std::string profile) {
    CO_TRY(const Settings settings, read_settings(profiles, profile));
    CO_TRY(const std::string token, co_await access_token(context, needs, settings));
    SourceCall call;
    call.service = "sso";
    call.operation = "GetRoleCredentials";
    call.region = settings.region;
    call.parameters = {{"roleName", settings.role}, {"accountId", settings.account}, {"accessToken", token}};
    auto answered = co_await needs.call(context, std::move(call));
    if (!answered.has_value()) {
        const base::Error& error = answered.error();
        if (error.code == "UnauthorizedException") co_return sign_in(settings, "is not valid any more");
        co_return source_error(error, settings.source());
    }
    const base::JsonObject& keys = base::get_object(*answered, "roleCredentials");
    Credentials out;
    out.source = settings.source();
    out.access_key = get_string(keys, "accessKeyId");
    out.secret_key = get_string(keys, "secretAccessKey");
    out.session_token = get_string(keys, "sessionToken");
    const std::int64_t end = base::get_int(keys, "expiration");
    if (end > 0) out.expires = base::TimePoint(std::chrono::milliseconds(end));
    if (out.access_key.empty() || out.secret_key.empty())
        co_return no_credentials(out.source + " answered without keys");
    co_return out;
}

}  // namespace instantstart::aws
