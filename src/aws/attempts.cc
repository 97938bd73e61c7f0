// One call's attempts: sign, send, read, and decide whether there may be another.
#include <algorithm>

#include "aws/client_impl.h"
#include "base/log.h"
#include "base/text.h"
#include "rt/event.h"

namespace instantstart::aws {

namespace {

// An answer is up to a minute under way; a difference of more than four makes AWS refuse signatures soon.
constexpr base::Duration kMinuteSkew = std::chrono::minutes(1);
constexpr base::Duration kTolerableSkew = std::chrono::minutes(4);

// Some S3 operations answer 200 and then say that they failed.
bool is_late_s3_error(const codec::Answer& answer, const model::Service& service,
                      const model::Operation& operation) {
    if (service.name != "s3") return false;
    const bool may = operation.name == "CopyObject" || operation.name == "UploadPartCopy" ||
                     operation.name == "CompleteMultipartUpload";
    return may && answer.body.substr(0, 200).find("<Error>") != std::string::npos;
}

// A HEAD is answered without a body: of an expired session S3 says no more than 400. A bucket elsewhere would
// name its region.
bool is_silent_expiry(const std::string& method, const codec::Answer& answer, const Credentials& used) {
    return method == "HEAD" && answer.status == 400 && answer.body.empty() && !used.session_token.empty() &&
           !answer.headers.has("x-amz-bucket-region");
}

void call_expired(Failure& failure) {
    failure.clock_skewed = false;
    failure.expired_credentials = true;
    failure.error.kind = base::ErrorKind::denied;
    failure.error.code = kCredentialsExpired;
    failure.error.message = "the session of the AWS credentials has expired";
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
    CallReport ended;
    ended.service = prepared.service->name;
    ended.operation = prepared.operation->name;
    auto answer = co_await try_until_done(context, std::move(prepared), ended);
    if (!answer && answer.error().kind == base::ErrorKind::cancelled) co_return std::move(answer).error();
    if (!answer) {
        ended.code = answer.error().code;
        ended.kind = answer.error().kind;
    }
    report(context, std::move(ended), clock_.monotonic() - started);
    co_return answer;
}

// `ended` lives in the awaiting frame.
Task<JsonObject> ClientImpl::try_until_done(Context context, Prepared prepared, CallReport& ended) {
    ServiceState& state = services_[prepared.service->name];
    Renewed renewed;
    int taken = 0;
    while (true) {
        CO_TRY(Outcome outcome, co_await attempt(context, prepared, ended));
        if (outcome.answer) {
            state.quota.give_back(taken);
            co_return std::move(*outcome.answer);
        }
        const Failure& failure = outcome.failure;
        if (failure.throttled) ++ended.throttles;
        if (renew(context, prepared, outcome, renewed)) continue;
        const int counted = ended.attempts - renewed.count();
        const auto wait = wait_before_retry(context, prepared, failure, counted);
        if (wait) taken = state.quota.take(failure);
        if (!wait || taken == 0) co_return std::move(outcome.failure.error);
        CO_CHECK_OK(co_await clock_.sleep(*wait));
    }
}

// Mends what made AWS refuse the signature, each kind once in a call: true where it is worth signing again.
bool ClientImpl::renew(const Context& context, const Prepared& prepared, const Outcome& outcome,
                       Renewed& renewed) {
    if (outcome.failure.clock_skewed) {
        const bool again = outcome.clock_corrected && !renewed.clock;
        renewed.clock = renewed.clock || again;
        return again;
    }
    if (!outcome.failure.expired_credentials || prepared.fixed_credentials) return false;
    credentials_.expire(outcome.used);
    if (renewed.credentials) return false;
    renewed.credentials = true;
    context.log(base::LogLevel::info, "credentials_expired",
                {{"service", JsonValue(prepared.service->name)},
                 {"operation", JsonValue(prepared.operation->name)},
                 {"access_key", JsonValue(outcome.used.access_key)}});
    return true;
}

// Absent where there is to be no further attempt: whoever called is told what the last one met.
std::optional<base::Duration> ClientImpl::wait_before_retry(const Context& context, const Prepared& prepared,
                                                            const Failure& failure, int attempts) {
    const int most = prepared.attempts > 0 ? prepared.attempts : retry_.attempts;
    if (!failure.retryable || attempts >= most) return std::nullopt;
    const base::Duration wait = retry_wait(failure, attempts, clock_);
    if (wait > kLongestWait) return std::nullopt;
    if (context.deadline() && clock_.monotonic() + wait >= *context.deadline()) return std::nullopt;
    return wait;
}

base::Error ClientImpl::no_time_for(const Prepared& prepared) {
    return {base::ErrorKind::deadline, "deadline", "no time is left for " + prepared.operation->name};
}

Task<void> ClientImpl::load_credentials(Context context, std::shared_ptr<Credentials> out) {
    CO_TRY(*out, co_await credentials_.get(context));
    co_return base::ok();
}

Task<Credentials> ClientImpl::credentials_for(Context context, const Prepared& prepared) {
    if (prepared.fixed_credentials) co_return *prepared.fixed_credentials;
    const auto found = std::make_shared<Credentials>();
    if (prepared.operation->unsigned_call) co_return *found;
    if (!context.deadline()) {
        CO_CHECK_OK(co_await load_credentials(context, found));
        co_return *found;
    }
    const base::Duration left = *context.deadline() - clock_.monotonic();
    auto loaded = co_await rt::with_limit(clock_, left, load_credentials(context, found));
    if (!loaded && loaded.error().code == "deadline") co_return no_time_for(prepared);
    if (!loaded) co_return std::move(loaded).error();
    co_return *found;
}

// In the adaptive mode: waits for this request's turn.
Task<void> ClientImpl::wait_for_turn(Context context, const Prepared& prepared) {
    if (retry_.mode != RetryMode::adaptive) co_return base::ok();
    SendRate& rate = services_[prepared.service->name].rate;
    const base::Duration wait = rate.reserve(clock_.monotonic());
    if (wait == base::Duration::zero()) co_return base::ok();
    if (context.deadline() && clock_.monotonic() + wait >= *context.deadline()) {
        rate.cancel();
        co_return no_time_for(prepared);
    }
    auto slept = co_await clock_.sleep(wait);
    if (!slept) rate.cancel();
    co_return slept;
}

Task<ClientImpl::Outcome> ClientImpl::attempt(Context context, const Prepared& prepared, CallReport& ended) {
    Outcome out;
    CO_TRY(out.used, co_await credentials_for(context, prepared));
    CO_CHECK_OK(co_await wait_for_turn(context, prepared));
    CO_TRY(http::Request request, request_of(prepared, out.used));
    http::SendOptions options;
    options.ca_file = ca_file_;
    options.timeout = prepared.timeout;
    if (context.deadline())
        options.timeout = std::min(options.timeout, *context.deadline() - clock_.monotonic());
    if (options.timeout <= base::Duration::zero()) co_return no_time_for(prepared);
    options.connect_timeout = std::min(options.connect_timeout, options.timeout);
    ++ended.attempts;
    auto response = co_await transport_.send(context, std::move(request), options);
    if (!response.has_value()) {
        if (response.error().kind == base::ErrorKind::cancelled) co_return std::move(response).error();
        out.failure = failure_of_transport(std::move(response).error(), prepared.repeat);
        const bool late = context.deadline() && clock_.monotonic() >= *context.deadline();
        if (late && out.failure.error.kind == base::ErrorKind::unavailable) co_return no_time_for(prepared);
    } else {
        read_answer(prepared, std::move(response).value(), out);
    }
    if (retry_.mode == RetryMode::adaptive)
        services_[prepared.service->name].rate.answered(out.failure.throttled, clock_.monotonic());
    co_return out;
}

base::Result<http::Request> ClientImpl::request_of(const Prepared& prepared, const Credentials& credentials) {
    TRY(Endpoint endpoint, endpoint_of(*prepared.service, prepared.region));
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

void ClientImpl::read_answer(const Prepared& prepared, http::Response response, Outcome& out) {
    codec::Answer answer;
    answer.status = response.status;
    answer.headers = std::move(response.headers);
    answer.body = std::move(response.body);
    const bool late = is_late_s3_error(answer, *prepared.service, *prepared.operation);
    if (late) answer.status = 500;
    if (answer.status >= 300) {
        const codec::WireError wire = codec::parse_error(*prepared.service, *prepared.operation, answer);
        out.failure = failure_of_answer(prepared.service->name, wire, answer, prepared.repeat, clock_.now());
        if (is_silent_expiry(prepared.call.method, answer, out.used)) call_expired(out.failure);
        if (!out.failure.clock_skewed) return;
        out.clock_corrected = follow_clock(answer.headers, base::Duration::zero());
        // With the time right, it is the session that has run out: EC2 has one word for both.
        if (out.clock_corrected || wire.code != "RequestExpired" || out.used.session_token.empty()) return;
        call_expired(out.failure);
        return;
    }
    auto parsed = codec::parse(*prepared.service, *prepared.operation, answer);
    if (!parsed.has_value()) {
        out.failure = failure_of_reading(std::move(parsed).error(), prepared.repeat);
        out.failure.error.aws_request_id = codec::request_id_of(answer);
        return;
    }
    follow_clock(answer.headers, kTolerableSkew);
    out.answer = std::move(parsed).value();
}

// Takes the difference to AWS's clock from the answer's Date, where it is beyond `tolerable` or one was found
// before. True where it has changed.
bool ClientImpl::follow_clock(const http::Headers& headers, base::Duration tolerable) {
    const auto theirs = base::parse_time(headers.get("Date"));
    if (!theirs) return false;
    const base::Duration ahead = *theirs - clock_.now();
    const bool minds = std::chrono::abs(ahead) > tolerable || skew_ != base::Duration::zero();
    if (!minds || std::chrono::abs(ahead - skew_) <= kMinuteSkew) return false;
    skew_ = std::chrono::abs(ahead) > kMinuteSkew ? ahead : base::Duration::zero();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(skew_).count();
    base::log(base::LogLevel::warn, seconds == 0 ? "clock_right_again" : "clock_skewed",
              {{"aws_ahead_seconds", JsonValue(seconds)}});
    return true;
}

void ClientImpl::report(const Context& context, CallReport report, base::Duration took) {
    report.seconds = std::chrono::duration<double>(took).count();
    context.log(base::LogLevel::debug, "aws_call",
                {{"service", JsonValue(report.service)},
                 {"operation", JsonValue(report.operation)},
                 {"code", JsonValue(report.code)},
                 {"seconds", JsonValue(report.seconds)},
                 {"attempts", JsonValue(report.attempts)}});
    if (settings_.on_call) settings_.on_call(report);
}

}  // namespace instantstart::aws
