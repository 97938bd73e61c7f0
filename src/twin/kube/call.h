// One request to an API server, taken apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "http/message.h"
#include "twin/kube/kinds.h"

namespace instantstart::twin::kube {

struct ApiCall {
    ApiCall() = default;
    std::string method;
    std::string path;  // below /clusters/NAME
    std::vector<std::string> segments;
    http::Request request;
    User user;

    // Of a resource path; `plural` is "" for others.
    std::string group, version, ns, plural, name, subresource;
    KindPtr kind;             // null: no such kind
    bool watch_path = false;  // the older way to ask for a watch: /api/v1/watch/…

    std::string parameter(std::string_view key) const { return request.parameter(key).value_or(""); }
    bool flag(std::string_view key) const;
    bool dry_run() const;
    bool is_watch() const { return method == "GET" && (watch_path || flag("watch")); }
    // get, list, watch, create, update, patch, delete, deletecollection.
    std::string verb() const;
    // Who writes: the fieldManager parameter, else the first word of User-Agent.
    std::string manager() const;
    // "pods \"x\"" or "pods" with the group, as refusals name it.
    bool is_resource() const { return !plural.empty(); }
};

// `below` is the target without the cluster's prefix, with the query.
ApiCall parse_call(http::Request request, std::string_view path_below, const KindRegistry& kinds);

}  // namespace instantstart::twin::kube
