// ApiServer: calls to one API server, with its token, its retries and its errors. Knows paths, not kinds.
#pragma once

#include <string>

#include "http/message.h"
#include "kube/client.h"

namespace instantstart::kube::impl {

struct Call {
    Call() = default;
    Call(std::string method, std::string target) : method(std::move(method)), target(std::move(target)) {}
    std::string method = "GET";
    std::string target;  // without the endpoint's own prefix
    std::string body, content_type;
    http::Headers headers;  // more than those that every call has
    bool stream = false;
    bool repeatable = true;  // may be sent again when the answer was lost
    bool patient_on_503 =
        true;          // 429 and 503 are waited out and tried again, where nothing can be done twice
    int attempts = 4;  // where no answer comes, or one that asks to wait
    base::Duration timeout = std::chrono::seconds(60);
    base::Duration read_timeout = std::chrono::seconds(330);
};

class ApiServer {
public:
    ApiServer(Endpoint endpoint, http::Transport& transport, rt::Clock& clock);

    // The answer, whatever its status (a 401 has been tried again with a fresh token).
    Task<http::Response> send(Context context, Call call);
    // The same, where a status of 400 or more is an error.
    Task<http::Response> send_ok(Context context, Call call);
    // The object of a good answer.
    Task<JsonObject> json(Context context, Call call);

private:
    Task<http::Response> once(Context context, Call call, bool fresh_token);
    Task<std::string> token(Context context, bool fresh);
    // Waits before another attempt; false where the context's deadline comes first.
    Task<bool> pause(Context context, base::Duration wait);

    Endpoint endpoint_;
    http::Url url_;
    bool valid_url_ = false;
    std::string prefix_;
    http::Transport& transport_;
    rt::Clock& clock_;
    std::string token_;
    base::Duration token_until_{0};
};

}  // namespace instantstart::kube::impl
