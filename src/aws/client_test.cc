#include "aws/client.h"

#include <gtest/gtest.h>

#include "aws/codec/codec.h"
#include "base/text.h"
#include "http/memory_network.h"
#include "rt/testing.h"

namespace instantstart::aws {
namespace {

constexpr const char* kAuthority = "127.0.0.1:3097";

using Canned = codec::Answer;

struct World {
    World() : clock(io, 7, *base::parse_time("2026-11-30T12:00:00Z")), network(clock) {}

    // Answers in turn; the last one again and again. Keeps the requests.
    void serve(std::vector<Canned> list) {
        answers = std::move(list);
        network.listen(kAuthority,
                       [this](http::Context, http::Request request) { return answer(std::move(request)); });
        transport = network.make_transport();
    }
    boost::asio::awaitable<http::Response> answer(http::Request request) {
        requests.push_back(std::move(request));
        const Canned& from = answers.at(std::min(requests.size(), answers.size()) - 1);
        http::Response out(from.status);
        out.headers = from.headers;
        out.body = from.body;
        co_return out;
    }
    void connect(std::map<std::string, std::string> variables = {{"AWS_ACCESS_KEY_ID", "AKID"},
                                                                 {"AWS_SECRET_ACCESS_KEY", "secret"}}) {
        ClientSettings settings;
        settings.region = "us-west-2";
        settings.endpoint_url = "http://127.0.0.1:3097";
        settings.environment = [variables](const std::string& name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::string() : found->second;
        };
        settings.on_call = [this](const CallReport& report) {
            calls.push_back(report.service + " " + report.operation + " " + report.code + " " +
                            std::to_string(report.attempts) + " " + std::to_string(report.throttles));
            last_kind = report.kind;
        };
        client = make_client(std::move(settings), *transport, clock).value();
    }
    base::Result<JsonObject> call(const char* service, const char* operation, const char* parameters) {
        return rt::testing::run(io, clock,
                                client->call(rt::Context(), service, operation,
                                             base::parse_json(parameters).value().get_object()));
    }

    boost::asio::io_context io;
    rt::VirtualClock clock;
    http::MemoryNetwork network;
    std::unique_ptr<http::Transport> transport;
    std::vector<Canned> answers;
    std::vector<http::Request> requests;
    std::vector<std::string> calls;
    std::optional<base::ErrorKind> last_kind;  // of the last call
    std::unique_ptr<Client> client;
};

Canned xml(int status, std::string body) {
    Canned made;
    made.status = status;
    made.body = std::move(body);
    return made;
}
Canned json(int status, std::string body) {
    return xml(status, std::move(body));
}
Canned ec2_error(int status, const std::string& code) {
    return xml(status,
               "<Response><Errors><Error><Code>" + code +
                   "</Code><Message>told so</Message></Error></Errors><RequestID>rid</RequestID></Response>");
}

constexpr const char* kVpc =
    "<CreateVpcResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>r</requestId><vpc>"
    "<vpcId>vpc-1</vpcId><isDefault>false</isDefault><tagSet><item><key>a</key><value>b</value></item></"
    "tagSet></vpc>"
    "</CreateVpcResponse>";

TEST(Client, a_call_is_signed_sent_and_parsed) {
    World world;
    world.serve({xml(200, kVpc)});
    world.connect();
    const auto answer = world.call("ec2", "CreateVpc",
                                   R"({"CidrBlock":"10.0.0.0/16","TagSpecifications":[{"ResourceType":"vpc",
                                      "Tags":[{"Key":"a","Value":"b c"}]}]})");
    ASSERT_TRUE(answer.has_value()) << answer.error().chain();
    EXPECT_EQ(base::to_text(answer.value()),
              R"({"Vpc":{"IsDefault":false,"Tags":[{"Key":"a","Value":"b"}],"VpcId":"vpc-1"}})");
    ASSERT_EQ(world.requests.size(), 1U);
    EXPECT_EQ(
        world.requests[0].body,
        "Action=CreateVpc&Version=2016-11-15&CidrBlock=10.0.0.0%2F16&TagSpecification.1.ResourceType=vpc"
        "&TagSpecification.1.Tag.1.Key=a&TagSpecification.1.Tag.1.Value=b%20c");
    EXPECT_TRUE(
        world.requests[0]
            .headers.get("Authorization")
            .starts_with(
                "AWS4-HMAC-SHA256 Credential=AKID/20261130/us-west-2/ec2/aws4_request, SignedHeaders="));
    EXPECT_EQ(world.calls, std::vector<std::string>{"ec2 CreateVpc  1 0"});
}

TEST(Client, bad_parameters_never_leave) {
    World world;
    world.serve({xml(200, kVpc)});
    world.connect();
    const auto answer = world.call("eks", "CreateCluster", R"({"name":"!","version":3})");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, base::ErrorKind::invalid);
    EXPECT_EQ(answer.error().code, "invalid_parameter");
    EXPECT_EQ(answer.error().fields.size(), 4U);
    EXPECT_TRUE(world.requests.empty());
    EXPECT_EQ(world.call("ec2", "Nothing", "{}").error().kind, base::ErrorKind::internal);
}

