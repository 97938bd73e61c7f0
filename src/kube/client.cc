#include "kube/client.h"

#include <map>
#include <utility>

#include "base/text.h"
#include "kube/impl/api_server.h"
#include "kube/impl/resources.h"

namespace instantstart::kube {

namespace {

using namespace std::chrono_literals;
using base::ErrorKind;
using impl::Call;

constexpr std::string_view kManager = "fieldManager=instantstart";
constexpr auto kPageSilence = 30s;
constexpr auto kFollowSilence = 4h;  // a followed log may say nothing for long

class Query {
public:
    void add(std::string_view name, std::string_view value) {
        text_ += text_.empty() ? '?' : '&';
        text_ += std::string(name) + "=" + base::percent_encode(value);
    }
    void add_if(std::string_view name, std::string_view value) {
        if (!value.empty()) add(name, value);
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

Query selectors(const ListOptions& options) {
    Query query;
    query.add_if("labelSelector", options.label_selector);
    query.add_if("fieldSelector", options.field_selector);
    return query;
}

Query page_query(const ListOptions& options, const std::string& next) {
    Query query = selectors(options);
    if (options.page_size > 0) query.add("limit", std::to_string(options.page_size));
    query.add_if("continue", next);
    return query;
}

bool is_expired(const base::Error& error) {
    return error.code == "Expired";
}

// Items of a list carry neither apiVersion nor kind; a caller wants whole objects.
void name_kind(JsonObject& object, const Resource& resource) {
    if (!object.contains("apiVersion")) object["apiVersion"] = resource.api_version();
    if (!object.contains("kind")) object["kind"] = resource.kind;
}

struct Page {
    Page() = default;
    JsonArray items;
    std::string resource_version, next;
};

class ApiClient final : public Client {
public:
    ApiClient(Endpoint endpoint, http::Transport& transport, rt::Clock& clock)
        : server_(std::move(endpoint), transport, clock) {}

    Task<JsonObject> get(Context context, Resource resource, std::string ns, std::string name) override {
        if (name.empty()) co_return base::invalid_error("invalid_name", "a name is needed");
        Call call("GET", resource.path(ns, name));
        co_return co_await server_.json(context, std::move(call));
    }

    Task<JsonObject> list(Context context, Resource resource, ListOptions options) override {
        for (int round = 1;; ++round) {
            // The last attempt takes all at once: pages of a changing collection may expire again and again.
            if (round == 3) options.page_size = 0;
            auto all = co_await list_pages(context, resource, options);
            if (all.has_value() || !is_expired(all.error()) || round == 3) co_return all;
        }
    }

    Task<JsonObject> create(Context context, Resource resource, JsonObject object) override {
        Call call("POST", resource.path(base::get_string(object, "metadata.namespace")) + "?" +
                              std::string(kManager));
        call.body = base::to_text(object);
        call.content_type = "application/json";
        call.repeatable = false;
        co_return co_await server_.json(context, std::move(call));
    }

    Task<JsonObject> replace(Context context, Resource resource, JsonObject object) override {
        const auto name = base::get_string(object, "metadata.name");
        if (name.empty()) co_return base::invalid_error("invalid_name", "the object has no name");
        Call call("PUT", resource.path(base::get_string(object, "metadata.namespace"), name) + "?" +
                             std::string(kManager));
        call.body = base::to_text(object);
        call.content_type = "application/json";
        // With a resourceVersion a second attempt would be refused as a conflict with the first.
        call.repeatable = base::get_string(object, "metadata.resourceVersion").empty();
        co_return co_await server_.json(context, std::move(call));
    }

    Task<JsonObject> apply(Context context, JsonObject object) override {
        return apply_with(std::move(context), std::move(object), "");
    }
    Task<JsonObject> apply_dry_run(Context context, JsonObject object) override {
        return apply_with(std::move(context), std::move(object), "&dryRun=All");
    }

    Task<JsonObject> patch(Context context, Resource resource, std::string ns, std::string name,
                           JsonValue patch, std::string content_type, std::string subresource) override {
        if (name.empty()) co_return base::invalid_error("invalid_name", "a name is needed");
        Call call("PATCH", resource.path(ns, name, subresource) + "?" + std::string(kManager));
        call.body = base::to_text(patch);
        call.content_type = std::move(content_type);
        co_return co_await server_.json(context, std::move(call));
    }

    Task<bool> remove(Context context, Resource resource, std::string ns, std::string name,
                      std::string propagation) override {
        // Without a name the path would be the collection's, and the call would remove all of it.
        if (name.empty()) co_return base::invalid_error("invalid_name", "a name is needed");
        Call call("DELETE", resource.path(ns, name));
        JsonObject options{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
        if (!propagation.empty()) options["propagationPolicy"] = propagation;
        call.body = base::to_text(options);
        call.content_type = "application/json";
        auto removed = co_await server_.json(context, std::move(call));
        if (removed.has_value()) co_return true;
        if (removed.error().kind == ErrorKind::not_found) co_return false;
        co_return std::move(removed).error();
    }

    Task<std::unique_ptr<http::BodyStream>> list_stream(Context context, Resource resource,
                                                        ListOptions options, std::string next) override {
        Call call("GET", resource.path(options.ns) + page_query(options, next).text());
        call.stream = true;
        call.attempts = 1;
        call.read_timeout = kPageSilence;
        CO_TRY(auto response, co_await server_.send_ok(context, std::move(call)));
        co_return std::move(response.stream);
    }

    Task<std::unique_ptr<http::BodyStream>> watch_stream(Context context, Resource resource,
                                                         ListOptions options, WatchOptions watch) override {
        Query query = selectors(options);
        query.add("watch", "1");
        query.add("allowWatchBookmarks", "true");
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(watch.length).count();
        query.add("timeoutSeconds", std::to_string(seconds));
        query.add_if("resourceVersion", watch.resource_version);
        Call call("GET", resource.path(options.ns) + query.text());
        call.stream = true;
        call.attempts = 1;
        call.read_timeout = watch.silence;
        CO_TRY(auto response, co_await server_.send_ok(context, std::move(call)));
        co_return std::move(response.stream);
    }

    Task<std::unique_ptr<http::BodyStream>> logs(Context context, std::string ns, std::string pod,
                                                 LogOptions options) override {
        const auto pods = known_resource("pods").value();
        Query query;
        query.add_if("container", options.container);
        if (options.follow) query.add("follow", "true");
        if (options.timestamps) query.add("timestamps", "true");
        if (options.previous) query.add("previous", "true");
        if (options.tail_lines >= 0) query.add("tailLines", std::to_string(options.tail_lines));
        if (options.since_seconds > 0) query.add("sinceSeconds", std::to_string(options.since_seconds));
        query.add_if("sinceTime", options.since_time);
        Call call("GET", pods.path(ns, pod, "log") + query.text());
        call.stream = true;
        if (options.follow) call.read_timeout = kFollowSilence;
        CO_TRY(auto response, co_await server_.send_ok(context, std::move(call)));
        co_return std::move(response.stream);
    }

    Task<Resource> resolve(Context context, std::string api_version, std::string kind) override {
        if (auto known = impl::known_kind(api_version, kind)) co_return std::move(*known);
        const auto key = std::pair(api_version, kind);
        if (const auto found = discovered_.find(key); found != discovered_.end()) co_return found->second;
        CO_CHECK_OK(co_await discover(context, api_version));
        if (const auto found = discovered_.find(key); found != discovered_.end()) co_return found->second;
        co_return base::Error(ErrorKind::not_found, "UnknownKind",
                              "this cluster has no kind " + kind + " of " + api_version)
            .with_hint("The operator or add-on that defines this kind is not installed, or not ready yet.");
    }

    Task<http::Response> raw(Context context, std::string method, std::string target, http::Headers headers,
                             std::string body, bool stream) override {
        Call call(std::move(method), std::move(target));
        call.repeatable = call.method == "GET" || call.method == "HEAD";
        call.patient_on_503 = false;
        if (!body.empty() && !headers.has("Content-Type")) call.content_type = "application/json";
        call.headers = std::move(headers);
        call.body = std::move(body);
        call.stream = stream;
        co_return co_await server_.send(context, std::move(call));
    }

private:
    Task<JsonObject> list_pages(Context context, Resource resource, ListOptions options) {
        JsonArray items;
        std::string version, next;
        do {
            CO_TRY(auto page, co_await list_page(context, resource, options, next));
            if (items.size() + page.items.size() > options.max_items) {
                co_return base::Error(
                    ErrorKind::unsupported, "too_many_items",
                    "more than " + std::to_string(options.max_items) + " " + resource.plural);
            }
            for (auto& item : page.items) {
                if (item.is_object()) name_kind(item.get_object(), resource);
                items.push_back(std::move(item));
            }
            // All pages show the collection as it was at the first.
            if (version.empty()) version = page.resource_version;
            next = page.next;
        } while (!next.empty());
        JsonObject all;
        all["items"] = std::move(items);
        all["resourceVersion"] = version;
        co_return std::move(all);
    }

    Task<Page> list_page(Context context, Resource resource, ListOptions options, std::string next) {
        Call call("GET", resource.path(options.ns) + page_query(options, next).text());
        CO_TRY(auto answer, co_await server_.json(context, std::move(call)));
        Page page;
        page.resource_version = base::get_string(answer, "metadata.resourceVersion");
        page.next = base::get_string(answer, "metadata.continue");
        if (auto* items = answer.if_contains("items"); items != nullptr && items->is_array())
            page.items = std::move(items->get_array());
        co_return std::move(page);
    }

    Task<JsonObject> apply_with(Context context, JsonObject object, std::string more) {
        const auto name = base::get_string(object, "metadata.name");
        if (name.empty()) co_return base::invalid_error("invalid_name", "the object has no name");
        auto resolved = co_await resolve(context, base::get_string(object, "apiVersion"),
                                         base::get_string(object, "kind"));
        if (!resolved.has_value()) co_return std::move(resolved).error();
        std::string ns = base::get_string(object, "metadata.namespace");
        if (resolved->namespaced && ns.empty()) ns = "default";
        object["metadata"].as_object().erase("managedFields");
        Call call("PATCH", resolved->path(ns, name) + "?" + std::string(kManager) + "&force=true" + more);
        call.body = base::to_text(object);  // JSON is YAML
        call.content_type = "application/apply-patch+yaml";
        co_return co_await server_.json(context, std::move(call));
    }

    // Learns the kinds of a group and version. One that does not exist teaches nothing.
    Task<void> discover(Context context, std::string api_version) {
        const auto slash = api_version.find('/');
        const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
        const std::string version = slash == std::string::npos ? api_version : api_version.substr(slash + 1);
        Call call("GET", (group.empty() ? "/api/" : "/apis/" + group + "/") + version);
        auto answer = co_await server_.json(context, std::move(call));
        if (!answer.has_value()) {
            if (answer.error().kind == ErrorKind::not_found) co_return base::ok();
            co_return std::move(answer).error();
        }
        for (const auto& entry : base::get_array(*answer, "resources")) {
            const auto plural = base::get_string(entry, "name");
            if (plural.empty() || plural.find('/') != std::string::npos) continue;
            const auto kind = base::get_string(entry, "kind");
            discovered_[{api_version, kind}] =
                Resource(group, version, plural, kind, base::get_bool(entry, "namespaced"));
        }
        co_return base::ok();
    }

    impl::ApiServer server_;
    std::map<std::pair<std::string, std::string>, Resource> discovered_;
};

}  // namespace

std::unique_ptr<Client> make_client(Endpoint endpoint, http::Transport& transport, rt::Clock& clock) {
    return std::make_unique<ApiClient>(std::move(endpoint), transport, clock);
}

}  // namespace instantstart::kube
