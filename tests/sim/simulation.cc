#include "simulation.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "rt/testing.h"

namespace instantstart::sim {

namespace {

constexpr auto kStart = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30);
constexpr const char* kToken = "simulation-token";
constexpr std::size_t kDepth = 256;  // snapshots hold schemas of schemas

rt::Task<Answer> exchange(http::Handler handler, http::Request request) {
    auto response = co_await handler(rt::Context(), std::move(request));
    Answer answer;
    answer.status = response.status;
    if (response.stream) {
        while (true) {
            auto piece = co_await response.stream->read();
            if (!piece.has_value() || !piece->has_value()) break;
            response.body += **piece;
        }
    }
    auto parsed = base::parse_json(response.body, kDepth);
    if (parsed.has_value() && parsed->is_object()) answer.body = parsed->as_object();
    co_return answer;
}

aws::ClientSettings aws_settings(const AccessKeys& keys) {
    aws::ClientSettings settings;
    settings.region = "us-west-2";
    settings.access_key = keys.access_key;
    settings.secret_key = keys.secret_key;
    settings.session_token = keys.session_token;
    settings.endpoint_url = "http://127.0.0.1:3097";
    settings.environment = [](const std::string&) { return std::string(); };
    if (!keys.environment) return settings;
    settings.access_key.clear();
    settings.environment = keys.environment;
    return settings;
}

rt::Task<void> stopped(server::Product& product) {
    co_await product.stop();
    co_return base::ok();
}

rt::Task<void> stopped_twin(twin::Twin& twin) {
    co_await twin.stop();
    co_return base::ok();
}

}  // namespace

std::string to_string(const KillPoint& point) {
    static constexpr std::array<const char*, 4> kNames = {"before commit ", "after commit ", "before call ",
                                                          "after call "};
    return kNames[static_cast<std::size_t>(point.kind)] + std::to_string(point.index);
}

Simulation::Simulation(std::uint64_t seed, NetworkChances chances, std::vector<KillPoint> kills)
    : clock_(io_, seed, kStart),
      network_(clock_),
      chances_(chances),
      kills_(std::move(kills)),
      disk_(store::make_memory_disk()) {
    const bool loud = std::getenv("INSTANTSTART_SIM_LOG") != nullptr;
    base::configure_log(loud ? base::LogLevel::info : base::LogLevel::off, base::LogFormat::text);
    twin::TwinOptions options;
    options.speed = 1;
    options.seed = seed;
    auto made = twin::make_twin(io_.get_executor(), clock_, options);
    CHECK(made.has_value());
    twin_ = std::move(*made);
    network_.listen("127.0.0.1:3097", twin_->aws_handler());
    network_.set_fault_hook([this](const http::Request& request) {
        if (!dies_in_a_write_ || request.port != 3098 || !is_mutating(request))
            return http::NetworkFault::none;
        set_kubernetes(false);
        return http::NetworkFault::lose_answer;
    });
    set_kubernetes(true);
    start_product();
}

Simulation::~Simulation() {
    stop_product();
    auto ended = rt::testing::run(io_, clock_, stopped_twin(*twin_));
    static_cast<void>(ended);
}

bool Simulation::strikes(KillKind kind, std::size_t index) {
    for (const auto& kill : kills_) {
        if (kill.kind == kind && kill.index == index) return true;
    }
    return false;
}

void Simulation::start_product() {
    dead_ = false;
    auto fate = [this] {
        ++calls_;
        if (strikes(KillKind::before_call, calls_)) return CallFate::die_before;
        return strikes(KillKind::after_call, calls_) ? CallFate::die_after : CallFate::deliver;
    };
    auto on_commit = [this](const store::Batch&) {
        if (dead_) return store::CommitFault::crash_before;
        ++commits_;
        const bool before = strikes(KillKind::before_commit, commits_);
        if (!before && !strikes(KillKind::after_commit, commits_)) return store::CommitFault::none;
        dead_ = true;
        transport_->die();
        return before ? store::CommitFault::crash_before : store::CommitFault::crash_after;
    };
    transport_ = std::make_unique<KillableTransport>(io_.get_executor(), clock_, network_.make_transport(),
                                                     chances_, fate, [this] { dead_ = true; });
    store_ = store::open_memory(io_.get_executor(), disk_, on_commit);
    server::ProductOptions options;
    options.settings.region = "us-west-2";
    options.settings.version = "simulation";
    options.aws = aws_settings(keys_);
    options.admin_token = kToken;
    options.rate_mutations_a_minute = 0;
    options.rate_queries_a_second = 0;
    product_ = server::make_product(io_.get_executor(), clock_, *transport_, *store_, std::move(options));
    rt::TaskGroup group(io_.get_executor(), "start");
    group.spawn("start", product_->start());
    clock_.run_until([&] { return group.size() == 0 || dead_; }, std::chrono::hours(1));
    group.cancel();
    clock_.run_until([&] { return group.size() == 0; }, std::chrono::hours(1));
}

