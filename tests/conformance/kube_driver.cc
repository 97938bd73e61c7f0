// Our Kubernetes client and cache under the orders of a test: they follow the API server at URL, and each
// line of standard input is one thing to do, answered by a line of standard output.
//
//   kube_driver URL CA_FILE      a bearer token in KUBE_TOKEN; ends with its input
//
//   {"do": "apply", "object": {…}}                          also apply_dry_run
//   {"do": "create", "resource": "pods", "object": {…}}     also replace
//   {"do": "get", "resource": "pods", "namespace": …, "name": …}      also remove, list, patch (with "patch")
//   {"do": "raw", "path": "/version"}
//   {"do": "show"}                                          what the cache holds, and how it fares
//
// Answers are {"ok": …} or {"error": {"kind", "code", "message", "fields", …}}.
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <istream>
#include <iterator>
#include <string>

#include "base/check.h"
#include "base/error.h"
#include "kube/cluster_cache.h"

namespace {

using namespace instantstart;
using namespace std::chrono_literals;
using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::size_t kEventsMost = 1'000'000;

rt::Task<std::string> fixed_token(std::string token) {
    co_return token;
}

std::string file_text(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const char* text_of(kube::PodPhase phase) {
    switch (phase) {
        case kube::PodPhase::pending: return "Pending";
        case kube::PodPhase::running: return "Running";
        case kube::PodPhase::succeeded: return "Succeeded";
        case kube::PodPhase::failed: return "Failed";
        default: return "Unknown";
    }
}

JsonObject told(const base::Error& error) {
    JsonArray fields;
    for (const auto& field : error.fields) fields.push_back(JsonValue(field.pointer));
    return {{"kind", base::to_string(error.kind)},
            {"code", error.code},
            {"message", error.chain()},
            {"fields", std::move(fields)}};
}

class Driver {
public:
    Driver(boost::asio::any_io_executor executor, rt::Clock& clock, std::shared_ptr<kube::Client> client)
        : input_(executor, ::dup(STDIN_FILENO)), caches_(executor, clock), client_(std::move(client)) {
        cache_ = caches_.of("driven", client_);
    }

    rt::Task<void> obey() {
        boost::asio::streambuf buffer;
        while (true) {
            const auto [code, count] = co_await boost::asio::async_read_until(
                input_, buffer, '\n', boost::asio::as_tuple(boost::asio::use_awaitable));
            if (code) break;
            std::string line;
            std::istream stream(&buffer);
            std::getline(stream, line);
            const auto order = base::parse_json(line, 128);
            CHECK(order.has_value() && order->is_object());
            auto done = co_await carry_out(order->as_object());
            const JsonObject answer = done.has_value() ? JsonObject{{"ok", std::move(*done)}}
                                                       : JsonObject{{"error", told(done.error())}};
            std::cout << base::to_text(answer) << std::endl;
        }
        co_await caches_.stop();
        co_return base::ok();
    }

private:
    rt::Task<JsonValue> carry_out(JsonObject order) {
        const auto what = base::get_string(order, "do");
        const auto ns = base::get_string(order, "namespace"), name = base::get_string(order, "name");
        const auto object = base::get_object(order, "object");
        if (what == "show") co_return co_await show();
        if (what == "apply") co_return co_await as_value(client_->apply({}, object));
        if (what == "apply_dry_run") co_return co_await as_value(client_->apply_dry_run({}, object));
        if (what == "raw") {
            CO_TRY(const auto response,
                   co_await client_->raw({}, "GET", base::get_string(order, "path"), {}, "", false));
            co_return JsonValue(response.body);
        }
        const auto resource = kube::known_resource(base::get_string(order, "resource"));
        if (!resource) co_return base::invalid_error("unknown_order", base::to_text(order));
        if (what == "create") co_return co_await as_value(client_->create({}, *resource, object));
        if (what == "replace") co_return co_await as_value(client_->replace({}, *resource, object));
        if (what == "get") co_return co_await as_value(client_->get({}, *resource, ns, name));
        if (what == "list") {
            kube::ListOptions options;
            options.ns = ns;
            options.page_size = base::get_int(order, "page_size", 500);
            co_return co_await as_value(client_->list({}, *resource, options));
        }
        if (what == "remove") {
            CO_TRY(const bool was_there, co_await client_->remove({}, *resource, ns, name, "Background"));
            co_return JsonValue(was_there);
        }
        if (what == "patch") {
            auto patch = base::get_object(order, "patch");
            co_return co_await as_value(
                client_->patch({}, *resource, ns, name, std::move(patch), std::string(kMergePatch), ""));
        }
        co_return base::invalid_error("unknown_order", base::to_text(order));
    }

    static rt::Task<JsonValue> as_value(rt::Task<JsonObject> task) {
        CO_TRY(auto object, co_await std::move(task));
        co_return JsonValue(std::move(object));
    }

    rt::Task<JsonValue> show() {
        std::vector<kube::Cached> all = {kube::Cached::nodes, kube::Cached::pods, kube::Cached::events};
        CO_TRY(const auto freshness, co_await cache_->need(std::move(all), 10s));
        JsonObject nodes, pods, kinds;
        JsonArray events;
        const auto& symbols = cache_->symbols();
        for (const auto& [name, node] : cache_->nodes().nodes()) nodes[name] = node.ready;
        cache_->pods().each([&](const kube::Pod& pod) {
            pods[symbols.text(pod.ns) + "/" + pod.name] =
                JsonArray{text_of(pod.phase), symbols.text(pod.node)};
        });
        for (const auto& event : cache_->events().newest(kEventsMost)) events.push_back(JsonValue(event.key));
        for (const auto& figures : cache_->figures("driven")) {
            kinds[figures.kind] = JsonObject{{"lists", figures.lists},
                                             {"changes", figures.changes},
                                             {"version", figures.resource_version},
                                             {"fresh", figures.fresh}};
        }
        JsonObject shown{
            {"complete", freshness.complete}, {"nodes", std::move(nodes)}, {"pods", std::move(pods)}};
        shown["events"] = std::move(events);
        shown["kinds"] = std::move(kinds);
        if (freshness.problem) shown["problem"] = told(*freshness.problem);
        co_return JsonValue(std::move(shown));
    }

    boost::asio::posix::stream_descriptor input_;
    kube::Caches caches_;
    std::shared_ptr<kube::Client> client_;
    std::shared_ptr<kube::ClusterCache> cache_;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: kube_driver URL CA_FILE\n";
        return 2;
    }
    boost::asio::io_context io(1);
    const auto clock = rt::make_system_clock(io.get_executor());
    const auto transport = http::make_socket_transport(io.get_executor(), *clock);
    kube::Endpoint endpoint;
    endpoint.url = arguments[1];
    endpoint.ca_pem = file_text(arguments[2]);
    const char* token = std::getenv("KUBE_TOKEN");
    endpoint.token = [text = std::string(token == nullptr ? "" : token)](rt::Context, bool) {
        return fixed_token(text);
    };
    Driver driver(io.get_executor(), *clock, kube::make_client(std::move(endpoint), *transport, *clock));
    rt::TaskGroup group(io.get_executor(), "driver");
    group.spawn("obey", driver.obey());
    while (group.size() > 0) io.run_one();
    return 0;
}
