// FakeServer: a small API server of one kind for tests of informers: pages, watches with history, and every
// way to be unwell.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/testing.h"
#include "rt/event.h"

namespace instantstart::kube::testing {

class FakeServer {
public:
    explicit FakeServer(boost::asio::any_io_executor executor) : changed(std::move(executor)) {}

    // `more` are members of the object beside its metadata, as JSON text with a leading comma.
    void put(const std::string& name, const std::string& more = "") {
        const bool is_new = !objects.contains(name);
        ++revision;
        objects[name] = R"({"metadata":{"namespace":"ns","name":")" + name + R"(","resourceVersion":")" +
                        std::to_string(revision) + R"("})" + more + "}";
        tell(is_new ? "ADDED" : "MODIFIED", objects[name]);
    }
    void remove(const std::string& name) {
        ++revision;
        tell("DELETED", R"({"metadata":{"namespace":"ns","name":")" + name + R"(","resourceVersion":")" +
                            std::to_string(revision) + R"("}})");
        objects.erase(name);
    }
    void bookmark() {
        raw(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + std::to_string(revision) +
            R"("}}})" + "\n");
    }
    // Bytes into every open watch.
    void raw(std::string bytes) {
        history.emplace_back(revision, std::move(bytes));
        changed.notify_all();
    }
    // Ends every open watch: cleanly, or as a broken connection.
    void end_watches(bool broken = false) {
        ++generation;
        break_watches = broken;
        changed.notify_all();
    }
    // Versions up to now are too old for a watch or the next page.
    void compact() {
        oldest = revision + 1;
        history.clear();
    }

    http::Handler handler() {
        return [this](Context, Request request) { return handle(std::move(request)); };
    }

    std::map<std::string, std::string> objects;
    std::int64_t revision = 10, oldest = 0;
    int lists = 0, watches = 0;
    bool mute = false;  // watches say nothing at all
    // An answer instead of the server's own.
    std::function<std::optional<Response>(const Request&)> before;
    std::vector<std::pair<std::int64_t, std::string>> history;
    int generation = 0;
    bool break_watches = false;
    rt::Event changed;

private:
    struct Open {
        Open() = default;
        std::int64_t from = 0;
        std::size_t next = 0;
        int generation = 0;
    };

    void tell(const std::string& type, const std::string& object) {
        raw(R"({"type":")" + type + R"(","object":)" + object + "}\n");
    }

    awaitable<Response> handle(Request request) {
        if (before) {
            if (auto answer = before(request)) co_return std::move(*answer);
        }
        co_return request.parameter("watch") ? watch(request) : list(request);
    }

    Response list(const Request& request) {
        ++lists;
        const auto limit = std::stoul(request.parameter("limit").value_or("1000000"));
        const auto from = request.parameter("continue").value_or("");
        if (!from.empty() && std::stoll(from.substr(0, from.find(':'))) < oldest)
            return status_of(410, "Expired");
        const auto after = from.empty() ? "" : from.substr(from.find(':') + 1);
        std::string items, next;
        std::size_t count = 0;
        for (auto at = objects.upper_bound(after); at != objects.end(); ++at) {
            items += (count == 0 ? "" : ",") + at->second;
            if (++count < limit) continue;
            if (std::next(at) != objects.end()) next = std::to_string(revision) + ":" + at->first;
            break;
        }
        return json(200, R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                             std::to_string(revision) + R"(","continue":")" + next + R"("},"items":[)" +
                             items + "]}");
    }

    Response watch(const Request& request) {
        ++watches;
        const auto open = std::make_shared<Open>();
        open->from = std::stoll(request.parameter("resourceVersion").value_or("0"));
        open->generation = generation;
        if (open->from + 1 < oldest) return status_of(410, "Expired");
        if (open->from > revision) {
            return json(
                504,
                R"({"kind":"Status","code":504,"reason":"Timeout","message":"Too large resource version: )" +
                    std::to_string(open->from) + R"(","details":{"retryAfterSeconds":1}})");
        }
        Response response(200);
        response.stream = http::make_stream([this, open] { return piece(open); });
        return response;
    }

    Task<std::optional<std::string>> piece(std::shared_ptr<Open> open) {
        while (true) {
            if (open->generation != generation) {
                if (break_watches)
                    co_return base::Error(base::ErrorKind::unknown_outcome, "connection_reset", "broken");
                co_return std::optional<std::string>();
            }
            while (!mute && open->next < history.size()) {
                const auto& [at, bytes] = history[open->next++];
                if (at > open->from) co_return std::optional<std::string>(bytes);
            }
            CO_CHECK_OK(co_await changed.wait());
        }
    }
};

}  // namespace instantstart::kube::testing