void Simulation::stop_product() {
    if (!product_) return;
    auto ended = rt::testing::run(io_, clock_, stopped(*product_), std::chrono::minutes(5));
    EXPECT_TRUE(ended.has_value()) << "stop() did not end";
    product_.reset();
    store_.reset();
    transport_.reset();
}

void Simulation::revive() {
    while (dead_) {
        ++deaths_;
        stop_product();
        pass(downtime_);
        start_product();
    }
}

void Simulation::pass(base::Duration duration) {
    clock_.run_until([] { return false; }, duration);
}

std::optional<Answer> Simulation::try_ask(http::Handler handler, http::Request request) {
    const auto out = std::make_shared<std::optional<base::Result<Answer>>>();
    rt::TaskGroup group(io_.get_executor(), "client");
    group.spawn("ask", rt::testing::keep<Answer>(exchange(std::move(handler), std::move(request)), out));
    clock_.run_until([&] { return group.size() == 0 || dead_; }, std::chrono::hours(2));
    group.cancel();
    clock_.run_until([&] { return group.size() == 0; }, std::chrono::hours(1));
    if (dead_ || !out->has_value() || !(*out)->has_value()) return std::nullopt;
    return std::move(***out);
}

Answer Simulation::ask(const std::string& method, const std::string& path, const base::JsonObject& body,
                       const std::string& key) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        revive();
        http::Request request;
        request.method = method;
        request.target = "/api/v1" + path;
        request.headers = {{"Host", "127.0.0.1:3099"},
                           {"Authorization", std::string("Bearer ") + kToken},
                           {"Content-Type", "application/json"}};
        if (!key.empty()) request.headers.set("Idempotency-Key", key);
        if (method != "GET") request.body = base::to_text(body);
        auto answer = try_ask(product_->handler(), std::move(request));
        if (!answer) continue;
        if (answer->status != 429 && answer->status != 503) return std::move(*answer);
        pass(std::chrono::seconds(5));
    }
    ADD_FAILURE() << method << " " << path << " never answered";
    return {};
}

base::JsonObject Simulation::wait(const std::string& operation_id, base::Duration limit) {
    const auto end = clock_.monotonic() + limit;
    while (true) {
        auto answer = ask("GET", "/operations/" + operation_id + "?wait_seconds=50", {});
        auto operation = base::get_object(answer.body, "operation");
        const auto state = base::get_string(operation, "state");
        if (state == "succeeded" || state == "failed" || state == "cancelled") return operation;
        if (clock_.monotonic() > end) return operation;
    }
}

void Simulation::become(AccessKeys keys) {
    stop_product();
    keys_ = std::move(keys);
    start_product();
}

flows::Clusters& Simulation::admin_clusters() {
    if (!admin_) {
        admin_transport_ = network_.make_transport();
        auto made = aws::make_client(aws_settings(AccessKeys()), *admin_transport_, clock_);
        CHECK(made.has_value());
        admin_ = std::move(*made);
        admin_store_ = store::open_memory(io_.get_executor(), store::make_memory_disk(),
                                          [](const store::Batch&) { return store::CommitFault::none; });
        admin_clusters_ =
            std::make_unique<flows::Clusters>(clock_, *admin_, *admin_store_, *admin_transport_);
    }
    return *admin_clusters_;
}

