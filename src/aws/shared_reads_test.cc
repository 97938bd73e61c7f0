#include "aws/shared_reads.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rt/testing.h"

namespace instantstart::aws {
namespace {

constexpr auto kCallTime = std::chrono::milliseconds(100);

// Takes a tenth of a second a call, and answers with the number of the call.
class SlowClient final : public Client {
public:
    explicit SlowClient(rt::Clock& clock) : clock_(clock) {}
    using Client::call;
    Task<JsonObject> call(Context, std::string, std::string operation, JsonObject, CallOptions) override {
        const auto number = static_cast<std::int64_t>(++begun);
        CO_CHECK_OK(co_await clock_.sleep(time));
        ++ended;
        if (refusal) co_return *refusal;
        JsonObject answer{{"call", number}, {"operation", operation}};
        if (!next_token.empty()) answer["NextToken"] = next_token;
        co_return answer;
    }
    Task<std::string> eks_token(Context, std::string cluster) override { co_return "token of " + cluster; }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }

    rt::Duration time = kCallTime;
    int begun = 0, ended = 0;
    std::optional<base::Error> refusal;
    std::string next_token;

private:
    rt::Clock& clock_;
};

struct Seen {
    std::optional<base::Result<JsonObject>> result;
    std::int64_t call() const { return result && *result ? base::get_int(**result, "call") : -1; }
    std::string code() const { return !result ? "pending" : *result ? "" : result->error().code; }
};

Task<void> into(std::shared_ptr<Seen> seen, Task<JsonObject> task) {
    seen->result = co_await std::move(task);
    co_return base::ok();
}

struct World {
    World() {
        reads.on_spared = [this](const std::string& service, const std::string& operation, Spared how) {
            spared.push_back(service + " " + operation + (how == Spared::joined ? " joined" : " kept"));
        };
    }
    ~World() {
        group.cancel();
        pass(std::chrono::minutes(2));
    }
    void pass(rt::Duration time) { EXPECT_TRUE(rt::testing::run(io, clock, clock.sleep(time)).has_value()); }
    std::shared_ptr<Seen> ask(const char* service, const char* operation, JsonObject parameters = {},
                              CallOptions options = {}, Context context = {}) {
        return ask(group, service, operation, std::move(parameters), std::move(options), std::move(context));
    }
    std::shared_ptr<Seen> ask(rt::TaskGroup& in, const char* service, const char* operation,
                              JsonObject parameters = {}, CallOptions options = {}, Context context = {}) {
        auto seen = std::make_shared<Seen>();
        in.spawn("ask", into(seen, reads.call(std::move(context), service, operation, std::move(parameters),
                                              std::move(options))));
        return seen;
    }
    std::shared_ptr<Seen> answer(const char* service, const char* operation, JsonObject parameters = {},
                                 CallOptions options = {}) {
        auto seen = ask(service, operation, std::move(parameters), std::move(options));
        clock.run_until([&seen] { return seen->result.has_value(); }, std::chrono::seconds(90));
        return seen;
    }

