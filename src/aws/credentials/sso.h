// IAM Identity Center (SSO): the token that `aws sso login` left in ~/.aws/sso/cache, exchanged for keys of a
// role.
#pragma once

#include "aws/credentials.h"

namespace instantstart::aws {

// Whether the profile means SSO: it names sso_account_id or sso_role_name.
bool uses_sso(const Profiles& profiles, const std::string& profile);

// A token of an `sso_session` that is near its end is renewed where the cache holds what that takes, and the
// cache is rewritten. Otherwise: Error{denied, "CredentialsExpired"} with the command that signs in.
Task<Credentials> from_sso(Context context, const SourceNeeds& needs, Profiles profiles, std::string profile);

// The file of a token below the home folder: named by the SHA-1 of the session's name, or of the start URL.
std::string sso_token_file(const Environment& environment, const std::string& session_or_url);

}  // namespace instantstart::aws
