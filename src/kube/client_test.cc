#include "kube/client.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "http/memory_network.h"
#include "kube/informer.h"
#include "rt/testing.h"

namespace instantstart::kube {
namespace {

using namespace std::chrono_literals;
using boost::asio::awaitable;
using http::Request;
using http::Response;

// Answers by a function of the request and its number; keeps what was asked.
class Script {
public:
    using Answer = std::function<Response(const Request&, int)>;
    explicit Script(Answer answer) : answer_(std::move(answer)) {}
    awaitable<Response> handle(Request request) {
        requests.push_back(request);
        co_return answer_(request, static_cast<int>(requests.size()));
    }
    std::vector<Request> requests;

private:
    Answer answer_;
};

Response json(int status, std::string text) {
    return {status, "application/json", std::move(text)};
}

Response status_of(int code, const std::string& reason, const std::string& more = "") {
    return json(code, R"({"kind":"Status","status":"Failure","message":"no )" + reason + R"(","reason":")" +
                          reason + R"(","code":)" + std::to_string(code) + more + "}");
}

Response lines(std::vector<std::string> pieces) {
    Response response(200);
    const auto left = std::make_shared<std::vector<std::string>>(std::move(pieces));
    struct Next {
        static Task<std::optional<std::string>> piece(std::shared_ptr<std::vector<std::string>> from) {
            if (from->empty()) co_return std::optional<std::string>();
            std::optional<std::string> first = from->front();
            from->erase(from->begin());
            co_return std::move(first);
        }
    };
    response.stream = http::make_stream([left] { return Next::piece(left); });
    return response;
}

Task<std::string> number_token(int& asked) {
    co_return "token-" + std::to_string(++asked);
}

class KubeClientTest : public ::testing::Test {
protected:
    Script& script(Script::Answer answer) {
        script_ = std::make_unique<Script>(std::move(answer));
        network_.listen("kube:443",
                        [this](Context, Request request) { return script_->handle(std::move(request)); });
        return *script_;
    }
    template <class T>
    base::Result<T> run(Task<T> task) {
        return rt::testing::run(io_, clock_, std::move(task));
    }
    std::unique_ptr<Client> make() {
        Endpoint endpoint;
        endpoint.url = "https://kube/clusters/demo/";
        endpoint.token = [this](Context, bool) { return number_token(tokens_); };
        return make_client(endpoint, *transport_, clock_);
    }
    static Resource known(const char* name) { return known_resource(name).value(); }

    boost::asio::io_context io_;
    rt::VirtualClock clock_{io_, 1, base::TimePoint()};
    http::MemoryNetwork network_{clock_};
    std::unique_ptr<http::Transport> transport_ = network_.make_transport();
    std::unique_ptr<Script> script_;
    int tokens_ = 0;
    std::unique_ptr<Client> client_ = make();
};

TEST_F(KubeClientTest, get_asks_the_right_path_with_the_token) {
    auto& asked = script(
        [](const Request&, int) { return json(200, R"({"kind":"Deployment","metadata":{"name":"a"}})"); });
    const auto object = run(client_->get(Context(), known("deployments.apps"), "team a", "web"));
    ASSERT_TRUE(object.has_value());
    EXPECT_EQ(base::get_string(*object, "metadata.name"), "a");
    EXPECT_EQ(asked.requests[0].target, "/clusters/demo/apis/apps/v1/namespaces/team%20a/deployments/web");
    EXPECT_EQ(asked.requests[0].headers.get("Authorization"), "Bearer token-1");
    ASSERT_TRUE(run(client_->get(Context(), known("nodes"), "ignored", "n")).has_value());
    EXPECT_EQ(asked.requests[1].target, "/clusters/demo/api/v1/nodes/n");
    EXPECT_EQ(asked.requests[1].headers.get("Authorization"), "Bearer token-1");
}

TEST_F(KubeClientTest, token_is_made_anew_after_ten_minutes_and_after_one_401) {
    auto& asked = script([](const Request& request, int) {
        return request.headers.get("Authorization") == "Bearer token-2" ? status_of(401, "Unauthorized")
                                                                        : json(200, "{}");
    });
    ASSERT_TRUE(run(client_->get(Context(), known("nodes"), "", "n")).has_value());
    ASSERT_TRUE(run(clock_.sleep(11min)).has_value());
    ASSERT_TRUE(run(client_->get(Context(), known("nodes"), "", "n")).has_value());
    EXPECT_EQ(asked.requests.back().headers.get("Authorization"), "Bearer token-3");
    EXPECT_EQ(asked.requests.size(), 3U);
}

