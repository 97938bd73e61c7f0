// What the sources of credentials share: local HTTP questions and the documents that answer them.
#pragma once

#include <string>

#include "aws/credentials.h"

namespace instantstart::aws {

// The keys of a JSON document in the form of STS and of the metadata services: AccessKeyId, SecretAccessKey,
// Token or SessionToken, Expiration. `source` says who answered; an error where a key is missing.
base::Result<Credentials> credentials_of(const base::JsonObject& document, const std::string& source);
base::Result<base::JsonObject> object_of(const std::string& text, const std::string& source);

base::Result<http::Request> local_request(const std::string& method, const std::string& url);

// What a service of the machine answered. Where it did not, `failure` says how, in words for people.
struct LocalAnswer {
    LocalAnswer() = default;
    http::Response response;
    std::string failure;     // "" = there is a response
    bool connected = false;  // the connection stood, but no answer came
};
// One question, never proxied. An error only where it was cancelled.
Task<LocalAnswer> ask_locally(Context context, http::Transport& transport, http::Request request,
                              base::Duration timeout);

// An error of a call that gets credentials, for whoever wanted them: what is refused for good becomes
// "CredentialsUnavailable" ("CredentialsExpired" stays); what may pass keeps its kind.
base::Error source_error(const base::Error& cause, const std::string& trying);

// Text of others in a message of ours: one line without control characters, at most `most` bytes.
std::string cleaned(std::string_view text, std::size_t most = 300);

}  // namespace instantstart::aws
