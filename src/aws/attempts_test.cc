// How often a call is sent and what is said of it at the end: every way in which an attempt can fail, for
// calls that may be sent again and for those that may not.
#include <gtest/gtest.h>

#include <array>
#include <variant>

#include "aws/client.h"
#include "aws/codec/codec.h"
#include "base/text.h"
#include "rt/testing.h"

namespace instantstart::aws {
namespace {

using base::ErrorKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Canned = codec::Answer;

// What one attempt meets; it is answered after `takes`.
struct Step {
    Step() = default;
    Step(Canned response) : meets(std::move(response)) {}
    Step(base::Error error) : meets(std::move(error)) {}
    std::variant<Canned, base::Error> meets;
    base::Duration takes{};
};

// A network that follows a script; its last step comes again and again.
class ScriptedTransport final : public http::Transport {
public:
    ScriptedTransport(rt::Clock& clock, std::vector<Step> script)
        : clock_(clock), script_(std::move(script)) {}

    rt::Task<http::Response> send(rt::Context, http::Request request, http::SendOptions options) override {
        sent_at.push_back(clock_.monotonic());
        requests.push_back(std::move(request));
        const Step& step = script_[std::min(requests.size(), script_.size()) - 1];
        CO_CHECK_OK(co_await clock_.sleep(std::min(step.takes, options.timeout)));
        if (step.takes > options.timeout)
            co_return base::Error(ErrorKind::unknown_outcome, "timeout", "no answer in time");
        if (const auto* error = std::get_if<base::Error>(&step.meets)) co_return *error;
        const auto& from = std::get<Canned>(step.meets);
        http::Response copy(from.status);
        copy.headers = from.headers;
        copy.body = from.body;
        co_return copy;
    }

    std::vector<http::Request> requests;
    std::vector<base::Duration> sent_at;

private:
    rt::Clock& clock_;
    std::vector<Step> script_;
};

struct World {
    explicit World(std::vector<Step> script, ClientSettings settings = ClientSettings())
        : clock(io, 7, *base::parse_time("2026-11-30T12:00:00Z")), transport(clock, std::move(script)) {
        settings.region = "us-west-2";
        settings.endpoint_url = "http://127.0.0.1:1";
        if (!settings.environment) {
            settings.environment = [](const std::string& name) {
                if (name == "AWS_ACCESS_KEY_ID") return std::string("AKID");
                return std::string(name == "AWS_SECRET_ACCESS_KEY" ? "secret" : "");
            };
        }
        settings.on_call = [this](const CallReport& report) { reports.push_back(report); };
        client = make_client(std::move(settings), transport, clock).value();
    }
    base::Result<JsonObject> call(const char* service, const char* operation, const char* parameters,
                                  CallOptions options = CallOptions(), rt::Context context = rt::Context()) {
        return rt::testing::run(io, clock,
                                client->call(std::move(context), service, operation,
                                             base::parse_json(parameters).value().get_object(), options));
    }
    base::Result<JsonObject> read(CallOptions options = CallOptions(), rt::Context context = rt::Context()) {
        return call("ec2", "DescribeVpcs", "{}", options, std::move(context));
    }
    base::Result<JsonObject> create_with_token() {
        return call("ec2", "CreateNatGateway", R"({"SubnetId":"subnet-1"})");
    }
    base::Result<JsonObject> create() { return call("ec2", "CreateVpc", "{}"); }
    rt::Context until(base::Duration left) const {
        return rt::Context().with_deadline(clock.monotonic() + left);
    }