TEST_F(KubeClientTest, lasting_401_and_403_are_denied_with_a_hint) {
    int code = 401;
    auto& asked = script(
        [&code](const Request&, int) { return status_of(code, code == 401 ? "Unauthorized" : "Forbidden"); });
    const auto unknown = run(client_->get(Context(), known("nodes"), "", "n")).error();
    EXPECT_EQ(unknown.kind, base::ErrorKind::denied);
    EXPECT_EQ(unknown.code, "Unauthorized");
    EXPECT_FALSE(unknown.hint.empty());
    EXPECT_EQ(asked.requests.size(), 2U);
    code = 403;
    EXPECT_EQ(base::get_string(run(client_->get(Context(), known("nodes"), "", "n")).error().extra, "reason"),
              "403");
}

TEST_F(KubeClientTest, status_becomes_kind_code_and_fields) {
    Response (*answer)() = nullptr;
    script([&answer](const Request&, int) { return answer(); });
    const auto ask = [this] { return run(client_->create(Context(), known("pods"), JsonObject())).error(); };
    answer = [] { return status_of(404, "NotFound"); };
    EXPECT_EQ(ask().kind, base::ErrorKind::not_found);
    answer = [] { return status_of(409, "AlreadyExists"); };
    EXPECT_EQ(ask().code, "AlreadyExists");
    answer = [] {
        return status_of(
            422, "Invalid",
            R"(,"details":{"causes":[{"field":"spec.containers[0].name","message":"required"}]})");
    };
    const auto invalid = ask();
    EXPECT_EQ(invalid.kind, base::ErrorKind::invalid);
    ASSERT_EQ(invalid.fields.size(), 1U);
    EXPECT_EQ(invalid.fields[0].pointer, "/spec/containers/0/name");
    answer = [] { return Response(500, "text/plain", "\xff oops"); };
    EXPECT_EQ(ask().kind, base::ErrorKind::unavailable);
    answer = [] { return json(200, "[]"); };
    EXPECT_EQ(ask().code, "InvalidAnswer");
}

TEST_F(KubeClientTest, throttled_call_waits_as_told) {
    script([](const Request&, int number) {
        if (number > 2) return json(200, "{}");
        auto response = status_of(429, "TooManyRequests");
        response.headers.set("Retry-After", "3");
        return response;
    });
    EXPECT_TRUE(run(client_->create(Context(), known("pods"), JsonObject())).has_value());
    EXPECT_GE(clock_.monotonic(), 6s);
    EXPECT_LT(clock_.monotonic(), 7s);
}

TEST_F(KubeClientTest, unreachable_server_says_why_after_some_attempts) {
    const auto error = run(client_->get(Context(), known("nodes"), "", "n")).error();
    EXPECT_EQ(error.code, "KubernetesUnreachable");
    EXPECT_EQ(error.kind, base::ErrorKind::unavailable);
    EXPECT_EQ(base::get_string(error.extra, "reason"), "refused");
    EXPECT_GT(clock_.monotonic(), 2s);
    EXPECT_LT(clock_.monotonic(), 30s);
}

TEST_F(KubeClientTest, deadline_of_the_context_ends_the_attempts) {
    const auto error = run(client_->get(Context().with_deadline(100ms), known("nodes"), "", "n")).error();
    EXPECT_EQ(error.code, "KubernetesUnreachable");
    EXPECT_LT(clock_.monotonic(), 1s);
}

TEST_F(KubeClientTest, lost_answer_is_repeated_but_not_of_a_create) {
    auto& asked = script([](const Request&, int) { return json(200, "{}"); });
    int faults = 1;
    network_.set_fault_hook([&faults](const Request&) {
        return faults-- > 0 ? http::NetworkFault::lose_answer : http::NetworkFault::none;
    });
    const auto object = base::parse_json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})")
                            .value()
                            .as_object();
    EXPECT_TRUE(run(client_->apply(Context(), object)).has_value());
    EXPECT_EQ(asked.requests.size(), 2U);
    faults = 1;
    EXPECT_EQ(run(client_->create(Context(), known("configmaps"), object)).error().kind,
              base::ErrorKind::unknown_outcome);
    EXPECT_EQ(asked.requests.size(), 3U);
}

