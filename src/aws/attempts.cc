// One call's attempts: sign, send, read, and decide whether there may be another.
#include <algorithm>

#include "aws/client_impl.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

constexpr auto kMinuteSkew = std::chrono::minutes(1);

// Some S3 operations answer 200 and then say that they failed.
bool is_late_s3_error(const codec::Answer& answer, const model::Service& service,
                      const model::Operation& operation) {
    if (service.name != "s3") return false;
    const bool may = operation.name == "CopyObject" || operation.name == "UploadPartCopy" ||
                     operation.name == "CompleteMultipartUpload";
    return may && answer.body.substr(0, 200).find("<Error>") != std::string::npos;
}

std::string target_of(const codec::Call& call, const std::string& base_path, const std::string& path) {
    std::string target = base_path + path;
    char separator = '?';
    for (const auto& [name, value] : call.query) {
        target += separator + base::percent_encode(name);
        if (!value.empty()) target += "=" + base::percent_encode(value);
        separator = '&';
    }
    return target;
}

}  // namespace

Task<JsonObject> ClientImpl::run(Context context, Prepared prepared) {
    const base::Duration started = clock_.monotonic();
    for (int attempts = 1;; ++attempts) {
        CO_TRY(Outcome outcome, co_await attempt(context, prepared));
        if (outcome.answer) {
            budgets_[prepared.service->name].succeed();
            report(context, prepared, "", clock_.monotonic() - started, attempts);
            co_return std::move(*outcome.answer);
        }
        const base::Duration wait = retry_wait(outcome.failure, attempts, clock_);
        const bool in_time = !context.deadline() || clock_.monotonic() + wait < *context.deadline();
        const bool budget = in_time && allows_retry(outcome, attempts) &&
                            budgets_[prepared.service->name].take(outcome.failure);
        if (!budget) {
            report(context, prepared, outcome.failure.error.code, clock_.monotonic() - started, attempts);
            co_return std::move(outcome.failure.error);
        }
        CO_CHECK_OK(co_await clock_.sleep(wait));
    }
}

bool ClientImpl::allows_retry(const Outcome& outcome, int attempts) {
    if (attempts >= kMaxAttempts) return false;
    if (outcome.failure.clock_skewed) return attempts == 1;
    if (outcome.failure.expired_credentials) {
        credentials_.expire(outcome.used);
        return attempts == 1;
    }
    return outcome.failure.retryable;
}

Task<ClientImpl::Outcome> ClientImpl::attempt(Context context, const Prepared& prepared) {
    Outcome out;
    if (prepared.fixed_credentials) {
        out.used = *prepared.fixed_credentials;
    } else if (!prepared.operation->unsigned_call) {
        CO_TRY(out.used, co_await credentials_.get(context));
    }
    CO_TRY(http::Request request, request_of(prepared, out.used));
    http::SendOptions options;
    options.timeout = prepared.timeout;
    if (context.deadline())
        options.timeout = std::min(options.timeout, *context.deadline() - clock_.monotonic());
    if (options.timeout <= base::Duration::zero()) {
        co_return base::Error(base::ErrorKind::deadline, "deadline",
                              "no time is left for " + prepared.operation->name);
    }
    auto response = co_await transport_.send(context, std::move(request), options);
    if (!response.has_value()) {
        if (response.error().kind == base::ErrorKind::cancelled) co_return std::move(response).error();
        out.failure = failure_of_transport(std::move(response).error(), prepared.repeat);
        co_return out;
    }
    const Credentials used = out.used;
    out = read_answer(prepared, std::move(response).value());
    out.used = used;
    co_return out;
}

base::Result<http::Request> ClientImpl::request_of(const Prepared& prepared, const Credentials& credentials) {
    TRY(Endpoint endpoint, endpoint_of(*prepared.service));
    std::string path = prepared.call.path;
    if (!prepared.bucket.empty()) use_virtual_host(endpoint, path, prepared.bucket);
    http::Request request;
    request.method = prepared.call.method;
    request.scheme = endpoint.scheme;
    request.host = endpoint.host;
    request.port = endpoint.port;
    request.target = target_of(prepared.call, endpoint.base_path, path);
    request.headers = prepared.call.headers;
    request.body = prepared.call.body;
    http::Url url;
    url.scheme = endpoint.scheme;
    url.host = endpoint.host;
    url.port = endpoint.port;
    request.headers.set("Host", url.authority());
    request.headers.set("User-Agent", "instantstart/" INSTANTSTART_VERSION);
    if (prepared.operation->unsigned_call) return request;
    SigningScope scope;
    scope.region = endpoint.signing_region;
    scope.service = prepared.service->signing_name;
    scope.style = prepared.service->name == "s3" ? SigningStyle::s3 : SigningStyle::common;
    sign(request, credentials, scope, clock_.now() + skew_);
    return request;
}

ClientImpl::Outcome ClientImpl::read_answer(const Prepared& prepared, http::Response response) {
    codec::Answer answer;
    answer.status = response.status;
    answer.headers = std::move(response.headers);
    answer.body = std::move(response.body);
    Outcome out;
    const bool late = is_late_s3_error(answer, *prepared.service, *prepared.operation);
    if (late) answer.status = 500;
    if (answer.status >= 300) {
        const codec::WireError wire = codec::parse_error(*prepared.service, *prepared.operation, answer);
        out.failure = failure_of_answer(wire, answer, prepared.repeat);
        if (out.failure.clock_skewed) correct_skew(answer.headers);
        return out;
    }
    auto parsed = codec::parse(*prepared.service, *prepared.operation, answer);
    if (!parsed.has_value()) {
        out.failure = failure_of_reading(std::move(parsed).error(), prepared.repeat);
        out.failure.error.aws_request_id = codec::request_id_of(answer);
        return out;
    }
    out.answer = std::move(parsed).value();
    return out;
}

void ClientImpl::correct_skew(const http::Headers& headers) {
    const auto theirs = base::parse_time(headers.get("Date"));
    if (!theirs) return;
    const base::Duration skew = *theirs - clock_.now();
    skew_ = skew > kMinuteSkew || skew < -kMinuteSkew ? skew : base::Duration::zero();
}

void ClientImpl::report(const Context& context, const Prepared& prepared, const std::string& code,
                        base::Duration took, int attempts) {
    const double seconds = std::chrono::duration<double>(took).count();
    const std::string& service = prepared.service->name;
    const std::string& operation = prepared.operation->name;
    context.log(base::LogLevel::debug, "aws_call",
                {{"service", JsonValue(service)},
                 {"operation", JsonValue(operation)},
                 {"code", JsonValue(code)},
                 {"seconds", JsonValue(seconds)},
                 {"attempts", JsonValue(attempts)}});
    if (settings_.on_call) settings_.on_call(service, operation, code, seconds, attempts);
}

}  // namespace instantstart::aws
