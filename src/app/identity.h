// Identity: which account and principal the credentials stand for, asked from STS and remembered for a while.
// Owned by the composition root; no background work.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "aws/client.h"
#include "rt/clock.h"

namespace instantstart::app {

struct AccountIdentity {
    AccountIdentity() = default;
    std::string account, caller_arn;
};

class Identity {
public:
    Identity(aws::Client& aws, rt::Clock& clock) : aws_(aws), clock_(clock) {}
    // A good answer is kept for 15 minutes, a refusal for 5 seconds.
    rt::Task<AccountIdentity> get(rt::Context context);
    // Asked once for each answer of STS: an error stands for the identity itself (credentials of another
    // account than the data folder's). Set by the composition root, may be empty.
    std::function<rt::Task<void>(rt::Context, AccountIdentity)> accept;
    // The account as last known, "" before the first answer. Makes no call.
    std::string known_account() const { return known_.account; }

private:
    aws::Client& aws_;
    rt::Clock& clock_;
    AccountIdentity known_;
    std::optional<base::Error> refusal_;
    base::Duration fresh_until_ = base::Duration::min();
};

}  // namespace instantstart::app
