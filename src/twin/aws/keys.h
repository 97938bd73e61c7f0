// Access keys of the account, as the signature check asks for them. The IAM service holds them; STS adds
// sessions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "twin/aws/world.h"

namespace instantstart::twin {

struct AccessKey {
    AccessKey() = default;
    std::string secret;
    std::string session_token;         // "" for long-lived keys
    std::optional<TimePoint> expires;  // sessions only
    Identity identity;
};

class Keys {
public:
    virtual ~Keys() = default;
    virtual std::optional<AccessKey> find_key(std::string_view access_key) const = 0;
    virtual void add_key(std::string access_key, AccessKey key) = 0;
    // The role's ARN with its path; "" where there is none of that name.
    virtual std::string role_arn(std::string_view role_name) const = 0;
    // The whole role, for STS; null where there is none.
    virtual const JsonObject* role_by_arn(std::string_view arn) const = 0;
};

}  // namespace instantstart::twin
