#include "server/stop_signal.h"

#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "rt/event.h"

namespace instantstart::server {

struct StopSignal::State : std::enable_shared_from_this<State> {
    explicit State(const boost::asio::any_io_executor& executor)
        : signals(executor, SIGTERM, SIGINT), asked(executor) {}
    boost::asio::signal_set signals;
    rt::Event asked;
    bool stopping = false;

    void listen() {
        signals.async_wait([self = shared_from_this()](const boost::system::error_code& failed, int) {
            if (failed) return;
            constexpr int kHard = 130;
            if (self->stopping) ::_exit(kHard);
            self->stopping = true;
            self->asked.notify_all();
            self->listen();
        });
    }
};

StopSignal::StopSignal(boost::asio::any_io_executor executor) : state_(std::make_shared<State>(executor)) {
    state_->listen();
}

StopSignal::~StopSignal() {
    boost::system::error_code ignored;
    state_->signals.cancel(ignored);
}

rt::Task<void> StopSignal::wait() {
    while (!state_->stopping) {
        auto waited = co_await state_->asked.wait();
        CO_CHECK_OK(std::move(waited));
    }
    co_return base::ok();
}

}  // namespace instantstart::server
