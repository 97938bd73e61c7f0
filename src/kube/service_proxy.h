// Requests to a service inside the cluster by way of the API server: nothing runs on the user's machine, and
// no load balancer is needed. For looking and for single calls; traffic of an application goes elsewhere.
#pragma once

#include <string>

#include "kube/client.h"

namespace instantstart::kube {

struct ServiceTarget {
    ServiceTarget() = default;
    std::string ns, name;
    std::string port;             // a number or the port's name
    std::string scheme = "http";  // or https
};

// The answer of the service itself, whatever its status. With `stream` the body comes piece by piece as the
// service sends it (server-sent events). Errors where the service could not be asked: code "NoEndpoints"
// (none of its pods is ready), "NotFound" (no such service), else the API server's own.
Task<http::Response> call_service(Client& client, Context context, ServiceTarget target, std::string method,
                                  std::string path, std::string body, bool stream);

}  // namespace instantstart::kube
