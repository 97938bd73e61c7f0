// What operators that run in a cluster write there, as far as others wait for it: cert-manager signs
// Certificates and puts its authority into webhooks, KEDA's operator makes the certificates of its servers.
// They work where their Deployments are available, whoever installed them.
#pragma once

#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

// Follows the cluster's objects from now on; the subscription is kept in the state.
void watch_operators(State& state, const std::string& cluster);
void operator_timer(State& state, const JsonObject& payload);

}  // namespace instantstart::twin::eks
