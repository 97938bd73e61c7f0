#include "server/product.h"

#include "api/api.h"
#include "app/catalogue.h"
#include "app/denial.h"
#include "app/execute.h"
#include "app/fleet.h"
#include "app/projection.h"
#include "aws/shared_reads.h"
#include "flows/clusters.h"
#include "flows/flows.h"
#include "server/failing_client.h"

namespace instantstart::server {

namespace {

using base::JsonObject;
using base::JsonValue;

bool is_credentials_error(const base::Error& error) {
    return error.code == "CredentialsExpired" || error.code == "CredentialsUnavailable";
}

std::unique_ptr<aws::Client> client_or_reason(aws::ClientSettings settings, http::Transport& transport,
                                              rt::Clock& clock) {
    const std::string region = settings.region;
    auto made = aws::make_client(std::move(settings), transport, clock);
    if (made) return std::move(made).value();
    return make_failing_client(std::move(made).error(), region);
}

// Members stand in dependency order: each uses only those above it.
class ProductImpl final : public Product {
public:
    ProductImpl(boost::asio::any_io_executor executor, rt::Clock& clock, http::Transport& transport,
                store::Store& store, ProductOptions options)
        : store_(store),
          options_(with_metrics(std::move(options))),
          client_(client_or_reason(options_.aws, transport, clock)),
          reads_(*client_, clock),
          clusters_(clock, reads_.fresh(), store, transport),
          flows_(flows::make_flows(clusters_)),
          engine_(ops::make_engine(executor, clock, store, engine_settings())),
          identity_(reads_, clock),
          audit_(store, clock),
          catalogue_(app::make_catalogue()),
          services_(clock, reads_, store, *engine_, clusters_, settings()),
          fleet_(executor, clock, clusters_, reads_.fresh()),
          executor_(services_, *catalogue_, identity_, audit_, rates()),
          api_(std::move(executor), clock, executor_, api_settings()) {
        reads_.on_spared = [this](const std::string& service, const std::string& operation, aws::Spared how) {
            api_.metrics().count_spared(service, operation, how);
        };
        for (const auto& flow : flows_) engine_->add_flow(flow);
        services_.catalogue = catalogue_.get();
        services_.identity = &identity_;
        services_.fleet = &fleet_;
        services_.flow_steps = [this](const std::string& name, const JsonObject& params) {
            return flow_steps(name, params);
        };
        api_.metrics().set_caches([this] { return fleet_.caches(); });
        identity_.accept = [this](rt::Context context, app::AccountIdentity found) {
            return bind(std::move(context), std::move(found));
        };
        executor_.on_answer = [this](const std::string& operation, const std::string& face,
                                     const std::string& code) {
            api_.metrics().count_answer(operation, face, code);
        };
        api_.why_not_ready = [this](rt::Context context) { return why_not_ready(std::move(context)); };
    }

    rt::Task<void> start() override {
        rt::Context context;
        auto known = co_await identity_.get(context);
        if (!known && known.error().code == "data_folder_bound") co_return std::move(known).error();
        if (!known) {
            context.log(base::LogLevel::warn, "no_account", {{"error", JsonValue(known.error().chain())}});
        }
        auto started = co_await engine_->start(context);
        CO_CHECK_OK(std::move(started));
        started_ = true;
        co_return base::ok();
    }

    http::Handler handler() override {
        return [this](rt::Context context, http::Request request) {
            return api_.handle(std::move(context), std::move(request));
        };
    }

    app::Services& services() override { return services_; }
    std::string make_login_code() override { return api_.auth().make_login_code(); }

    boost::asio::awaitable<void> stop() override {
        started_ = false;
        co_await api_.stop();
        co_await fleet_.stop();
        co_await engine_->stop();
    }

private:
    ProductOptions with_metrics(ProductOptions options) {
        auto before = options.aws.on_call;
        options.aws.on_call = [this, before](const aws::CallReport& report) {
            if (before) before(report);
            api_.metrics().count_aws_call(report);
        };
        return options;
    }