TEST_F(KubeClientTest, apply_is_forced_under_our_manager) {
    auto& asked = script([](const Request&, int) { return json(200, "{}"); });
    const auto object =
        base::parse_json(
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[]}})")
            .value()
            .as_object();
    ASSERT_TRUE(run(client_->apply_dry_run(Context(), object)).has_value());
    const auto& request = asked.requests[0];
    EXPECT_EQ(request.method, "PATCH");
    EXPECT_EQ(request.target,
              "/clusters/demo/api/v1/namespaces/default/configmaps/"
              "a?fieldManager=instantstart&force=true&dryRun=All");
    EXPECT_EQ(request.headers.get("Content-Type"), "application/apply-patch+yaml");
    EXPECT_EQ(request.body.find("managedFields"), std::string::npos);
    EXPECT_EQ(run(client_->apply(Context(), JsonObject())).error().code, "invalid_name");
}

TEST_F(KubeClientTest, list_joins_pages_and_starts_again_when_they_expire) {
    auto& asked = script([](const Request& request, int number) {
        if (number == 2) return status_of(410, "Expired");
        if (!request.parameter("continue")) {
            return json(
                200,
                R"({"metadata":{"resourceVersion":"7","continue":"c+1"},"items":[{"metadata":{"name":"a"}}]})");
        }
        return json(200, R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"b"}}]})");
    });
    ListOptions options;
    options.label_selector = "a=b,c!=d";
    options.page_size = 1;
    const auto all = run(client_->list(Context(), known("pods"), options)).value();
    EXPECT_EQ(base::get_array(all, "items").size(), 2U);
    EXPECT_EQ(base::get_string(all, "items.1.kind"), "Pod");
    EXPECT_EQ(base::get_string(all, "resourceVersion"), "7");
    EXPECT_EQ(asked.requests.size(), 4U);
    EXPECT_EQ(asked.requests[3].parameter("continue"), "c+1");
    EXPECT_EQ(asked.requests[3].parameter("labelSelector"), "a=b,c!=d");
    options.max_items = 1;
    EXPECT_EQ(run(client_->list(Context(), known("pods"), options)).error().code, "too_many_items");
}

TEST_F(KubeClientTest, remove_tells_absence_and_never_a_collection) {
    auto& asked = script([](const Request&, int number) {
        return number == 1 ? json(200, "{}") : status_of(404, "NotFound");
    });
    EXPECT_TRUE(run(client_->remove(Context(), known("pods"), "a", "b", "Foreground")).value());
    EXPECT_NE(asked.requests[0].body.find(R"("propagationPolicy":"Foreground")"), std::string::npos);
    EXPECT_FALSE(run(client_->remove(Context(), known("pods"), "a", "b", "")).value());
    EXPECT_EQ(run(client_->remove(Context(), known("pods"), "a", "", "")).error().code, "invalid_name");
    EXPECT_EQ(asked.requests.size(), 2U);
}

TEST_F(KubeClientTest, resolve_asks_the_server_for_unknown_kinds_and_remembers) {
    auto& asked = script([](const Request&, int number) {
        if (number == 1) return status_of(404, "NotFound");
        return json(
            200,
            R"({"resources":[{"name":"rayjobs","kind":"RayJob","namespaced":true},{"name":"rayjobs/status","kind":"RayJob"}]})");
    });
    EXPECT_EQ(run(client_->resolve(Context(), "apps/v1", "DaemonSet")).value().plural, "daemonsets");
    EXPECT_EQ(run(client_->resolve(Context(), "ray.io/v1", "RayJob")).error().code, "UnknownKind");
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(run(client_->resolve(Context(), "ray.io/v1", "RayJob")).value().plural, "rayjobs");
    EXPECT_EQ(asked.requests.size(), 2U);
    EXPECT_EQ(asked.requests[1].target, "/clusters/demo/apis/ray.io/v1");
}

