// MemoryNetwork: hosts in one process, no sockets. Simulation and unit tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
    // The host is gone from one moment to the next, as a process that is killed: nobody listens there,
    // requests under way get no answer any more and open streams break (unknown_outcome/connection_reset).
    void kill(const std::string& authority);
    // A transport into this network; every exchange takes `latency` of the clock.
    std::unique_ptr<Transport> make_transport(base::Duration latency = std::chrono::milliseconds(1));
    // Called for every exchange before delivery. It may kill() the host: with lose_answer the request is
    // still executed, as the last thing that the host does.
    void set_fault_hook(std::function<NetworkFault(const Request&)> hook) { hook_ = std::move(hook); }

private:
    friend class MemoryTransport;
    struct Line;
    rt::Clock& clock_;
    std::map<std::string, Handler> hosts_;
    std::map<std::string, std::vector<std::weak_ptr<Line>>> lines_;  // open exchanges, by host
    std::function<NetworkFault(const Request&)> hook_;
};

}  // namespace instantstart::http
