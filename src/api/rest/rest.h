// Rest: /api/v1/… over the catalogue. It translates: path, query and body to arguments, outcomes and errors
// to answers.
#pragma once

#include "api/auth.h"
#include "app/execute.h"
#include "http/message.h"

namespace instantstart::api {

class Rest {
public:
    explicit Rest(app::Executor& executor) : executor_(executor) {}
    // `path` is what follows /api/v1.
    boost::asio::awaitable<http::Response> handle(rt::Context context, http::Request request,
                                                  std::string path, Auth::Asked asked);

private:
    rt::Task<http::Response> answer(rt::Context context, http::Request request, std::string path,
                                    Auth::Asked asked);
    app::Executor& executor_;
};

// The body as an object: {} where there is none. Errors: unsupported_media_type, invalid_json, invalid_body.
base::Result<base::JsonObject> read_body(const http::Request& request);

}  // namespace instantstart::api
