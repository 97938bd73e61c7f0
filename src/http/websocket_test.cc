// The server's WebSocket against Beast's client.
#include <boost/asio/connect.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <thread>

#include "http/impl/socket_fixture.h"

namespace instantstart::http::impl {
namespace {

namespace websocket = boost::beast::websocket;
using ::boost::asio::awaitable;

awaitable<void> echo_all(std::unique_ptr<WebSocket> socket) {
    while (true) {
        auto message = co_await socket->receive();
        if (!message.has_value()) co_return;
        if (message->data == "bye") {
            const auto closed = co_await socket->close(4001, "as you wish");
            co_return;
        }
        const auto sent = co_await socket->send(std::move(*message));
        if (!sent.has_value()) co_return;
    }
}

awaitable<Response> upgrade() {
    Response response;
    response.websocket = [](std::unique_ptr<WebSocket> socket) { return echo_all(std::move(socket)); };
    response.websocket_protocol = "chat";
    co_return response;
}

class WebSocketTest : public SocketFixture {
protected:
    void SetUp() override {
        serve(ServerOptions(), [](Context, Request) { return upgrade(); });
    }

    // The client blocks, so the server's loop runs on another thread meanwhile.
    template <class F>
    void with_client(F talk) {
        auto work = boost::asio::make_work_guard(io_);
        io_.restart();
        std::thread loop([this] { io_.run(); });
        {
            boost::asio::io_context own;
            websocket::stream<tcp::socket> client(own);
            client.next_layer().connect({boost::asio::ip::make_address("127.0.0.1"), port_});
            client.handshake("localhost", "/");
            talk(client);
        }
        work.reset();
        io_.stop();
        loop.join();
    }
};

using Client = websocket::stream<tcp::socket>;

std::string round_trip(Client& client, const std::string& text) {
    client.write(boost::asio::buffer(text));
    boost::beast::flat_buffer buffer;
    client.read(buffer);
    return boost::beast::buffers_to_string(buffer.data());
}

TEST_F(WebSocketTest, echoes_small_large_and_fragmented_messages) {
    with_client([](Client& client) {
        EXPECT_EQ(round_trip(client, "hello"), "hello");
        client.ping("p");
        for (const std::size_t size : {0U, 125U, 126U, 65535U, 65536U, 1U << 20U}) {
            const std::string text(size, 'a');
            EXPECT_EQ(round_trip(client, text), text) << size;
        }
        client.write_some(false, boost::asio::buffer("ab", 2));
        client.write_some(true, boost::asio::buffer("cd", 2));
        boost::beast::flat_buffer buffer;
        client.read(buffer);
        EXPECT_EQ(boost::beast::buffers_to_string(buffer.data()), "abcd");
        boost::system::error_code code;
        client.close(websocket::close_code::normal, code);
        EXPECT_FALSE(code) << code.message();
    });
}

TEST_F(WebSocketTest, server_close_too_big_and_bad_text_carry_their_codes) {
    const std::vector<std::pair<std::string, unsigned>> cases = {
        {"bye", 4001}, {std::string((1U << 20U) + 1, 'a'), 1009}, {"\xff\xfe", 1007}};
    for (const auto& [text, reason] : cases) {
        with_client([&sent = text, expected = reason](Client& client) {
            boost::system::error_code code;
            client.binary(false);
            client.write(boost::asio::buffer(sent), code);
            boost::beast::flat_buffer buffer;
            client.read(buffer, code);
            EXPECT_EQ(code, websocket::error::closed) << code.message();
            EXPECT_EQ(client.reason().code, expected);
        });
    }
}

Task<void> stop_soon(Server& server) {
    co_await server.stop(std::chrono::seconds(30));
    co_return base::ok();
}

TEST_F(WebSocketTest, stopping_server_says_goodbye) {
    rt::TaskGroup group(io_.get_executor(), "stop");
    with_client([this, &group](Client& client) {
        EXPECT_EQ(round_trip(client, "hello"), "hello");
        boost::asio::post(io_, [this, &group] { group.spawn("stop", stop_soon(*server_)); });
        boost::system::error_code code;
        boost::beast::flat_buffer buffer;
        client.read(buffer, code);
        EXPECT_EQ(code, websocket::error::closed) << code.message();
        EXPECT_EQ(client.reason().code, 1001);
    });
    io_.restart();
    while (group.size() > 0) io_.run_one();
}

TEST_F(WebSocketTest, plain_request_is_426) {
    const auto response = send(request("GET", "/"));
    EXPECT_EQ(response.value().status, 426);
    EXPECT_EQ(response.value().headers.get("Upgrade"), "websocket");
}

TEST_F(WebSocketTest, unmasked_frame_is_a_protocol_error) {
    const auto answer =
        raw("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: keep-alive, "
            "Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81\x01"
            "a");
    EXPECT_NE(answer.value().find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), std::string::npos);
    EXPECT_NE(answer.value().find("\x03\xea"), std::string::npos);
}

}  // namespace
}  // namespace instantstart::http::impl
