#include "aws/client.h"

#include <algorithm>

#include "aws/client_impl.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

constexpr std::size_t kItemsMax = 10000;
constexpr auto kTokenLife = std::chrono::seconds(60);

base::Error unknown_operation(const std::string& service, const std::string& operation) {
    return base::internal_error("no operation " + operation + " in the model of " + service);
}

base::Error invalid_parameters(const std::string& operation, const std::vector<model::Fault>& faults) {
    std::vector<std::string> texts;
    base::Error error(base::ErrorKind::invalid, "invalid_parameter", "");
    for (const model::Fault& fault : faults) {
        texts.push_back(fault.path + " " + fault.message);
        base::FieldError field;
        field.pointer = "/" + base::join(base::split(fault.path, '.'), "/");
        field.message = fault.message;
        error.fields.push_back(std::move(field));
    }
    error.message = operation + ": " + base::join(texts, "; ");
    return error;
}

}  // namespace

Task<JsonObject> Client::call(Context context, std::string service, std::string operation,
                              JsonObject parameters) {
    CallOptions options;
    return call(std::move(context), std::move(service), std::move(operation), std::move(parameters),
                std::move(options));
}

Task<JsonArray> Client::collect(Context context, std::string service, std::string operation,
                                JsonObject parameters) {
    return collect(std::move(context), std::move(service), std::move(operation), std::move(parameters),
                   kItemsMax);
}

Task<JsonObject> Client::explain(Context) {
    co_return JsonObject();
}

ClientImpl::ClientImpl(ClientSettings settings, RetrySettings retry, Profiles profiles, ModelSet models,
                       http::Transport& transport, rt::Clock& clock)
    : settings_(std::move(settings)),
      profiles_(std::move(profiles)),
      models_(std::move(models)),
      transport_(transport),
      clock_(clock),
      credentials_(make_source(), clock),
      retry_(retry) {}

Task<JsonObject> ClientImpl::call(Context context, std::string service, std::string operation,
                                  JsonObject parameters, CallOptions options) {
    CO_TRY(Prepared prepared, prepare(service, operation, std::move(parameters), options));
    auto answer = co_await run(std::move(context), std::move(prepared));
    // AWS's words seldom say what was asked ("an unknown error", EC2's refusals): then the call does.
    if (!answer) answer.error().extra["aws_operation"] = service + ":" + operation;
    co_return answer;
}

base::Result<ClientImpl::Prepared> ClientImpl::prepare(const std::string& service,
                                                       const std::string& operation, JsonObject parameters,
                                                       const CallOptions& options) {
    Prepared out;
    out.service = models_.find(service);
    out.operation = out.service == nullptr ? nullptr : out.service->operation(operation);
    if (out.operation == nullptr) return unknown_operation(service, operation);
    const std::string token = options.client_token.empty() ? new_token() : options.client_token;
    const bool has_token = codec::fill_idempotency_token(*out.operation, parameters, token);
    if (out.operation->input != nullptr) {
        const auto faults = model::validate(*out.operation->input, JsonValue(parameters));
        if (!faults.empty()) return invalid_parameters(operation, faults);
    }
    TRY(out.call, codec::serialise(*out.service, *out.operation, parameters));
    codec::add_checksum(*out.operation, parameters, out.call);
    out.bucket = out.service->name == "s3" ? base::get_string(parameters, "Bucket") : "";
    out.repeat = has_token || out.operation->read_only() ? Repeat::safe : Repeat::unsafe;
    out.timeout = options.timeout;
    out.attempts = options.attempts;
    return out;
}

std::string ClientImpl::new_token() {
    std::string token = clock_.random_id(32);
    for (const std::size_t at : {20U, 16U, 12U, 8U}) token.insert(at, "-");
    return token;
}

Task<std::string> ClientImpl::eks_token(Context context, std::string cluster) {
    const model::Service* sts = models_.find("sts");
    if (sts == nullptr) co_return unknown_operation("sts", "GetCallerIdentity");
    CO_TRY(const Endpoint endpoint, endpoint_of(*sts, ""));
    CO_TRY(const Credentials credentials, co_await credentials_.get(context));
    http::Request request;
    request.scheme = endpoint.scheme;
    request.host = endpoint.host;
    request.port = endpoint.port;
    request.target = endpoint.base_path + "/?Action=GetCallerIdentity&Version=" + sts->api_version;
    request.headers.set("x-k8s-aws-id", std::move(cluster));
    SigningScope scope;
    scope.region = endpoint.signing_region;
    scope.service = "sts";
    const std::string target =
        presigned_target(request, credentials, scope, clock_.now() + skew_, kTokenLife);
    http::Url url;
    url.scheme = endpoint.scheme;
    url.host = endpoint.host;
    url.port = endpoint.port;
    co_return "k8s-aws-v1." + base::base64url_encode(url.scheme + "://" + url.authority() + target);
}

}  // namespace instantstart::aws
