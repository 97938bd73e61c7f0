// Where credentials come from, in the order of the AWS SDKs, and their refresh before they expire.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "aws/profile.h"
#include "aws/sigv4.h"
#include "http/transport.h"
#include "rt/clock.h"

namespace instantstart::aws {

using rt::Context;
using rt::Task;

class CredentialSource {
public:
    virtual ~CredentialSource() = default;
    // Fresh credentials. Error{denied, "CredentialsUnavailable"} with what was tried where there are none.
    virtual Task<Credentials> fetch(Context context) = 0;
};

// What sources need to reach AWS and the machine.
struct SourceNeeds {
    Environment environment;
    http::Transport* transport = nullptr;
    rt::Clock* clock = nullptr;
    // One call of STS; with empty credentials it is not signed.
    std::function<Task<base::JsonObject>(Context, std::string operation, base::JsonObject parameters,
                                         Credentials)>
        sts;
};

// The chain: environment, profile (role_arn, web identity, keys), web identity of the environment, container,
// instance metadata. The first that is configured is the one; files are read anew at each fetch.
std::unique_ptr<CredentialSource> make_credential_chain(SourceNeeds needs);
std::unique_ptr<CredentialSource> make_fixed_credentials(Credentials credentials);

base::Error no_credentials(std::string why);

// Keeps credentials until they are near their end. While one caller fetches, others with usable ones go on
// and the rest wait.
class CredentialCache {
public:
    CredentialCache(std::unique_ptr<CredentialSource> source, rt::Clock& clock);
    Task<Credentials> get(Context context);
    // AWS said that these have expired: fetch again unless somebody already has.
    void expire(const Credentials& used);

private:
    bool usable(base::Duration margin) const;

    std::unique_ptr<CredentialSource> source_;
    rt::Clock& clock_;
    std::optional<Credentials> held_;
    bool fetching_ = false;
};

}  // namespace instantstart::aws