    // The callbacks come only once the engine runs, when all members stand.
    ops::EngineSettings engine_settings() {
        ops::EngineSettings settings;
        settings.time_scale = options_.settings.time_scale;
        settings.on_change = [this](const JsonObject& operation) {
            api_.stream().publish_operation(operation);
        };
        settings.on_event = [this](const std::string& event, const JsonObject& fields) {
            api_.metrics().count_event(event);
            base::log(base::LogLevel::info, event, fields);
        };
        settings.pauses = is_credentials_error;
        settings.explain = app::explain_denial;
        return settings;
    }

    app::Settings settings() const {
        app::Settings settings = options_.settings;
        if (settings.region.empty()) settings.region = client_->region();
        return settings;
    }

    app::RateSettings rates() const {
        app::RateSettings rates;
        rates.mutations_a_minute = options_.rate_mutations_a_minute;
        rates.queries_a_second = options_.rate_queries_a_second;
        return rates;
    }

    api::ApiSettings api_settings() const {
        api::ApiSettings settings;
        settings.auth.admin_token = options_.admin_token;
        settings.auth.token_file = options_.token_file;
        settings.secure_cookies = options_.secure_cookies;
        settings.allowed_hosts = options_.allowed_hosts;
        settings.version = options_.settings.version;
        return settings;
    }

    std::vector<ops::Step> flow_steps(const std::string& name, const JsonObject& params) const {
        for (const auto& flow : flows_) {
            if (flow.name == name) return flow.steps(params);
        }
        return {};
    }

    // The first account that is seen here stays this store's account, so that one folder never holds
    // operations of two.
    rt::Task<void> bind(rt::Context context, app::AccountIdentity found) {
        const std::string account = found.account;
        const std::string region = services_.settings.region;
        const std::string backend = services_.settings.backend;
        if (!options_.account.empty() && options_.account != account)
            co_return bound_error(options_.account, region, backend);
        auto read = co_await store_.get(context, "meta", "binding");
        CO_TRY(auto entry, std::move(read));
        if (entry) {
            const std::string bound_account = base::get_string(entry->value, "account");
            const std::string bound_region = base::get_string(entry->value, "region");
            const std::string bound_backend = base::get_string(entry->value, "backend");
            if (bound_account == account && bound_region == region && bound_backend == backend)
                co_return base::ok();
            co_return bound_error(bound_account, bound_region, bound_backend);
        }
        JsonObject binding;
        binding["account"] = account;
        binding["region"] = region;
        binding["backend"] = backend;
        store::Batch batch;
        batch.put("meta", "binding", std::move(binding));
        co_return co_await store_.commit(std::move(context), std::move(batch));
    }

    static base::Error bound_error(const std::string& account, const std::string& region,
                                   const std::string& backend) {
        return base::conflict_error("data_folder_bound", "This data folder belongs to account " + account +
                                                             " in " + region + " (backend " + backend +
                                                             "), which is not what was started now")
            .with_hint("Use another --data folder, or that account, region and backend.");
    }

    rt::Task<JsonObject> why_not_ready(rt::Context context) {
        JsonObject reasons;
        if (!started_) {
            reasons["detail"] = "starting or stopping";
            co_return reasons;
        }
        auto known = co_await identity_.get(std::move(context));
        if (!known) {
            const base::Error shown = app::public_error(known.error());
            reasons["code"] = shown.code;
            reasons["detail"] = shown.message;
            if (!shown.hint.empty()) reasons["hint"] = shown.hint;
        }
        co_return reasons;
    }

    store::Store& store_;
    ProductOptions options_;
    std::unique_ptr<aws::Client> client_;
    aws::SharedReads reads_;
    flows::Clusters clusters_;
    std::vector<ops::Flow> flows_;
    std::unique_ptr<ops::Engine> engine_;
    app::Identity identity_;
    app::Audit audit_;
    std::unique_ptr<app::Catalogue> catalogue_;
    app::Services services_;
    app::Fleet fleet_;
    app::Executor executor_;
    api::Api api_;
    bool started_ = false;
};

}  // namespace

std::unique_ptr<Product> make_product(boost::asio::any_io_executor executor, rt::Clock& clock,
                                      http::Transport& transport, store::Store& store,
                                      ProductOptions options) {
    return std::make_unique<ProductImpl>(std::move(executor), clock, transport, store, std::move(options));
}

}  // namespace instantstart::server
