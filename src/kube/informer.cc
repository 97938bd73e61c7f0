#include "kube/informer.h"

#include <algorithm>
#include <utility>

#include "kube/impl/feed.h"
#include "kube/list_into.h"
#include "rt/backoff.h"

namespace instantstart::kube {

namespace {

using namespace std::chrono_literals;

constexpr auto kFirstPause = 500ms;
constexpr auto kLongestRetryAfter = 60s;
constexpr auto kShortestWatch = 240s, kLongestWatch = 360s;
// A watch that ended sooner is no proof that the server is well.
constexpr auto kHealthyWatch = 5s;
constexpr int kSilentWatches = 2;

// The version is not one that this server knows, or what it sent cannot be read: the list tells the truth.
bool needs_list(const base::Error& problem) {
    if (problem.code == "Expired" || problem.code == "WatchBroken" || problem.code == "too_many_items") {
        return true;
    }
    // A server that was set back to an older state says so as a Timeout.
    if (problem.message.find("oo large resource version") != std::string::npos) return true;
    // A collection that was gone is another one when it is back.
    return problem.kind == base::ErrorKind::invalid || problem.kind == base::ErrorKind::not_found;
}

impl::FeedLimits limits_of(const ListOptions& options) {
    impl::FeedLimits limits;
    limits.objects = options.max_items;
    return limits;
}

}  // namespace

Informer::Informer(boost::asio::any_io_executor executor, Client& client, rt::Clock& clock, Table& table,
                   InformerOptions options)
    : client_(client),
      clock_(clock),
      table_(table),
      options_(std::move(options)),
      changed_(executor),
      hurried_(executor),
      tasks_(executor, "informer") {}

void Informer::start() {
    tasks_.spawn("informer " + options_.resource.plural, run());
}

boost::asio::awaitable<void> Informer::stop() {
    tasks_.cancel();
    co_await tasks_.join();
}

Task<void> Informer::wait_ready(base::Duration limit) {
    const auto deadline = clock_.monotonic() + limit;
    const auto failures = failures_, attempts = attempts_;
    const bool failed_before = error_.has_value();
    while (!ready_) {
        if (has_tried()) co_return *error_;
        const bool news = failures_ != failures && (!failed_before || failed_attempt_ > attempts);
        if (news && error_) co_return *error_;
        if (clock_.monotonic() >= deadline) {
            co_return base::Error(base::ErrorKind::deadline, "deadline", "the first list has not come yet");
        }
        CO_CHECK_OK(co_await wait_a_moment(deadline));
    }
    co_return base::ok();
}

Task<void> Informer::look_again(base::Duration limit) {
    const auto deadline = clock_.monotonic() + limit;
    const auto attempts = attempts_;
    while (error_ && failed_attempt_ <= attempts && !has_tried() && clock_.monotonic() < deadline) {
        CO_CHECK_OK(co_await wait_a_moment(deadline));
    }
    co_return base::ok();
}

Task<void> Informer::wait_a_moment(base::Duration deadline) {
    hurry();
    const auto moment = std::min<base::Duration>(kFirstHurryGap, deadline - clock_.monotonic());
    auto waited = co_await changed_.wait_for(clock_, moment);
    if (!waited.has_value() && waited.error().kind == base::ErrorKind::cancelled) co_return std::move(waited);
    co_return base::ok();
}

bool Informer::may_hurry() const {
    const auto now = clock_.monotonic();
    return now >= not_before_ && now - tried_at_ >= hurry_gap_;
}

void Informer::hurry() {
    if (error_ && !trying_ && may_hurry()) hurried_.notify_all();
}

const base::Error* Informer::error(base::Duration longer_than) const {
    if (!error_ || clock_.monotonic() - failing_since_ < longer_than) return nullptr;
    return &*error_;
}

void Informer::note(base::Error problem) {
    ++failures_;
    failed_attempt_ = attempts_;
    if (!error_) failing_since_ = clock_.monotonic();
    error_ = std::move(problem);
    changed_.notify_all();
}

void Informer::note_success() {
    if (!error_) return;
    error_.reset();
    changed_.notify_all();
}

Task<void> Informer::run() {
    rt::Backoff backoff(kFirstPause, options_.longest_pause);
    while (true) {
        tried_at_ = clock_.monotonic();
        ++attempts_;
        trying_ = true;
        const auto watches = watches_;
        auto went = co_await round();
        trying_ = false;
        const auto now = clock_.monotonic();
        base::Duration pause{};
        if (!went.has_value()) {
            auto& problem = went.error();
            if (problem.kind == base::ErrorKind::cancelled) co_return std::move(problem);
            if (needs_list(problem)) resource_version_.clear();
            if (problem.retry_after)
                pause = std::min<base::Duration>(*problem.retry_after, kLongestRetryAfter);
            not_before_ = now + pause;
            // An expired version is no trouble: it is what lists are for.
            if (problem.code != "Expired") note(std::move(problem));
        }
        // A server that ends every watch at once must not be asked in a tight loop.
        const bool healthy = watches_ > watches && now - tried_at_ > kHealthyWatch;
        if (healthy) {
            backoff.reset();
            hurry_gap_ = kFirstHurryGap;
        }
        if (went.has_value() && healthy) continue;
        pause = std::max(pause, backoff.next(clock_));
        auto hurried = co_await hurried_.wait_for(clock_, pause);
        if (hurried.has_value()) hurry_gap_ = std::min(hurry_gap_ * 2, kLongestHurryGap);
        if (!hurried.has_value() && hurried.error().kind == base::ErrorKind::cancelled) {
            co_return std::move(hurried);
        }
    }
}

Task<void> Informer::round() {
    if (resource_version_.empty()) CO_CHECK_OK(co_await relist());
    co_return co_await follow();
}

Task<void> Informer::relist() {
    CO_TRY(resource_version_,
           co_await list_into(client_, Context(), options_.resource, options_.list, table_));
    ++lists_;
    ready_ = true;
    note_success();
    changed_.notify_all();
    co_return base::ok();
}

Task<void> Informer::follow() {
    WatchOptions watch;
    watch.resource_version = resource_version_;
    watch.silence = options_.silence;
    // Not all watches of all clients end at the same time.
    const auto low = std::chrono::duration<double>(kShortestWatch).count();
    const auto high = std::chrono::duration<double>(kLongestWatch).count();
    watch.length = std::chrono::seconds(static_cast<int>(clock_.random_between(low, high)));
    CO_TRY(const auto stream,
           co_await client_.watch_stream(Context(), options_.resource, options_.list, watch));
    ++watches_;
    note_success();
    impl::WatchFeed feed(table_, limits_of(options_.list));
    std::uint64_t counted = 0;
    while (true) {
        auto piece = co_await stream->read();
        if (!piece.has_value()) {
            auto& problem = piece.error();
            const bool silent = problem.code == "timeout" && feed.events() == 0;
            if (!silent) co_return std::move(problem);
            // The server may have been set back to an older state and wait for what it never had.
            if (++silent_watches_ >= kSilentWatches) resource_version_.clear();
            co_return base::ok();
        }
        if (!*piece) co_return base::ok();
        auto written = feed.write(**piece);
        // What was applied before an error stays applied, and so does its version.
        events_ += feed.events() - std::exchange(counted, feed.events());
        if (!feed.resource_version().empty()) resource_version_ = feed.resource_version();
        if (feed.events() > 0) silent_watches_ = 0;
        if (!written.has_value()) co_return std::move(written);
        changed_.notify_all();
    }
}

}  // namespace instantstart::kube
