#include "api/auth.h"

#include <fstream>
#include <sstream>

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::api {

namespace {

constexpr auto kSessionLife = std::chrono::hours(12);  // since the last request
constexpr auto kCodeLife = std::chrono::minutes(10);
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kMaxSessions = 4096;

base::Error unauthenticated(const std::string& message) {
    return base::Error(base::ErrorKind::denied, "unauthenticated", message)
        .with_hint(
            "Send `Authorization: Bearer TOKEN`, or sign in. The token is in the data folder's file "
            "`token`.");
}

}  // namespace

std::optional<app::Role> parse_role(std::string_view text) {
    if (text == "viewer") return app::Role::viewer;
    if (text == "operator") return app::Role::operator_role;
    if (text == "admin") return app::Role::admin;
    return std::nullopt;
}

const char* role_name(app::Role role) {
    switch (role) {
        case app::Role::viewer: return "viewer";
        case app::Role::operator_role: return "operator";
        case app::Role::admin: return "admin";
    }
    return "viewer";
}

std::string cookie_of(const http::Request& request) {
    for (const auto& header : request.headers.all("Cookie")) {
        for (const auto& part : base::split(header, ';')) {
            const std::string_view pair = base::trim(part);
            const auto equals = pair.find('=');
            if (equals != std::string_view::npos && pair.substr(0, equals) == kSessionCookie)
                return std::string(pair.substr(equals + 1));
        }
    }
    return "";
}

// Read again when it changes, so that tokens can be added and withdrawn without a restart.
void Auth::reload_tokens() {
    if (settings_.token_file.empty()) return;
    std::error_code failed;
    const auto written_at = std::filesystem::last_write_time(settings_.token_file, failed);
    if (failed) {
        rows_.clear();  // a file that is gone grants nothing
        read_at_ = {};
        return;
    }
    if (written_at == read_at_) return;
    read_at_ = written_at;
    rows_.clear();
    std::ifstream file(settings_.token_file);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string name, role, digest;
        if (!(words >> name >> role >> digest) || name.front() == '#') continue;
        const auto parsed = parse_role(role);
        constexpr std::size_t kDigestDigits = 64;
        if (!parsed || digest.size() != kDigestDigits) {
            base::log(base::LogLevel::warn, "token_file_line_ignored", {{"name", base::JsonValue(name)}});
            continue;
        }
        TokenRow row;
        row.name = name;
        row.role = *parsed;
        row.digest = base::to_lower(digest);
        rows_.push_back(std::move(row));
    }
}

std::optional<app::Caller> Auth::by_token(const std::string& token) {
    if (token.empty()) return std::nullopt;
    const std::string digest = base::sha256_hex(token);
    app::Caller caller;
    if (!settings_.admin_token.empty() &&
        base::constant_time_equal(digest, base::sha256_hex(settings_.admin_token))) {
        caller.principal = "admin";
        caller.role = app::Role::admin;
        return caller;
    }
    reload_tokens();
    for (const auto& row : rows_) {
        if (!base::constant_time_equal(digest, row.digest)) continue;
        caller.principal = row.name;
        caller.role = row.role;
        return caller;
    }
    return std::nullopt;
}

base::Result<Auth::Asked> Auth::authenticate(const http::Request& request) {
    Asked asked;
    const std::string header = request.headers.get("Authorization");
    if (!header.empty()) {
        constexpr std::string_view kScheme = "bearer ";
        const bool bearer =
            header.size() > kScheme.size() && base::iequals(header.substr(0, kScheme.size()), kScheme);
        if (!bearer) return unauthenticated("Only bearer tokens are taken");
        auto caller = by_token(std::string(base::trim(std::string_view(header).substr(kScheme.size()))));
        if (!caller) return unauthenticated("The token is not known");
        asked.caller = std::move(*caller);
        return asked;
    }
    const std::string cookie = cookie_of(request);
    if (cookie.empty()) return unauthenticated("A token is needed");
    auto caller = session(cookie);
    if (!caller) return unauthenticated("The session has ended");
    asked.caller = std::move(*caller);
    asked.by_cookie = true;
    return asked;
}

std::optional<app::Caller> Auth::session(const std::string& id) {
    const auto found = sessions_.find(base::sha256_hex(id));
    if (found == sessions_.end()) return std::nullopt;
    if (found->second.ends < clock_.monotonic()) {
        sessions_.erase(found);
        return std::nullopt;
    }
    found->second.ends = clock_.monotonic() + kSessionLife;
    return found->second.caller;
}

std::string Auth::begin_session(const app::Caller& caller) {
    forget_ended();
    const std::string id = base::base64url_encode(base::random_bytes(kSecretBytes));
    Session made;
    made.caller = caller;
    made.ends = clock_.monotonic() + kSessionLife;
    sessions_[base::sha256_hex(id)] = std::move(made);
    return id;
}

void Auth::forget_ended() {
    const auto now = clock_.monotonic();
    std::erase_if(sessions_, [now](const auto& entry) { return entry.second.ends < now; });
    std::erase_if(codes_, [now](const auto& entry) { return entry.second < now; });
    while (sessions_.size() >= kMaxSessions) sessions_.erase(sessions_.begin());
}

base::Result<std::string> Auth::sign_in_with_token(const std::string& token) {
    const auto caller = by_token(token);
    if (!caller) return unauthenticated("The token is not known");
    return begin_session(*caller);
}

base::Result<std::string> Auth::sign_in_with_code(const std::string& code) {
    forget_ended();
    const auto found = codes_.find(base::sha256_hex(code));
    if (code.empty() || found == codes_.end()) {
        return unauthenticated("The sign-in link has been used or is older than ten minutes")
            .with_hint("Sign in with the token instead.");
    }
    codes_.erase(found);
    app::Caller caller;
    caller.principal = "admin";
    caller.role = app::Role::admin;
    return begin_session(caller);
}

void Auth::sign_out(const http::Request& request) {
    sessions_.erase(base::sha256_hex(cookie_of(request)));
}

std::string Auth::make_login_code() {
    std::string code = base::base64url_encode(base::random_bytes(kSecretBytes));
    codes_[base::sha256_hex(code)] = clock_.monotonic() + kCodeLife;
    return code;
}

}  // namespace instantstart::api
