// StopSignal: the first SIGTERM or SIGINT asks to stop, the second ends the process at once.
#pragma once

#include <memory>

#include "rt/task.h"

namespace instantstart::server {

class StopSignal {
public:
    explicit StopSignal(boost::asio::any_io_executor executor);
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;
    rt::Task<void> wait();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace instantstart::server
