// Channel: what a WebSocket needs of the connection under it.
#pragma once

#include <memory>
#include <string>

#include "http/message.h"

namespace instantstart::http::impl {

class Channel {
public:
    virtual ~Channel() = default;
    // Bytes received and not yet taken. Whoever takes some calls `taken`.
    virtual std::string& inbox() = 0;
    virtual void taken() = 0;
    // Returns when the inbox has grown; an error when the peer has closed, or cancelled.
    virtual Task<void> more() = 0;
    // Whole pieces, one after the other even when several coroutines write.
    virtual Task<void> write(std::string data) = 0;
    virtual bool is_open() const = 0;
};

// Whether the request asks for a WebSocket in a way that can be granted.
bool is_websocket_upgrade(const Headers& headers, const std::string& method);
// The head of the 101 answer to it.
std::string websocket_answer(const Headers& request, const std::string& protocol);
std::string websocket_ping();
// "Going away": what a server that stops says.
std::string websocket_goodbye();
// The server's side of a WebSocket over `channel`, which must outlive it.
std::unique_ptr<WebSocket> make_websocket(Channel& channel);

}  // namespace instantstart::http::impl