namespace {

// Those that the product itself asks for by name, and Karpenter's.
kube::Resource resource_of(const std::string& plural_and_group) {
    if (plural_and_group == "nodepools.karpenter.sh")
        return {"karpenter.sh", "v1", "nodepools", "NodePool", false};
    if (plural_and_group == "hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com") {
        return {"karpenter.sagemaker.amazonaws.com", "v1", "hyperpodnodeclasses", "HyperpodNodeClass", false};
    }
    const auto resource = kube::known_resource(plural_and_group);
    CHECK(resource.has_value());
    return *resource;
}

}  // namespace

base::JsonArray Simulation::objects(const std::string& eks_cluster, const std::string& plural_and_group) {
    auto client = rt::testing::run(io_, clock_, admin_clusters().kube({}, eks_cluster));
    CHECK(client.has_value());
    auto list = rt::testing::run(io_, clock_, (*client)->list({}, resource_of(plural_and_group), {}));
    if (!list && list.error().kind == base::ErrorKind::not_found) return {};
    EXPECT_TRUE(list.has_value()) << plural_and_group;
    return list.has_value() ? base::get_array(*list, "items") : base::JsonArray();
}

void Simulation::remove_object(const std::string& eks_cluster, const std::string& plural_and_group,
                               const std::string& ns, const std::string& name) {
    auto client = rt::testing::run(io_, clock_, admin_clusters().kube({}, eks_cluster));
    CHECK(client.has_value());
    auto gone = rt::testing::run(
        io_, clock_, (*client)->remove({}, resource_of(plural_and_group), ns, name, "Background"));
    EXPECT_TRUE(gone.has_value() && *gone) << plural_and_group << " " << ns << "/" << name;
}

void Simulation::change_object(const std::string& eks_cluster, const std::string& plural_and_group,
                               const std::string& ns, const std::string& name, base::JsonArray patch) {
    auto client = rt::testing::run(io_, clock_, admin_clusters().kube({}, eks_cluster));
    CHECK(client.has_value());
    auto changed = rt::testing::run(
        io_, clock_,
        (*client)->patch({}, resource_of(plural_and_group), ns, name, base::JsonValue(std::move(patch)),
                         "application/json-patch+json", ""));
    EXPECT_TRUE(changed.has_value()) << plural_and_group << " " << ns << "/" << name << " "
                                     << (changed.has_value() ? "" : changed.error().chain());
}

base::JsonObject Simulation::admin(const std::string& service, const std::string& operation,
                                   base::JsonObject parameters) {
    static_cast<void>(admin_clusters());
    auto answer = rt::testing::run(io_, clock_, admin_->call({}, service, operation, std::move(parameters)));
    EXPECT_TRUE(answer.has_value()) << service << ":" << operation << " "
                                    << (answer.has_value() ? "" : answer.error().chain());
    return answer.has_value() ? std::move(*answer) : base::JsonObject();
}

void Simulation::set_kubernetes(bool is_up) {
    has_kubernetes_ = is_up;
    dies_in_a_write_ = false;
    if (is_up) {
        network_.listen("127.0.0.1:3098", twin_->kube_handler());
    } else {
        network_.kill("127.0.0.1:3098");
    }
}

base::JsonObject Simulation::twin(const std::string& method, const std::string& path,
                                  const base::JsonObject& body) {
    http::Request request;
    request.method = method;
    request.target = "/_twin" + path;
    request.headers = {{"Host", "127.0.0.1:3097"}, {"Content-Type", "application/json"}};
    if (method != "GET") request.body = base::to_text(body);
    auto answer = rt::testing::run(io_, clock_, exchange(twin_->aws_handler(), std::move(request)));
    EXPECT_TRUE(answer.has_value());
    return answer.has_value() ? std::move(answer->body) : base::JsonObject();
}

std::vector<base::JsonObject> Simulation::mutations() {
    std::vector<base::JsonObject> calls;
    std::int64_t since = 0;
    while (true) {
        auto page = twin("GET", "/calls?mutating=true&since=" + std::to_string(since), {});
        const auto& rows = base::get_array(page, "calls");
        if (rows.empty()) return calls;
        for (const auto& row : rows) calls.push_back(row.as_object());
        since = base::get_int(page, "next");
    }
}

}  // namespace instantstart::sim