TEST(Client, throttled_mutation_waits_and_retries) {
    World world;
    world.serve({ec2_error(503, "RequestLimitExceeded"), ec2_error(400, "Throttling"), xml(200, kVpc)});
    world.connect();
    EXPECT_TRUE(world.call("ec2", "CreateVpc", "{}").has_value());
    EXPECT_EQ(world.requests.size(), 3U);
    EXPECT_EQ(world.calls, std::vector<std::string>{"ec2 CreateVpc  3 2"});
    EXPECT_GT(world.clock.monotonic(), std::chrono::milliseconds(100));
}

TEST(Client, mutation_that_met_a_server_error_is_unknown_and_not_repeated) {
    World world;
    world.serve({ec2_error(500, "InternalError"), xml(200, kVpc)});
    world.connect();
    const auto answer = world.call("ec2", "CreateVpc", "{}");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, base::ErrorKind::unknown_outcome);
    EXPECT_EQ(answer.error().code, "InternalError");
    EXPECT_EQ(answer.error().aws_request_id, "rid");
    EXPECT_EQ(world.requests.size(), 1U);
}

TEST(Client, reads_and_calls_with_a_token_are_repeated_as_they_were) {
    World world;
    world.serve({ec2_error(500, "InternalError"), xml(502, "<html><body>Bad Gateway</body></html>"),
                 xml(200,
                     "<CreateNatGatewayResponse><natGateway><natGatewayId>nat-1</natGatewayId></natGateway>"
                     "</CreateNatGatewayResponse>")});
    world.connect();
    const auto answer = world.call("ec2", "CreateNatGateway", R"({"SubnetId":"subnet-1"})");
    ASSERT_TRUE(answer.has_value()) << answer.error().chain();
    ASSERT_EQ(world.requests.size(), 3U);
    EXPECT_NE(world.requests[0].body.find("ClientToken="), std::string::npos);
    EXPECT_EQ(world.requests[0].body, world.requests[2].body);
}

TEST(Client, lost_answer_of_a_mutation_is_unknown_and_of_a_read_is_repeated) {
    World world;
    world.serve({xml(200, kVpc)});
    world.connect();
    int left = 1;
    world.network.set_fault_hook([&left](const http::Request&) {
        return left-- > 0 ? http::NetworkFault::lose_answer : http::NetworkFault::none;
    });
    const auto lost = world.call("ec2", "CreateVpc", "{}");
    ASSERT_FALSE(lost.has_value());
    EXPECT_EQ(lost.error().kind, base::ErrorKind::unknown_outcome);
    left = 2;
    world.answers.assign(1, xml(200, "<DescribeVpcsResponse><vpcSet/></DescribeVpcsResponse>"));
    const auto read = world.call("ec2", "DescribeVpcs", "{}");
    ASSERT_TRUE(read.has_value()) << read.error().chain();
    EXPECT_EQ(base::to_text(read.value()), R"({"Vpcs":[]})");
}

TEST(Client, refused_connection_is_repeated_for_every_call) {
    World world;
    world.serve({xml(200, kVpc)});
    world.connect();
    int left = 2;
    world.network.set_fault_hook([&left](const http::Request&) {
        return left-- > 0 ? http::NetworkFault::refuse : http::NetworkFault::none;
    });
    EXPECT_TRUE(world.call("ec2", "CreateVpc", "{}").has_value());
    left = 100;
    const auto answer = world.call("ec2", "CreateVpc", "{}");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, base::ErrorKind::unavailable);
    EXPECT_EQ(world.last_kind, base::ErrorKind::unavailable);
}

