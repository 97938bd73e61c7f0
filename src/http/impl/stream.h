// Stream: the bytes of one connection, plain or TLS, with a deadline that closes it. Lives in a shared_ptr.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "base/time.h"
#include "rt/task.h"

namespace instantstart::http::impl {

namespace asio = boost::asio;
using asio::ip::tcp;
using rt::Task;

class Stream : public std::enable_shared_from_this<Stream> {
public:
    explicit Stream(tcp::socket socket) : socket_(std::move(socket)), deadline_(socket_.get_executor()) {}
    virtual ~Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // TLS: agrees on keys; plain: nothing.
    virtual Task<void> handshake() = 0;
    // At most `most` bytes into `to`, which must live until then; 0 at the end of the peer's bytes.
    virtual Task<std::size_t> read_some(char* to, std::size_t most) = 0;
    // All of `data`.
    virtual Task<void> write(std::string data) = 0;

    // Once the time has passed the connection is closed and whoever waits on it fails. Each call replaces the
    // last.
    void expires_after(base::Duration limit);
    void expires_never();
    bool timed_out() const { return timed_out_; }
    void shutdown_send();
    void close();
    // Whether the peer has closed or sent something: a connection of a pool must be silent.
    bool is_silent();

protected:
    // The error of a failed operation: cancelled, or unknown_outcome with "timeout" or "connection_reset".
    base::Error error_of(const boost::system::error_code& code) const;
    tcp::socket socket_;

private:
    asio::steady_timer deadline_;
    std::uint64_t generation_ = 0;
    bool timed_out_ = false;
    bool closed_ = false;
};

std::shared_ptr<Stream> make_plain_stream(tcp::socket socket);

// Keys and authorities, read once and shared by connections.
class TlsContext;
base::Result<std::shared_ptr<TlsContext>> make_server_tls(const std::string& cert_pem,
                                                          const std::string& key_pem);
// The authorities of `ca_pem`, else of `ca_file`, else the machine's.
base::Result<std::shared_ptr<TlsContext>> make_client_tls(const std::string& ca_pem,
                                                          const std::string& ca_file,
                                                          const std::string& cert_pem,
                                                          const std::string& key_pem);
// The server's side where `peer_name` is empty; else the client's, which verifies that name or address.
std::shared_ptr<Stream> make_tls_stream(tcp::socket socket, std::shared_ptr<TlsContext> context,
                                        std::string peer_name);

}  // namespace instantstart::http::impl
