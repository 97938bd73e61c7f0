// Queries of a fleet over a small account and API server that count what they are asked.
#include "app/fleet.h"

#include <gtest/gtest.h>

#include "app/domain_makers.h"
#include "app/testing.h"

namespace instantstart::app {
namespace {

using namespace std::chrono_literals;

constexpr const char* kEksArn = "arn:aws:eks:us-west-2:111122223333:cluster/demo";

std::string id_of(int number) {
    return "i-" + std::to_string(1000 + number);
}

// EKS and SageMaker of one cluster "demo" with `nodes` nodes.
class FleetAws final : public aws::Client {
public:
    explicit FleetAws(rt::Clock& clock) : clock_(clock) {}
    Task<JsonObject> call(Context, std::string service, std::string operation, JsonObject parameters,
                          aws::CallOptions) override {
        ++calls[service + ":" + operation];
        CO_CHECK_OK(co_await clock_.sleep(5ms));
        if (failing) co_return *failing;
        if (operation == "ListClusterNodes") co_return page(base::get_string(parameters, "NextToken"));
        if (operation == "ListClusterEvents") co_return event_page(parameters);
        if (service == "eks" && operation == "DescribeCluster") {
            co_return JsonObject{{"cluster",
                                  {{"name", "demo"},
                                   {"arn", kEksArn},
                                   {"status", "ACTIVE"},
                                   {"endpoint", "https://kube"},
                                   {"tags", {{"instantstart:cluster", "demo"}}}}}};
        }
        if (service == "sagemaker" && operation == "DescribeCluster") {
            co_return JsonObject{{"ClusterName", "demo"},
                                 {"ClusterStatus", "InService"},
                                 {"Orchestrator", {{"Eks", {{"ClusterArn", kEksArn}}}}}};
        }
        co_return base::Error(base::ErrorKind::not_found, "ResourceNotFoundException", "there is none");
    }
    Task<JsonArray> collect(Context, std::string, std::string, JsonObject, std::size_t) override {
        co_return JsonArray();
    }
    Task<std::string> eks_token(Context, std::string) override { co_return std::string("token"); }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }

    std::map<std::string, int> calls;
    int nodes = 0;
    std::vector<std::pair<std::string, std::string>> events;  // time and id, newest first
    std::optional<base::Error> failing;

private:
    JsonObject event_page(const JsonObject& asked) const {
        const auto before = base::get_string(asked, "EventTimeBefore");
        const auto token = base::get_string(asked, "NextToken");
        auto at = static_cast<std::size_t>(token.empty() ? 0 : std::stoi(token));
        JsonArray rows;
        for (; at < events.size() && rows.size() < 7; ++at) {
            const auto& [time, id] = events[at];
            if (before.empty() || time < before)
                rows.push_back(JsonObject{{"EventId", id}, {"EventTime", time}, {"Description", "told"}});
        }
        JsonObject answer{{"Events", std::move(rows)}};
        if (at < events.size()) answer["NextToken"] = std::to_string(at);
        return answer;
    }
    JsonObject page(const std::string& token) const {
        const int begin = token.empty() ? 0 : std::stoi(token);
        const int end = std::min(nodes, begin + 100);
        JsonArray rows;
        for (int i = begin; i < end; ++i) {
            rows.push_back(JsonObject{{"InstanceId", id_of(i)},
                                      {"InstanceGroupName", i % 2 == 0 ? "even" : "odd"},
                                      {"InstanceType", "ml.p5.48xlarge"},
                                      {"InstanceStatus", {{"Status", "Running"}}}});
        }
        JsonObject answer{{"ClusterNodeSummaries", std::move(rows)}};
        if (end < nodes) answer["NextToken"] = std::to_string(end);
        return answer;
    }
    rt::Clock& clock_;
};

// Nodes and pods as the API server lists them; watches end at once with what was put into `events`.
class FleetKube {
public:
    http::Handler handler() {
        return [this](Context, http::Request request) { return handle(std::move(request)); };
    }
    void add_node(int number, bool ready) {
        nodes.push_back(R"({"metadata":{"name":"hyperpod-)" + id_of(number) +
                        R"(","labels":{"node.kubernetes.io/instance-type":"ml.p5.48xlarge"}},
            "status":{"allocatable":{"nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":")" +
                        (ready ? "True" : "False") + R"("}]}})");
    }
    void add_pod(const std::string& name, int node, int gpus) {
        pods.push_back(R"({"metadata":{"namespace":"ns","name":")" + name +
                       R"("},"spec":{"nodeName":"hyperpod-)" + id_of(node) +
                       R"(","containers":[{"resources":{"limits":{"nvidia.com/gpu":")" +
                       std::to_string(gpus) + R"("}}}]},"status":{"phase":"Running"}})");
    }
    void add_event(const std::string& name, const std::string& time) {
        events.push_back(R"({"metadata":{"namespace":"ns","name":")" + name + R"("},"lastTimestamp":")" +
                         time +
                         R"(","reason":"Told","message":"told","involvedObject":{"kind":"Pod","name":"p"}})");
    }
    // What the next watch of a kind tells; nodes and pods as add_node and add_pod made them.
    void tell_node(const std::string& type, int number, bool ready) {
        auto before = std::exchange(nodes, {});
        add_node(number, ready);
        tell("/api/v1/nodes", type, nodes.back());
        nodes = std::move(before);
    }
    void tell_pod(const std::string& type, const std::string& name, int node, int gpus) {
        auto before = std::exchange(pods, {});
        add_pod(name, node, gpus);
        tell("/api/v1/pods", type, pods.back());
        pods = std::move(before);
    }
    std::vector<std::string> nodes, pods, events;
    int lists = 0;

