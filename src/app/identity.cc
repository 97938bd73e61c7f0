#include "app/identity.h"

namespace instantstart::app {

namespace {
constexpr auto kGood = std::chrono::minutes(15);
constexpr auto kRefused = std::chrono::seconds(5);
}  // namespace

rt::Task<AccountIdentity> Identity::get(rt::Context context) {
    if (clock_.monotonic() < fresh_until_) {
        if (refusal_) co_return *refusal_;
        co_return known_;
    }
    aws::JsonObject nothing;
    auto answer = co_await aws_.call(context, "sts", "GetCallerIdentity", std::move(nothing));
    if (!answer) {
        if (answer.error().kind != base::ErrorKind::cancelled) {
            refusal_ = answer.error().wrapped("Asking AWS whose account this is");
            fresh_until_ = clock_.monotonic() + kRefused;
        }
        co_return std::move(answer).error();
    }
    AccountIdentity found;
    found.account = base::get_string(*answer, "Account");
    found.caller_arn = base::get_string(*answer, "Arn");
    if (accept) {
        auto accepted = co_await accept(std::move(context), found);
        if (!accepted) {
            if (accepted.error().kind != base::ErrorKind::cancelled) {
                refusal_ = accepted.error();
                fresh_until_ = clock_.monotonic() + kRefused;
            }
            co_return std::move(accepted).error();
        }
    }
    refusal_.reset();
    known_ = std::move(found);
    fresh_until_ = clock_.monotonic() + kGood;
    co_return known_;
}

}  // namespace instantstart::app
