#include "aws/client.h"

#include <algorithm>
#include <cstdlib>

#include "aws/client_impl.h"
#include "aws/pages.h"
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

ClientImpl::ClientImpl(ClientSettings settings, Profiles profiles, ModelSet models,
                       http::Transport& transport, rt::Clock& clock)
    : settings_(std::move(settings)),
      profiles_(std::move(profiles)),
      models_(std::move(models)),
      transport_(transport),
      clock_(clock),
      credentials_(make_source(), clock) {}

std::unique_ptr<CredentialSource> ClientImpl::make_source() {
    if (!settings_.access_key.empty()) {
        Credentials fixed;
        fixed.access_key = settings_.access_key;
        fixed.secret_key = settings_.secret_key;
        fixed.session_token = settings_.session_token;
        return make_fixed_credentials(std::move(fixed));
    }
    SourceNeeds needs;
    needs.environment = settings_.environment;
    needs.transport = &transport_;
    needs.clock = &clock_;
    needs.sts = [this](Context context, std::string operation, JsonObject parameters,
                       Credentials credentials) {
        return call_sts(std::move(context), std::move(operation), std::move(parameters),
                        std::move(credentials));
    };
    return make_credential_chain(std::move(needs));
}

std::string ClientImpl::region() const {
    return settings_.region;
}
std::string ClientImpl::partition() const {
    return partition_of(settings_.region);
}

Task<JsonObject> ClientImpl::call_sts(Context context, std::string operation, JsonObject parameters,
                                      Credentials credentials) {
    CallOptions options;
    options.timeout = std::chrono::seconds(10);
    CO_TRY(Prepared prepared, prepare("sts", operation, std::move(parameters), options));
    prepared.fixed_credentials = std::move(credentials);
    co_return co_await run(std::move(context), std::move(prepared));
}

Task<JsonObject> ClientImpl::call(Context context, std::string service, std::string operation,
                                  JsonObject parameters, CallOptions options) {
    CO_TRY(Prepared prepared, prepare(service, operation, std::move(parameters), options));
    co_return co_await run(std::move(context), std::move(prepared));
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
    return out;
}

std::string ClientImpl::new_token() {
    std::string token = clock_.random_id(32);
    for (const std::size_t at : {20U, 16U, 12U, 8U}) token.insert(at, "-");
    return token;
}

Task<JsonArray> ClientImpl::collect(Context context, std::string service, std::string operation,
                                    JsonObject parameters, std::size_t max_items) {
    const model::Service* found = models_.find(service);
    const model::Operation* listing = found == nullptr ? nullptr : found->operation(operation);
    if (listing == nullptr) co_return unknown_operation(service, operation);
    JsonArray out;
    while (true) {
        CallOptions options;
        CO_TRY(const JsonObject page, co_await call(context, service, operation, parameters, options));
        for (const JsonValue& item : items_of_page(*listing, page)) {
            if (out.size() == max_items) {
                co_return base::invalid_error(
                    "too_many_items", operation + " has more than " + std::to_string(max_items) + " items");
            }
            out.push_back(item);
        }
        if (!advance(*listing, page, parameters)) co_return out;
    }
}

Task<std::string> ClientImpl::eks_token(Context context, std::string cluster) {
    const model::Service* sts = models_.find("sts");
    if (sts == nullptr) co_return unknown_operation("sts", "GetCallerIdentity");
    CO_TRY(const Endpoint endpoint, endpoint_of(*sts));
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

base::Result<Endpoint> ClientImpl::endpoint_of(const model::Service& service) const {
    const std::string fixed =
        endpoint_override(service, settings_.endpoint_url, settings_.environment, profiles_);
    return resolve_endpoint(service, settings_.region, fixed);
}

base::Result<std::unique_ptr<Client>> make_client(ClientSettings settings, http::Transport& transport,
                                                  rt::Clock& clock) {
    if (!settings.environment) {
        settings.environment = [](const std::string& name) {
            const char* value = std::getenv(name.c_str());
            return std::string(value == nullptr ? "" : value);
        };
    }
    Profiles profiles = Profiles::read(settings.environment);
    if (settings.region.empty()) settings.region = region_from(settings.environment, profiles);
    if (settings.region.empty()) {
        return base::invalid_error("no_region", "no AWS region is set")
            .with_hint("Set AWS_REGION, or a region in the profile, or pass --region.");
    }
    TRY(ModelSet models, ModelSet::make(settings.models_dir));
    return std::unique_ptr<Client>(
        new ClientImpl(std::move(settings), std::move(profiles), std::move(models), transport, clock));
}

}  // namespace instantstart::aws