    boost::asio::io_context io;
    rt::VirtualClock clock{io, 7, *base::parse_time("2026-11-30T12:00:00Z")};
    SlowClient inner{clock};
    SharedReads reads{inner, clock};
    std::vector<std::string> spared;
    rt::TaskGroup group{io.get_executor(), "asks"};
};

CallOptions fresh() {
    CallOptions options;
    options.fresh = true;
    return options;
}

// --- joining

TEST(SharedReads, equal_reads_in_flight_are_one_call) {
    World world;
    const auto a = world.ask("ec2", "DescribeVpcs", {{"VpcIds", JsonArray{"v"}}, {"MaxResults", 5}});
    const auto b = world.ask("ec2", "DescribeVpcs", {{"MaxResults", 5}, {"VpcIds", JsonArray{"v"}}});
    const auto other = world.ask("ec2", "DescribeVpcs", {{"VpcIds", JsonArray{"w"}}});
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(a->call(), 1);
    EXPECT_EQ(b->call(), 1);
    EXPECT_EQ(other->call(), 2);
    EXPECT_EQ(world.inner.begun, 2);
    EXPECT_EQ(world.spared, std::vector<std::string>{"ec2 DescribeVpcs joined"});
    EXPECT_EQ(world.answer("ec2", "DescribeVpcs", {{"VpcIds", JsonArray{"v"}}})->call(), 3)
        << "joined, but not kept";
}

TEST(SharedReads, mutations_and_givers_of_tokens_are_never_joined) {
    World world;
    const auto calls = {std::pair("ec2", "CreateVpc"), std::pair("sts", "AssumeRole"),
                        std::pair("s3", "GetObject"), std::pair("iam", "SimulatePrincipalPolicy")};
    int count = 0;
    for (const auto& [service, operation] : calls) {
        world.ask(service, operation);
        world.ask(service, operation);
        count += 2;
    }
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(world.inner.begun, count);
    EXPECT_TRUE(world.spared.empty());
}

TEST(SharedReads, errors_go_to_all_who_joined) {
    World world;
    world.inner.refusal = base::Error(base::ErrorKind::denied, "AccessDenied", "no");
    const auto a = world.ask("iam", "GetRole");
    const auto b = world.ask("iam", "GetRole");
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(a->code() + " " + b->code(), "AccessDenied AccessDenied");
    EXPECT_EQ(world.inner.begun, 1);
    world.inner.refusal.reset();
    EXPECT_EQ(world.answer("iam", "GetRole")->call(), 2) << "errors are not kept";
}

TEST(SharedReads, one_that_is_cancelled_leaves_alone) {
    World world;
    rt::TaskGroup leaving(world.io.get_executor(), "leaving");
    const auto maker = world.ask(leaving, "ec2", "DescribeVpcs");
    world.pass(std::chrono::milliseconds(10));
    const auto a = world.ask("ec2", "DescribeVpcs");
    const auto b = world.ask("ec2", "DescribeVpcs");
    world.pass(std::chrono::milliseconds(10));
    EXPECT_EQ(world.inner.begun, 1);
    leaving.cancel();
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(maker->code(), "cancelled");
    EXPECT_EQ(a->call(), 2) << "one of those left makes the call anew";
    EXPECT_EQ(b->call(), 2);
    EXPECT_EQ(world.inner.begun, 2);
}

TEST(SharedReads, one_that_joined_and_is_cancelled_stops_nobody) {
    World world;
    const auto maker = world.ask("ec2", "DescribeVpcs");
    rt::TaskGroup leaving(world.io.get_executor(), "leaving");
    const auto joined = world.ask(leaving, "ec2", "DescribeVpcs");
    world.pass(std::chrono::milliseconds(10));
    leaving.cancel();
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(joined->code(), "cancelled");
    EXPECT_EQ(maker->call(), 1);
}

TEST(SharedReads, each_keeps_its_own_deadline) {
    World world;
    const auto soon = rt::Context().with_deadline(world.clock.monotonic() + std::chrono::milliseconds(50));
    const auto maker = world.ask("ec2", "DescribeVpcs");
    const auto hurried = world.ask("ec2", "DescribeVpcs", {}, {}, soon);
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(hurried->code(), "deadline");
    EXPECT_EQ(maker->call(), 1);
    world.inner.refusal = base::Error(base::ErrorKind::deadline, "deadline", "no time is left");
    const auto later = rt::Context().with_deadline(world.clock.monotonic() + std::chrono::milliseconds(90));
    const auto out_of_time = world.ask("ec2", "DescribeSubnets", {}, {}, later);
    const auto patient = world.ask("ec2", "DescribeSubnets");
    world.pass(std::chrono::milliseconds(150));
    world.inner.refusal.reset();
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(out_of_time->code(), "deadline");
    EXPECT_EQ(patient->call(), 3);
}

// --- never the past

TEST(SharedReads, read_after_own_write_does_not_join_one_from_before) {
    World world;
    world.inner.time = std::chrono::milliseconds(300);
    const auto before = world.ask("ec2", "DescribeVpcs");
    world.pass(std::chrono::milliseconds(10));
    world.inner.time = kCallTime;
    const auto write = world.ask("ec2", "CreateVpc");
    world.pass(std::chrono::milliseconds(50));
    const auto during = world.ask("ec2", "DescribeVpcs", {}, fresh());
    world.pass(std::chrono::milliseconds(100));
    ASSERT_EQ(write->call(), 2);
    const auto after = world.ask("ec2", "DescribeVpcs", {}, fresh());
    const auto elsewhere = world.ask("iam", "GetRole");
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(before->call(), 1);
    EXPECT_EQ(during->call(), 1) << "nothing of ours had ended yet";
    EXPECT_EQ(after->call(), 3) << "the write has ended: only a look from now on may tell";
    EXPECT_EQ(elsewhere->call(), 4);
}

TEST(SharedReads, failed_and_cancelled_writes_count_as_writes) {
    World world;
    world.inner.time = std::chrono::seconds(1);
    const auto before = world.ask("ec2", "DescribeVpcs");
    world.pass(std::chrono::milliseconds(10));
    {
        rt::TaskGroup leaving(world.io.get_executor(), "leaving");
        const auto write = world.ask(leaving, "ec2", "CreateVpc");
        world.pass(std::chrono::milliseconds(10));
        leaving.cancel();
        world.pass(std::chrono::milliseconds(10));
        EXPECT_EQ(write->code(), "cancelled");
    }
    const auto after = world.ask("ec2", "DescribeVpcs");
    world.pass(std::chrono::seconds(3));
    EXPECT_EQ(before->call(), 1);
    EXPECT_EQ(after->call(), 3);
}

TEST(SharedReads, nobody_joins_a_read_that_hangs) {
    World world;
    world.inner.time = std::chrono::seconds(60);
    const auto first = world.ask("ec2", "DescribeVpcs");
    world.pass(SharedReads::kJoinAge + std::chrono::milliseconds(1));
    world.inner.time = kCallTime;
    EXPECT_EQ(world.answer("ec2", "DescribeVpcs")->call(), 2);
    EXPECT_EQ(first->code(), "pending");
}

TEST(SharedReads, calls_to_be_tried_differently_are_not_joined) {
    World world;
    CallOptions once;
    once.attempts = 1;
    world.ask("ec2", "DescribeVpcs");
    world.ask("ec2", "DescribeVpcs", {}, once);
    world.pass(std::chrono::seconds(1));
    EXPECT_EQ(world.inner.begun, 2);
}

// --- keeping

TEST(SharedReads, facts_of_the_region_are_kept_for_an_hour) {
    World world;
    EXPECT_EQ(world.answer("ec2", "DescribeAvailabilityZones")->call(), 1);
    world.pass(std::chrono::minutes(59));
    EXPECT_EQ(world.answer("ec2", "DescribeAvailabilityZones")->call(), 1);
    EXPECT_EQ(world.spared, std::vector<std::string>{"ec2 DescribeAvailabilityZones kept"});
    world.answer("ec2", "CreateVpc");
    EXPECT_EQ(world.answer("ec2", "DescribeAvailabilityZones")->call(), 1)
        << "no write of ours changes zones";
    world.pass(std::chrono::minutes(2));
    EXPECT_EQ(world.answer("ec2", "DescribeAvailabilityZones")->call(), 3);
}

TEST(SharedReads, own_write_drops_descriptions_of_that_service_only) {
    World world;
    world.answer("eks", "DescribeCluster", {{"name", "a"}});
    world.answer("sagemaker", "DescribeCluster", {{"ClusterName", "a"}});
    EXPECT_EQ(world.inner.begun, 2);
    world.answer("eks", "CreateAddon");
    EXPECT_EQ(world.answer("eks", "DescribeCluster", {{"name", "a"}})->call(), 4);
    EXPECT_EQ(world.answer("sagemaker", "DescribeCluster", {{"ClusterName", "a"}})->call(), 2);
    world.pass(std::chrono::milliseconds(1001));
    EXPECT_EQ(world.answer("sagemaker", "DescribeCluster", {{"ClusterName", "a"}})->call(), 5);
}

TEST(SharedReads, read_that_saw_a_write_end_is_not_kept) {
    World world;
    world.inner.time = std::chrono::milliseconds(300);
    const auto before = world.ask("eks", "DescribeCluster");
    world.pass(std::chrono::milliseconds(10));
    world.inner.time = kCallTime;
    world.ask("eks", "CreateAddon");
    world.pass(std::chrono::milliseconds(400));
    ASSERT_EQ(before->call(), 1);
    EXPECT_EQ(world.answer("eks", "DescribeCluster")->call(), 3);
}

TEST(SharedReads, fresh_reads_are_never_answered_from_what_is_kept) {
    World world;
    EXPECT_EQ(world.answer("ec2", "DescribeAvailabilityZones")->call(), 1);
    EXPECT_EQ(world.answer("ec2", "DescribeAvailabilityZones", {}, fresh())->call(), 2);
    EXPECT_EQ(world.answer("ec2", "DescribeAvailabilityZones")->call(), 2) << "but theirs is kept for others";
    auto seen = rt::testing::run(
        world.io, world.clock,
        world.reads.fresh().call(rt::Context(), "ec2", "DescribeAvailabilityZones", JsonObject()));
    EXPECT_EQ(base::get_int(seen.value(), "call"), 3);
    auto token = rt::testing::run(world.io, world.clock, world.reads.fresh().eks_token(rt::Context(), "a"));
    EXPECT_EQ(token.value(), "token of a");
}

TEST(SharedReads, one_of_several_pages_is_kept_for_less_than_its_token_lives) {
    World world;
    world.inner.next_token = "more";
    EXPECT_EQ(world.answer("ec2", "DescribeInstanceTypes")->call(), 1);
    world.pass(std::chrono::minutes(4));
    EXPECT_EQ(world.answer("ec2", "DescribeInstanceTypes")->call(), 1);
    world.pass(std::chrono::minutes(2));
    EXPECT_EQ(world.answer("ec2", "DescribeInstanceTypes")->call(), 2);
}

TEST(SharedReads, what_is_kept_is_bounded_and_the_oldest_goes_first) {
    World world;
    const auto kMost = static_cast<std::int64_t>(SharedReads::kKeptMost);
    for (std::int64_t i = 0; i <= kMost; ++i)
        world.answer("ec2", "DescribeInstanceTypes", {{"MaxResults", i}});
    const int begun = world.inner.begun;
    EXPECT_EQ(world.answer("ec2", "DescribeInstanceTypes", {{"MaxResults", 1}})->call(), 2);
    EXPECT_EQ(world.inner.begun, begun);
    world.answer("ec2", "DescribeInstanceTypes", {{"MaxResults", 0}});
    EXPECT_EQ(world.inner.begun, begun + 1);
}

}  // namespace
}  // namespace instantstart::aws