private:
    boost::asio::awaitable<http::Response> handle(http::Request request) {
        const auto path = request.path();
        if (request.parameter("watch"))
            co_return http::Response(200, "application/json", std::exchange(told_[path], ""));
        if (path == "/api/v1/nodes") co_return list(nodes);
        if (path == "/api/v1/pods") co_return list(pods);
        if (path == "/api/v1/events") co_return list(events);
        if (path == "/api/v1/persistentvolumes") co_return list({});
        co_return http::Response(404, "application/json",
                                 R"({"kind":"Status","code":404,"reason":"NotFound","message":"none"})");
    }
    void tell(const std::string& path, const std::string& type, std::string object) {
        const auto at = object.find("\"metadata\":{") + 12;
        object.insert(at, "\"resourceVersion\":\"" + std::to_string(++version_) + "\",");
        told_[path] += R"({"type":")" + type + R"(","object":)" + object + "}\n";
    }
    std::map<std::string, std::string> told_;  // by path
    int version_ = 5;

    http::Response list(const std::vector<std::string>& objects) {
        ++lists;
        std::string items;
        for (const auto& object : objects) items += (items.empty() ? "" : ",") + object;
        return {200, "application/json",
                R"({"kind":"List","metadata":{"resourceVersion":"5"},"items":[)" + items + "]}"};
    }
};

class FleetTest : public ::testing::Test {
protected:
    FleetTest() {
        services_.fleet = &fleet_;
        network_.listen("kube:443", kube_.handler());
        CHECK(run(engine_->start({})).has_value());
    }
    ~FleetTest() override { EXPECT_TRUE(run(stop()).has_value()); }

    template <class T>
    base::Result<T> run(Task<T> task) {
        return rt::testing::run(io_, clock_, std::move(task));
    }
    Task<void> stop() {
        co_await fleet_.stop();
        co_await engine_->stop();
        co_return base::ok();
    }
    base::Result<Answer> ask(const std::unique_ptr<Operation>& operation, JsonObject arguments) {
        Caller caller;
        caller.principal = "ada";
        arguments["cluster"] = "demo";
        auto normalized = operation->normalize(arguments);
        CHECK(normalized.has_value());
        return run(operation->run(Call(Context(), services_, caller), std::move(*normalized)));
    }
    JsonObject cluster() {
        auto answer = ask(get_, {});
        CHECK(answer.has_value());
        return base::get_object(answer->body, "cluster");
    }
    void pass(base::Duration duration) {
        clock_.run_until([] { return false; }, duration);
    }

