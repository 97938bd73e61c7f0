#include "twin/twin.h"

#include "base/log.h"
#include "twin/aws/dispatch.h"
#include "twin/aws/eks/eks.h"
#include "twin/aws/services.h"
#include "twin/aws/world_impl.h"
#include "twin/kube/cluster.h"
#include "twin/state_folder.h"

namespace instantstart::twin {

namespace {

constexpr std::size_t kStateDepth = 128;

class TwinImpl final : public Twin {
public:
    TwinImpl(boost::asio::any_io_executor executor, rt::Clock& clock, const TwinOptions& options,
             StateFolder folder, http::KeyPair authority, http::KeyPair server);

    void begin(bool fresh);

    http::Handler aws_handler() override;
    http::Handler kube_handler() override {
        return [this, inner = clusters_->handler()](http::Context context, http::Request request) {
            return answer_kubernetes(inner, std::move(context), std::move(request));
        };
    }
    http::KeyPair kube_certificate() const override { return server_; }
    std::string ca_pem() const override { return authority_.cert_pem; }
    void set_urls(std::string aws_url, std::string kube_url) override;
    boost::asio::awaitable<void> stop() override;

private:
    WorldOptions world_options(const TwinOptions& options);
    JsonValue save_clusters() const;
    std::function<std::string()> clusters_saver() const;
    void load_clusters(const JsonValue& state);
    std::int64_t clusters_revision() const;
    base::Result<void> append_log(const PodOutput& output);
    boost::asio::awaitable<http::Response> answer_kubernetes(http::Handler inner, http::Context context,
                                                             http::Request request);

