// Auth: who asks. Bearer tokens with roles, browser sessions by cookie, and one-time codes that begin one.
// Sessions and codes live in memory: a restart asks browsers to sign in again.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/operation.h"
#include "http/message.h"
#include "rt/clock.h"

namespace instantstart::api {

inline constexpr const char* kSessionCookie = "instantstart_session";

struct AuthSettings {
    AuthSettings() = default;
    std::string admin_token;  // principal "admin", role admin; "" = none
    std::string token_file;   // lines NAME ROLE SHA256-HEX, '#' begins a comment; "" = none
};

class Auth {
public:
    Auth(rt::Clock& clock, AuthSettings settings) : clock_(clock), settings_(std::move(settings)) {}

    struct Asked {
        Asked() = default;
        app::Caller caller;
        bool by_cookie = false;
    };
    // By the Authorization header, else by the session cookie. Error{denied, "unauthenticated"}.
    base::Result<Asked> authenticate(const http::Request& request);

    // A session for whoever holds this token or this unused code; the cookie's value.
    base::Result<std::string> sign_in_with_token(const std::string& token);
    base::Result<std::string> sign_in_with_code(const std::string& code);
    void sign_out(const http::Request& request);
    std::optional<app::Caller> session(const std::string& id);

    // Ten minutes, single use, role admin.
    std::string make_login_code();

private:
    struct Session {
        app::Caller caller;
        base::Duration ends{};
    };
    struct TokenRow {
        std::string name, digest;
        app::Role role = app::Role::viewer;
    };
    std::optional<app::Caller> by_token(const std::string& token);
    void reload_tokens();
    std::string begin_session(const app::Caller& caller);
    void forget_ended();

    rt::Clock& clock_;
    AuthSettings settings_;
    std::map<std::string, Session> sessions_;
    std::map<std::string, base::Duration> codes_;  // SHA-256 of the code -> end
    std::vector<TokenRow> rows_;
    std::filesystem::file_time_type read_at_{};
};

std::string cookie_of(const http::Request& request);
std::optional<app::Role> parse_role(std::string_view text);
const char* role_name(app::Role role);

}  // namespace instantstart::api
