#include "twin/kube/cluster_host.h"

#include <map>

#include "base/text.h"
#include "rt/task_group.h"
#include "twin/kube/api_server.h"
#include "twin/kube/bootstrap.h"
#include "twin/kube/metadata.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

constexpr std::size_t kKeptBody = std::size_t{128} * 1024;  // the journal is kept in memory

class SimulatedCluster final : public Cluster {
public:
    explicit SimulatedCluster(StatePtr state) : state_(std::move(state)) {}

    const ClusterConfig& config() const override { return state_->config; }
    ObjectStore& objects() override { return state_->store; }
    base::Result<void> append_log(std::string_view ns, std::string_view pod, std::string_view container,
                                  const std::vector<std::string>& lines,
                                  std::optional<int> exit_code) override {
        if (state_->controllers == nullptr) return not_found(Kind("", "pods"), pod);
        return state_->controllers->append_log(ns, pod, container, lines, exit_code);
    }
    base::Result<void> fail_images(std::string_view prefix, std::string_view failure) override {
        if (state_->controllers == nullptr) return base::ok();
        return state_->controllers->fail_images(prefix, failure);
    }
    void set_speed(double speed) override {
        state_->config.speed = speed;
        if (state_->controllers != nullptr) state_->controllers->set_speed(speed);
    }
    void churn(double changes_per_second, base::Duration length) override {
        if (state_->controllers != nullptr) state_->controllers->churn(changes_per_second, length);
    }
    JsonObject figures() const override {
        JsonObject objects;
        for (const auto& [kind, count] : state_->store.kinds()) objects[kind.plural] = count;
        auto found = state_->controllers == nullptr ? JsonObject() : state_->controllers->figures();
        found["revision"] = state_->store.revision();
        found["objects"] = std::move(objects);
        return found;
    }
    void compact() override { state_->store.compact(); }
    JsonValue save() const override {
        return JsonObject{
            {"objects", state_->store.save()},
            {"controllers", state_->controllers == nullptr ? JsonValue() : state_->controllers->save()}};
    }
    std::function<std::string()> saver() const override {
        auto controllers = state_->controllers == nullptr ? JsonValue() : state_->controllers->save();
        return [objects = state_->store.saver(), controllers = std::move(controllers)] {
            return "{\"objects\":" + objects() + ",\"controllers\":" + base::to_text(controllers) + "}";
        };
    }
    void load(const JsonValue& saved) override {
        if (const auto* objects = base::find_path(saved, "objects")) state_->store.load(*objects);
        add_system_objects(*state_);
        const auto* controllers = base::find_path(saved, "controllers");
        if (controllers != nullptr && state_->controllers != nullptr) state_->controllers->load(*controllers);
        ++state_->connections;
        state_->changed.notify_all();
    }
    const StatePtr& state() const { return state_; }

private:
    StatePtr state_;
};

bool is_mutating(const ApiCall& call, int status) {
    if (!call.is_resource() || call.method == "GET" || call.method == "HEAD" || status == 401 ||
        call.dry_run())
        return false;
    return call.kind == nullptr || (call.kind->kind.group != "authorization.k8s.io" &&
                                    call.kind->kind.group != "authentication.k8s.io");
}

std::string object_name(const ApiCall& call) {
    if (!call.name.empty() || call.method == "DELETE") return call.name;
    const auto body = read_body(call);
    return body.has_value() ? name_of(*body) : "";
}

class Host final : public ClusterHost {
public:
    Host(boost::asio::any_io_executor executor, rt::Clock& clock, double speed, ControllersFactory factory)
        : executor_(executor),
          clock_(clock),
          speed_(speed),
          factory_(std::move(factory)),
          ending_(executor, "kube_clusters_ending") {}

    Cluster& create(ClusterConfig config) override {
        remove(config.name);
        if (config.speed <= 0) config.speed = speed_;
        const auto name = config.name;
        auto state = std::make_shared<ClusterState>(executor_, clock_, std::move(config));
        auto* raw = state.get();
        // The state owns both subscriptions, so its address outlives them.
        state->store.set_defaulter(
            [raw](const Kind& kind, JsonObject& object) { fill_cluster_defaults(*raw, kind, object); });
        state->on_change = state->store.subscribe([raw](const Change& change) {
            remove_orphaned_objects(*raw, change);
            raw->changed.notify_all();
        });
        add_system_objects(*state);
        if (factory_) state->controllers = factory_(executor_, clock_, state->store, state->config.speed);
        if (state->controllers != nullptr) {
            state->on_log = state->controllers->on_log(
                [raw](const std::string&, const std::string&) { raw->logged.notify_all(); });
        }
        auto& slot = clusters_[name];
        slot = std::make_unique<SimulatedCluster>(std::move(state));
        return *slot;
    }

