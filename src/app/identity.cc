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
    auto answer = co_await aws_.call(std::move(context), "sts", "GetCallerIdentity", std::move(nothing));
    if (!answer) {
        if (answer.error().kind != base::ErrorKind::cancelled) {
            refusal_ = answer.error().wrapped("Asking AWS whose account this is");
            fresh_until_ = clock_.monotonic() + kRefused;
        }
        co_return std::move(answer).error();
    }
    refusal_.reset();
    known_.account = base::get_string(*answer, "Account");
    known_.caller_arn = base::get_string(*answer, "Arn");
    fresh_until_ = clock_.monotonic() + kGood;
    co_return known_;
}

}  // namespace instantstart::app