    StateFolder folder_;
    http::KeyPair authority_, server_;
    std::unique_ptr<kube::ClusterHost> clusters_;
    WorldImpl world_;
    Dispatcher dispatcher_;
};

TwinImpl::TwinImpl(boost::asio::any_io_executor executor, rt::Clock& clock, const TwinOptions& options,
                   StateFolder folder, http::KeyPair authority, http::KeyPair server)
    : folder_(std::move(folder)),
      authority_(std::move(authority)),
      server_(std::move(server)),
      clusters_(kube::make_cluster_host(executor, clock, options.speed)),
      world_(executor, clock, world_options(options)),
      dispatcher_(world_) {
    // The order of loading: what others look up comes first.
    world_.add(make_iam(world_));
    world_.add(make_sts(world_));
    world_.add(make_ec2(world_));
    world_.add(make_eks(world_, *clusters_));
    world_.add(make_sagemaker(world_, *clusters_));
    world_.add(make_s3(world_));
    world_.add(make_service_quotas(world_));
    world_.add(make_logs(world_));
    world_.add(make_elbv2(world_));
    world_.add(make_fsx(world_));
    world_.add(make_amp(world_));
    world_.add(make_pricing());
    clusters_->set_journal([this](const std::string& user, const std::string& operation,
                                  const JsonObject& parameters, int status, const std::string& code) {
        world_.journal("kubernetes", operation, user, parameters, status, code);
    });
    set_urls(options.aws_url, options.kube_url);
}

WorldOptions TwinImpl::world_options(const TwinOptions& options) {
    WorldOptions out;
    out.region = options.region;
    out.speed = options.speed;
    out.zero_quotas = options.zero_quotas;
    out.ca_pem = authority_.cert_pem;
    out.save_more = [this] { return save_clusters(); };
    out.more_saver = [this] { return clusters_saver(); };
    out.load_more = [this](const JsonValue& state) { load_clusters(state); };
    out.more_revision = [this] { return clusters_revision(); };
    out.append_log = [this](const PodOutput& output) { return append_log(output); };
    out.compact = [this](const std::string& name) -> base::Result<void> {
        kube::Cluster* cluster = clusters_->find(name);
        if (cluster == nullptr) return base::not_found_error("the cluster " + name);
        cluster->compact();
        return base::ok();
    };
    out.figures = [this](const std::string& name) -> base::Result<JsonObject> {
        const kube::Cluster* cluster = clusters_->find(name);
        if (cluster == nullptr) return base::not_found_error("the cluster " + name);
        return cluster->figures();
    };
    out.churn = [this](const std::string& name, double rate, base::Duration length) -> base::Result<void> {
        kube::Cluster* cluster = clusters_->find(name);
        if (cluster == nullptr) return base::not_found_error("the cluster " + name);
        cluster->churn(rate, length);
        return base::ok();
    };
    out.fail_images = [this](const std::string& name, const std::string& prefix,
                             const std::string& failure) -> base::Result<void> {
        kube::Cluster* cluster = clusters_->find(name);
        if (cluster == nullptr) return base::not_found_error("the cluster " + name);
        return cluster->fail_images(prefix, failure);
    };
    out.on_speed = [this](double speed) {
        for (const std::string& name : clusters_->names()) clusters_->find(name)->set_speed(speed);
    };
    if (folder_.keeps()) out.write = [this](const std::string& text) { return folder_.write_state(text); };
    return out;
}

// Reads what the last run left and starts the timers.
void TwinImpl::begin(bool fresh) {
    const auto text = fresh ? std::nullopt : folder_.read_state();
    if (text) {
        auto state = base::parse_json(*text, kStateDepth);
        if (state) {
            world_.restore(*state);
        } else {
            base::log(base::LogLevel::error, "twin_state_unreadable", {{"error", state.error().chain()}});
        }
    }
    world_.start();
}

http::Handler TwinImpl::aws_handler() {
    return [this](rt::Context context, http::Request request) {
        return dispatcher_.handle(std::move(context), std::move(request));
    };
}

// Faults reach the Kubernetes side where they name it: "*" means the services of AWS.
boost::asio::awaitable<http::Response> TwinImpl::answer_kubernetes(http::Handler inner, http::Context context,
                                                                   http::Request request) {
    bool named = false;
    for (const auto& fault : world_.faults().list())
        named = named || base::get_string(fault, "service") == "kubernetes";
    if (!named) co_return co_await inner(std::move(context), std::move(request));
    const Strike strike = world_.faults().strike("kubernetes", request.method, world_.clock());
    if (strike.slow.count() > 0) {
        auto slept = co_await world_.clock().sleep(strike.slow);
        if (!slept) co_return http::Response(0);
    }
    if (!strike.fault) co_return co_await inner(std::move(context), std::move(request));
    const bool silent = strike.fault->kind == FaultKind::reset || strike.fault->kind == FaultKind::timeout;
    if (silent) co_return http::Response(0);
    co_return http::Response(strike.fault->kind == FaultKind::throttle ? 429 : 503);
}

void TwinImpl::set_urls(std::string aws_url, std::string kube_url) {
    world_.set_urls(aws_url, kube_url);
    world_.get<eks::Eks>("eks").set_endpoint(kube_url, authority_.cert_pem);
}

boost::asio::awaitable<void> TwinImpl::stop() {
    co_await world_.stop();
    co_await clusters_->stop();
}

JsonValue TwinImpl::save_clusters() const {
    JsonObject out;
    for (const std::string& name : clusters_->names()) out[name] = clusters_->find(name)->save();
    return out;
}

std::function<std::string()> TwinImpl::clusters_saver() const {
    std::vector<std::pair<std::string, std::function<std::string()>>> savers;
    for (const std::string& name : clusters_->names())
        savers.emplace_back(name, clusters_->find(name)->saver());
    return [savers = std::move(savers)] {
        std::string out = "{";
        for (const auto& [name, saver] : savers)
            out += (out.size() > 1 ? "," : "") + base::to_text(JsonValue(name)) + ":" + saver();
        return out + "}";
    };
}

// The clusters themselves were made by EKS as it loaded.
void TwinImpl::load_clusters(const JsonValue& state) {
    if (!state.is_object()) return;
    for (const auto& item : state.as_object()) {
        if (kube::Cluster* cluster = clusters_->find(item.key())) cluster->load(item.value());
    }
}

std::int64_t TwinImpl::clusters_revision() const {
    std::int64_t sum = 0;
    for (const std::string& name : clusters_->names()) sum += clusters_->find(name)->objects().revision();
    return sum;
}

base::Result<void> TwinImpl::append_log(const PodOutput& output) {
    kube::Cluster* cluster = clusters_->find(output.cluster);
    if (cluster == nullptr) return base::not_found_error("the cluster " + output.cluster);
    return cluster->append_log(output.ns, output.pod, output.container, output.lines, output.exit_code);
}

}  // namespace

base::Result<std::unique_ptr<Twin>> make_twin(boost::asio::any_io_executor executor, rt::Clock& clock,
                                              TwinOptions options) {
    StateFolder folder(options.data_dir);
    TRY(http::KeyPair authority, folder.authority(clock.now()));
    const std::vector<std::string> names = {"127.0.0.1", "::1", "localhost"};
    TRY(http::KeyPair server, http::make_server_certificate(authority, "localhost", names, clock.now()));
    auto twin = std::make_unique<TwinImpl>(executor, clock, options, std::move(folder), std::move(authority),
                                           std::move(server));
    twin->begin(options.fresh);
    return std::unique_ptr<Twin>(std::move(twin));
}

}  // namespace instantstart::twin
