// What an API server's refusals mean, and what it means not to reach it.
#pragma once

#include <string>

#include "base/error.h"
#include "kube/client.h"

namespace instantstart::kube::impl {

// The error of an answer of 400 or more, from its Status body where it has one.
base::Error error_of(int http_status, const std::string& body, std::string retry_after);
// Whether a mutation that ended so may have been done all the same.
bool may_have_been_done(const base::Error& error, int http_status);
// The error of a Status object, as it comes within a watch.
base::Error error_of_status(const JsonObject& status);
// No answer at all: code KubernetesUnreachable with extra "reason": dns, refused, tls or timeout.
base::Error unreachable(const base::Error& cause, const std::string& url);

}  // namespace instantstart::kube::impl
