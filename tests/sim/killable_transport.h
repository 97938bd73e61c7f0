// The product's network in the simulation: counts mutating calls, loses them by chance, and dies at a chosen
// one.
#pragma once

#include <functional>
#include <memory>

#include "http/transport.h"
#include "rt/event.h"

namespace instantstart::sim {

// True for requests that could change something in the account or in a cluster.
bool is_mutating(const http::Request& request);

struct NetworkChances {
    NetworkChances() = default;
    double refuse = 0, lose_request = 0, lose_answer = 0;  // per mutating call
    double lose_read = 0;                                  // per other call: no answer comes
};

enum class CallFate : std::uint8_t { deliver, die_before, die_after };

class KillableTransport final : public http::Transport {
public:
    // `fate` is asked for every mutating call; `on_death` is told once when it strikes.
    KillableTransport(boost::asio::any_io_executor executor, rt::Clock& clock,
                      std::unique_ptr<http::Transport> inner, NetworkChances chances,
                      std::function<CallFate()> fate, std::function<void()> on_death)
        : clock_(clock),
          never_(std::move(executor)),
          inner_(std::move(inner)),
          chances_(chances),
          fate_(std::move(fate)),
          on_death_(std::move(on_death)) {}

    // From now on nothing is sent and nothing answers, as for a process that is gone.
    void die();

    http::Task<http::Response> send(http::Context context, http::Request request,
                                    http::SendOptions options) override;

private:
    rt::Clock& clock_;
    rt::Event never_;
    std::unique_ptr<http::Transport> inner_;
    NetworkChances chances_;
    std::function<CallFate()> fate_;
    std::function<void()> on_death_;
    bool dead_ = false;
};

}  // namespace instantstart::sim
