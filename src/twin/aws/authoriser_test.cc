#include "twin/aws/authoriser.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rt/virtual_clock.h"
#include "twin/aws/services.h"
#include "twin/aws/world_impl.h"

namespace instantstart::twin {
namespace {

constexpr const char* kVpcs = "arn:aws:ec2:us-west-2:111122223333:vpc/*";

std::string allow(const std::string& action, const std::string& resource, const std::string& condition = "") {
    return R"({"Effect":"Allow","Action":")" + action + R"(","Resource":")" + resource + "\"" +
           (condition.empty() ? "" : R"(,"Condition":)" + condition) + "}";
}

class AuthoriserTest : public ::testing::Test {
protected:
    AuthoriserTest()
        : clock(io, 1, base::parse_time("2026-11-30T12:00:00Z").value()),
          world(io.get_executor(), clock, WorldOptions()) {
        world.add(make_iam(world));
        world.add(make_ec2(world));
        JsonObject role{
            {"RoleName", "worker"},
            {"AssumeRolePolicyDocument",
             R"({"Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}})"}};
        perform("iam", "CreateRole", std::move(role));
        caller.account = world.account();
        caller.role_arn = "arn:aws:iam::" + world.account() + ":role/worker";
        caller.arn = "arn:aws:sts::" + world.account() + ":assumed-role/worker/me";
    }

    Call call_of(const char* service, const char* operation, JsonObject parameters) {
        Call call;
        call.service = service;
        call.operation = operation;
        call.region = "us-west-2";
        call.params = std::move(parameters);
        call.caller = caller;
        call.now = world.now();
        return call;
    }
    JsonObject perform(const char* service, const char* operation, JsonObject parameters) {
        Reply reply = world.service(service)->handle(call_of(service, operation, std::move(parameters)));
        const auto* answer = std::get_if<JsonObject>(&reply);
        EXPECT_NE(answer, nullptr) << operation << ": "
                                   << (answer == nullptr ? std::get<ServiceError>(reply).message : "");
        return answer == nullptr ? JsonObject() : *answer;
    }
    void holds(const std::string& name, const std::string& statements) {
        perform("iam", "PutRolePolicy",
                {{"RoleName", "worker"},
                 {"PolicyName", name},
                 {"PolicyDocument", R"({"Version":"2012-10-17","Statement":[)" + statements + "]}"}});
    }
    // "" where it is allowed.
    std::string refusal(const char* service, const char* operation, JsonObject parameters) {
        const auto error = authorise(world, call_of(service, operation, std::move(parameters)));
        return error ? error->code + " " + error->message : "";
    }
    static JsonObject tagged_vpc(const char* key) {
        return {{"CidrBlock", "10.0.0.0/16"},
                {"TagSpecifications",
                 JsonArray{JsonObject{{"ResourceType", "vpc"},
                                      {"Tags", JsonArray{JsonObject{{"Key", key}, {"Value", "demo"}}}}}}}};
    }

    boost::asio::io_context io;
    rt::VirtualClock clock;
    WorldImpl world;
    Identity caller;
};

TEST_F(AuthoriserTest, refuses_in_the_words_of_the_service) {
    const auto ec2 = refusal("ec2", "CreateVpc", {{"CidrBlock", "10.0.0.0/16"}});
    EXPECT_TRUE(
        ec2.starts_with("UnauthorizedOperation You are not authorized to perform this operation. User: "
                        "arn:aws:sts::111122223333:assumed-role/worker/me is not authorized to perform: "
                        "ec2:CreateVpc on resource: "
                        "arn:aws:ec2:us-west-2:111122223333:vpc/* because no identity-based policy allows "
                        "the ec2:CreateVpc action"))
        << ec2;
    EXPECT_NE(ec2.find("Encoded authorization failure message: "), std::string::npos);
    const auto s3 = refusal("s3", "ListObjectsV2", {{"Bucket", "b"}});
    EXPECT_NE(s3.find("on resource: \"arn:aws:s3:::b\" because"), std::string::npos) << s3;
    EXPECT_TRUE(
        refusal("eks", "DescribeCluster", {{"name", "a"}}).starts_with("AccessDeniedException User: "));
    EXPECT_EQ(refusal("iam", "ListRoles", {}).find("on resource"), std::string::npos);
    EXPECT_EQ(refusal("sts", "GetCallerIdentity", {}), "");
}

