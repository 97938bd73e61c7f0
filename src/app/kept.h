// Kept: a value that takes long to read, for readers that ask often. A fresh one answers at once; an older
// one still answers while it is read again in the background; readers of one that is too old share one
// reading.
//
// How long a value is fresh grows with what it costs to read, up to a bound, so that a large cluster does not
// spend its AWS rate, nor we our loop, on being looked at. One that says `degraded` of itself (a part could
// not be read) was slow by failure, not by size: it is kept for the shortest time. A reading that was begun
// in time and takes longer than usual keeps nobody waiting either, for half a minute. Where one reading takes
// longer than `patience` an older value answers even if it is of another version: nobody waits for half a
// minute to see what has changed a moment ago. One loop.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rt/clock.h"
#include "rt/event.h"
#include "rt/task_group.h"

namespace instantstart::app {

struct KeptSettings {
    KeptSettings() = default;
    base::Duration freshest = std::chrono::seconds(10);  // the longest that a value is fresh
    int times = 3;                                       // fresh for so many times what it took to read
    base::Duration patience = base::Duration::max();     // see above
};

template <class T>
class Kept {
public:
    using Value = std::shared_ptr<const T>;
    using Read = std::function<rt::Task<T>()>;

    static constexpr base::Duration kFresh = std::chrono::seconds(2);
    static constexpr base::Duration kGrace = std::chrono::seconds(3);  // beyond fresh, while it is read again
    static constexpr base::Duration kSlow =
        std::chrono::seconds(30);  // beyond that, where reading takes long

    Kept(boost::asio::any_io_executor executor, rt::Clock& clock, KeptSettings settings = KeptSettings())
        : clock_(clock), settings_(settings), changed_(executor) {}

    // `version` names what the value depends on: one of another version answers nobody. `tasks` runs the
    // reading, whoever asked for it; it is stopped before this dies.
    rt::Task<Value> get(rt::TaskGroup& tasks, std::string version, Read read) {
        bool joined = false;  // a reading for this version has been waited for
        while (true) {
            const bool same = value_ && version_ == version;
            const bool fits = same || (value_ && took_ > settings_.patience);
            const auto age = clock_.monotonic() - made_;
            if (same && age < fresh()) co_return value_;
            if (joined && !running_) {
                // Read after it was asked for, if perhaps for another version.
                if (error_) co_return *error_;
                co_return value_;
            }
            const auto young = fresh() + kGrace + 4 * took_;
            const bool comes = running_ && begun_in_time_ && age < young + kSlow;
            if (fits && !joined && (age < young || comes)) {
                if (!running_) begun_in_time_ = start(tasks, version, read);
                co_return value_;
            }
            if (!running_ && !start(tasks, version, read)) co_return base::cancelled_error();
            joined = joined || reading_ == version;
            if (running_) CO_CHECK_OK(co_await changed_.wait());
        }
    }

private:
    base::Duration fresh() const {
        return std::clamp<base::Duration>(settings_.times * took_, kFresh, settings_.freshest);
    }

    static bool is_degraded(const T& value) {
        if constexpr (requires { value.degraded; }) return value.degraded;
        return false;
    }

    // False where nothing can be started any more.
    bool start(rt::TaskGroup& tasks, std::string version, Read read) {
        if (running_) return true;
        running_ = true;
        begun_in_time_ = false;
        reading_ = version;
        const bool started = tasks.spawn("read", run(std::move(version), std::move(read)));
        if (!started) running_ = false;
        return started;
    }

    rt::Task<void> run(std::string version, Read read) {
        const auto began = clock_.monotonic();
        auto found = co_await read();
        running_ = false;
        error_.reset();
        if (found.has_value()) {
            took_ = is_degraded(*found) ? base::Duration() : clock_.monotonic() - began;
            value_ = std::make_shared<const T>(std::move(*found));
            version_ = std::move(version);
            made_ = clock_.monotonic();
        } else {
            error_ = std::move(found).error();
        }
        changed_.notify_all();
        co_return base::ok();
    }

    rt::Clock& clock_;
    KeptSettings settings_;
    Value value_;
    std::string version_;
    base::Duration made_{}, took_{};  // took_: what the value cost; zero of a degraded one
    std::optional<base::Error> error_;
    bool running_ = false;
    bool begun_in_time_ = false;  // the reading that runs, while the value was young
    std::string reading_;         // the version of the reading that runs, or ran last
    rt::Event changed_;
};

}  // namespace instantstart::app
