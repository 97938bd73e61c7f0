#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <thread>

#include "rt/backoff.h"
#include "rt/blocking.h"
#include "rt/context.h"
#include "rt/event.h"
#include "rt/task_group.h"
#include "rt/testing.h"
#include "rt/virtual_clock.h"

namespace instantstart::rt {
namespace {

using namespace std::chrono_literals;

class RtTest : public ::testing::Test {
protected:
    asio::io_context io_;
    VirtualClock clock_{io_, 7, TimePoint(1'700'000'000s)};
};

Task<void> sleep_and_note(Clock& clock, Duration wait, std::vector<int>& order, int mark) {
    CO_CHECK_OK(co_await clock.sleep(wait));
    order.push_back(mark);
    co_return base::ok();
}

TEST_F(RtTest, sleepers_wake_in_order_and_time_jumps) {
    std::vector<int> order;
    TaskGroup group(io_.get_executor(), "test");
    group.spawn("b", sleep_and_note(clock_, 2h, order, 2));
    group.spawn("a", sleep_and_note(clock_, 1h, order, 1));
    group.spawn("c", sleep_and_note(clock_, 2h, order, 3));
    EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 3h));
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(clock_.monotonic(), 2h);
    EXPECT_EQ(clock_.now(), TimePoint(1'700'000'000s) + 2h);
}

TEST_F(RtTest, run_until_stops_at_its_limit) {
    std::vector<int> order;
    TaskGroup group(io_.get_executor(), "test");
    group.spawn("a", sleep_and_note(clock_, 1h, order, 1));
    EXPECT_FALSE(clock_.run_until([&] { return group.size() == 0; }, 10min));
    EXPECT_EQ(clock_.monotonic(), 10min);
    EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 50min));
}

Task<void> record_sleep(Clock& clock, base::Result<void>& out) {
    out = co_await clock.sleep(1h);
    const auto again = co_await clock.sleep(1h);
    EXPECT_FALSE(again.has_value());
    co_return out;
}

TEST_F(RtTest, cancelled_sleep_is_an_error_and_so_is_the_next_wait) {
    base::Result<void> out = base::ok();
    TaskGroup group(io_.get_executor(), "test");
    group.spawn("a", record_sleep(clock_, out));
    EXPECT_FALSE(clock_.run_until([&] { return false; }, 1min));
    group.cancel();
    EXPECT_FALSE(group.spawn("late", clock_.sleep(1s)));
    EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 1s));
    ASSERT_FALSE(out.has_value());
    EXPECT_EQ(out.error().kind, base::ErrorKind::cancelled);
    EXPECT_LE(clock_.monotonic(), 1min);
}

TEST_F(RtTest, task_cancelled_before_its_first_line_is_dropped) {
    std::vector<int> order;
    TaskGroup group(io_.get_executor(), "test");
    group.spawn("a", sleep_and_note(clock_, 0s, order, 1));
    group.spawn("b", with_limit(clock_, 1s, sleep_and_note(clock_, 0s, order, 2)));
    group.cancel();
    EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 1s));
    EXPECT_TRUE(order.empty());
}

TEST_F(RtTest, cancellation_at_every_step_is_clean) {
    for (int steps = 0; steps < 30; ++steps) {
        std::vector<int> order;
        TaskGroup group(io_.get_executor(), "test");
        group.spawn("a",
                    with_limit(clock_, 1h, with_limit(clock_, 1h, sleep_and_note(clock_, 0s, order, 1))));
        io_.restart();
        for (int i = 0; i < steps; ++i) io_.poll_one();
        group.cancel();
        EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 1s)) << steps;
    }
}

TEST_F(RtTest, full_group_refuses) {
    TaskGroup group(io_.get_executor(), "test", 1);
    EXPECT_TRUE(group.spawn("a", clock_.sleep(1s)));
    EXPECT_FALSE(group.spawn("b", clock_.sleep(1s)));
    EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 2s));
}

Task<void> join_group(TaskGroup& group) {
    co_await group.join();
    co_return base::ok();
}

TEST_F(RtTest, join_waits_for_every_task) {
    TaskGroup group(io_.get_executor(), "test");
    group.spawn("a", clock_.sleep(5s));
    group.spawn("b", clock_.sleep(9s));
    EXPECT_TRUE(testing::run(io_, clock_, join_group(group)).has_value());
    EXPECT_EQ(clock_.monotonic(), 9s);
}

Task<void> notify_later(Clock& clock, Event& event) {
    CO_CHECK_OK(co_await clock.sleep(3s));
    event.notify_all();
    co_return base::ok();
}