TEST(Client, errors_have_kind_code_message_and_request_id) {
    World world;
    world.serve(
        {json(400, R"({"__type":"com.amazonaws.sagemaker#ResourceNotFound","Message":"no such cluster"})")});
    world.answers.front().headers.set("x-amzn-RequestId", "abc");
    world.connect();
    const auto gone = world.call("sagemaker", "DescribeCluster", R"({"ClusterName":"demo"})");
    ASSERT_FALSE(gone.has_value());
    EXPECT_EQ(gone.error().kind, base::ErrorKind::not_found);
    EXPECT_EQ(gone.error().code, "ResourceNotFound");
    EXPECT_EQ(gone.error().message, "no such cluster");
    EXPECT_EQ(gone.error().aws_request_id, "abc");
    world.answers.assign(1, json(400, R"({"message":"zone","validZones":["us-west-2a"]})"));
    world.answers.front().headers.set("x-amzn-ErrorType", "UnsupportedAvailabilityZoneException:http://x/");
    const auto zone =
        world.call("eks", "CreateCluster",
                   R"({"name":"demo","roleArn":"arn","resourcesVpcConfig":{"subnetIds":["s"]}})");
    ASSERT_FALSE(zone.has_value());
    EXPECT_EQ(zone.error().code, "UnsupportedAvailabilityZoneException");
    EXPECT_EQ(base::to_text(zone.error().extra),
              R"({"aws_error":{"validZones":["us-west-2a"]},"aws_operation":"eks:CreateCluster"})");
}

TEST(Client, unreadable_success_of_a_mutation_is_unknown) {
    World world;
    world.serve({xml(200, "<CreateVpcResponse><vpc>")});
    world.connect();
    const auto answer = world.call("ec2", "CreateVpc", "{}");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, base::ErrorKind::unknown_outcome);
    EXPECT_EQ(answer.error().code, "unreadable_answer");
}

TEST(Client, skewed_clock_is_corrected_by_the_date_of_the_answer) {
    World world;
    world.serve(
        {json(400, R"({"__type":"InvalidSignatureException","message":"Signature expired: too old"})"),
         json(200, "{}")});
    world.answers.front().headers.set("Date", "Mon, 30 Nov 2026 13:00:00 GMT");
    world.connect();
    EXPECT_TRUE(world.call("sagemaker", "ListClusters", "{}").has_value());
    ASSERT_EQ(world.requests.size(), 2U);
    EXPECT_TRUE(world.requests[0].headers.get("X-Amz-Date").starts_with("20261130T1200"));
    EXPECT_TRUE(world.requests[1].headers.get("X-Amz-Date").starts_with("20261130T1300"));
}

TEST(Client, pages_are_collected_up_to_a_limit) {
    World world;
    world.serve(
        {json(200, R"({"ClusterSummaries":[{"ClusterName":"a"},{"ClusterName":"b"}],"NextToken":"t"})"),
         json(200, R"({"ClusterSummaries":[{"ClusterName":"c"}]})")});
    world.connect();
    const auto all =
        rt::testing::run(world.io, world.clock,
                         world.client->collect(rt::Context(), "sagemaker", "ListClusters", JsonObject()));
    ASSERT_TRUE(all.has_value()) << all.error().chain();
    EXPECT_EQ(all.value().size(), 3U);
    EXPECT_EQ(world.requests[1].body, R"({"NextToken":"t"})");
    world.requests.clear();
    const auto few =
        rt::testing::run(world.io, world.clock,
                         world.client->collect(rt::Context(), "sagemaker", "ListClusters", JsonObject(), 2));
    ASSERT_FALSE(few.has_value());
    EXPECT_EQ(few.error().code, "too_many_items");
}

TEST(Client, eks_token_is_a_presigned_call_of_sts) {
    World world;
    world.serve({json(200, "{}")});
    world.connect();
    const auto token =
        rt::testing::run(world.io, world.clock, world.client->eks_token(rt::Context(), "demo"));
    ASSERT_TRUE(token.has_value());
    ASSERT_TRUE(token.value().starts_with("k8s-aws-v1."));
    std::string url;
    ASSERT_TRUE(base::base64_decode(token.value().substr(11), url));
    EXPECT_TRUE(
        url.starts_with("http://127.0.0.1:3097/?Action=GetCallerIdentity&Version=2011-06-15"
                        "&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F20261130"));
    EXPECT_NE(url.find("&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id"), std::string::npos);
    EXPECT_TRUE(world.requests.empty());
}

TEST(Client, every_error_names_its_operation) {
    World world;
    world.serve({json(400, R"({"__type":"ValidationException","message":"no"})")});
    world.connect();
    const auto answer = world.call("sagemaker", "ListClusters", "{}");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(base::get_string(answer.error().extra, "aws_operation"), "sagemaker:ListClusters");
}

TEST(Client, absent_credentials_are_a_clear_error) {
    World world;
    world.serve({json(200, "{}")});
    world.connect({{"AWS_EC2_METADATA_DISABLED", "true"}});
    const auto answer = world.call("sagemaker", "ListClusters", "{}");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().kind, base::ErrorKind::denied);
    EXPECT_EQ(answer.error().code, "CredentialsUnavailable");
}

TEST(Client, expired_credentials_are_fetched_again_once) {
    World world;
    world.serve(
        {json(400, R"({"__type":"ExpiredTokenException","message":"The security token is expired"})")});
    world.connect();
    const auto answer = world.call("sagemaker", "ListClusters", "{}");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, "CredentialsExpired");
    EXPECT_EQ(answer.error().kind, base::ErrorKind::denied);
    EXPECT_EQ(world.requests.size(), 2U);
}

TEST(Client, region_must_be_known) {
    World world;
    world.serve({json(200, "{}")});
    ClientSettings settings;
    settings.environment = [](const std::string&) { return std::string(); };
    EXPECT_EQ(make_client(settings, *world.transport, world.clock).error().code, "no_region");
    settings.environment = [](const std::string& name) {
        return name == "AWS_DEFAULT_REGION" ? std::string("cn-north-1") : std::string();
    };
    EXPECT_EQ(make_client(settings, *world.transport, world.clock).value()->partition(), "aws-cn");
}

}  // namespace
}  // namespace instantstart::aws
