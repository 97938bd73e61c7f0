// For tests of app and api: a catalogue of toy operations over real store, engine and executor, on virtual
// time.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/describe/class.hpp>

#include "app/execute.h"
#include "app/framework_operations.h"
#include "app/typed_operation.h"
#include "flows/clusters.h"
#include "http/memory_network.h"
#include "rt/testing.h"

namespace instantstart::app::testing {

// Answers GetCallerIdentity and nothing else.
class FakeAws final : public aws::Client {
public:
    Task<JsonObject> call(Context, std::string, std::string operation, JsonObject,
                          aws::CallOptions) override {
        ++calls;
        if (operation != "GetCallerIdentity") co_return base::internal_error("unexpected call " + operation);
        if (refusal) co_return *refusal;
        co_return JsonObject{{"Account", "111122223333"},
                             {"Arn", "arn:aws:sts::111122223333:assumed-role/a/b"}};
    }
    Task<JsonArray> collect(Context, std::string, std::string, JsonObject, std::size_t) override {
        co_return JsonArray();
    }
    Task<std::string> eks_token(Context, std::string) override { co_return std::string(); }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }
    int calls = 0;
    std::optional<base::Error> refusal;
};

struct ThingGet {
    std::string cluster;
    std::optional<std::int64_t> size;
};
BOOST_DESCRIBE_STRUCT(ThingGet, (), (cluster, size))
struct ThingMake {
    std::string cluster, name;
    std::int64_t size = 1;
};
BOOST_DESCRIBE_STRUCT(ThingMake, (), (cluster, name, size))
struct ThingDelete {
    std::string cluster, thing;
};
BOOST_DESCRIBE_STRUCT(ThingDelete, (), (cluster, thing))
struct ThingTouch {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(ThingTouch, (), (cluster))

inline Meta toy_meta(const char* id, const char* method, const char* path, Role role) {
    Meta meta;
    meta.id = id;
    meta.method = method;
    meta.path = path;
    meta.summary = "A toy operation for tests of the framework.";
    meta.role = role;
    meta.area = "cluster";
    return meta;
}

inline Task<Answer> get_thing(Call, ThingGet input) {
    Answer answer;
    answer.summary = "One thing.";
    answer.body["thing"] = JsonObject{{"cluster", input.cluster}, {"nothing", nullptr}};
    co_return answer;
}

inline Task<Plan> plan_make(Call, ThingMake input) {
    Plan plan;
    plan.flow = "make_thing";
    plan.flow_params = to_json(input);
    plan.no_change = input.name == "there";
    if (!plan.no_change) plan.creates.push_back("Thing " + input.name);
    co_return plan;
}

inline Task<Plan> plan_delete(Call, ThingDelete input) {
    Plan plan;
    plan.flow = "make_thing";
    plan.flow_params = to_json(input);
    plan.removes.push_back("Thing " + input.thing);
    plan.confirm_value = input.thing;
    co_return plan;
}

inline Task<Plan> plan_touch(Call, ThingTouch) {
    Plan plan;
    plan.changes.push_back("Touches it");
    co_return plan;
}

inline Task<Answer> touch(Call, ThingTouch input) {
    Answer answer;
    answer.body["thing"] = JsonObject{{"touched", input.cluster}};
    co_return answer;
}

inline std::vector<Field> toy_fields() {
    std::vector<Field> fields;
    fields.push_back(Field("cluster", "The cluster.").length(1, 28));
    fields.push_back(Field("name", "The name.").matches("[a-z]+"));
    fields.push_back(Field("size", "How large.").range(1, 9).defaults(1));
    fields.push_back(Field("thing", "The thing."));
    return fields;
}

inline std::unique_ptr<Catalogue> toy_catalogue() {
    auto operations = make_framework_operations();
    operations.push_back(make_query<ThingGet>(
        toy_meta("thing.get", "GET", "/clusters/{cluster}/thing", Role::viewer), toy_fields(), get_thing));
    operations.push_back(make_long_running<ThingMake>(
        toy_meta("thing.make", "POST", "/clusters/{cluster}/things", Role::operator_role), toy_fields(),
        plan_make));
    Meta removing =
        toy_meta("thing.delete", "DELETE", "/clusters/{cluster}/things/{thing}", Role::operator_role);
    removing.removes = Removes::always;
    operations.push_back(make_long_running<ThingDelete>(removing, toy_fields(), plan_delete));
    operations.push_back(make_mutation<ThingTouch>(
        toy_meta("thing.touch", "POST", "/clusters/{cluster}/touch", Role::operator_role), toy_fields(),
        plan_touch, touch));
    return std::make_unique<Catalogue>(std::move(operations));
}

// One step that is done once it has been acted on and two seconds have passed.
inline ops::Flow toy_flow(rt::Clock& clock) {
    ops::Step step;
    step.id = "thing";
    step.title = "Make the thing";
    auto begun = std::make_shared<std::optional<base::Duration>>();
    rt::Clock* time = &clock;
    step.observe = [begun, time](ops::StepCall call) -> Task<ops::Observation> {
        struct Look {
            static Task<ops::Observation> now(bool acted, bool ready) {
                if (!acted) co_return ops::absent();
                if (ready) co_return ops::done({});
                co_return ops::in_progress("making");
            }
        };
        const bool ready = begun->has_value() && time->monotonic() - **begun > std::chrono::seconds(2);
        return Look::now(call.acted, ready);
    };
    step.act = [begun, time](ops::StepCall) -> Task<JsonObject> {
        struct Act {
            static Task<JsonObject> now() { co_return JsonObject(); }
        };
        *begun = time->monotonic();
        return Act::now();
    };
    ops::Flow flow;
    flow.name = "make_thing";
    flow.steps = [step](const JsonObject&) { return std::vector<ops::Step>{step}; };
    return flow;
}

// The whole of it. Members stand in dependency order.
struct World {
    boost::asio::io_context io{1};
    rt::VirtualClock clock{io, 1, base::from_epoch(1'800'000'000)};
    http::MemoryNetwork network{clock};
    std::unique_ptr<http::Transport> transport = network.make_transport();
    std::unique_ptr<store::Store> store =
        store::open_memory(io.get_executor(), store::make_memory_disk(), nullptr);
    FakeAws aws;
    flows::Clusters clusters{clock, aws, *store, *transport};
    std::unique_ptr<ops::Engine> engine = ops::make_engine(io.get_executor(), clock, *store, {});
    Identity identity{aws, clock};
    Audit audit{*store, clock};
    std::unique_ptr<Catalogue> catalogue = toy_catalogue();
    Services services{clock, aws, *store, *engine, clusters, settings()};
    Executor executor{services, *catalogue, identity, audit, {}};

    World() {
        services.catalogue = catalogue.get();
        services.identity = &identity;
        services.flow_steps = [this](const std::string&, const JsonObject& params) {
            return toy_flow(clock).steps(params);
        };
        engine->add_flow(toy_flow(clock));
        auto started = rt::testing::run(io, clock, engine->start({}));
        CHECK(started.has_value());
    }
    ~World() {
        auto stopped = rt::testing::run(io, clock, stop_engine());
        CHECK(stopped.has_value());
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    static Settings settings() {
        Settings made;
        made.region = "us-west-2";
        return made;
    }
    Task<void> stop_engine() {
        co_await engine->stop();
        co_return base::ok();
    }
    template <class T>
    base::Result<T> run(Task<T> task) {
        return rt::testing::run(io, clock, std::move(task));
    }
    Invocation ask(const char* operation, JsonObject arguments, Role role = Role::admin) const {
        Invocation made;
        made.operation = catalogue->find(operation);
        made.arguments = std::move(arguments);
        made.caller.principal = "ada";
        made.caller.role = role;
        made.caller.face = "rest";
        return made;
    }
    base::Result<Outcome> execute(Invocation invocation) {
        return run(executor.execute({}, std::move(invocation)));
    }
};

}  // namespace instantstart::app::testing
