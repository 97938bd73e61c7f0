// Where credentials come from, in the order of the AWS SDKs, and their refresh before they expire.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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
    // Fresh credentials. Error{denied}: "CredentialsUnavailable" where there are none or a source refuses,
    // "CredentialsExpired" where the user must sign in again; both say which file, profile or address. A
    // source that could not be asked (STS is away) is `unavailable` or `throttled`, as of any call.
    virtual Task<Credentials> fetch(Context context) = 0;
    // What the last fetch looked at before it ended, in order, in words for people.
    virtual std::vector<std::string> tried() const { return {}; }
};

// One call of STS, SSO or SSO OIDC. With empty credentials it is not signed.
struct SourceCall {
    SourceCall() = default;
    std::string service, operation;
    base::JsonObject parameters;
    Credentials credentials;
    std::string region;  // "" = the client's
};

// What sources need to reach AWS and the machine.
struct SourceNeeds {
    Environment environment;
    http::Transport* transport = nullptr;
    rt::Clock* clock = nullptr;
    std::function<Task<base::JsonObject>(Context, SourceCall)> call;
};

// The chain of docs/how-to/credentials.md. The first source that is configured is the one: where it fails,
// none after it is tried. Files and variables are read anew at each fetch.
std::unique_ptr<CredentialSource> make_credential_chain(SourceNeeds needs);
std::unique_ptr<CredentialSource> make_fixed_credentials(Credentials credentials);

base::Error no_credentials(std::string why);
base::Error expired_credentials(std::string why, std::string hint);

// Keeps credentials until they are near their end. However many callers there are, one fetches: those who
// need not wait go on with what is held, the rest share what the fetch brings, a failure too. A source that
// fails is asked again after a pause (1 s, doubling to 30 s), not by every call.
class CredentialCache {
public:
    CredentialCache(std::unique_ptr<CredentialSource> source, rt::Clock& clock);
    Task<Credentials> get(Context context);
    // AWS said that these have expired: fetch again unless somebody already has.
    void expire(const Credentials& used);
    const CredentialSource& source() const { return *source_; }

private:
    bool usable(base::Duration margin) const;
    Task<Credentials> fetch(Context context);
    base::Result<void> adopt(Credentials fetched);
    base::Result<Credentials> held_or_error() const;
    void pause();

    std::unique_ptr<CredentialSource> source_;
    rt::Clock& clock_;
    std::optional<Credentials> held_;
    base::Duration advisory_{},
        mandatory_{};       // of what is held: refreshed, and not used, so long before its end
    bool refused_ = false;  // AWS calls what is held expired
    bool fetching_ = false;
    std::uint64_t fetches_ = 0;  // that have ended
    int failures_ = 0;           // in a row
    base::Duration not_before_{};
    std::optional<base::Error> failure_;
};

}  // namespace instantstart::aws