    boost::asio::io_context io_{1};
    rt::VirtualClock clock_{io_, 1, base::from_epoch(1'800'000'000)};
    http::MemoryNetwork network_{clock_};
    std::unique_ptr<http::Transport> transport_ = network_.make_transport();
    std::unique_ptr<store::Store> store_ =
        store::open_memory(io_.get_executor(), store::make_memory_disk(), nullptr);
    FleetAws aws_{clock_};
    FleetKube kube_;
    flows::Clusters clusters_{clock_, aws_, *store_, *transport_};
    std::unique_ptr<ops::Engine> engine_ = ops::make_engine(io_.get_executor(), clock_, *store_, {});
    Services services_{clock_, aws_, *store_, *engine_, clusters_, testing::World::settings()};
    Fleet fleet_{io_.get_executor(), clock_, clusters_, aws_};
    std::unique_ptr<Operation> get_ = make_cluster_get(), list_ = make_node_list(), node_ = make_node_get(),
                               events_ = make_event_list();
};

TEST_F(FleetTest, counts_join_both_sides) {
    aws_.nodes = 3;
    kube_.add_node(0, true);
    kube_.add_node(1, false);
    kube_.add_node(7, true);  // one that SageMaker does not know
    kube_.add_pod("a", 0, 3);
    kube_.add_pod("b", 1, 2);
    kube_.add_pod("c", 99, 8);  // its node is gone
    const auto row = cluster();
    EXPECT_EQ(base::get_int(row, "nodes.total"), 4);
    EXPECT_EQ(base::get_int(row, "nodes.ready"), 2);
    EXPECT_EQ(base::get_int(row, "accelerators.total"), 32);
    EXPECT_EQ(base::get_int(row, "accelerators.ready"), 16);
    EXPECT_EQ(base::get_int(row, "accelerators.in_use"), 5);
    EXPECT_TRUE(base::get_array(row, "conditions").empty());
}

TEST_F(FleetTest, counts_follow_what_watches_tell) {
    aws_.nodes = 4;  // two of them not in Kubernetes yet
    kube_.add_node(0, true);
    kube_.add_node(1, true);
    kube_.add_pod("a", 0, 3);
    const auto figures = [this] {
        pass(1min);
        const auto row = cluster();
        std::vector<std::int64_t> seen;
        for (const auto* path : {"nodes.total", "nodes.ready", "accelerators.total", "accelerators.ready",
                                 "accelerators.in_use"})
            seen.push_back(base::get_int(row, path));
        return seen;
    };
    using Figures = std::vector<std::int64_t>;
    EXPECT_EQ(figures(), (Figures{4, 2, 32, 16, 3}));
    kube_.tell_node("MODIFIED", 0, false);
    EXPECT_EQ(figures(), (Figures{4, 1, 32, 8, 3}));
    kube_.tell_pod("ADDED", "b", 1, 4);
    EXPECT_EQ(figures(), (Figures{4, 1, 32, 8, 7}));
    kube_.tell_node("ADDED", 2, true);
    EXPECT_EQ(figures(), (Figures{4, 2, 32, 16, 7}));
    kube_.tell_pod("ADDED", "c", 99, 8);  // on a node that is not there yet
    kube_.tell_node("ADDED", 99, true);
    EXPECT_EQ(figures(), (Figures{5, 3, 40, 24, 15}));
    kube_.tell_node("DELETED", 99, true);
    EXPECT_EQ(figures(), (Figures{4, 2, 32, 16, 7}));
    kube_.tell_pod("DELETED", "c", 99, 8);
    kube_.tell_pod("DELETED", "a", 0, 3);
    kube_.tell_node("MODIFIED", 0, true);
    EXPECT_EQ(figures(), (Figures{4, 3, 32, 24, 4}));
}

TEST_F(FleetTest, hundreds_of_questions_cost_the_account_one_look) {
    aws_.nodes = 250;
    cluster();
    const auto lists = kube_.lists;
    const auto before = aws_.calls;
    for (int i = 0; i < 300; ++i) cluster();
    EXPECT_EQ(aws_.calls, before);
    EXPECT_EQ(kube_.lists, lists);
    EXPECT_EQ(aws_.calls["sagemaker:ListClusterNodes"], 3);
}

TEST_F(FleetTest, older_answer_serves_once_more_while_it_is_read_again) {
    aws_.nodes = 1;
    EXPECT_EQ(base::get_int(cluster(), "nodes.total"), 1);
    aws_.nodes = 2;
    pass(3s);
    EXPECT_EQ(base::get_int(cluster(), "nodes.total"), 1);
    pass(100ms);
    EXPECT_EQ(base::get_int(cluster(), "nodes.total"), 2);
    aws_.nodes = 3;
    pass(1h);  // too old to be shown
    EXPECT_EQ(base::get_int(cluster(), "nodes.total"), 3);
}

TEST_F(FleetTest, failure_of_the_account_is_told_once_nothing_young_is_left) {
    cluster();
    aws_.failing = base::Error(base::ErrorKind::denied, "AccessDeniedException", "not allowed");
    pass(1min);
    const auto answer = ask(get_, {});
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, "AccessDeniedException");
    aws_.failing.reset();
    cluster();
}

TEST_F(FleetTest, unreachable_cluster_shows_what_aws_knows_and_why) {
    aws_.nodes = 2;
    network_.listen("kube:443", nullptr);
    const auto row = cluster();
    EXPECT_EQ(base::get_int(row, "nodes.total"), 2);
    EXPECT_EQ(base::get_int(row, "nodes.ready"), 0);
    const auto& conditions = base::get_array(row, "conditions");
    ASSERT_EQ(conditions.size(), 1U);
    EXPECT_EQ(base::get_string(conditions[0], "type"), "KubernetesUnreachable");
    const auto nodes = ask(list_, {}).value();
    ASSERT_EQ(nodes.warnings.size(), 1U);
    EXPECT_NE(nodes.warnings[0].find("Only what AWS knows"), std::string::npos);
    network_.listen("kube:443", kube_.handler());
    kube_.add_node(0, true);
    pass(2s);
    // The next who asks makes it try again at once.
    EXPECT_EQ(base::get_int(cluster(), "nodes.ready"), 1);
}

// What the last reading of a cluster's components said of one of our manifests.
JsonObject access_rules(const JsonObject& row) {
    for (const auto& each : base::get_array(row, "dependencies")) {
        if (base::get_string(each, "name") == "hyperpod_rbac") return each.as_object();
    }
    return {};
}

TEST_F(FleetTest, what_an_outage_hides_is_unknown_and_soon_looked_for_again) {
    network_.listen("kube:443", nullptr);
    const auto began = clock_.monotonic();
    const auto hidden = access_rules(cluster());
    EXPECT_LT(clock_.monotonic() - began, 12s);
    EXPECT_EQ(base::get_string(hidden, "state"), "unknown");
    EXPECT_FALSE(base::get_string(hidden, "detail").empty());
    EXPECT_FALSE(hidden.contains("actual"));
    EXPECT_FALSE(hidden.contains("healthy"));
    network_.listen("kube:443", kube_.handler());
    pass(6s);  // beyond what a degraded answer is kept for
    const auto seen = access_rules(cluster());
    EXPECT_EQ(base::get_string(seen, "state"), "absent");
    EXPECT_TRUE(seen.contains("healthy"));
}

// A reading that takes so long and gives the next number; `reads` outlives it.
Task<int> next_after(rt::Clock& clock, base::Duration takes, int& reads) {
    CO_CHECK_OK(co_await clock.sleep(takes));
    co_return ++reads;
}

TEST_F(FleetTest, value_that_cost_much_is_fresh_for_ten_seconds_at_most) {
    Kept<int> kept(io_.get_executor(), clock_);
    rt::TaskGroup tasks(io_.get_executor(), "kept");
    int reads = 0;
    Kept<int>::Read read = [this, &reads] { return next_after(clock_, 30s, reads); };
    EXPECT_EQ(*run(kept.get(tasks, "", read)).value(), 1);
    EXPECT_TRUE(run(clock_.sleep(9s)).has_value());
    EXPECT_EQ(*run(kept.get(tasks, "", read)).value(), 1);
    EXPECT_TRUE(run(clock_.sleep(2s)).has_value());
    EXPECT_EQ(*run(kept.get(tasks, "", read)).value(), 1);  // and it is being read again
    EXPECT_TRUE(run(clock_.sleep(31s)).has_value());
    EXPECT_EQ(*run(kept.get(tasks, "", read)).value(), 2);
}

TEST_F(FleetTest, reading_that_takes_longer_than_usual_keeps_nobody_waiting) {
    Kept<int> kept(io_.get_executor(), clock_);
    rt::TaskGroup tasks(io_.get_executor(), "kept");
    int reads = 0;
    base::Duration takes = 100ms;
    Kept<int>::Read read = [this, &reads, &takes] { return next_after(clock_, takes, reads); };
    EXPECT_EQ(*run(kept.get(tasks, "", read)).value(), 1);
    takes = 20s;
    EXPECT_TRUE(run(clock_.sleep(3s)).has_value());
    for (int second = 0; second < 19; ++second) {
        const auto asked = clock_.monotonic();
        EXPECT_EQ(*run(kept.get(tasks, "", read)).value(), 1);
        EXPECT_EQ(clock_.monotonic(), asked);
        EXPECT_TRUE(run(clock_.sleep(1s)).has_value());
    }
    EXPECT_TRUE(run(clock_.sleep(2s)).has_value());
    EXPECT_EQ(*run(kept.get(tasks, "", read)).value(), 2);
}

// What takes half a minute to read is not read without pause, nor waited for by those who look after a
// change.
TEST_F(FleetTest, value_that_takes_long_answers_while_another_version_is_read) {
    KeptSettings settings;
    settings.freshest = 2min;
    settings.patience = 2s;
    Kept<int> kept(io_.get_executor(), clock_, settings);
    rt::TaskGroup tasks(io_.get_executor(), "kept");
    int reads = 0;
    Kept<int>::Read read = [this, &reads] { return next_after(clock_, 30s, reads); };
    EXPECT_EQ(*run(kept.get(tasks, "a", read)).value(), 1);
    EXPECT_TRUE(run(clock_.sleep(80s)).has_value());
    EXPECT_EQ(*run(kept.get(tasks, "a", read)).value(), 1);  // 3 x 30 s: still fresh
    const auto before = clock_.monotonic();
    EXPECT_EQ(*run(kept.get(tasks, "b", read)).value(), 1);
    EXPECT_EQ(clock_.monotonic(), before);
    EXPECT_TRUE(run(clock_.sleep(31s)).has_value());
    EXPECT_EQ(*run(kept.get(tasks, "b", read)).value(), 2);
}

TEST_F(FleetTest, nodes_come_in_pages_by_name_and_are_found) {
    aws_.nodes = 250;
    for (int i = 100; i < 260; ++i) kube_.add_node(i, i % 3 != 0);
    std::vector<std::string> seen;
    std::string cursor;
    do {
        JsonObject arguments{{"limit", 60}};
        if (!cursor.empty()) arguments["cursor"] = cursor;
        const auto answer = ask(list_, arguments).value();
        EXPECT_EQ(base::get_int(answer.body, "total"), 260);
        for (const auto& row : base::get_array(answer.body, "nodes")) {
            seen.push_back(base::get_string(row, "name"));
        }
        cursor = base::get_string(answer.body, "next_cursor");
    } while (!cursor.empty());
    EXPECT_EQ(seen.size(), 260U);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 260U);

