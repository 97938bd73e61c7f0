#include "twin/aws/iam/policy.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace instantstart::twin::iam {
namespace {

Effect ask(const char* statement, const PolicyRequest& request, PolicyUse use = PolicyUse::identity) {
    const auto document =
        base::parse_json(std::string(R"({"Version":"2012-10-17","Statement":[)") + statement + "]}");
    return evaluate(document.value(), request, use);
}

PolicyRequest request_of(const char* action, const char* resource) {
    PolicyRequest out;
    out.action = action;
    out.resource = resource;
    return out;
}

TEST(Policy, wildcards_match_as_policies_write_them) {
    EXPECT_TRUE(wildcard_match("ec2:Describe*", "ec2:DescribeVpcs"));
    EXPECT_TRUE(wildcard_match("*:role/a?-*", "arn:role/ab-x"));
    EXPECT_TRUE(wildcard_match("EC2:create*", "ec2:CreateVpc", true));
    EXPECT_FALSE(wildcard_match("ec2:Describe*", "ec2:CreateVpc"));
}

TEST(Policy, deny_wins_and_silence_is_no_right) {
    const auto request = request_of("s3:GetObject", "arn:aws:s3:::a/b");
    EXPECT_EQ(ask(R"({"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::a/*"})", request),
              Effect::allow);
    const char* denied = R"({"Effect":"Allow","Action":"s3:*","Resource":"*"},)"
                         R"({"Effect":"Deny","Action":"s3:Get*","Resource":"*"})";
    EXPECT_EQ(ask(denied, request), Effect::deny);
    EXPECT_EQ(ask(R"({"Effect":"Allow","Action":"ec2:*","Resource":"*"})", request), Effect::none);
}

TEST(Policy, not_action_and_not_resource_exclude) {
    const auto request = request_of("iam:PassRole", "arn:aws:iam::1:role/x");
    EXPECT_EQ(ask(R"({"Effect":"Allow","NotAction":"iam:*","Resource":"*"})", request), Effect::none);
    EXPECT_EQ(ask(R"({"Effect":"Allow","Action":"*","NotResource":"arn:aws:iam::1:role/x"})", request),
              Effect::none);
    EXPECT_EQ(ask(R"({"Effect":"Allow","NotAction":"ec2:*","NotResource":"arn:aws:s3:::*"})", request),
              Effect::allow);
}

TEST(Policy, conditions_look_at_the_context) {
    auto request = request_of("iam:PassRole", "arn:aws:iam::1:role/x");
    request.add("iam:PassedToService", "eks.amazonaws.com");
    const auto with = [&request](const std::string& condition) {
        return ask(
            (R"({"Effect":"Allow","Action":"*","Resource":"*","Condition":)" + condition + "}").c_str(),
            request);
    };
    EXPECT_EQ(with(R"({"StringEquals":{"iam:PassedToService":["eks.amazonaws.com","x"]}})"), Effect::allow);
    EXPECT_EQ(with(R"({"StringEquals":{"iam:PassedToService":"sagemaker.amazonaws.com"}})"), Effect::none);
    EXPECT_EQ(with(R"({"StringLike":{"iam:passedtoservice":"eks.*"}})"), Effect::allow);
    EXPECT_EQ(with(R"({"StringNotEquals":{"aws:absent":"x"}})"), Effect::allow);
    EXPECT_EQ(with(R"({"StringEquals":{"aws:absent":"x"}})"), Effect::none);
    EXPECT_EQ(with(R"({"StringEqualsIfExists":{"aws:absent":"x"}})"), Effect::allow);
    EXPECT_EQ(with(R"({"Null":{"aws:absent":"true"}})"), Effect::allow);
    EXPECT_EQ(with(R"({"Null":{"iam:PassedToService":"true"}})"), Effect::none);
    EXPECT_EQ(with(R"({"ForAnyValue:StringEquals":{"iam:PassedToService":"eks.amazonaws.com"}})"),
              Effect::allow);
    EXPECT_EQ(with(R"({"NoSuchOperator":{"iam:PassedToService":"eks.amazonaws.com"}})"), Effect::none);
}

TEST(Policy, arns_are_compared_part_by_part) {
    auto request = request_of("iam:AttachRolePolicy", "arn:aws:iam::1:role/x");
    request.add("iam:PolicyARN", "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy");
    const auto with = [&request](const std::string& op, const std::string& arn) {
        return ask((R"({"Effect":"Allow","Action":"*","Resource":"*","Condition":{")" + op +
                    R"(":{"iam:PolicyARN":")" + arn + R"("}}})")
                       .c_str(),
                   request);
    };
    EXPECT_EQ(with("ArnEquals", "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"), Effect::allow);
    EXPECT_EQ(with("ArnLike", "arn:*:iam::aws:policy/AmazonEKS*"), Effect::allow);
    EXPECT_EQ(with("ArnLike", "arn:aws:*/AmazonEKSClusterPolicy"), Effect::none);
    EXPECT_EQ(with("ArnNotEquals", "arn:aws:iam::aws:policy/AdministratorAccess"), Effect::allow);
    EXPECT_EQ(with("ArnEquals", "arn:aws:iam::aws:policy/AdministratorAccess"), Effect::none);
}

TEST(Policy, keys_are_looked_up_once_and_only_where_a_policy_names_them) {
    int asked = 0;
    auto request = request_of("ec2:DeleteVpc", "arn:aws:ec2:us-west-2:1:vpc/vpc-1");
    request.look_up = [&asked](const std::string& key) {
        ++asked;
        return key == "aws:resourcetag/team" ? std::vector<std::string>{"ml"} : std::vector<std::string>();
    };
    EXPECT_EQ(ask(R"({"Effect":"Allow","Action":"*","Resource":"*"})", request), Effect::allow);
    EXPECT_EQ(asked, 0);
    const char* tagged = R"({"Effect":"Allow","Action":"*","Resource":"*",)"
                         R"("Condition":{"Null":{"aws:ResourceTag/Team":"false"}}})";
    EXPECT_EQ(ask(tagged, request), Effect::allow);
    EXPECT_EQ(ask(tagged, request), Effect::allow);
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(ask(R"({"Effect":"Allow","Action":"*","Resource":"*",)"
                  R"("Condition":{"StringEquals":{"aws:ResourceTag/team":"web"}}})",
                  request),
              Effect::none);
}

TEST(Policy, lists_of_tag_keys_are_compared_with_any_or_all) {
    auto request = request_of("ec2:CreateTags", "arn:aws:ec2:us-west-2:1:vpc/*");
    request.add("aws:TagKeys", "Name");
    request.add("aws:TagKeys", "team");
    const auto with = [&request](const std::string& condition) {
        return ask(
            (R"({"Effect":"Allow","Action":"*","Resource":"*","Condition":)" + condition + "}").c_str(),
            request);
    };
    EXPECT_EQ(with(R"({"ForAnyValue:StringEquals":{"aws:TagKeys":["team"]}})"), Effect::allow);
    EXPECT_EQ(with(R"({"ForAllValues:StringEquals":{"aws:TagKeys":["team"]}})"), Effect::none);
    EXPECT_EQ(with(R"({"ForAllValues:StringLike":{"aws:TagKeys":["*"]}})"), Effect::allow);
    EXPECT_EQ(with(R"({"ForAnyValue:StringEquals":{"aws:TagKeys":["owner"]}})"), Effect::none);
}

TEST(Policy, trust_asks_for_the_principal) {
    PolicyRequest request;
    request.action = "sts:AssumeRole";
    request.principal = "eks.amazonaws.com";
    const char* trust =
        R"({"Effect":"Allow","Principal":{"Service":"eks.amazonaws.com"},"Action":"sts:AssumeRole"})";
    EXPECT_EQ(ask(trust, request, PolicyUse::trust), Effect::allow);
    request.principal = "ec2.amazonaws.com";
    EXPECT_EQ(ask(trust, request, PolicyUse::trust), Effect::none);
}

TEST(Policy, malformed_documents_are_named) {
    EXPECT_TRUE(policy_fault("not json", PolicyUse::identity));
    EXPECT_TRUE(policy_fault("[]", PolicyUse::identity));
    EXPECT_TRUE(policy_fault(R"({"Version":"2012-10-17","Statement":[]})", PolicyUse::identity));
    EXPECT_TRUE(policy_fault(R"({"Statement":{"Effect":"Maybe","Action":"a:b","Resource":"*"}})",
                             PolicyUse::identity));
    EXPECT_TRUE(policy_fault(R"({"Statement":{"Effect":"Allow","Action":"nocolon","Resource":"*"}})",
                             PolicyUse::identity));
    EXPECT_TRUE(policy_fault(R"({"Statement":{"Effect":"Allow","Action":"a:b"}})", PolicyUse::identity));
    EXPECT_TRUE(
        policy_fault(R"({"Statement":{"Effect":"Allow","Action":"sts:AssumeRole"}})", PolicyUse::trust));
    EXPECT_FALSE(policy_fault(R"({"Statement":{"Effect":"Allow","Action":"a:b","Resource":"*"}})",
                              PolicyUse::identity));
}

}  // namespace
}  // namespace instantstart::twin::iam
