// The Kubernetes client: dynamic, for one API server. Objects are JSON as on the wire.
//
// Errors: kind from the Status reason (NotFound → not_found, Conflict/AlreadyExists → conflict,
// Invalid/BadRequest → invalid, Forbidden/Unauthorized → denied, TooManyRequests → throttled, 5xx →
// unavailable, but for a mutation that may have been done: unknown_outcome), `code` is the reason
// ("NotFound", "AlreadyExists", "Expired", "Unauthorized", …), `message` the server's. Where the server
// cannot be reached: code "KubernetesUnreachable", with the reason in `message` and the remedy in `hint`. A
// lost answer of a write that cannot be repeated safely (create with generateName) is unknown_outcome; apply,
// patch and delete are repeated.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "http/transport.h"
#include "rt/clock.h"
#include "rt/context.h"

namespace instantstart::kube {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using rt::Context;
using rt::Task;

// A kind of object. `plural` is the resource name of the URL.
struct Resource {
    Resource() = default;
    Resource(std::string group, std::string version, std::string plural, std::string kind, bool namespaced)
        : group(std::move(group)),
          version(std::move(version)),
          plural(std::move(plural)),
          kind(std::move(kind)),
          namespaced(namespaced) {}
    std::string group, version, plural, kind;
    bool namespaced = true;
    std::string api_version() const;  // "v1", "apps/v1"
    std::string path(std::string_view ns, std::string_view name = "",
                     std::string_view subresource = "") const;
};

// The built-in kinds that the product uses, by their plural and group ("deployments.apps", "pods",
// "customresourcedefinitions.apiextensions.k8s.io").
std::optional<Resource> known_resource(std::string_view plural_and_group);

struct ListOptions {
    ListOptions() = default;
    std::string ns;  // "" = all namespaces
    std::string label_selector, field_selector;
    std::int64_t page_size = 500;
    std::size_t max_items = 200'000;
};

struct WatchOptions {
    WatchOptions() = default;
    std::string resource_version;
    // The server ends the watch by itself after about this long.
    base::Duration length = std::chrono::seconds(290);
    // Nothing at all for this long, not even a bookmark: the connection is dead (error code "timeout").
    base::Duration silence = std::chrono::seconds(320);
};

struct LogOptions {
    LogOptions() = default;
    std::string container;
    bool follow = false, timestamps = false, previous = false;
    std::int64_t tail_lines = -1;
    std::int64_t since_seconds = -1;
    std::string since_time;  // RFC 3339; the server's precision is a second
};

class Client {
public:
    virtual ~Client() = default;
    virtual Task<JsonObject> get(Context context, Resource resource, std::string ns, std::string name) = 0;
    // {"items": […], "resourceVersion": "…"}: all pages together.
    virtual Task<JsonObject> list(Context context, Resource resource, ListOptions options) = 0;
    virtual Task<JsonObject> create(Context context, Resource resource, JsonObject object) = 0;
    virtual Task<JsonObject> replace(Context context, Resource resource, JsonObject object) = 0;
    // Server-side apply under field manager "instantstart", forced. `object` names apiVersion, kind,
    // metadata.name (and namespace); its kind is resolved by known_resource or discovery.
    virtual Task<JsonObject> apply(Context context, JsonObject object) = 0;
    // The same with dryRun=All: what the server would store.
    virtual Task<JsonObject> apply_dry_run(Context context, JsonObject object) = 0;
    // `content_type`: application/merge-patch+json, application/json-patch+json,
    // application/strategic-merge-patch+json.
    virtual Task<JsonObject> patch(Context context, Resource resource, std::string ns, std::string name,
                                   JsonValue patch, std::string content_type, std::string subresource) = 0;
    // Propagation "Background", "Foreground" or "Orphan". Absent is not an error: false.
    virtual Task<bool> remove(Context context, Resource resource, std::string ns, std::string name,
                              std::string propagation) = 0;
    // One page as it comes from the wire, after the continue token `next`; page_size 0 asks for all at once.
    // For readers that take objects apart themselves (Informer). Tried once: they try again in their own way.
    virtual Task<std::unique_ptr<http::BodyStream>> list_stream(Context context, Resource resource,
                                                                ListOptions options, std::string next) = 0;
    // The events of a watch with bookmarks as they come from the wire.
    virtual Task<std::unique_ptr<http::BodyStream>> watch_stream(Context context, Resource resource,
                                                                 ListOptions options, WatchOptions watch) = 0;
    virtual Task<std::unique_ptr<http::BodyStream>> logs(Context context, std::string ns, std::string pod,
                                                         LogOptions options) = 0;
    // By apiVersion and kind, from known_resource or discovery (cached; asked again once on a miss).
    virtual Task<Resource> resolve(Context context, std::string api_version, std::string kind) = 0;
    // Any request of the API server's own paths ("/version", service proxies). Without an Accept among
    // `headers` JSON is asked for, without a Content-Type a body is JSON.
    virtual Task<http::Response> raw(Context context, std::string method, std::string target,
                                     http::Headers headers, std::string body, bool stream) = 0;
};

struct Endpoint {
    Endpoint() = default;
    std::string url;     // "https://host:port[/prefix]"
    std::string ca_pem;  // "" = the machine's authorities
    // Gives a bearer token; `fresh` asks for a new one (after a 401).
    std::function<Task<std::string>(Context, bool fresh)> token;
};

std::unique_ptr<Client> make_client(Endpoint endpoint, http::Transport& transport, rt::Clock& clock);

}  // namespace instantstart::kube
