#include "http/server.h"

#include "base/text.h"
#include "http/impl/socket_fixture.h"

namespace instantstart::http::impl {
namespace {

using namespace std::chrono_literals;
using ::boost::asio::awaitable;
using ServerTest = SocketFixture;

awaitable<Response> echo(Request request) {
    Response response(200, "text/plain",
                      request.method + " " + request.target + " " + std::to_string(request.body.size()));
    response.headers.add("X-Seen", request.headers.get("x-sent"));
    response.headers.add("X-Evil", "a\r\nSet-Cookie: b");
    co_return response;
}

Handler echoing() {
    return [](Context, Request request) { return echo(std::move(request)); };
}

TEST_F(ServerTest, answers_and_keeps_the_connection) {
    serve(ServerOptions(), echoing());
    for (int i = 0; i < 3; ++i) {
        auto wanted = request("DELETE", "/a?b=%20c", "xyz");
        wanted.headers.add("X-Sent", "hello");
        const auto response = send(std::move(wanted));
        ASSERT_TRUE(response.has_value()) << response.error().chain();
        EXPECT_EQ(response->body, "DELETE /a?b=%20c 3");
        EXPECT_EQ(response->headers.get("x-seen"), "hello");
        EXPECT_EQ(response->headers.get("X-Evil"), "a  Set-Cookie: b");
        EXPECT_FALSE(response->headers.has("Set-Cookie"));
    }
}

TEST_F(ServerTest, head_has_the_length_and_no_body) {
    serve(ServerOptions(), echoing());
    const auto response = send(request("HEAD", "/"));
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->body, "");
    EXPECT_EQ(response->headers.get("Content-Length"), "8");
    EXPECT_EQ(send(request("GET", "/")).value().body, "GET / 0");
}

TEST_F(ServerTest, pipelined_requests_are_answered_in_order) {
    serve(ServerOptions(), echoing());
    const auto answer =
        raw("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    ASSERT_TRUE(answer.has_value());
    EXPECT_LT(answer->find("GET /1 0"), answer->find("GET /2 0"));
    EXPECT_NE(answer->find("GET /2 0"), std::string::npos);
}

TEST_F(ServerTest, expect_continue_is_answered_before_the_body) {
    ServerOptions options;
    options.request_timeout = 30ms;
    serve(options, echoing());
    const auto answer =
        raw("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(answer.value().substr(0, 12), "HTTP/1.1 100");
    const auto refused =
        raw("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n");
    EXPECT_EQ(refused.value().substr(0, 12), "HTTP/1.1 413");
}

TEST_F(ServerTest, absolute_form_and_http_1_0_are_taken) {
    serve(ServerOptions(), echoing());
    const auto answer = raw("GET http://example.com/a?b HTTP/1.0\r\n\r\n");
    EXPECT_NE(answer.value().find("GET /a?b 0"), std::string::npos);
    EXPECT_NE(answer.value().find("Connection: close"), std::string::npos);
}

TEST_F(ServerTest, chunked_request_is_put_together) {
    serve(ServerOptions(), echoing());
    const auto answer =
        raw("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: "
            "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    EXPECT_NE(answer.value().find("POST / 5"), std::string::npos);
}

TEST_F(ServerTest, malformed_request_is_400) {
    serve(ServerOptions(), echoing());
    for (const auto* text :
         {"GARBAGE\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -4\r\n\r\n", "GET / HTTP/3.7\r\n\r\n",
          "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
          "\x16\x03\x01\x02\x00\x01\x00\x01"}) {
        const auto answer = raw(text);
        EXPECT_EQ(answer.value().substr(0, 12), "HTTP/1.1 400") << text;
    }
}

TEST_F(ServerTest, large_header_is_431_by_the_callers_own_answer) {
    ServerOptions options;
    options.on_refused = [](int status, const std::string& detail) {
        return Response(status, "application/problem+json", "{\"d\":\"" + detail + "\"}");
    };
    serve(options, echoing());
    const auto answer = raw("GET / HTTP/1.1\r\nX-Long: " + std::string(100'000, 'a') + "\r\n\r\n");
    EXPECT_EQ(answer.value().substr(0, 12), "HTTP/1.1 431");
    EXPECT_NE(answer.value().find("application/problem+json"), std::string::npos);
}

TEST_F(ServerTest, body_of_100_mb_is_413_and_the_client_gets_the_answer) {
    serve(ServerOptions(), echoing());
    const auto response = send(request("POST", "/", std::string(100U << 20U, 'x')));
    ASSERT_TRUE(response.has_value()) << response.error().chain();
    EXPECT_EQ(response->status, 413);
    EXPECT_EQ(send(request("GET", "/")).value().status, 200);
}

TEST_F(ServerTest, chunked_body_is_refused_at_the_limit) {
    serve(ServerOptions(), echoing());
    std::string body = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 40; ++i) body += "10000\r\n" + std::string(65536, 'x') + "\r\n";
    EXPECT_EQ(raw(std::move(body)).value().substr(0, 12), "HTTP/1.1 413");
}

TEST_F(ServerTest, slow_request_is_408_and_an_idle_connection_just_closes) {
    ServerOptions options;
    options.request_timeout = 30ms;
    options.idle_timeout = 60ms;
    serve(options, echoing());
    EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost:").value().substr(0, 12), "HTTP/1.1 408");
    EXPECT_EQ(raw("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc").value().substr(0, 12), "HTTP/1.1 408");
    EXPECT_EQ(raw("").value(), "");
}

awaitable<Response> thrower() {
    throw std::runtime_error("secret");
    co_return Response(200);
}

TEST_F(ServerTest, throwing_handler_is_500_without_its_text) {
    serve(ServerOptions(), [](Context, Request) { return thrower(); });
    const auto response = send(request("GET", "/"));
    EXPECT_EQ(response.value().status, 500);
    EXPECT_EQ(response.value().body.find("secret"), std::string::npos);
}

awaitable<Response> breaker() {
    co_return Response(0);
}

TEST_F(ServerTest, status_zero_closes_without_an_answer) {
    serve(ServerOptions(), [](Context, Request) { return breaker(); });
    const auto response = send(request("POST", "/", "x"));
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().kind, base::ErrorKind::unknown_outcome);
}

// Pieces that come when the test says so.
struct Tap {
    explicit Tap(boost::asio::any_io_executor executor) : changed(std::move(executor)) {}
    rt::Event changed;
    int left = 0;
    bool closed = false;
    bool started = false;
    bool cancelled = false;
};

Task<std::optional<std::string>> pour(Tap& tap) {
    tap.started = true;
    while (tap.left == 0 && !tap.closed) {
        auto waited = co_await tap.changed.wait();
        if (waited.has_value()) continue;
        tap.cancelled = true;
        tap.changed.notify_all();
        co_return std::move(waited).error();
    }
    if (tap.left == 0) co_return std::optional<std::string>();
    co_return std::optional<std::string>("piece " + std::to_string(tap.left--) + "\n");
}

awaitable<Response> pouring(Tap& tap) {
    Response response(200);
    response.stream = make_stream([&tap] { return pour(tap); });
    co_return response;
}

TEST_F(ServerTest, stream_is_flushed_piece_by_piece) {
    Tap tap(io_.get_executor());
    serve(ServerOptions(), [&tap](Context, Request) { return pouring(tap); });
    SendOptions options;
    options.stream = true;
    tap.left = 1;
    auto response = send(request("GET", "/"), options);
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(run(response->stream->read()).value(), "piece 1\n");
    tap.left = 1;
    tap.changed.notify_all();
    EXPECT_EQ(run(response->stream->read()).value(), "piece 1\n");
    tap.closed = true;
    tap.changed.notify_all();
    EXPECT_EQ(run(response->stream->read()).value(), std::nullopt);
    EXPECT_EQ(send(request("GET", "/")).value().body, "");
}

Task<void> wait_cancelled(Tap& tap) {
    while (!tap.cancelled) CO_CHECK_OK(co_await tap.changed.wait());
    co_return base::ok();
}

TEST_F(ServerTest, client_that_leaves_a_stream_cancels_it) {
    Tap tap(io_.get_executor());
    serve(ServerOptions(), [&tap](Context, Request) { return pouring(tap); });
    SendOptions options;
    options.stream = true;
    tap.left = 1;
    auto response = send(request("GET", "/"), options);
    EXPECT_EQ(run(response->stream->read()).value(), "piece 1\n");
    response->stream.reset();
    EXPECT_TRUE(run(wait_cancelled(tap)).has_value());
}

awaitable<Response> long_poll(Tap& tap) {
    auto piece = co_await pour(tap);
    co_return Response(piece.has_value() ? 200 : 500);
}

TEST_F(ServerTest, client_that_gives_up_cancels_the_handler) {
    Tap tap(io_.get_executor());
    serve(ServerOptions(), [&tap](Context, Request) { return long_poll(tap); });
    SendOptions options;
    options.timeout = 30ms;
    const auto response = send(request("GET", "/"), options);
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().code, "timeout");
    EXPECT_TRUE(run(wait_cancelled(tap)).has_value());
}

Task<void> send_and_drop(Transport& transport, Request request) {
    auto response = co_await transport.send(Context(), std::move(request), SendOptions());
    EXPECT_FALSE(response.has_value());
    co_return base::ok();
}

TEST_F(ServerTest, stop_ends_a_waiting_handler_after_its_grace) {
    Tap tap(io_.get_executor());
    serve(ServerOptions(), [&tap](Context, Request) { return long_poll(tap); });
    rt::TaskGroup group(io_.get_executor(), "clients");
    group.spawn("client", send_and_drop(*transport_, request("GET", "/")));
    while (!tap.started) io_.run_one();
    EXPECT_TRUE(run(stop_server(*server_)).has_value());
    EXPECT_TRUE(tap.cancelled);
    while (group.size() > 0) io_.run_one();
}

TEST_F(ServerTest, taken_port_says_so) {
    serve(ServerOptions(), echoing());
    ServerOptions options;
    options.port = port_;
    const auto second = make_server(io_.get_executor(), *clock_, options, echoing());
    EXPECT_EQ(second->start().error().code, "cannot_listen");
    options.address = "nonsense";
    EXPECT_EQ(make_server(io_.get_executor(), *clock_, options, echoing())->start().error().code,
              "invalid_address");
}

}  // namespace
}  // namespace instantstart::http::impl
