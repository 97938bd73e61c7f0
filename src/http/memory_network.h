// MemoryNetwork: hosts in one process, no sockets. Simulation and unit tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "http/server.h"
#include "http/transport.h"

namespace instantstart::http {

// What the network does to one exchange, decided by a hook.
enum class NetworkFault : std::uint8_t {
    none,
    refuse,       // not delivered: unavailable/connection_refused
    lose_answer,  // delivered and executed, the answer is lost: unknown_outcome/connection_reset
    lose_request  // not delivered, but the client cannot know: unknown_outcome/connection_reset
};

class MemoryNetwork {
public:
    explicit MemoryNetwork(rt::Clock& clock) : clock_(clock) {}
    // "host:port" -> handler; replaces or (empty handler) removes.
    void listen(const std::string& authority, Handler handler);
    // A transport into this network; every exchange takes `latency` of the clock.
    std::unique_ptr<Transport> make_transport(base::Duration latency = std::chrono::milliseconds(1));
    // Called for every exchange before delivery.
    void set_fault_hook(std::function<NetworkFault(const Request&)> hook) { hook_ = std::move(hook); }

private:
    friend class MemoryTransport;
    rt::Clock& clock_;
    std::map<std::string, Handler> hosts_;
    std::function<NetworkFault(const Request&)> hook_;
};

}  // namespace instantstart::http
