#include "aws/credentials/documents.h"

#include "base/text.h"

namespace instantstart::aws {

using base::get_string;

base::Result<base::JsonObject> object_of(const std::string& text, const std::string& source) {
    auto parsed = base::parse_json(text);
    if (!parsed.has_value() || !parsed->is_object())
        return no_credentials(source + " did not answer a JSON object");
    return std::move(parsed->get_object());
}

base::Result<Credentials> credentials_of(const base::JsonObject& document, const std::string& source) {
    Credentials out;
    out.source = source;
    out.access_key = get_string(document, "AccessKeyId");
    out.secret_key = get_string(document, "SecretAccessKey");
    out.session_token = get_string(document, "Token", get_string(document, "SessionToken"));
    for (const auto& [key, value] :
         {std::pair<const char*, const std::string&>("AccessKeyId", out.access_key),
          {"SecretAccessKey", out.secret_key}}) {
        if (value.empty()) return no_credentials(source + " answered without " + key);
    }
    const std::string end = get_string(document, "Expiration");
    out.expires = base::parse_time(end);
    if (!end.empty() && !out.expires)
        return no_credentials(source + " answered an Expiration that is no time: " + cleaned(end, 40));
    return out;
}

base::Result<http::Request> local_request(const std::string& method, const std::string& url) {
    TRY(const http::Url parsed, http::parse_url(url));
    http::Request request;
    request.method = method;
    request.scheme = parsed.scheme;
    request.host = parsed.host;
    request.port = parsed.port;
    request.target = parsed.target;
    return request;
}

Task<LocalAnswer> ask_locally(Context context, http::Transport& transport, http::Request request,
                              base::Duration timeout) {
    http::SendOptions options;
    options.connect_timeout = timeout;
    options.timeout = timeout;
    options.max_body = 256U << 10U;
    auto answered = co_await transport.send(std::move(context), std::move(request), options);
    LocalAnswer out;
    if (answered.has_value()) {
        out.connected = true;
        out.response = std::move(answered).value();
        co_return out;
    }
    const base::Error& error = answered.error();
    if (error.kind == base::ErrorKind::cancelled) co_return error;
    out.connected = error.kind == base::ErrorKind::unknown_outcome;
    out.failure = error.message;
    co_return out;
}

base::Error source_error(const base::Error& cause, const std::string& trying) {
    using base::ErrorKind;
    const bool passing = cause.kind == ErrorKind::cancelled || cause.kind == ErrorKind::unavailable ||
                         cause.kind == ErrorKind::throttled || cause.kind == ErrorKind::deadline ||
                         cause.kind == ErrorKind::unknown_outcome;
    if (cause.kind == ErrorKind::cancelled) return cause;
    if (passing || cause.code == "CredentialsExpired") return cause.wrapped(trying);
    const bool is_ours = cause.code == "CredentialsUnavailable";
    base::Error error =
        no_credentials(trying + ": " + cause.message + (is_ours ? "" : " (" + cause.code + ")"));
    error.aws_request_id = cause.aws_request_id;
    error.cause = std::make_shared<const base::Error>(cause);
    return error;
}

std::string cleaned(std::string_view text, std::size_t most) {
    std::string out;
    for (const char c : base::trim(text)) {
        const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        if (!control) out += c;
        if (control && !out.empty() && out.back() != ' ') out += ' ';
        if (out.size() >= most) break;
    }
    while (!out.empty() && !base::is_valid_utf8(out))
        out.pop_back();  // cut within a character, or never text
    return out;
}

}  // namespace instantstart::aws
