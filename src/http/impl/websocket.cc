// RFC 6455, server side: framing by hand over the connection's inbox, since Beast's own stream would need the
// concrete socket types here.
#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/text.h"
#include "http/impl/channel.h"

namespace instantstart::http::impl {

namespace {

constexpr std::size_t kMaxMessage = 1U << 20U;
constexpr std::string_view kMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

enum Opcode : unsigned { continuation = 0, text = 1, binary = 2, closing = 8, ping = 9, pong = 10 };

std::string frame(unsigned opcode, std::string_view payload) {
    std::string out(1, static_cast<char>(0x80U | opcode));
    if (payload.size() < 126) {
        out += static_cast<char>(payload.size());
    } else {
        const bool wide = payload.size() > 0xffff;
        out += static_cast<char>(wide ? 127 : 126);
        for (int shift = wide ? 56 : 8; shift >= 0; shift -= 8)
            out += static_cast<char>(payload.size() >> static_cast<unsigned>(shift) & 0xffU);
    }
    out += payload;
    return out;
}

bool has_token(const std::string& list, std::string_view token) {
    for (const auto& part : base::split(list, ',')) {
        if (base::iequals(base::trim(part), token)) return true;
    }
    return false;
}

base::Error closed_error() {
    return {base::ErrorKind::cancelled, "closed", "the peer has closed the WebSocket"};
}

struct FrameHead {
    bool final = false;
    unsigned opcode = 0;
    std::uint64_t remaining = 0;
    std::array<unsigned char, 4> mask{};
    std::size_t mask_at = 0;
};

enum class HeadState : std::uint8_t { more, ready, bad };

// Reads a frame's head from the front of `input`, where it is complete.
HeadState read_head(std::string& input, FrameHead& head) {
    const auto byte = [&input](std::size_t i) { return static_cast<unsigned char>(input[i]); };
    if (input.size() < 2) return HeadState::more;
    if ((byte(0) & 0x70U) != 0 || (byte(1) & 0x80U) == 0) return HeadState::bad;  // extensions, or not masked
    head = FrameHead();
    head.final = (byte(0) & 0x80U) != 0;
    head.opcode = byte(0) & 0x0fU;
    const unsigned short_length = byte(1) & 0x7fU;
    const std::size_t extra = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
    if (input.size() < 2 + extra + 4) return HeadState::more;
    head.remaining = extra == 0 ? short_length : 0;
    for (std::size_t i = 0; i < extra; ++i) head.remaining = head.remaining << 8U | byte(2 + i);
    for (std::size_t i = 0; i < 4; ++i) head.mask[i] = byte(2 + extra + i);
    const bool control = head.opcode >= closing;
    if (control && (!head.final || head.remaining > 125)) return HeadState::bad;
    if (head.opcode > pong || (head.opcode > binary && !control)) return HeadState::bad;
    input.erase(0, 2 + extra + 4);
    return HeadState::ready;
}

class FramedSocket final : public WebSocket {
public:
    explicit FramedSocket(Channel& channel) : channel_(channel) {}

    Task<Message> receive() override {
        while (!closed_) {
            CO_TRY(const bool whole, co_await read_frame());
            if (!whole) continue;
            if (head_.opcode == ping) {
                CO_CHECK_OK(co_await channel_.write(frame(pong, control_)));
            } else if (head_.opcode == closing) {
                CO_CHECK_OK(co_await channel_.write(frame(closing, std::string_view(control_).substr(0, 2))));
                closed_ = true;
            } else if (head_.opcode != pong && head_.final) {
                if (!message_.binary && !base::is_valid_utf8(message_.data))
                    co_return co_await fail(1007, "not UTF-8");
                in_message_ = false;
                co_return std::exchange(message_, Message());
            }
        }
        co_return closed_error();
    }

    Task<void> send(Message message) override {
        if (closed_ || !channel_.is_open()) co_return closed_error();
        std::string out = frame(message.binary ? binary : text, message.data);
        co_return co_await channel_.write(std::move(out));
    }