TEST_F(AuthoriserTest, what_is_made_is_judged_by_the_tags_of_the_call) {
    const char* ours = R"({"Null":{"aws:RequestTag/instantstart:cluster":"false"}})";
    holds("make", allow("ec2:CreateVpc", kVpcs, ours) + "," + allow("ec2:CreateTags", "*", ours));
    EXPECT_EQ(refusal("ec2", "CreateVpc", tagged_vpc("instantstart:cluster")), "");
    EXPECT_NE(refusal("ec2", "CreateVpc", tagged_vpc("Name")), "");
    EXPECT_NE(refusal("ec2", "CreateVpc", {{"CidrBlock", "10.0.0.0/16"}}), "");
    holds("make", allow("ec2:CreateVpc", kVpcs));
    EXPECT_NE(refusal("ec2", "CreateVpc", tagged_vpc("Name")).find("ec2:CreateTags"), std::string::npos);
    holds("make",
          allow("ec2:CreateVpc", kVpcs) + "," +
              allow("ec2:CreateTags", "*", R"({"StringEquals":{"ec2:CreateAction":"CreateSubnet"}})"));
    EXPECT_NE(refusal("ec2", "CreateVpc", tagged_vpc("Name")).find("ec2:CreateTags"), std::string::npos);
}

TEST_F(AuthoriserTest, what_exists_is_judged_by_its_own_tags) {
    const auto ours =
        base::get_string(perform("ec2", "CreateVpc", tagged_vpc("instantstart:cluster")), "Vpc.VpcId");
    auto body = tagged_vpc("Name");
    body["CidrBlock"] = "10.1.0.0/16";
    const auto other = base::get_string(perform("ec2", "CreateVpc", body), "Vpc.VpcId");
    world.advance(std::chrono::minutes(1));
    holds("own",
          allow("ec2:DeleteVpc", kVpcs, R"({"Null":{"aws:ResourceTag/instantstart:cluster":"false"}})"));
    EXPECT_EQ(refusal("ec2", "DeleteVpc", {{"VpcId", ours}}), "");
    const auto refused = refusal("ec2", "DeleteVpc", {{"VpcId", other}});
    EXPECT_NE(refused.find("vpc/" + other), std::string::npos) << refused;
    holds("own", allow("ec2:DeleteVpc", kVpcs, R"({"StringEquals":{"ec2:ResourceTag/Name":"demo"}})"));
    EXPECT_EQ(refusal("ec2", "DeleteVpc", {{"VpcId", other}}), "");
    EXPECT_NE(refusal("ec2", "DeleteVpc", {{"VpcId", ours}}), "");
    // A subnet needs the right on both: what is made, and the VPC that it is made in.
    holds("own", allow("ec2:CreateSubnet", "arn:aws:ec2:*:*:subnet/*"));
    const auto subnet = refusal("ec2", "CreateSubnet", {{"VpcId", ours}, {"CidrBlock", "10.0.0.0/24"}});
    EXPECT_NE(subnet.find("vpc/" + ours), std::string::npos) << subnet;
}

TEST_F(AuthoriserTest, what_describe_does_not_show_yet_is_judged_by_its_tags_too) {
    holds("own",
          allow("ec2:DeleteVpc", kVpcs, R"({"Null":{"aws:ResourceTag/instantstart:cluster":"false"}})"));
    int unseen = 0;
    for (int i = 0; i < 4; ++i) {
        auto body = tagged_vpc("instantstart:cluster");
        body["CidrBlock"] = "10." + std::to_string(i) + ".0.0/16";
        const auto id = base::get_string(perform("ec2", "CreateVpc", body), "Vpc.VpcId");
        const JsonObject by_id{{"Name", "resource-id"}, {"Values", JsonArray{JsonValue(id)}}};
        const auto shown = perform("ec2", "DescribeTags", {{"Filters", JsonArray{by_id}}});
        if (base::get_array(shown, "Tags").empty()) ++unseen;
        EXPECT_EQ(refusal("ec2", "DeleteVpc", {{"VpcId", id}}), "");
    }
    EXPECT_GT(unseen, 0) << "none of these VPCs was fresh: the test shows nothing";
}