    Cluster* find(std::string_view name) override {
        const auto found = clusters_.find(name);
        return found == clusters_.end() ? nullptr : found->second.get();
    }

    void remove(std::string_view name) override {
        const auto found = clusters_.find(name);
        if (found == clusters_.end()) return;
        auto state = found->second->state();
        clusters_.erase(found);
        end_streams(*state);
        state->closed = true;
        std::string task = "end " + state->config.name;
        ending_.spawn(std::move(task), stop_controllers(std::move(state)));
    }

    std::vector<std::string> names() const override {
        std::vector<std::string> out;
        out.reserve(clusters_.size());
        for (const auto& [name, cluster] : clusters_) out.push_back(name);
        return out;
    }

    http::Handler handler() override {
        return [this](http::Context, http::Request request) { return handle(std::move(request)); };
    }

    void set_journal(Journal sink) override { journal_ = std::move(sink); }

    boost::asio::awaitable<void> stop() override {
        while (!clusters_.empty()) remove(std::string(clusters_.begin()->first));
        co_await ending_.join();
    }

    void break_watches() override {
        for (const auto& [name, cluster] : clusters_) end_streams(*cluster->state());
    }

private:
    static void end_streams(ClusterState& state) {
        ++state.connections;
        state.changed.notify_all();
        state.logged.notify_all();
    }

    static rt::Task<void> stop_controllers(StatePtr state) {
        if (state->controllers != nullptr) co_await state->controllers->stop();
        state->on_log.reset();
        state->controllers.reset();
        co_return base::ok();
    }

    boost::asio::awaitable<http::Response> handle(http::Request request) {
        constexpr std::string_view kPrefix = "/clusters/";
        const auto path = request.path();
        const auto slash = path.find('/', kPrefix.size());
        const auto name =
            path.starts_with(kPrefix)
                ? path.substr(kPrefix.size(), slash == std::string::npos ? slash : slash - kPrefix.size())
                : "";
        const auto found = clusters_.find(base::percent_decode(name));
        if (found == clusters_.end()) co_return error_response(no_such_path());
        ApiCall call;
        auto response = answer(found->second->state(), std::move(request),
                               slash == std::string::npos ? "/" : path.substr(slash), call);
        if (journal_ && is_mutating(call, response.status)) tell(found->first, call, response);
        co_return response;
    }

    void tell(const std::string& cluster, const ApiCall& call, const http::Response& response) {
        JsonObject parameters{{"cluster", cluster}};
        if (!call.ns.empty()) parameters["namespace"] = call.ns;
        if (const auto name = object_name(call); !name.empty()) parameters["name"] = name;
        if (!call.group.empty()) parameters["group"] = call.group;
        parameters["path"] = call.path;
        // What is applied is kept whole, so that a test can ask a real API server for its opinion of it.
        const bool applied = call.request.headers.get("Content-Type").starts_with("application/apply-patch");
        if (applied && call.request.body.size() <= kKeptBody) parameters["body"] = call.request.body;
        std::string code;
        if (response.status >= 400) {
            const auto body = base::parse_json(response.body);
            if (body.has_value()) code = base::get_string(*body, "reason");
        }
        const auto resource = call.plural + (call.subresource.empty() ? "" : "/" + call.subresource);
        journal_(call.user.name, call.verb() + " " + resource, parameters, response.status, code);
    }

    boost::asio::any_io_executor executor_;
    rt::Clock& clock_;
    double speed_;
    ControllersFactory factory_;
    std::map<std::string, std::unique_ptr<SimulatedCluster>, std::less<>> clusters_;
    Journal journal_;
    rt::TaskGroup ending_;
};

}  // namespace

std::unique_ptr<ClusterHost> make_cluster_host(boost::asio::any_io_executor executor, rt::Clock& clock,
                                               double speed, ControllersFactory factory) {
    return std::make_unique<Host>(std::move(executor), clock, speed, std::move(factory));
}

}  // namespace instantstart::twin::kube
