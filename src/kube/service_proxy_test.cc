#include "kube/service_proxy.h"

#include <gtest/gtest.h>

#include "kube/impl/status.h"
#include "kube/testing.h"

namespace instantstart::kube {
namespace {

using testing::json;
using testing::KubeTest;
using testing::lines;
using testing::Request;
using testing::Response;
using testing::status_of;

ServiceTarget target() {
    ServiceTarget made;
    made.ns = "team";
    made.name = "model";
    made.port = "8080";
    return made;
}

class ServiceProxyTest : public KubeTest {
protected:
    base::Result<Response> ask(bool stream = false) {
        return run(call_service(*client_, Context(), target(), "POST", "/v1/chat?x=1", R"({"a":1})", stream));
    }
};

TEST_F(ServiceProxyTest, answer_of_the_service_comes_as_it_is) {
    auto& asked = script([](const Request&, int number) {
        return number == 1 ? json(200, R"({"ok":true})") : json(422, R"({"error":"no such model"})");
    });
    EXPECT_EQ(ask().value().body, R"({"ok":true})");
    EXPECT_EQ(asked.requests[0].target,
              "/clusters/demo/api/v1/namespaces/team/services/model:8080/proxy/v1/chat?x=1");
    const auto refused = ask().value();
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.body, R"({"error":"no such model"})");
    EXPECT_EQ(asked.requests.size(), 2U);  // what the service says is not asked for again
}

TEST_F(ServiceProxyTest, server_sent_events_come_one_by_one) {
    script([](const Request&, int) { return lines({"data: a\n\n", "data: b\n\n"}); });
    auto response = ask(true).value();
    EXPECT_EQ(run(response.stream->read()).value(), "data: a\n\n");
    EXPECT_EQ(run(response.stream->read()).value(), "data: b\n\n");
    EXPECT_FALSE(run(response.stream->read()).value().has_value());
}

// As a service does that looks at what its caller can read.
Response negotiated(const Request& request) {
    const auto accepted = request.headers.get("Accept");
    const auto takes = [&accepted](const char* type) { return accepted.find(type) != std::string::npos; };
    const bool streams = request.body.find("stream") != std::string::npos;
    if (streams && takes("text/event-stream")) return lines({"data: a\n\n"});
    if (!streams && (takes("text/plain") || takes("*/*"))) return {200, "text/plain", "up 1\n"};
    return {406, "text/plain", "not acceptable"};
}

TEST_F(ServiceProxyTest, a_service_that_negotiates_is_told_what_is_read) {
    auto& asked = script([](const Request& request, int) { return negotiated(request); });
    auto streamed =
        run(call_service(*client_, Context(), target(), "POST", "/v1/chat", R"({"stream":true})", true))
            .value();
    EXPECT_EQ(streamed.status, 200);
    EXPECT_EQ(run(streamed.stream->read()).value(), "data: a\n\n");
    EXPECT_EQ(asked.requests[0].headers.get("Content-Type"), "application/json");
    const auto metrics =
        run(call_service(*client_, Context(), target(), "GET", "/metrics", "", false)).value();
    EXPECT_EQ(metrics.status, 200);
    EXPECT_EQ(metrics.body, "up 1\n");
}

TEST_F(ServiceProxyTest, refusals_of_the_api_server_say_what_is_missing) {
    Response (*answer)() = nullptr;
    script([&answer](const Request&, int) { return answer(); });
    answer = [] {
        return json(503, R"({"kind":"Status","apiVersion":"v1","code":503,"reason":"ServiceUnavailable",
            "message":"no endpoints available for service \"model\""})");
    };
    EXPECT_EQ(ask().error().code, "NoEndpoints");
    EXPECT_NE(ask(true).error().hint.find("team/model"), std::string::npos);
    answer = [] {
        return json(404,
                    R"({"kind":"Status","apiVersion":"v1","code":404,"reason":"NotFound","message":"x"})");
    };
    EXPECT_NE(ask().error().hint.find("8080"), std::string::npos);
    auto nowhere = target();
    nowhere.port.clear();
    EXPECT_EQ(run(call_service(*client_, Context(), nowhere, "GET", "/", "", false)).error().code,
              "invalid_service");
}

// The API server's own words, as its sources have them, and what they mean to us.
TEST(Refusals, are_told_in_the_users_words) {
    struct Case {
        int status;
        const char* message;
        base::ErrorKind kind;
        const char* code;
        const char* hint;
    };
    using base::ErrorKind;
    const std::vector<Case> cases = {
        {403, R"(admission webhook \"vworkload.kb.io\" denied the request: no quota)", ErrorKind::invalid,
         "AdmissionDenied", "vworkload.kb.io"},
        {500,
         R"(Internal error occurred: failed calling webhook \"mjob.kb.io\": failed to call webhook: Post \"https://x\": no endpoints available for service \"x\")",
         ErrorKind::unavailable, "WebhookUnavailable", "mjob.kb.io"},
        {500, R"(conversion webhook for ray.io/v1alpha1, Kind=RayJob failed: Post \"https://x\": EOF)",
         ErrorKind::unavailable, "ConversionFailed", "versions"},
        {422, R"(ValidatingAdmissionPolicy 'p' with binding 'b' denied request: denied the request)",
         ErrorKind::invalid, "AdmissionDenied", "policy"},
        {500,
         R"(failed to create typed patch object (ns/a; x/v1, Kind=A): .spec.size: expected numeric (int or float), got string)",
         ErrorKind::invalid, "Invalid", "another version"},
        {403, R"(pods \"a\" is forbidden: exceeded quota: q, requested: cpu=1)", ErrorKind::conflict,
         "QuotaExceeded", "ResourceQuota"},
        {403, R"(pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\": x)", ErrorKind::invalid,
         "PodSecurityViolated", "enforce"},
        {403,
         R"(configmaps \"a\" is forbidden: unable to create new content in namespace n because it is being terminated)",
         ErrorKind::conflict, "NamespaceTerminating", "gone"},
        {403, R"(pods is forbidden: User \"u\" cannot list resource)", ErrorKind::denied, "Forbidden",
         "access entry"},
        {429, "too many requests, please try again later", ErrorKind::throttled, "TooManyRequests",
         "Fairness"},
    };
    for (const auto& each : cases) {
        const auto reason = each.status == 403 ? "Forbidden" : "";
        const auto error = impl::error_of(each.status,
                                          R"({"kind":"Status","reason":")" + std::string(reason) +
                                              R"(","message":")" + each.message + R"("})",
                                          "");
        EXPECT_EQ(error.kind, each.kind) << each.message;
        EXPECT_EQ(error.code, each.code) << each.message;
        EXPECT_NE(error.hint.find(each.hint), std::string::npos) << error.hint;
        EXPECT_EQ(error.hint.find("%s"), std::string::npos);
    }
}

}  // namespace
}  // namespace instantstart::kube