    boost::asio::io_context io;
    rt::VirtualClock clock;
    ScriptedTransport transport;
    std::vector<CallReport> reports;
    std::unique_ptr<Client> client;
};

Canned answer(int status, std::string body) {
    Canned made;
    made.status = status;
    made.body = std::move(body);
    return made;
}
Canned refusal(int status, const std::string& code) {
    return answer(status,
                  "<Response><Errors><Error><Code>" + code +
                      "</Code><Message>m</Message></Error></Errors><RequestID>r</RequestID></Response>");
}
base::Error lost(const char* code) {
    return {ErrorKind::unknown_outcome, code, "the connection broke"};
}
base::Error not_sent(const char* code) {
    return {ErrorKind::unavailable, code, "no connection"};
}
// A success of all three calls: members that a call's answer does not have are passed over.
Canned good() {
    return answer(200, "<R><vpcSet/><vpc><vpcId>vpc-1</vpcId></vpc><natGateway/></R>");
}
Canned with(Canned response, const char* name, const char* value) {
    response.headers.set(name, value);
    return response;
}

// --- the table

// What comes of a call whose first attempt meets `meets` and whose second one would go well.
struct Met {
    const char* name;
    Step meets;
    const char* code;      // of the error, where the call is not sent again
    ErrorKind kind;        // the same, where nothing can have been done
    bool again;            // reads and calls with a token are sent again
    bool again_without;    // calls without a token, too
    bool perhaps = false;  // without a token: it may have been done
};

std::vector<Met> table() {
    constexpr auto unavailable = ErrorKind::unavailable;
    constexpr const char* kHtml = "<html><body>Bad Gateway</body></html>";
    return {
        {"throttle", refusal(503, "RequestLimitExceeded"), "", unavailable, true, true},
        {"throttle as 400", refusal(400, "Throttling"), "", unavailable, true, true},
        {"429 of a proxy", answer(429, kHtml), "", unavailable, true, true},
        {"connection refused", not_sent("connection_refused"), "", unavailable, true, true},
        {"no such host", not_sent("dns"), "", unavailable, true, true},
        {"handshake", not_sent("tls"), "", unavailable, true, true},
        {"no connection in time", not_sent("connect_timeout"), "", unavailable, true, true},
        {"server error", refusal(500, "InternalError"), "InternalError", unavailable, true, false, true},
        {"503", refusal(503, "Unavailable"), "Unavailable", unavailable, true, false, true},
        {"502 of a proxy", answer(502, kHtml), "BadGateway", unavailable, true, false, true},
        {"504 without a body", answer(504, ""), "GatewayTimeout", unavailable, true, false, true},
        {"500 cut off", answer(500, "<Response><Err"), "InternalServerError", unavailable, true, false, true},
        {"reset", lost("connection_reset"), "connection_reset", unavailable, true, false, true},
        {"timeout", lost("timeout"), "timeout", unavailable, true, false, true},
        {"truncated", lost("truncated"), "truncated", unavailable, true, false, true},
        {"200 cut off", answer(200, "<R><vpc"), "unreadable_answer", unavailable, true, false, true},
        {"200 of a portal", answer(200, "<!doctype html><p>Log in"), "unreadable_answer", unavailable, true,
         false, true},
        {"200 without a body", answer(200, ""), "unreadable_answer", unavailable, true, false, true},
        {"no capacity", refusal(500, "InsufficientAddressCapacity"), "InsufficientAddressCapacity",
         ErrorKind::conflict, false, false},
        {"quota", refusal(400, "VpcLimitExceeded"), "VpcLimitExceeded", ErrorKind::conflict, false, false},
        {"bad value", refusal(400, "InvalidParameterValue"), "InvalidParameterValue", ErrorKind::invalid,
         false, false},
        {"not allowed", refusal(403, "UnauthorizedOperation"), "UnauthorizedOperation", ErrorKind::denied,
         false, false},
        {"403 of a proxy", answer(403, kHtml), "AccessDenied", ErrorKind::denied, false, false},
        {"gone", refusal(400, "InvalidVpcID.NotFound"), "InvalidVpcID.NotFound", ErrorKind::not_found, false,
         false},
    };
}

constexpr std::array kCalls = {"read", "with token", "without token"};

base::Result<JsonObject> make_call(World& world, std::size_t which) {
    if (which == 0) return world.read();
    return which == 1 ? world.create_with_token() : world.create();
}

TEST(Attempts, every_failure_is_repeated_where_that_is_safe_and_only_there) {
    for (const Met& met : table()) {
        for (std::size_t which = 0; which < kCalls.size(); ++which) {
            SCOPED_TRACE(std::string(met.name) + ": " + kCalls.at(which));
            World world({met.meets, good()});
            const auto result = make_call(world, which);
            const bool again = which == 2 ? met.again_without : met.again;
            EXPECT_EQ(world.transport.requests.size(), again ? 2U : 1U);
            EXPECT_EQ(result.has_value(), again);
            if (result.has_value() || again) continue;
            EXPECT_EQ(result.error().code, met.code);
            EXPECT_EQ(result.error().kind, which == 2 && met.perhaps ? ErrorKind::unknown_outcome : met.kind);
        }
    }
}

TEST(Attempts, what_goes_on_failing_ends_as_what_it_is) {
    for (const Met& met : table()) {
        SCOPED_TRACE(met.name);
        World world({met.meets});
        const auto result = world.read();
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(world.transport.requests.size(), met.again ? 5U : 1U);
        EXPECT_NE(result.error().kind, ErrorKind::unknown_outcome);
        ASSERT_EQ(world.reports.size(), 1U);
        EXPECT_EQ(world.reports[0].attempts, met.again ? 5 : 1);
        EXPECT_EQ(world.reports[0].code, result.error().code);
    }
}

TEST(Attempts, the_idempotency_token_is_the_same_in_every_attempt) {
    World world(
        {refusal(500, "InternalError"), lost("timeout"), refusal(503, "RequestLimitExceeded"), good()});
    ASSERT_TRUE(world.create_with_token().has_value());
    ASSERT_EQ(world.transport.requests.size(), 4U);
    EXPECT_NE(world.transport.requests[0].body.find("ClientToken="), std::string::npos);
    for (const auto& request : world.transport.requests)
        EXPECT_EQ(request.body, world.transport.requests[0].body);
    ASSERT_TRUE(world.create_with_token().has_value());
    EXPECT_NE(world.transport.requests[4].body, world.transport.requests[0].body);
}

TEST(Attempts, a_token_that_is_given_is_kept) {
    World world({answer(500, "{}"), answer(200, R"({"cluster":{"name":"demo"}})")});
    CallOptions options;
    options.client_token = "the-token";
    const auto made =
        world.call("eks", "CreateCluster",
                   R"({"name":"demo","roleArn":"arn","resourcesVpcConfig":{"subnetIds":["s"]}})", options);
    ASSERT_TRUE(made.has_value()) << made.error().chain();
    for (const auto& request : world.transport.requests)
        EXPECT_NE(request.body.find(R"("clientRequestToken":"the-token")"), std::string::npos);
}

// --- how often, and when

TEST(Attempts, a_call_may_ask_for_fewer) {
    World world({refusal(503, "RequestLimitExceeded")});
    CallOptions once;
    once.attempts = 1;
    EXPECT_EQ(world.read(once).error().kind, ErrorKind::throttled);
    EXPECT_EQ(world.transport.requests.size(), 1U);
    EXPECT_EQ(world.reports[0].throttles, 1);
}

TEST(Attempts, settings_say_how_many) {
    ClientSettings settings;
    settings.max_attempts = 2;
    World world({refusal(503, "RequestLimitExceeded")}, std::move(settings));
    EXPECT_FALSE(world.read().has_value());
    EXPECT_EQ(world.transport.requests.size(), 2U);
}

TEST(Attempts, unknown_retry_mode_is_an_error_of_the_start) {
    boost::asio::io_context io;
    rt::VirtualClock clock(io, 1, base::TimePoint());
    ScriptedTransport transport(clock, {good()});
    ClientSettings settings;
    settings.region = "us-west-2";
    settings.environment = [](const std::string& name) {
        return std::string(name == "AWS_RETRY_MODE" ? "eager" : "");
    };
    EXPECT_EQ(make_client(settings, transport, clock).error().code, "invalid_retry_mode");
}

TEST(Attempts, what_the_service_asks_for_is_waited_for) {
    World world(
        {with(refusal(503, "RequestLimitExceeded"), "Retry-After", "9"),
         with(refusal(503, "RequestLimitExceeded"), "x-amz-retry-after", "4000"),
         with(with(refusal(503, "RequestLimitExceeded"), "Retry-After", "Mon, 30 Nov 2026 13:00:06 GMT"),
              "Date", "Mon, 30 Nov 2026 13:00:00 GMT"),
         good()});
    ASSERT_TRUE(world.read().has_value());
    const auto& at = world.transport.sent_at;
    ASSERT_EQ(at.size(), 4U);
    EXPECT_GE(at[1] - at[0], seconds(9));
    EXPECT_GE(at[2] - at[1], seconds(4));
    EXPECT_GE(at[3] - at[2], seconds(6));
    EXPECT_LE(at[3] - at[0], seconds(30));
}

TEST(Attempts, a_long_wait_is_handed_up_instead_of_holding_the_call) {
    World world({with(refusal(503, "RequestLimitExceeded"), "Retry-After", "300"), good()});
    const auto result = world.read();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::throttled);
    EXPECT_EQ(result.error().retry_after, milliseconds(300'000));
    EXPECT_EQ(world.transport.requests.size(), 1U);
}

TEST(Attempts, a_service_in_trouble_is_not_buried_under_retries) {
    World world({refusal(503, "Unavailable")});
    std::size_t last = 0;
    for (int i = 0; i < 60; ++i) {
        last = world.transport.requests.size();
        EXPECT_FALSE(world.read().has_value());
    }
    EXPECT_EQ(world.transport.requests.size() - last, 1U);
    // Another service has a quota of its own.
    EXPECT_FALSE(world.call("sagemaker", "ListClusters", "{}").has_value());
    EXPECT_EQ(world.transport.requests.size() - last, 6U);
}

// --- deadlines

TEST(Attempts, a_deadline_ends_the_attempt_that_runs) {
    Step silent{good()};
    silent.takes = seconds(3600);
    World world({silent});
    const auto begin = world.clock.monotonic();
    const auto result = world.read(CallOptions(), world.until(seconds(3)));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::deadline);
    EXPECT_EQ(world.clock.monotonic() - begin, seconds(3));
    EXPECT_EQ(world.transport.requests.size(), 1U);
    const auto mutation = world.call("ec2", "CreateVpc", "{}", CallOptions(), world.until(seconds(3)));
    ASSERT_FALSE(mutation.has_value());
    EXPECT_EQ(mutation.error().kind, ErrorKind::unknown_outcome);
}

TEST(Attempts, no_attempt_begins_after_the_deadline) {
    World world({with(refusal(503, "RequestLimitExceeded"), "Retry-After", "5"), good()});
    EXPECT_EQ(world.read(CallOptions(), world.until(seconds(3))).error().kind, ErrorKind::throttled);
    EXPECT_EQ(world.transport.requests.size(), 1U);
    EXPECT_EQ(world.read(CallOptions(), world.until(seconds(0))).error().kind, ErrorKind::deadline);
    EXPECT_EQ(world.transport.requests.size(), 1U);
}

// --- clocks

std::string signed_at(const http::Request& request) {
    return request.headers.get("X-Amz-Date");
}

TEST(Attempts, a_clock_that_is_minutes_off_is_followed_before_aws_complains) {
    World world({with(good(), "Date", "Mon, 30 Nov 2026 12:10:00 GMT")});
    ASSERT_TRUE(world.read().has_value());
    ASSERT_TRUE(world.read().has_value());
    EXPECT_EQ(signed_at(world.transport.requests[0]).substr(0, 13), "20261130T1200");
    EXPECT_EQ(signed_at(world.transport.requests[1]).substr(0, 13), "20261130T1210");
    const auto token =
        rt::testing::run(world.io, world.clock, world.client->eks_token(rt::Context(), "demo")).value();
    std::string url;
    ASSERT_TRUE(base::base64_decode(token.substr(11), url));
    EXPECT_NE(url.find("X-Amz-Date=20261130T1210"), std::string::npos) << url;
}

TEST(Attempts, a_clock_that_is_right_again_is_believed) {
    World world({with(good(), "Date", "Mon, 30 Nov 2026 12:10:00 GMT"),
                 with(good(), "Date", "Mon, 30 Nov 2026 12:00:02 GMT"), good()});
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.read().has_value());
    EXPECT_EQ(signed_at(world.transport.requests[1]).substr(0, 13), "20261130T1210");
    EXPECT_EQ(signed_at(world.transport.requests[2]).substr(0, 13), "20261130T1200");
}

TEST(Attempts, small_differences_are_left_alone) {
    World world({with(good(), "Date", "Mon, 30 Nov 2026 12:03:30 GMT")});
    ASSERT_TRUE(world.read().has_value());
    ASSERT_TRUE(world.read().has_value());
    EXPECT_EQ(signed_at(world.transport.requests[1]).substr(0, 13), "20261130T1200");
}

TEST(Attempts, a_refused_time_is_corrected_also_after_other_failures) {
    World world({refusal(503, "RequestLimitExceeded"), lost("timeout"),
                 with(refusal(400, "RequestExpired"), "Date", "Mon, 30 Nov 2026 09:00:00 GMT"), good()});
    ASSERT_TRUE(world.read().has_value());
    EXPECT_EQ(signed_at(world.transport.requests[3]).substr(0, 13), "20261130T0900");
}

TEST(Attempts, a_time_that_is_refused_again_is_not_tried_for_ever) {
    World world({with(refusal(400, "RequestExpired"), "Date", "Mon, 30 Nov 2026 09:00:00 GMT"),
                 with(refusal(400, "RequestExpired"), "Date", "Mon, 30 Nov 2026 15:00:00 GMT")});
    EXPECT_EQ(world.read().error().code, "RequestExpired");
    EXPECT_EQ(world.transport.requests.size(), 2U);
}

// --- credentials

// An environment whose session is another one each time it is asked for.
struct Sessions {
    int given = 0;
    ClientSettings settings() {
        ClientSettings made;
        made.environment = [this](const std::string& name) {
            if (name == "AWS_ACCESS_KEY_ID") return "AKID" + std::to_string(++given);
            if (name == "AWS_SECRET_ACCESS_KEY") return std::string("secret");
            return name == "AWS_SESSION_TOKEN" ? "session" + std::to_string(given) : std::string();
        };
        return made;
    }
};

TEST(Attempts, expired_sessions_are_replaced_whatever_a_service_calls_them) {
    const auto date = "Mon, 30 Nov 2026 12:00:00 GMT";
    for (const auto& expired :
         {refusal(400, "ExpiredToken"), with(refusal(400, "RequestExpired"), "Date", date),
          refusal(400, "RequestExpired")}) {
        Sessions sessions;
        World world({refusal(503, "RequestLimitExceeded"), expired, good()}, sessions.settings());
        const auto result = world.create();
        ASSERT_TRUE(result.has_value()) << result.error().chain();
        ASSERT_EQ(world.transport.requests.size(), 3U);
        const auto before = world.transport.requests[1].headers.get("Authorization");
        const auto after = world.transport.requests[2].headers.get("Authorization");
        EXPECT_NE(before.substr(0, 60), after.substr(0, 60));
    }
}

TEST(Attempts, a_head_that_is_refused_without_a_word_is_tried_with_new_credentials) {
    Sessions sessions;
    World world({answer(400, ""), answer(200, "")}, sessions.settings());
    EXPECT_TRUE(world.call("s3", "HeadBucket", R"({"Bucket":"b-1"})").has_value());
    Sessions others;
    World elsewhere({with(answer(400, ""), "x-amz-bucket-region", "eu-west-1")}, others.settings());
    EXPECT_EQ(elsewhere.call("s3", "HeadBucket", R"({"Bucket":"b-1"})").error().code, "BadRequest");
    EXPECT_EQ(elsewhere.transport.requests.size(), 1U);
}

TEST(Attempts, a_look_that_is_made_once_still_gets_new_credentials) {
    Sessions sessions;
    World world({refusal(400, "ExpiredToken"), good()}, sessions.settings());
    CallOptions once;
    once.attempts = 1;
    EXPECT_TRUE(world.read(once).has_value());
}

TEST(Attempts, credentials_that_stay_expired_are_named_so) {
    Sessions sessions;
    World world({refusal(400, "RequestExpired")}, sessions.settings());
    const auto result = world.create();
    EXPECT_EQ(result.error().code, "CredentialsExpired");
    EXPECT_EQ(result.error().kind, ErrorKind::denied);
    EXPECT_EQ(world.transport.requests.size(), 2U);
}

// --- the adaptive mode

TEST(Attempts, adaptive_mode_slows_all_calls_to_a_service_that_throttles) {
    ClientSettings settings;
    settings.retry_mode = "adaptive";
    World world({refusal(503, "RequestLimitExceeded"), good()}, std::move(settings));
    CallOptions once;
    once.attempts = 1;
    EXPECT_EQ(world.read(once).error().kind, ErrorKind::throttled);
    const auto begin = world.clock.monotonic();
    ASSERT_TRUE(world.create().has_value());
    EXPECT_GT(world.clock.monotonic() - begin, seconds(1));
    // Another service goes at its own rate.
    const auto then = world.clock.monotonic();
    EXPECT_EQ(world.call("sagemaker", "ListClusters", "{}", once).error().code, "unreadable_answer");
    EXPECT_LT(world.clock.monotonic() - then, seconds(1));
}

TEST(Attempts, adaptive_mode_does_not_send_what_would_come_too_late) {
    ClientSettings settings;
    settings.retry_mode = "adaptive";
    World world({refusal(503, "RequestLimitExceeded"), good()}, std::move(settings));
    CallOptions once;
    once.attempts = 1;
    EXPECT_FALSE(world.read(once).has_value());
    EXPECT_EQ(world.read(once, world.until(milliseconds(500))).error().kind, ErrorKind::deadline);
    EXPECT_EQ(world.transport.requests.size(), 1U);
}

}  // namespace
}  // namespace instantstart::aws
