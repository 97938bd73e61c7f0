#include "kube/follow_logs.h"

#include <algorithm>
#include <utility>

#include "rt/backoff.h"

namespace instantstart::kube {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxLine = std::size_t{1} << 20U;

// "2026-11-30T10:00:00.123456789Z rest": the kubelet leaves out trailing zeros, so times are compared with
// their fraction filled up.
std::string comparable(std::string_view time) {
    std::string text(time.substr(0, time.find('Z')));
    if (text.find('.') == std::string::npos) text += '.';
    text.resize(std::max<std::size_t>(text.size(), 29), '0');
    return text;
}

bool has_ended(const JsonObject& pod) {
    const auto phase = base::get_string(pod, "status.phase");
    return phase == "Succeeded" || phase == "Failed";
}

class Follower final : public http::BodyStream {
public:
    Follower(Client& client, rt::Clock& clock, Context context, std::string ns, std::string pod,
             LogOptions options)
        : client_(client),
          clock_(clock),
          context_(std::move(context)),
          ns_(std::move(ns)),
          pod_(std::move(pod)),
          with_times_(options.timestamps),
          options_(std::move(options)) {
        options_.follow = options_.timestamps = true;
    }

    Task<void> open() {
        CO_TRY(stream_, co_await client_.logs(context_, ns_, pod_, options_));
        co_return base::ok();
    }

    Task<std::optional<std::string>> read() override {
        while (true) {
            if (!stream_) {
                CO_TRY(const bool again, co_await reopen());
                if (!again) co_return std::optional<std::string>();
            }
            auto piece = co_await stream_->read();
            if (!piece.has_value() && piece.error().kind == base::ErrorKind::cancelled) {
                co_return std::move(piece).error();
            }
            const bool ended = !piece.has_value() || !*piece;
            if (!ended) buffer_ += **piece;
            if (ended) stream_.reset();
            // A line that a broken connection cut comes again whole; one that ends with its log is whole.
            auto lines = take_lines(ended && piece.has_value());
            if (ended) buffer_.clear();
            if (!lines.empty()) co_return std::optional<std::string>(std::move(lines));
        }
    }

private:
    // Whole lines that were not given before.
    std::string take_lines(bool all) {
        std::string lines;
        std::size_t begin = 0;
        while (begin < buffer_.size()) {
            auto end = buffer_.find('\n', begin);
            const bool whole = end != std::string::npos;
            if (!whole && !all && buffer_.size() - begin < kMaxLine) break;
            if (!whole) end = buffer_.size();
            take_line(std::string_view(buffer_).substr(begin, end - begin), lines);
            begin = std::min(buffer_.size(), end + 1);
        }
        buffer_.erase(0, begin);
        return lines;
    }

    void take_line(std::string_view line, std::string& lines) {
        const auto space = line.find(' ');
        const bool has_time = line.size() > 20 && line[4] == '-' && line[10] == 'T';
        if (has_time) {
            const auto time = comparable(line.substr(0, space));
            if (replaying_ && was_given(time)) return;
            replaying_ = false;
            given_at_last_ = time == last_time_ ? given_at_last_ + 1 : 1;
            last_time_ = time;
            backoff_.reset();
        }
        if (has_time && !with_times_) {
            line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
        }
        lines += line;
        lines += '\n';
    }

    // Of lines of one and the same moment as many were given as are counted.
    bool was_given(const std::string& time) {
        return time < last_time_ || (time == last_time_ && ++replayed_ <= given_at_last_);
    }

    // False where there is nothing more to come.
    Task<bool> reopen() {
        while (true) {
            const auto pods = known_resource("pods").value();
            auto pod = co_await client_.get(context_, pods, ns_, pod_);
            if (!pod.has_value() && pod.error().kind == base::ErrorKind::not_found) co_return false;
            if (!pod.has_value() && !is_passing(pod.error())) co_return std::move(pod).error();
            const bool last = pod.has_value() && has_ended(*pod);
            if (last && std::exchange(seen_ended_, true)) co_return false;
            if (!last) CO_CHECK_OK(co_await clock_.sleep(backoff_.next(clock_)));
            prepare();
            auto opened = co_await client_.logs(context_, ns_, pod_, options_);
            if (opened.has_value()) {
                stream_ = std::move(*opened);
                co_return true;
            }
            const auto kind = opened.error().kind;
            // A container that waits for its restart has no log to follow yet: BadRequest.
            const bool waits = is_passing(opened.error()) || kind == base::ErrorKind::invalid;
            if (kind == base::ErrorKind::not_found || (last && waits)) co_return false;
            if (!waits) co_return std::move(opened).error();
        }
    }

    static bool is_passing(const base::Error& error) {
        return error.kind == base::ErrorKind::unavailable || error.kind == base::ErrorKind::throttled ||
               error.kind == base::ErrorKind::unknown_outcome;
    }

    // Asks for what came since the last line; the server's precision is a second.
    void prepare() {
        if (last_time_.empty()) return;
        replaying_ = true;
        replayed_ = 0;
        options_.tail_lines = -1;
        options_.since_seconds = -1;
        options_.since_time = last_time_.substr(0, 19) + "Z";
    }

    Client& client_;
    rt::Clock& clock_;
    Context context_;
    std::string ns_, pod_;
    bool with_times_;
    LogOptions options_;
    std::unique_ptr<http::BodyStream> stream_;
    std::string buffer_;
    std::string last_time_;  // comparable, of the last line given
    std::size_t given_at_last_ = 0;
    bool replaying_ = false;  // after a new request: lines come again
    std::size_t replayed_ = 0;
    bool seen_ended_ = false;
    rt::Backoff backoff_{500ms, 10s};
};

}  // namespace

Task<std::unique_ptr<http::BodyStream>> follow_logs(Client& client, rt::Clock& clock, Context context,
                                                    std::string ns, std::string pod, LogOptions options) {
    auto follower = std::make_unique<Follower>(client, clock, std::move(context), std::move(ns),
                                               std::move(pod), std::move(options));
    CO_CHECK_OK(co_await follower->open());
    co_return std::unique_ptr<http::BodyStream>(std::move(follower));
}

}  // namespace instantstart::kube
