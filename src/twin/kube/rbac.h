// Who may do what: roles and their bindings.
#pragma once

#include <string>

#include "twin/kube/cluster.h"

namespace instantstart::twin::kube {

struct Attributes {
    Attributes() = default;
    std::string verb, group, resource, subresource, ns, name;
    std::string path;  // of a request that is not about a resource
};

bool is_authorised(const ObjectStore& objects, const User& user, const Attributes& asked);
// "User \"x\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"".
std::string refusal(const User& user, const Attributes& asked);
// The rules that hold for the user in a namespace, as SelfSubjectRulesReview lists them.
JsonArray rules_for(const ObjectStore& objects, const User& user, std::string_view ns);

}  // namespace instantstart::twin::kube