TEST_F(RtTest, event_wakes_its_waiters) {
    Event event(io_.get_executor());
    TaskGroup group(io_.get_executor(), "test");
    group.spawn("notify", notify_later(clock_, event));
    EXPECT_TRUE(testing::run(io_, clock_, event.wait()).has_value());
    EXPECT_EQ(clock_.monotonic(), 3s);
}

TEST_F(RtTest, event_wait_with_limit_runs_out) {
    Event event(io_.get_executor());
    const auto result = testing::run(io_, clock_, event.wait_for(clock_, 2s));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, base::ErrorKind::deadline);
    EXPECT_EQ(clock_.monotonic(), 2s);
}

TEST_F(RtTest, with_limit_returns_the_result_in_time) {
    EXPECT_TRUE(testing::run(io_, clock_, with_limit(clock_, 10s, clock_.sleep(1s))).has_value());
    EXPECT_EQ(clock_.monotonic(), 1s);
}

TEST_F(RtTest, with_limit_passes_cancellation_on) {
    TaskGroup group(io_.get_executor(), "test");
    base::Result<void> out = base::ok();
    group.spawn("a", with_limit(clock_, 10h, record_sleep(clock_, out)));
    clock_.run_until([] { return false; }, 1s);
    group.cancel();
    EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 1s));
    EXPECT_FALSE(out.has_value());
}

Task<void> clean_up(Clock& clock, bool& cleaned) {
    auto slept = co_await clock.sleep(1h);
    const auto done = co_await shielded(clock, 1min, clock.sleep(2s));
    cleaned = done.has_value();
    co_return slept;
}

TEST_F(RtTest, shielded_clean_up_runs_after_cancellation) {
    bool cleaned = false;
    TaskGroup group(io_.get_executor(), "test");
    group.spawn("a", clean_up(clock_, cleaned));
    clock_.run_until([] { return false; }, 1s);
    group.cancel();
    EXPECT_TRUE(clock_.run_until([&] { return group.size() == 0; }, 1min));
    EXPECT_TRUE(cleaned);
    EXPECT_EQ(clock_.monotonic(), 3s);
}

TEST_F(RtTest, blocking_call_runs_on_another_thread_and_returns_here) {
    BlockingPool pool(1);
    const auto here = std::this_thread::get_id();
    std::function<base::Result<bool>()> call = [here] {
        return base::Result<bool>(std::this_thread::get_id() != here);
    };
    std::optional<base::Result<bool>> out;
    TaskGroup group(io_.get_executor(), "test");
    auto kept = std::make_shared<std::optional<base::Result<bool>>>();
    group.spawn("call", testing::keep<bool>(pool.run<bool>(call), kept));
    io_.run();
    ASSERT_TRUE(kept->has_value());
    EXPECT_TRUE((*kept)->value_or(false));
}

TEST_F(RtTest, pool_without_threads_runs_inline) {
    BlockingPool pool(0);
    std::function<base::Result<int>()> call = [] { return base::Result<int>(4); };
    EXPECT_EQ(testing::run(io_, clock_, pool.run<int>(call)).value_or(0), 4);
}

TEST_F(RtTest, backoff_grows_to_its_cap_with_jitter) {
    Backoff backoff(1s, 5s);
    for (const auto most : {1s, 2s, 4s, 5s, 5s}) {
        const auto wait = backoff.next(clock_);
        EXPECT_LE(wait, most);
        EXPECT_GE(wait, most / 2.0);
    }
}

TEST_F(RtTest, same_seed_gives_the_same_ids) {
    VirtualClock other(io_, 7, TimePoint());
    EXPECT_EQ(clock_.random_id(20), other.random_id(20));
    EXPECT_EQ(clock_.random_id(20).size(), 20U);
}

TEST_F(RtTest, context_keeps_the_earlier_deadline) {
    const Context context = Context().with("step", "a").with_deadline(5s).with_deadline(9s);
    EXPECT_EQ(context.field("step"), "a");
    EXPECT_EQ(context.field("other"), "");
    EXPECT_EQ(context.deadline(), 5s);
}

TEST(SystemClock, sleeps_and_returns) {
    asio::io_context io;
    const auto clock = make_system_clock(io.get_executor());
    TaskGroup group(io.get_executor(), "test");
    group.spawn("a", clock->sleep(1ms));
    group.spawn("b", clock->sleep(0ms));
    io.run();
    EXPECT_EQ(group.size(), 0U);
}

}  // namespace
}  // namespace instantstart::rt
