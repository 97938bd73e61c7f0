#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rt/virtual_clock.h"
#include "twin/aws/control.h"
#include "twin/aws/dispatch.h"
#include "twin/aws/services.h"
#include "twin/aws/world_impl.h"

namespace instantstart::twin {
namespace {

class Recorder final : public Service {
public:
    std::string_view name() const override { return "recorder"; }
    Reply handle(const Call&) override { return JsonObject{}; }
    void on_timer(const std::string& kind, const JsonObject&) override {
        fired.push_back(kind);
        if (kind == "first" && world != nullptr)
            world->after(std::chrono::minutes(1), "recorder", "chained", {});
    }
    JsonValue save() const override { return JsonObject{}; }
    void load(const JsonValue&) override {}
    std::vector<std::string> fired;
    World* world = nullptr;
};

class WorldTest : public ::testing::Test {
protected:
    WorldTest()
        : clock(io, 1, base::parse_time("2026-11-30T12:00:00Z").value()),
          world(io.get_executor(), clock, WorldOptions()) {
        world.add(make_iam(world));
        auto made = std::make_unique<Recorder>();
        recorder = made.get();
        recorder->world = &world;
        world.add(std::move(made));
    }
    http::Response post(const std::string& path, const std::string& body) {
        http::Request request;
        request.method = "POST";
        request.target = "/_twin/" + path;
        request.body = body;
        return control(world, request);
    }

    boost::asio::io_context io;
    rt::VirtualClock clock;
    WorldImpl world;
    Recorder* recorder = nullptr;
};

TEST_F(WorldTest, advancing_fires_timers_in_order_and_those_they_set) {
    world.after(std::chrono::minutes(9), "recorder", "last", {});
    world.after(std::chrono::minutes(2), "recorder", "first", {});
    world.after(std::chrono::minutes(20), "recorder", "later", {});
    world.advance(std::chrono::minutes(10));
    EXPECT_EQ(recorder->fired, (std::vector<std::string>{"first", "chained", "last"}));
}

TEST_F(WorldTest, timers_survive_a_snapshot) {
    world.after(std::chrono::minutes(2), "recorder", "kept", {});
    const JsonValue state = world.snapshot();
    world.reset();
    world.advance(std::chrono::hours(1));
    EXPECT_TRUE(recorder->fired.empty());
    world.restore(state);
    world.advance(std::chrono::minutes(3));
    EXPECT_EQ(recorder->fired, std::vector<std::string>{"kept"});
}

TEST_F(WorldTest, capacity_is_ample_until_set) {
    EXPECT_FALSE(world.capacity("ml.p5.48xlarge", "us-west-2a").has_value());
    EXPECT_EQ(
        post("capacity", R"({"instance_type":"ml.p5.48xlarge","zone":"us-west-2a","available":4})").status,
        200);
    world.take_capacity("ml.p5.48xlarge", "us-west-2a", 3);
    EXPECT_EQ(world.capacity("ml.p5.48xlarge", "us-west-2a"), 1);
}

TEST_F(WorldTest, control_refuses_bad_input) {
    EXPECT_EQ(post("clock", R"({"speed":0})").status, 400);
    EXPECT_EQ(post("clock", "{}").status, 400);
    EXPECT_EQ(post("clock", "{broken").status, 400);
    EXPECT_EQ(post("faults", R"({"kind":"nope"})").status, 400);
    EXPECT_EQ(post("faults", R"({"kind":"error","probability":2})").status, 400);
    EXPECT_EQ(post("faults", R"({"kind":"error","surprise":1})").status, 400);
    EXPECT_EQ(post("capacity", R"({"instance_type":"ml.nope","zone":"a","available":1})").status, 400);
    EXPECT_EQ(post("quotas", R"({"quota_name":"nope","value":1})").status, 404);
    EXPECT_EQ(post("snapshot", "{}").status, 400);
    EXPECT_EQ(post("no/such/path", "{}").status, 404);
}

TEST_F(WorldTest, faults_end_after_their_count) {
    EXPECT_EQ(post("faults", R"({"service":"ec2","kind":"throttle","count":2})").status, 200);
    EXPECT_FALSE(world.faults().strike("s3", "PutObject", clock).fault.has_value());
    EXPECT_TRUE(world.faults().strike("ec2", "CreateVpc", clock).fault.has_value());
    EXPECT_TRUE(world.faults().strike("ec2", "CreateVpc", clock).fault.has_value());
    EXPECT_FALSE(world.faults().strike("ec2", "CreateVpc", clock).fault.has_value());
}

TEST_F(WorldTest, journal_pages_and_filters) {
    world.journal("kubernetes", "create pods", "someone", {}, 201, "");
    const auto page = world.calls().page(0, true);
    EXPECT_EQ(page.at("calls").as_array().size(), 1U);
    EXPECT_TRUE(world.calls().page(page.at("next").as_int64(), true).at("calls").as_array().empty());
}

TEST(LoopbackHost, only_loopback_names_are_taken) {
    for (const char* host : {"127.0.0.1:3097", "localhost", "bucket.localhost:1", "[::1]:80"})
        EXPECT_TRUE(is_loopback_host(host));
    for (const char* host : {"example.com", "127.evil.example", "localhost.evil", "", "[fe80::1]"})
        EXPECT_FALSE(is_loopback_host(host));
}

}  // namespace
}  // namespace instantstart::twin
