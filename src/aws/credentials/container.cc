#include "aws/credentials/container.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "aws/credentials/documents.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

constexpr auto kTimeout = std::chrono::seconds(2);
constexpr auto kPause = std::chrono::seconds(1);
constexpr int kAttempts = 3;  // as botocore

// The token must not be sent to just any host: without TLS to this machine and its container agents only.
bool may_be_asked(const http::Url& url) {
    if (url.scheme == "https") return true;
    if (url.scheme != "http") return false;
    if (url.host == "localhost") return true;
    boost::system::error_code no_address;
    const auto address = boost::asio::ip::make_address(url.host, no_address);
    if (no_address) return false;
    if (address.is_loopback()) return true;
    for (const char* agent : {"169.254.170.2", "169.254.170.23", "fd00:ec2::23"}) {
        if (address == boost::asio::ip::make_address(agent)) return true;
    }
    return false;
}

base::Result<std::string> endpoint_url(const Environment& environment) {
    const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    if (!relative.empty() && relative.front() != '/')
        return no_credentials("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with /");
    if (!relative.empty()) return "http://169.254.170.2" + relative;
    const std::string full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    const auto url = http::parse_url(full);
    if (!url.has_value())
        return no_credentials("AWS_CONTAINER_CREDENTIALS_FULL_URI is " + url.error().message);
    if (!may_be_asked(*url)) {
        return no_credentials("AWS_CONTAINER_CREDENTIALS_FULL_URI names the host " + url->host +
                              " without TLS; only loopback, 169.254.170.2, 169.254.170.23 and [fd00:ec2::23] "
                              "may be asked so");
    }
    return full;
}

base::Result<std::string> token_of(const Environment& environment) {
    const std::string file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    if (file.empty()) return environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    const std::string token(base::trim(read_small_file(file)));
    if (token.empty())
        return no_credentials("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names " + file +
                              ", which cannot be read or is empty");
    return token;
}

// The words of the agent, which has several forms.
std::string refusal_of(const http::Response& response) {
    std::string said;
    const auto parsed = base::parse_json(response.body);
    if (parsed.has_value()) {
        said = base::get_string(*parsed, "message", base::get_string(*parsed, "Message"));
    } else if (response.body.find('<') == std::string::npos) {
        said = response.body;
    }
    return "answered HTTP " + std::to_string(response.status) + (said.empty() ? "" : ": " + cleaned(said));
}

bool may_pass(int status) {
    return status == 429 || status >= 500;
}

}  // namespace

bool has_container_endpoint(const Environment& environment) {
    return !environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").empty() ||
           !environment("AWS_CONTAINER_CREDENTIALS_FULL_URI").empty();
}

Task<Credentials> from_container(Context context, const SourceNeeds& needs) {
    CO_TRY(const std::string url, endpoint_url(needs.environment));
    const std::string what = "the container's credential endpoint " + url;
    std::string failure;
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
        if (attempt > 1) CO_CHECK_OK(co_await needs.clock->sleep(kPause));
        // Read for each attempt: the file's owner renews it.
        CO_TRY(const std::string token, token_of(needs.environment));
        CO_TRY(http::Request request, local_request("GET", url));
        request.headers.set("Accept", "application/json");
        if (token.find_first_of("\r\n") != std::string::npos)
            co_return no_credentials("the authorization token of the container has a line break within");
        if (!token.empty()) request.headers.set("Authorization", token);
        CO_TRY(const LocalAnswer answer,
               co_await ask_locally(context, *needs.transport, std::move(request), kTimeout));
        failure = answer.failure.empty() ? refusal_of(answer.response) : "did not answer: " + answer.failure;
        if (!answer.failure.empty()) continue;
        if (answer.response.status != 200 && !may_pass(answer.response.status)) break;
        if (answer.response.status != 200) continue;
        CO_TRY(const base::JsonObject document, object_of(answer.response.body, what));
        co_return credentials_of(document, what);
    }
    co_return no_credentials(what + " " + failure);
}

}  // namespace instantstart::aws