TEST_F(KubeClientTest, watch_gives_events_across_pieces_and_its_errors) {
    script([](const Request& request, int) {
        EXPECT_EQ(request.parameter("resourceVersion"), "5");
        return lines({R"({"type":"ADDED","object":{"metadata":{"na)",
                      "me\":\"a\"}}}\n{\"type\":\"BOOKMARK\",\"object\":{}}\n",
                      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Gone"}})", "\n",
                      "garbage\n"});
    });
    const auto watch = run(client_->watch(Context(), known("pods"), ListOptions(), "5")).value();
    EXPECT_EQ(base::get_string(run(watch->next()).value()->object, "metadata.name"), "a");
    EXPECT_EQ(run(watch->next()).value()->type, "BOOKMARK");
    EXPECT_EQ(run(watch->next()).error().code, "Expired");
    EXPECT_EQ(run(watch->next()).error().code, "WatchBroken");
    EXPECT_FALSE(run(watch->next()).value().has_value());
}

TEST_F(KubeClientTest, logs_pass_their_options_and_errors) {
    auto& asked = script([](const Request&, int number) {
        return number == 1 ? lines({"a\n", "b\n"}) : status_of(400, "BadRequest");
    });
    LogOptions options;
    options.container = "main";
    options.follow = true;
    options.tail_lines = 0;
    const auto stream = run(client_->logs(Context(), "ns", "pod", options)).value();
    EXPECT_EQ(run(stream->read()).value(), "a\n");
    EXPECT_EQ(asked.requests[0].target,
              "/clusters/demo/api/v1/namespaces/ns/pods/pod/log?container=main&follow=true&tailLines=0");
    EXPECT_EQ(run(client_->logs(Context(), "ns", "pod", options)).error().kind, base::ErrorKind::invalid);
}

Task<void> stop_informer(Informer& informer) {
    co_await informer.stop();
    co_return base::ok();
}

TEST_F(KubeClientTest, informer_lists_watches_and_lists_again_when_expired) {
    int lists = 0, watches = 0;
    script([&](const Request& request, int) {
        if (!request.parameter("watch")) {
            ++lists;
            if (lists == 1)
                return json(
                    200,
                    R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a","managedFields":[1]}}]})");
            return json(200, R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"c"}}]})");
        }
        ++watches;
        if (watches == 1) {
            return lines(
                {R"({"type":"ADDED","object":{"metadata":{"name":"b","resourceVersion":"2"}}})", "\n",
                 R"({"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"3"}}})", "\n"});
        }
        if (watches == 2) EXPECT_EQ(request.parameter("resourceVersion"), "3");
        return watches == 2 ? status_of(410, "Expired") : lines({});
    });
    InformerOptions options;
    options.resource = known("nodes");
    Informer informer(io_.get_executor(), *client_, clock_, options);
    informer.start();
    EXPECT_TRUE(run(informer.wait_ready(1min)).has_value());
    ASSERT_TRUE(informer.get("", "a"));
    EXPECT_FALSE(informer.get("", "a")->at("metadata").as_object().contains("managedFields"));
    EXPECT_TRUE(clock_.run_until([&] { return informer.size() == 1 && informer.get("", "b"); }, 1min));
    EXPECT_TRUE(clock_.run_until([&] { return informer.get("", "c") != nullptr; }, 1min));
    EXPECT_EQ(informer.items().size(), 1U);
    EXPECT_FALSE(informer.error().has_value());
    EXPECT_TRUE(run(stop_informer(informer)).has_value());
}

TEST_F(KubeClientTest, informer_keeps_what_it_has_while_the_server_is_away) {
    script([](const Request& request, int) {
        if (request.parameter("watch")) return lines({});
        return json(200, R"({"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]})");
    });
    InformerOptions options;
    options.resource = known("nodes");
    Informer informer(io_.get_executor(), *client_, clock_, options);
    informer.start();
    EXPECT_TRUE(run(informer.wait_ready(1min)).has_value());
    network_.listen("kube:443", nullptr);
    EXPECT_TRUE(clock_.run_until([&] { return informer.error().has_value(); }, 10min));
    EXPECT_EQ(informer.error()->code, "KubernetesUnreachable");
    EXPECT_EQ(informer.size(), 1U);
    EXPECT_TRUE(run(stop_informer(informer)).has_value());
}

}  // namespace
}  // namespace instantstart::kube