    Task<void> close(std::uint16_t code, std::string reason) override {
        if (closed_) co_return base::ok();
        closed_ = true;
        std::string payload{static_cast<char>(code >> 8U), static_cast<char>(code & 0xffU)};
        payload += std::string_view(reason).substr(0, 120);
        std::string out = frame(closing, payload);
        co_return co_await channel_.write(std::move(out));
    }

private:
    Task<Message> fail(std::uint16_t code, std::string reason) {
        auto told = co_await close(code, reason);
        base::Error error(base::ErrorKind::cancelled, "closed", "the WebSocket was closed: " + reason);
        if (!told.has_value()) error.detail = told.error().chain();
        co_return error;
    }

    // Takes bytes until a frame is whole (true) or was refused by an error. A receive that was cancelled
    // within a frame goes on there the next time.
    Task<bool> read_frame() {
        if (!in_frame_) CO_CHECK_OK(co_await begin_frame());
        in_frame_ = true;
        std::string& target = head_.opcode >= closing ? control_ : message_.data;
        while (head_.remaining > 0) {
            if (channel_.inbox().empty()) CO_CHECK_OK(co_await channel_.more());
            take_payload(target);
        }
        in_frame_ = false;
        co_return true;
    }

    Task<void> begin_frame() {
        while (true) {
            const auto state = read_head(channel_.inbox(), head_);
            if (state == HeadState::ready) break;
            if (state == HeadState::bad) co_return (co_await fail(1002, "protocol error")).error();
            CO_CHECK_OK(co_await channel_.more());
        }
        channel_.taken();
        control_.clear();
        if (head_.opcode >= closing) co_return base::ok();
        if ((head_.opcode == continuation) != in_message_)
            co_return (co_await fail(1002, "protocol error")).error();
        if (head_.opcode != continuation) message_.binary = head_.opcode == binary;
        in_message_ = true;
        if (head_.remaining > kMaxMessage - message_.data.size())
            co_return (co_await fail(1009, "message too big")).error();
        co_return base::ok();
    }

    void take_payload(std::string& target) {
        auto& inbox = channel_.inbox();
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(head_.remaining, inbox.size()));
        for (std::size_t i = 0; i < count; ++i) {
            target +=
                static_cast<char>(static_cast<unsigned char>(inbox[i]) ^ head_.mask[head_.mask_at++ % 4]);
        }
        inbox.erase(0, count);
        head_.remaining -= count;
        channel_.taken();
    }

    Channel& channel_;
    FrameHead head_;
    Message message_;
    std::string control_;
    bool in_frame_ = false;
    bool in_message_ = false;
    bool closed_ = false;
};

}  // namespace

bool is_websocket_upgrade(const Headers& headers, const std::string& method) {
    std::string key;
    return method == "GET" && base::iequals(headers.get("Upgrade"), "websocket") &&
           has_token(headers.get("Connection"), "upgrade") && headers.get("Sec-WebSocket-Version") == "13" &&
           base::base64_decode(headers.get("Sec-WebSocket-Key"), key) && key.size() == 16;
}

std::string websocket_answer(const Headers& request, const std::string& protocol) {
    const auto accept =
        base::base64_encode(base::sha1(request.get("Sec-WebSocket-Key") + std::string(kMagic)));
    std::string head =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\nSec-WebSocket-Accept: " +
        accept + "\r\n";
    if (!protocol.empty()) head += "Sec-WebSocket-Protocol: " + protocol + "\r\n";
    return head + "\r\n";
}

std::string websocket_ping() {
    return frame(ping, "");
}

std::string websocket_goodbye() {
    constexpr std::string_view kGoingAway = "\x03\xe9";  // 1001
    return frame(closing, kGoingAway);
}

std::unique_ptr<WebSocket> make_websocket(Channel& channel) {
    return std::make_unique<FramedSocket>(channel);
}

}  // namespace instantstart::http::impl
