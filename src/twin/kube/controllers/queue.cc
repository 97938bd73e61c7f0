#include "twin/kube/controllers/queue.h"

#include <algorithm>

namespace instantstart::twin::kube::controllers {

std::size_t Queue::number_of(Controller* controller) {
    const auto found = std::find(controllers_.begin(), controllers_.end(), controller);
    if (found != controllers_.end()) return static_cast<std::size_t>(found - controllers_.begin());
    controllers_.push_back(controller);
    return controllers_.size() - 1;
}

void Queue::add(Controller* controller, Key key) {
    if (ready_.emplace(number_of(controller), std::move(key)).second) wake_.notify_all();
}

void Queue::add_after(Controller* controller, Key key, base::Duration delay) {
    if (delay <= base::Duration::zero()) return add(controller, std::move(key));
    const Item item(number_of(controller), std::move(key));
    const base::Duration at = clock_.monotonic() + delay;
    const auto known = due_.find(item);
    if (known != due_.end()) {
        if (known->second <= at) return;
        timers_.erase({known->second, item});
    }
    due_[item] = at;
    timers_.emplace(at, item);
    new_timer_ = true;
    wake_.notify_all();
}

void Queue::move_due() {
    const base::Duration now = clock_.monotonic();
    while (!timers_.empty() && timers_.begin()->first <= now) {
        const Item item = timers_.begin()->second;
        timers_.erase(timers_.begin());
        due_.erase(item);
        ready_.insert(item);
    }
}

bool Queue::work(std::size_t limit) {
    move_due();
    for (; limit > 0 && !ready_.empty(); --limit) {
        const Item item = *ready_.begin();
        ready_.erase(ready_.begin());
        controllers_[item.first]->sync(item.second);
    }
    return !ready_.empty();
}

rt::Task<void> Queue::wait_ready() {
    while (ready_.empty() && !new_timer_) CO_CHECK_OK(co_await wake_.wait());
    co_return base::ok();
}

rt::Task<void> Queue::wait() {
    new_timer_ = false;
    if (timers_.empty()) co_return co_await wait_ready();
    const base::Duration left = timers_.begin()->first - clock_.monotonic();
    auto waited = co_await rt::with_limit(clock_, left, wait_ready());
    if (!waited && waited.error().kind == base::ErrorKind::cancelled) co_return waited.error();
    co_return base::ok();
}

void Queue::rescale(double factor) {
    const base::Duration now = clock_.monotonic();
    std::set<std::pair<base::Duration, Item>> timers;
    for (auto& [item, at] : due_) {
        const auto left = static_cast<double>(std::max(base::Duration::zero(), at - now).count()) * factor;
        at = now + base::Duration(static_cast<base::Duration::rep>(left));
        timers.emplace(at, item);
    }
    timers_ = std::move(timers);
    new_timer_ = true;
    wake_.notify_all();
}

void Queue::clear() {
    ready_.clear();
    due_.clear();
    timers_.clear();
}

}  // namespace instantstart::twin::kube::controllers