TEST_F(AuthoriserTest, roles_are_passed_to_named_services_only) {
    holds("pass", allow("eks:*", "*") + "," + allow("iam:CreateServiceLinkedRole", "*") + "," +
                      allow("iam:PassRole", "arn:aws:iam::*:role/instantstart-*",
                            R"({"StringEquals":{"iam:PassedToService":"eks.amazonaws.com"}})"));
    const auto create = [](const char* role) {
        return JsonObject{{"name", "demo"},
                          {"roleArn", std::string("arn:aws:iam::111122223333:role/") + role}};
    };
    EXPECT_EQ(refusal("eks", "CreateCluster", create("instantstart-demo-eks")), "");
    EXPECT_NE(refusal("eks", "CreateCluster", create("admin")).find("iam:PassRole"), std::string::npos);
    holds("pass", allow("eks:*", "*") + "," + allow("iam:PassRole", "*") + "," +
                      allow("iam:CreateServiceLinkedRole", "*",
                            R"({"StringEquals":{"iam:AWSServiceName":"fsx.amazonaws.com"}})"));
    EXPECT_NE(refusal("eks", "CreateCluster", create("admin")).find("iam:CreateServiceLinkedRole"),
              std::string::npos);
}

TEST_F(AuthoriserTest, a_deny_wins_over_every_allow_of_every_policy) {
    holds("all", allow("*", "*"));
    holds("guard", R"({"Effect":"Deny","Action":"ec2:Delete*","Resource":"*"})");
    EXPECT_EQ(refusal("ec2", "DescribeVpcs", {}), "");
    EXPECT_NE(refusal("ec2", "DeleteVpc", {{"VpcId", "vpc-1"}})
                  .find("with an explicit deny in an identity-based policy"),
              std::string::npos);
}

TEST_F(AuthoriserTest, a_boundary_must_allow_too) {
    const auto made = perform("iam", "CreatePolicy",
                              {{"PolicyName", "edge"},
                               {"PolicyDocument", R"({"Version":"2012-10-17","Statement":[)" +
                                                      allow("ec2:Describe*", "*") + "]}"}});
    perform("iam", "PutRolePermissionsBoundary",
            {{"RoleName", "worker"}, {"PermissionsBoundary", base::get_string(made, "Policy.Arn")}});
    holds("all", allow("*", "*"));
    EXPECT_EQ(refusal("ec2", "DescribeVpcs", {}), "");
    EXPECT_NE(
        refusal("ec2", "DeleteVpc", {{"VpcId", "vpc-1"}}).find("because no permissions boundary allows"),
        std::string::npos);
}

TEST_F(AuthoriserTest, roles_are_made_and_filled_with_their_boundary_only) {
    perform("iam", "CreatePolicy",
            {{"PolicyName", "edge"},
             {"PolicyDocument", R"({"Version":"2012-10-17","Statement":[)" + allow("*", "*") + "]}"}});
    const std::string edge = "arn:aws:iam::111122223333:policy/edge";
    const std::string demand = R"({"StringEquals":{"iam:PermissionsBoundary":")" + edge + R"("}})";
    holds("roles", allow("iam:CreateRole", "*", demand) + "," + allow("iam:PutRolePolicy", "*", demand));
    const char* trust =
        R"({"Statement":{"Effect":"Allow","Principal":{"AWS":"*"},"Action":"sts:AssumeRole"}})";
    JsonObject bound{
        {"RoleName", "bound"}, {"AssumeRolePolicyDocument", trust}, {"PermissionsBoundary", edge}};
    EXPECT_EQ(refusal("iam", "CreateRole", bound), "");
    EXPECT_NE(refusal("iam", "CreateRole", {{"RoleName", "free"}, {"AssumeRolePolicyDocument", trust}}), "");
    perform("iam", "CreateRole", bound);
    EXPECT_EQ(refusal("iam", "PutRolePolicy", {{"RoleName", "bound"}, {"PolicyName", "p"}}), "");
    EXPECT_NE(refusal("iam", "PutRolePolicy", {{"RoleName", "worker"}, {"PolicyName", "p"}}), "");
}

TEST_F(AuthoriserTest, region_and_account_are_keys) {
    holds("here",
          allow("ec2:DescribeVpcs", "*", R"({"StringEquals":{"aws:RequestedRegion":"us-west-2"}})") + "," +
              allow("s3:ListBucket", "*", R"({"StringEquals":{"s3:ResourceAccount":"111122223333"}})"));
    EXPECT_EQ(refusal("ec2", "DescribeVpcs", {}), "");
    EXPECT_EQ(refusal("s3", "HeadBucket", {{"Bucket", "b"}}), "");
    auto elsewhere = call_of("ec2", "DescribeVpcs", {});
    elsewhere.region = "eu-west-1";
    EXPECT_TRUE(authorise(world, elsewhere).has_value());
}

}  // namespace
}  // namespace instantstart::twin
