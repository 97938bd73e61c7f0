// What a client stands on: its settings, where its credentials come from, where its calls go.
#include <cstdlib>

#include "aws/client.h"
#include "aws/client_impl.h"

namespace instantstart::aws {

namespace {

constexpr auto kSourceCallTimeout = std::chrono::seconds(10);

base::Result<std::string> bundle_from(const Environment& environment, const Profiles& profiles) {
    const std::string named = setting(environment, profiles, "AWS_CA_BUNDLE", "ca_bundle");
    std::string file = home_path(environment, named);
    if (file.empty() || !read_small_file(file).empty()) return file;
    return base::invalid_error("ca_bundle", "the CA bundle " + named + " cannot be read or is empty")
        .with_hint("Mend AWS_CA_BUNDLE, or ca_bundle of the profile.");
}

}  // namespace

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
    needs.call = [this](Context context, SourceCall call) {
        return call_for_source(std::move(context), std::move(call));
    };
    return make_credential_chain(std::move(needs));
}

Task<JsonObject> ClientImpl::call_for_source(Context context, SourceCall call) {
    CallOptions options;
    options.timeout = kSourceCallTimeout;
    CO_TRY(Prepared prepared, prepare(call.service, call.operation, std::move(call.parameters), options));
    prepared.fixed_credentials = std::move(call.credentials);
    prepared.region = std::move(call.region);
    prepared.repeat = Repeat::safe;  // keys that nobody got are of no harm
    co_return co_await run(std::move(context), std::move(prepared));
}

base::Result<Endpoint> ClientImpl::endpoint_of(const model::Service& service, const std::string& region) {
    const std::string& at = region.empty() ? settings_.region : region;
    const std::string key = service.name + " " + at;
    if (const auto known = endpoints_.find(key); known != endpoints_.end()) return known->second;
    TRY(const std::string fixed,
        endpoint_override(service, settings_.endpoint_url, settings_.environment, profiles_));
    const EndpointSwitches switches = settings_.endpoint_url.empty()
                                          ? endpoint_switches(settings_.environment, profiles_)
                                          : EndpointSwitches();
    TRY(Endpoint found, resolve_endpoint(service, at, fixed, switches));
    endpoints_[key] = found;
    return found;
}

std::string ClientImpl::region() const {
    return settings_.region;
}

std::string ClientImpl::partition() const {
    return partition_of(settings_.region);
}

Task<JsonObject> ClientImpl::explain(Context context) {
    JsonObject out;
    auto got = co_await credentials_.get(std::move(context));
    JsonObject credentials;
    if (got.has_value()) {
        credentials["source"] = got->source;
        credentials["access_key"] = got->access_key;
        if (got->expires) credentials["expires"] = base::format_time(*got->expires);
    } else {
        if (got.error().kind == base::ErrorKind::cancelled) co_return std::move(got).error();
        credentials["error"] = got.error().message;
        credentials["code"] = got.error().code;
        credentials["hint"] = got.error().hint;
    }
    base::JsonArray tried;
    for (const std::string& one : credentials_.source().tried()) tried.emplace_back(one);
    credentials["tried"] = std::move(tried);
    out["credentials"] = std::move(credentials);
    JsonObject endpoints;
    for (const char* name : {"sts", "ec2", "eks", "sagemaker", "iam", "s3"}) {
        const model::Service* service = models_.find(name);
        if (service == nullptr) continue;
        const auto found = endpoint_of(*service, "");
        endpoints[name] = found.has_value() ? found->url() : "none: " + found.error().message;
    }
    out["endpoints"] = std::move(endpoints);
    out["ca_bundle"] = ca_file_;
    co_return out;
}

base::Result<std::unique_ptr<Client>> make_client(ClientSettings settings, http::Transport& transport,
                                                  rt::Clock& clock) {
    if (!settings.environment) {
        settings.environment = [](const std::string& name) {
            const char* value = std::getenv(name.c_str());
            return std::string(value == nullptr ? "" : value);
        };
    }
    // The embedded twin brings all that it needs: files of the user that cannot be read must not hinder it.
    const bool fixed = !settings.access_key.empty();
    auto read = Profiles::read(settings.environment);
    if (!read.has_value() && !fixed) return std::move(read).error();
    Profiles profiles = read.has_value() ? std::move(read).value() : Profiles();
    if (settings.region.empty()) settings.region = region_from(settings.environment, profiles);
    if (settings.region.empty()) {
        return base::invalid_error("no_region", "no AWS region is set")
            .with_hint("Set AWS_REGION, or a region in the profile, or pass --region.");
    }
    if (!is_region_name(settings.region)) {
        return base::invalid_error("no_region", "not the name of an AWS region: " + settings.region)
            .with_hint(
                "Set AWS_REGION, or a region in the profile, or pass --region: for example us-west-2.");
    }
    std::string bundle;
    if (!fixed) {
        TRY(bundle, bundle_from(settings.environment, profiles));
    }
    TRY(const RetrySettings retry,
        retry_settings_from(settings.retry_mode, settings.max_attempts, settings.environment, profiles));
    TRY(ModelSet models, ModelSet::make(settings.models_dir));
    auto made = std::make_unique<ClientImpl>(std::move(settings), retry, std::move(profiles),
                                             std::move(models), transport, clock);
    made->trust(std::move(bundle));
    return std::unique_ptr<Client>(std::move(made));
}

}  // namespace instantstart::aws
