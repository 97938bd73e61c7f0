#include "aws/credentials.h"

namespace instantstart::aws {

namespace {

constexpr auto kAdvisory = std::chrono::minutes(10);   // refreshed by whoever comes first
constexpr auto kMandatory = std::chrono::seconds(60);  // not used any more
constexpr auto kPoll = std::chrono::milliseconds(50);

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

}  // namespace

base::Error no_credentials(std::string why) {
    return base::Error(base::ErrorKind::denied, "CredentialsUnavailable", "no AWS credentials: " + why)
        .with_hint(
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or run where a role is "
            "attached.");
}

std::unique_ptr<CredentialSource> make_fixed_credentials(Credentials credentials) {
    return std::make_unique<FixedSource>(std::move(credentials));
}

CredentialCache::CredentialCache(std::unique_ptr<CredentialSource> source, rt::Clock& clock)
    : source_(std::move(source)), clock_(clock) {}

bool CredentialCache::usable(base::Duration margin) const {
    if (!held_) return false;
    return !held_->expires || *held_->expires - clock_.now() > margin;
}

void CredentialCache::expire(const Credentials& used) {
    if (held_ && held_->access_key == used.access_key && held_->session_token == used.session_token)
        held_.reset();
}

Task<Credentials> CredentialCache::get(Context context) {
    while (fetching_ && !usable(kMandatory)) CO_CHECK_OK(co_await clock_.sleep(kPoll));
    if (usable(kAdvisory) || (fetching_ && usable(kMandatory))) co_return *held_;
    const Fetching mark(fetching_);
    auto fetched = co_await source_->fetch(context);
    if (fetched.has_value()) {
        held_ = fetched.value();
        co_return std::move(fetched).value();
    }
    if (usable(kMandatory)) {
        context.log(base::LogLevel::warn, "credential_refresh_failed",
                    {{"error", base::JsonValue(fetched.error().chain())}});
        co_return *held_;
    }
    co_return std::move(fetched).error();
}

}  // namespace instantstart::aws
