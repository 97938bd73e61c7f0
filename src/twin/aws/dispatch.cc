#include "twin/aws/dispatch.h"

#include "base/digest.h"
#include "base/text.h"
#include "twin/aws/authoriser.h"
#include "twin/aws/codec/chunked.h"
#include "twin/aws/codec/query_codec.h"
#include "twin/aws/control.h"

namespace instantstart::twin {

namespace {

using ServiceModel = aws::model::Service;

// The status of a Response that tells the server to close the connection without an answer.
constexpr int kNoAnswer = 0;
constexpr int kCutBefore = 599;
constexpr base::Duration kTimeoutDelay = std::chrono::seconds(60);
constexpr std::size_t kJournalledText = 16U << 10U;

std::string_view host_name(std::string_view host) {
    if (host.starts_with('['))
        return host.substr(1, host.find(']') == std::string_view::npos ? 0 : host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

const ServiceModel* by_signing_name(std::string_view name) {
    for (const std::string& known : aws::model::embedded_names()) {
        const ServiceModel* service = aws::model::embedded(known);
        if (service != nullptr && (service->signing_name == name || service->name == name)) return service;
    }
    return nullptr;
}

const ServiceModel* by_target(std::string_view target) {
    const std::string_view prefix = target.substr(0, target.rfind('.'));
    for (const std::string& known : aws::model::embedded_names()) {
        const ServiceModel* service = aws::model::embedded(known);
        if (service != nullptr && !service->target_prefix.empty() && service->target_prefix == prefix)
            return service;
    }
    return nullptr;
}

const ServiceModel* by_action(const http::Request& request) {
    std::string action, version;
    codec::FormFields fields = codec::parse_form(request.query());
    for (auto& field : codec::parse_form(request.body)) fields.push_back(std::move(field));
    for (const auto& [name, value] : fields) {
        if (name == "Action") action = value;
        if (name == "Version") version = value;
    }
    for (const std::string& known : aws::model::embedded_names()) {
        const ServiceModel* service = aws::model::embedded(known);
        const bool form = service != nullptr && (service->protocol == "query" || service->protocol == "ec2");
        if (form && service->operation(action) != nullptr &&
            (version.empty() || version == service->api_version))
            return service;
    }
    return nullptr;
}

// bucket.localhost, bucket.s3.us-west-2.amazonaws.com: the bucket moves into the path, where the models have
// it.
void unfold_virtual_host(http::Request& request) {
    const std::string host(host_name(request.headers.get("host")));
    std::string bucket;
    if (host.ends_with(".localhost")) bucket = host.substr(0, host.size() - 10);
    const auto s3 = host.find(".s3");
    if (host.ends_with(".amazonaws.com") && s3 != std::string::npos && s3 > 0) bucket = host.substr(0, s3);
    if (!bucket.empty() && bucket != "s3") request.target = "/" + bucket + request.target;
}

ServiceError fault_error(const ServiceModel& service, const Fault& fault) {
    ServiceError error(500, "InternalFailure",
                       "The request processing has failed because of an unknown error.");
    if (service.name == "ec2" || service.name == "s3") error.code = "InternalError";
    if (fault.kind == FaultKind::throttle) {
        error = ServiceError(400, "ThrottlingException", "Rate exceeded");
        if (service.name == "ec2")
            error = ServiceError(503, "RequestLimitExceeded", "Request limit exceeded.");
        if (service.name == "s3") error = ServiceError(503, "SlowDown", "Please reduce your request rate.");
        if (service.name == "eks") error.status = 429;
        if (service.protocol == "query") error.code = "Throttling";
    }
    if (!fault.code.empty()) error.code = fault.code;
    if (fault.status != 0) error.status = fault.status;
    error.members = fault.members;
    return error;
}

// The same fault of a signature has another name in every protocol.
ServiceError signature_error(const ServiceModel& service, SignatureFault fault) {
    const std::string text =
        "The request signature we calculated does not match the signature you provided. Check your AWS "
        "Secret Access Key and "
        "signing method.";
    const bool json = service.protocol == "json" || service.protocol == "rest-json";
    switch (fault) {
        case SignatureFault::malformed:
            if (service.name == "s3")
                return {400, "AuthorizationHeaderMalformed", "The authorization header is malformed."};
            return {json ? 403 : 400, json ? "IncompleteSignatureException" : "IncompleteSignature",
                    "The request signature does not conform to AWS standards."};
        case SignatureFault::mismatch:
            return {403, json ? "InvalidSignatureException" : "SignatureDoesNotMatch", text};
        case SignatureFault::skewed:
            if (service.name == "s3")
                return {403, "RequestTimeTooSkewed",
                        "The difference between the request time and the current time is too large."};
            if (service.name == "ec2") return {400, "RequestExpired", "Request has expired."};
            return {403, json ? "InvalidSignatureException" : "SignatureDoesNotMatch",
                    "Signature expired: the request's time is not within 5 minutes of the current time"};
        case SignatureFault::expired: break;
    }
    if (service.name == "s3") return {403, "AccessDenied", "Request has expired"};
    return {403, "RequestExpired", "Request has expired."};
}

ServiceError missing_signature(const ServiceModel& service) {
    if (service.name == "s3") return {403, "AccessDenied", "Access Denied"};
    if (service.name == "ec2")
        return {401, "AuthFailure", "AWS was not able to validate the provided access credentials"};
    const bool json = service.protocol == "json" || service.protocol == "rest-json";
    return {403, json ? "MissingAuthenticationTokenException" : "MissingAuthenticationToken",
            "Request is missing Authentication Token"};
}

ServiceError unknown_key(const ServiceModel& service) {
    const std::string text = "The security token included in the request is invalid.";
    if (service.name == "s3")
        return {403, "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist in our records."};
    if (service.name == "ec2")
        return {401, "AuthFailure", "AWS was not able to validate the provided access credentials"};
    const bool json = service.protocol == "json" || service.protocol == "rest-json";
    return {403, json ? "UnrecognizedClientException" : "InvalidClientTokenId", text};
}

ServiceError expired_session(const ServiceModel& service) {
    const bool json = service.protocol == "json" || service.protocol == "rest-json";
    if (service.name == "ec2") return {400, "RequestExpired", "Request has expired."};
    return {service.name == "s3" ? 400 : 403, json ? "ExpiredTokenException" : "ExpiredToken",
            "The security token included in the request is expired"};
}

// What the journal keeps of parameters: all, but for bytes and long texts, of which it keeps the digest.
JsonValue for_journal(const JsonValue& value) {
    if (value.is_string()) {
        const std::string_view text = value.as_string();
        if (text.size() <= kJournalledText && base::is_valid_utf8(text)) return value;
        return JsonValue("sha256:" + base::sha256_hex(text) + " (" + std::to_string(text.size()) + " bytes)");
    }
    if (value.is_array()) {
        JsonArray out;
        for (const JsonValue& item : value.as_array()) out.push_back(for_journal(item));
        return out;
    }
    if (value.is_object()) {
        JsonObject out;
        for (const auto& item : value.as_object()) out[item.key()] = for_journal(item.value());
        return out;
    }
    return value;
}

http::Response refuse(int status, const std::string& text) {
    return {status, "text/plain", text + "\n"};
}

}  // namespace

struct Dispatcher::Exchange {
    Exchange() = default;
    http::Request request;
    const ServiceModel* service = nullptr;
    codec::ParsedCall call;
    std::optional<ServiceError> refused;  // by signature or syntax
    Identity caller;
    std::string region, request_id;
};

Dispatcher::Dispatcher(WorldImpl& world) : world_(world) {}

bool is_loopback_host(std::string_view host) {
    const std::string_view name = host_name(host);
    return name == "localhost" || name.ends_with(".localhost") || name == "::1" ||
           (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos);
}

// Which service is meant: the signature's scope says it, else the target header, else form Action and
// Version.
void Dispatcher::identify(Exchange& exchange) const {
    const auto read = read_signature(exchange.request);
    exchange.region = world_.region();
    if (const auto* signature = std::get_if<Signature>(&read)) {
        exchange.service = by_signing_name(signature->service);
        // The one service that has its home elsewhere: it must know whether it was asked there.
        if (signature->service == "pricing") exchange.region = signature->region;
        return;
    }
    const std::string target = exchange.request.headers.get("x-amz-target");
    exchange.service = target.empty() ? by_action(exchange.request) : by_target(target);
}

void Dispatcher::authenticate(Exchange& exchange) const {
    const ServiceModel& service = *exchange.service;
    const auto read = read_signature(exchange.request);
    if (std::holds_alternative<std::monostate>(read)) {
        exchange.refused = missing_signature(service);
        return;
    }
    if (const auto* fault = std::get_if<SignatureFault>(&read)) {
        exchange.refused = signature_error(service, *fault);
        return;
    }
    const auto& signature = std::get<Signature>(read);
    const auto key = world_.get<Keys>("iam").find_key(signature.access_key);
    if (!key || (!key->session_token.empty() && key->session_token != signature.session_token)) {
        exchange.refused = unknown_key(service);
    } else if (auto fault = check_signature(exchange.request, signature, key->secret, world_.now())) {
        exchange.refused = signature_error(service, *fault);
    } else if (key->expires && *key->expires <= world_.now()) {
        exchange.refused = expired_session(service);
    } else {
        exchange.caller = key->identity;
    }
}

Reply Dispatcher::perform(Exchange& exchange, base::Duration stale) {
    if (exchange.refused) return *exchange.refused;
    if (auto fault = codec::validate_call(*exchange.service, exchange.call)) return *fault;
    twin::Service* service = world_.service(exchange.service->name);
    if (service == nullptr)
        return ServiceError(400, "UnknownOperationException",
                            "The simulated account has no service " + exchange.service->name);
    Call call;
    call.service = exchange.service->name;
    call.operation = exchange.call.operation_name;
    call.region = exchange.region;
    call.params = std::move(exchange.call.params);
    call.caller = exchange.caller;
    call.request_id = exchange.request_id;
    call.stale = stale;
    call.now = world_.now();
    std::optional<ServiceError> denied;
    if (!exchange.call.operation->unsigned_call) denied = authorise(world_, call);
    Reply reply = denied ? Reply(*denied) : service->handle(call);
    exchange.call.params = std::move(call.params);
    return reply;
}

void Dispatcher::record(const Exchange& exchange, int status, const std::string& error_code) {
    JournalEntry entry;
    entry.time = world_.now();
    entry.service = exchange.service->name;
    entry.operation = exchange.call.operation_name;
    entry.principal = exchange.caller.arn;
    entry.parameters = for_journal(JsonValue(exchange.call.params)).as_object();
    entry.status = status;
    entry.error_code = error_code;
    entry.request_id = exchange.request_id;
    entry.mutating = exchange.call.operation != nullptr && !exchange.call.operation->read_only() &&
                     !base::get_bool(exchange.call.params, "DryRun");
    if (entry.mutating) world_.touched();
    world_.calls().add(std::move(entry));
}

http::Response Dispatcher::finish(Exchange& exchange, const Reply& reply) {
    if (const auto* error = std::get_if<ServiceError>(&reply)) {
        record(exchange, error->status, error->code);
        return codec::failure(*exchange.service, exchange.call.operation, *error, exchange.request_id);
    }
    http::Response response = codec::answer(*exchange.service, *exchange.call.operation,
                                            std::get<JsonObject>(reply), exchange.request_id);
    record(exchange, response.status, "");
    return response;
}

boost::asio::awaitable<http::Response> Dispatcher::handle(rt::Context, http::Request request) {
    // A page of some site must not be able to reach the account through the user's browser.
    if (request.headers.has("origin")) co_return refuse(403, "Requests of browsers are refused");
    if (!is_loopback_host(request.headers.get("host")))
        co_return refuse(403, "The Host header must name a loopback address");
    if (request.path().starts_with("/_twin/")) co_return control(world_, request);

    Exchange exchange;
    exchange.request = std::move(request);
    exchange.request_id = world_.uuid();
    identify(exchange);
    if (exchange.service == nullptr) co_return refuse(404, "No AWS service can be told from this request");
    authenticate(exchange);
    if (exchange.service->name == "s3") unfold_virtual_host(exchange.request);
    if (codec::is_aws_chunked(exchange.request)) {
        auto decoded = codec::decode_aws_chunked(exchange.request);
        if (!decoded && !exchange.refused)
            exchange.refused = ServiceError(400, decoded.error().code, decoded.error().message);
    }
    auto parsed = codec::parse_call(*exchange.service, exchange.request);
    if (auto* call = std::get_if<codec::ParsedCall>(&parsed)) {
        exchange.call = std::move(*call);
        if (exchange.call.operation->unsigned_call && !exchange.request.headers.has("authorization"))
            exchange.refused.reset();
    } else if (!exchange.refused) {
        exchange.refused = std::get<ServiceError>(parsed);
    }

    const Strike strike =
        world_.faults().strike(exchange.service->name, exchange.call.operation_name, world_.clock());
    if (strike.slow.count() > 0) {
        auto slept = co_await world_.clock().sleep(strike.slow);
        if (!slept) co_return http::Response(kNoAnswer);
    }
    const bool silent =
        strike.fault && (strike.fault->kind == FaultKind::reset || strike.fault->kind == FaultKind::timeout);
    if (strike.fault && !silent) co_return finish(exchange, fault_error(*exchange.service, *strike.fault));
    if (!silent) {
        const Reply reply = perform(exchange, strike.stale);
        co_return finish(exchange, reply);
    }
    if (strike.after_act) {
        const Reply reply = perform(exchange, strike.stale);
        finish(exchange, reply);
    } else {
        record(exchange, kCutBefore, "");
    }
    if (strike.fault->kind == FaultKind::timeout) {
        base::Duration delay = kTimeoutDelay;
        if (strike.fault->delay_seconds)
            delay = base::Duration(static_cast<std::int64_t>(*strike.fault->delay_seconds * 1e9));
        auto slept = co_await world_.clock().sleep(delay);
        if (!slept) co_return http::Response(kNoAnswer);
    }
    co_return http::Response(kNoAnswer);
}

}  // namespace instantstart::twin
