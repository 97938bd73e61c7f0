#include "kube/client.h"

#include <gtest/gtest.h>

#include "kube/testing.h"

namespace instantstart::kube {
namespace {

using namespace std::chrono_literals;
using http::Request;
using http::Response;

using testing::json;
using testing::KubeTest;
using testing::lines;
using testing::status_of;

class KubeClientTest : public KubeTest {};

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
    EXPECT_EQ(run(client_->get(Context(), known("pods"), "a", "b")).error().kind,
              base::ErrorKind::unavailable);
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

TEST_F(KubeClientTest, longer_wait_than_can_be_sat_out_is_handed_up) {
    auto& asked = script([](const Request&, int) {
        auto response = status_of(429, "TooManyRequests");
        response.headers.set("Retry-After", "40");
        return response;
    });
    const auto error = run(client_->create(Context(), known("pods"), JsonObject())).error();
    EXPECT_EQ(error.kind, base::ErrorKind::throttled);
    EXPECT_EQ(error.retry_after, 40s);
    EXPECT_EQ(asked.requests.size(), 1U);
    EXPECT_LT(clock_.monotonic(), 1s);
}

// A server that breaks down, or a proxy before it, may have stored the object all the same.
TEST_F(KubeClientTest, failed_create_is_unknown_unless_it_was_refused_before_it_began) {
    Response (*answer)() = nullptr;
    auto& asked = script([&answer](const Request&, int) { return answer(); });
    const auto ask = [this] { return run(client_->create(Context(), known("pods"), JsonObject())).error(); };
    for (auto* each : {+[] { return status_of(500, "InternalError"); },
                       +[] { return status_of(504, "Timeout", R"(,"details":{"retryAfterSeconds":1})"); },
                       +[] { return Response(502, "text/html", "bad gateway"); },
                       +[] { return Response(503, "text/html", "no upstream"); }}) {
        answer = each;
        const auto before = asked.requests.size();
        const auto error = ask();
        EXPECT_EQ(error.kind, base::ErrorKind::unknown_outcome) << error.chain();
        EXPECT_EQ(asked.requests.size(), before + 1) << error.chain();
        // What can be repeated has no unknown outcome.
        EXPECT_EQ(run(client_->get(Context(), known("pods"), "a", "b")).error().kind,
                  base::ErrorKind::unavailable);
    }
    answer = [] {
        auto response = status_of(503, "ServiceUnavailable");
        response.headers.set("Retry-After", "1");
        return response;
    };
    const auto before = asked.requests.size();
    EXPECT_EQ(ask().kind, base::ErrorKind::unavailable);
    EXPECT_EQ(asked.requests.size(), before + 4);
    answer = [] {
        return json(500, R"({"kind":"Status","reason":"InternalError","code":500,
            "message":"Internal error occurred: failed calling webhook \"a.b\": EOF"})");
    };
    EXPECT_EQ(ask().kind, base::ErrorKind::unavailable);
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

TEST_F(KubeClientTest, streams_of_pages_and_watches_name_what_they_want) {
    auto& asked = script([](const Request&, int number) {
        return number < 3 ? lines({"a", "b"}) : status_of(410, "Expired");
    });
    ListOptions options;
    options.field_selector = "spec.nodeName=n";
    const auto page = run(client_->list_stream(Context(), known("pods"), options, "c+1")).value();
    EXPECT_EQ(run(page->read()).value(), "a");
    EXPECT_EQ(asked.requests[0].parameter("continue"), "c+1");
    EXPECT_EQ(asked.requests[0].parameter("limit"), "500");
    EXPECT_EQ(asked.requests[0].parameter("fieldSelector"), "spec.nodeName=n");
    WatchOptions watch;
    watch.resource_version = "5";
    watch.length = 70s;
    ASSERT_TRUE(run(client_->watch_stream(Context(), known("pods"), options, watch)).has_value());
    EXPECT_EQ(asked.requests[1].parameter("resourceVersion"), "5");
    EXPECT_EQ(asked.requests[1].parameter("timeoutSeconds"), "70");
    EXPECT_EQ(asked.requests[1].parameter("allowWatchBookmarks"), "true");
    EXPECT_EQ(run(client_->watch_stream(Context(), known("pods"), options, watch)).error().code, "Expired");
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

}  // namespace
}  // namespace instantstart::kube
