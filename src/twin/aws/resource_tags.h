// ResourceTags: what a service knows of its resources' tags, for the authoriser. AWS judges a call by the
// tags that the resource has, also in the seconds in which its own Describe calls do not show a fresh
// resource yet.
#pragma once

#include <string_view>

#include "twin/aws/world.h"

namespace instantstart::twin {

// Implemented by services whose actions policies limit by tags, beside Service.
class ResourceTags {
public:
    virtual ~ResourceTags() = default;
    // [{"Key": …, "Value": …}]; empty where nothing has that ARN.
    virtual JsonArray resource_tags(std::string_view arn) const = 0;
};

}  // namespace instantstart::twin
