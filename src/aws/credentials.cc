#include "aws/credentials.h"

#include <algorithm>

namespace instantstart::aws {

namespace {

constexpr base::Duration kAdvisory = std::chrono::minutes(10);   // refreshed by whoever comes first
constexpr base::Duration kMandatory = std::chrono::seconds(60);  // not used any more
constexpr base::Duration kPoll = std::chrono::milliseconds(50);
constexpr base::Duration kPauseFirst = std::chrono::seconds(1);
constexpr int kDoublingsMost = 5;  // to half a minute

class FixedSource final : public CredentialSource {
public:
    explicit FixedSource(Credentials credentials) : credentials_(std::move(credentials)) {}
    Task<Credentials> fetch(Context) override { co_return credentials_; }

private:
    Credentials credentials_;
};

// Says that somebody is fetching, for as long as it lives: also where the fetch is cancelled.
class Fetching {
public:
    explicit Fetching(bool& flag) : flag_(flag) { flag_ = true; }
    ~Fetching() { flag_ = false; }
    Fetching(const Fetching&) = delete;
    Fetching& operator=(const Fetching&) = delete;

private:
    bool& flag_;
};

bool same_keys(const Credentials& one, const Credentials& other) {
    return one.access_key == other.access_key && one.session_token == other.session_token;
}

}  // namespace

base::Error no_credentials(std::string why) {
    return base::Error(base::ErrorKind::denied, "CredentialsUnavailable", "no AWS credentials: " + why)
        .with_hint(
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where a role is "
            "attached. `instantstart doctor` shows what is tried.");
}

base::Error expired_credentials(std::string why, std::string hint) {
    return base::Error(base::ErrorKind::denied, "CredentialsExpired", std::move(why))
        .with_hint(std::move(hint));
}

std::unique_ptr<CredentialSource> make_fixed_credentials(Credentials credentials) {
    if (credentials.source.empty()) credentials.source = "given to the program";
    return std::make_unique<FixedSource>(std::move(credentials));
}

CredentialCache::CredentialCache(std::unique_ptr<CredentialSource> source, rt::Clock& clock)
    : source_(std::move(source)), clock_(clock) {}

bool CredentialCache::usable(base::Duration margin) const {
    if (!held_) return false;
    return !held_->expires || *held_->expires - clock_.now() > margin;
}

void CredentialCache::expire(const Credentials& used) {
    if (held_ && same_keys(*held_, used)) refused_ = true;
}

// What there is while the source may not be asked. Refused credentials go out again: AWS's own words say best
// what is wrong with them.
base::Result<Credentials> CredentialCache::held_or_error() const {
    if (usable(mandatory_)) return *held_;
    if (failure_) return *failure_;
    return no_credentials("none are held");
}

Task<Credentials> CredentialCache::get(Context context) {
    while (true) {
        if (usable(advisory_) && !refused_) co_return *held_;
        const bool paused = clock_.monotonic() < not_before_;
        if (paused) co_return held_or_error();
        if (!fetching_) break;
        if (usable(mandatory_) && !refused_) co_return *held_;
        const std::uint64_t before = fetches_;
        while (fetching_ && fetches_ == before) CO_CHECK_OK(co_await clock_.sleep(kPoll));
        if (fetches_ != before) co_return held_or_error();
    }
    co_return co_await fetch(std::move(context));
}

Task<Credentials> CredentialCache::fetch(Context context) {
    const Fetching mark(fetching_);
    auto fetched = co_await source_->fetch(context);
    if (!fetched.has_value() && fetched.error().kind == base::ErrorKind::cancelled)
        co_return std::move(fetched).error();
    ++fetches_;
    auto taken = fetched.has_value() ? adopt(std::move(fetched).value())
                                     : base::Result<void>(std::move(fetched).error());
    if (taken.has_value()) co_return *held_;
    failure_ = std::move(taken).error();
    // The call that wanted credentials has not been sent, whatever became of the one that asked for them.
    if (failure_->kind == base::ErrorKind::unknown_outcome) failure_->kind = base::ErrorKind::unavailable;
    pause();
    if (refused_ || !usable(mandatory_)) {
        held_.reset();
        refused_ = false;
        co_return *failure_;
    }
    context.log(base::LogLevel::warn, "credential_refresh_failed",
                {{"error", base::JsonValue(failure_->chain())}});
    co_return *held_;
}

base::Result<void> CredentialCache::adopt(Credentials fetched) {
    const bool same = refused_ && held_ && same_keys(*held_, fetched);
    const base::Duration left =
        fetched.expires ? base::Duration(*fetched.expires - clock_.now()) : base::Duration::max();
    if (left <= base::Duration::zero()) {
        return expired_credentials("the AWS credentials expired at " + base::format_time(*fetched.expires) +
                                       " (" + fetched.source + "); this machine's clock says " +
                                       base::format_time(clock_.now()),
                                   "Renew them where they come from, and check this machine's clock.");
    }
    // Short-lived ones are used for most of their life.
    advisory_ = std::min(kAdvisory, left / 3);
    mandatory_ = std::min(kMandatory, left / 6);
    held_ = std::move(fetched);
    failure_.reset();
    refused_ = same;
    if (same) {
        pause();
        return base::ok();
    }
    failures_ = 0;
    not_before_ = base::Duration::zero();
    return base::ok();
}

void CredentialCache::pause() {
    const int doublings = std::min(failures_++, kDoublingsMost);
    const double jitter = clock_.random_between(0.8, 1.0);
    const auto wait = std::chrono::duration<double>(kPauseFirst) * (1 << doublings) * jitter;
    not_before_ = clock_.monotonic() + std::chrono::duration_cast<base::Duration>(wait);
}

}  // namespace instantstart::aws
