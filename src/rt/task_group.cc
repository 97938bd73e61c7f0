#include "rt/task_group.h"

#include <map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "rt/impl/spawn.h"

namespace instantstart::rt {

struct TaskGroup::State {
    State(asio::any_io_executor loop, std::string group, std::size_t most)
        : executor(std::move(loop)), name(std::move(group)), max_tasks(most) {}

    void finished(std::uint64_t number, const std::string& task, const base::Result<void>& result) {
        if (!result.has_value() && result.error().kind != base::ErrorKind::cancelled) {
            base::log(base::LogLevel::error, "task_failed",
                      {{"group", name}, {"task", task}, {"error", result.error().chain()}});
        }
        running.erase(number);
        if (!running.empty()) return;
        for (const auto& waiter : std::exchange(waiters, {})) waiter->open();
    }

    asio::any_io_executor executor;
    std::string name;
    std::size_t max_tasks;
    bool cancelled = false;
    std::uint64_t next_number = 0;
    std::map<std::uint64_t, std::shared_ptr<impl::Stopper>> running;
    std::vector<std::shared_ptr<impl::Gate>> waiters;
};

TaskGroup::TaskGroup(asio::any_io_executor executor, std::string name, std::size_t max_tasks)
    : state_(std::make_shared<State>(std::move(executor), std::move(name), max_tasks)) {}

TaskGroup::~TaskGroup() {
    // A task that still runs would outlive what it refers to.
    CHECK(state_->running.empty());
}

bool TaskGroup::spawn(std::string name, Task<void> task) {
    if (state_->cancelled || state_->running.size() >= state_->max_tasks) return false;
    const auto number = state_->next_number++;
    auto stopper = std::make_shared<impl::Stopper>();
    state_->running.emplace(number, stopper);
    impl::start(state_->executor, std::move(task), stopper,
                [state = state_, number, name = std::move(name)](const base::Result<void>& result) {
                    state->finished(number, name, result);
                });
    return true;
}

std::size_t TaskGroup::size() const {
    return state_->running.size();
}

void TaskGroup::cancel() {
    state_->cancelled = true;
    std::vector<std::shared_ptr<impl::Stopper>> stoppers;
    stoppers.reserve(state_->running.size());
    for (const auto& [number, stopper] : state_->running) stoppers.push_back(stopper);
    for (const auto& stopper : stoppers) stopper->stop();
}

asio::awaitable<void> TaskGroup::join() {
    const auto state = state_;
    while (!state->running.empty()) {
        auto gate = std::make_shared<impl::Gate>(state->executor);
        state->waiters.push_back(gate);
        co_await gate->wait(nullptr);
    }
}

}  // namespace instantstart::rt
