#include "http/memory_network.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rt/task_group.h"
#include "rt/testing.h"

namespace instantstart::http {
namespace {

using namespace std::chrono_literals;
using boost::asio::awaitable;

class MemoryNetworkTest : public ::testing::Test {
protected:
    base::Result<Response> send(Request request, SendOptions options = SendOptions()) {
        request.host = "twin";
        request.port = 80;
        return rt::testing::run(io_, clock_,
                                transport_->send(Context(), std::move(request), std::move(options)));
    }

    boost::asio::io_context io_;
    rt::VirtualClock clock_{io_, 1, base::TimePoint()};
    MemoryNetwork network_{clock_};
    std::unique_ptr<Transport> transport_ = network_.make_transport(5ms);
    int served_ = 0;
};

awaitable<Response> echo(int& served, Request request) {
    ++served;
    co_return Response(
        200, "text/plain",
        request.method + " " + request.target + " " + request.headers.get("host") + " " + request.body);
}

awaitable<Response> never(rt::Clock& clock) {
    const auto slept = co_await clock.sleep(std::chrono::hours(5));
    co_return Response(slept.has_value() ? 200 : 500);
}

TEST_F(MemoryNetworkTest, delivers_and_takes_its_latency) {
    network_.listen("twin:80",
                    [this](Context, Request request) { return echo(served_, std::move(request)); });
    Request request;
    request.method = "DELETE";
    request.target = "/a?b=c";
    request.body = "x";
    const auto response = send(std::move(request));
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->body, "DELETE /a?b=c twin x");
    EXPECT_EQ(clock_.monotonic(), 5ms);
}

TEST_F(MemoryNetworkTest, nobody_listening_is_refused) {
    const auto response = send(Request());
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().kind, base::ErrorKind::unavailable);
    EXPECT_EQ(response.error().code, "connection_refused");
}

TEST_F(MemoryNetworkTest, faults_say_what_the_client_may_know) {
    network_.listen("twin:80",
                    [this](Context, Request request) { return echo(served_, std::move(request)); });
    auto fault = NetworkFault::lose_answer;
    network_.set_fault_hook([&fault](const Request&) { return fault; });
    EXPECT_EQ(send(Request()).error().kind, base::ErrorKind::unknown_outcome);
    EXPECT_EQ(served_, 1);
    fault = NetworkFault::lose_request;
    EXPECT_EQ(send(Request()).error().kind, base::ErrorKind::unknown_outcome);
    EXPECT_EQ(served_, 1);
    fault = NetworkFault::refuse;
    EXPECT_EQ(send(Request()).error().kind, base::ErrorKind::unavailable);
    EXPECT_EQ(served_, 1);
}

TEST_F(MemoryNetworkTest, slow_handler_times_out) {
    network_.listen("twin:80", [this](Context, Request) { return never(clock_); });
    const auto response = send(Request());
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code, "timeout");
    EXPECT_EQ(clock_.monotonic(), 60s + 5ms);
}

awaitable<Response> breaking() {
    co_return Response(0);
}

TEST_F(MemoryNetworkTest, status_zero_breaks_the_connection) {
    network_.listen("twin:80", [](Context, Request) { return breaking(); });
    EXPECT_EQ(send(Request()).error().code, "connection_reset");
}

Task<std::optional<std::string>> count(int& left) {
    if (left == 0) co_return std::optional<std::string>();
    co_return std::optional<std::string>(std::to_string(left--));
}

awaitable<Response> counting(int& left) {
    Response response(200);
    response.stream = make_stream([&left] { return count(left); });
    co_return response;
}

TEST_F(MemoryNetworkTest, streams_pass_or_are_collected_within_limits) {
    int left = 3;
    network_.listen("twin:80", [&left](Context, Request) { return counting(left); });
    EXPECT_EQ(send(Request()).value().body, "321");
    left = 3;
    SendOptions small;
    small.max_body = 2;
    EXPECT_EQ(send(Request(), small).error().code, "body_too_large");
    left = 2;
    SendOptions streaming;
    streaming.stream = true;
    auto response = send(Request(), streaming);
    ASSERT_TRUE(response.has_value() && response->stream);
    EXPECT_EQ(rt::testing::run(io_, clock_, response->stream->read()).value(), "2");
    EXPECT_EQ(rt::testing::run(io_, clock_, response->stream->read()).value(), "1");
    EXPECT_EQ(rt::testing::run(io_, clock_, response->stream->read()).value(), std::nullopt);
}

Task<std::optional<std::string>> a_piece_then_silence(rt::Clock& clock, bool& begun) {
    if (!std::exchange(begun, true)) co_return std::optional<std::string>("first");
    CO_CHECK_OK(co_await clock.sleep(std::chrono::hours(5)));
    co_return std::optional<std::string>();
}

Task<void> kill_later(rt::Clock& clock, MemoryNetwork& network) {
    CO_CHECK_OK(co_await clock.sleep(2s));
    network.kill("twin:80");
    co_return base::ok();
}

TEST_F(MemoryNetworkTest, kill_breaks_what_is_under_way_and_refuses_what_comes) {
    bool begun = false;
    network_.listen("twin:80", [&](Context, Request request) -> awaitable<Response> {
        if (request.target == "/slow") return never(clock_);
        const auto streaming = [](rt::Clock& clock, bool& started) -> awaitable<Response> {
            Response response(200);
            response.stream =
                make_stream([&clock, &started] { return a_piece_then_silence(clock, started); });
            co_return response;
        };
        return streaming(clock_, begun);
    });
    SendOptions options;
    options.stream = true;
    auto followed = send(Request(), options).value();
    EXPECT_EQ(rt::testing::run(io_, clock_, followed.stream->read()).value(), "first");
    rt::TaskGroup tasks(io_.get_executor(), "test");
    tasks.spawn("kill", kill_later(clock_, network_));
    Request slow;
    slow.target = "/slow";
    const auto before = clock_.monotonic();
    const auto asked = send(std::move(slow));
    EXPECT_EQ(asked.error().kind, base::ErrorKind::unknown_outcome);
    EXPECT_EQ(asked.error().code, "connection_reset");
    EXPECT_EQ(clock_.monotonic() - before, 2s);
    EXPECT_EQ(rt::testing::run(io_, clock_, followed.stream->read()).error().code, "connection_reset");
    EXPECT_EQ(send(Request()).error().code, "connection_refused");
}

TEST_F(MemoryNetworkTest, host_that_dies_in_an_exchange_has_executed_it) {
    network_.listen("twin:80",
                    [this](Context, Request request) { return echo(served_, std::move(request)); });
    network_.set_fault_hook([this](const Request&) {
        network_.kill("twin:80");
        return NetworkFault::lose_answer;
    });
    EXPECT_EQ(send(Request()).error().kind, base::ErrorKind::unknown_outcome);
    EXPECT_EQ(served_, 1);
    EXPECT_EQ(send(Request()).error().code, "connection_refused");
}

}  // namespace
}  // namespace instantstart::http