    EXPECT_EQ(base::get_int(ask(list_, {{"health", "healthy"}}).value().body, "total"), 107);
    EXPECT_EQ(base::get_int(ask(list_, {{"group", "odd"}}).value().body, "total"), 125);
    const auto found = ask(list_, {{"search", "i-1123"}}).value();
    ASSERT_EQ(base::get_array(found.body, "nodes").size(), 1U);
    EXPECT_EQ(base::get_string(found.body, "nodes.0.name"), "hyperpod-i-1123");

    EXPECT_EQ(base::get_string(ask(node_, {{"node", "i-1123"}}).value().body, "node.name"),
              "hyperpod-i-1123");
    const auto missing = ask(node_, {{"node", "hyperpod-i-1124x"}}).error();
    EXPECT_EQ(missing.kind, base::ErrorKind::not_found);
    EXPECT_NE(missing.hint.find("hyperpod-i-1124"), std::string::npos);
}

TEST_F(FleetTest, events_of_both_sides_come_in_pages_newest_first) {
    const auto time = [this](int second) {
        return base::format_time(clock_.now() + std::chrono::seconds(second));
    };
    // Some of both at the same second. The clock moves while questions are answered: the times are made
    // before.
    for (int i = 59; i >= 0; --i) aws_.events.emplace_back(time(i / 3), "event-" + std::to_string(100 + i));
    for (int i = 0; i < 90; ++i) kube_.add_event("e" + std::to_string(100 + i), time(i / 4));
    std::vector<std::string> seen, times;
    std::string cursor;
    do {
        JsonObject arguments{{"limit", 11}};
        if (!cursor.empty()) arguments["cursor"] = cursor;
        const auto answer = ask(events_, arguments).value();
        EXPECT_EQ(answer.body.contains("total"), cursor.empty());
        for (const auto& row : base::get_array(answer.body, "events")) {
            seen.push_back(base::get_string(row, "message.source"));
            times.push_back(base::get_string(row, "time"));
        }
        cursor = base::get_string(answer.body, "next_cursor");
    } while (!cursor.empty());
    EXPECT_EQ(seen.size(), 150U);
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 150U);
    EXPECT_TRUE(std::is_sorted(times.rbegin(), times.rend()));
}

}  // namespace
}  // namespace instantstart::app
