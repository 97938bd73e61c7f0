#include "aws/model/iam_statements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace instantstart::aws::model {
namespace {

PolicyLimits narrow() {
    PolicyLimits limits;
    limits.partition = "aws-us-gov";
    limits.region = "us-gov-west-1";
    limits.account = "111122223333";
    return limits;
}

const PolicyStatement& statement(std::string_view sid) {
    const auto& all = policy_statements();
    const auto found =
        std::find_if(all.begin(), all.end(), [sid](const PolicyStatement& one) { return one.sid == sid; });
    EXPECT_NE(found, all.end()) << sid;
    return *found;
}

TEST(IamStatements, have_names_purposes_and_sorted_actions) {
    std::set<std::string> seen;
    for (const auto& one : policy_statements()) {
        EXPECT_TRUE(seen.insert(one.sid).second) << one.sid;
        EXPECT_LE(one.sid.size(), 20U) << one.sid;
        EXPECT_TRUE(
            std::all_of(one.sid.begin(), one.sid.end(), [](unsigned char c) { return std::isalnum(c); }));
        EXPECT_FALSE(one.purpose.empty()) << one.sid;
        EXPECT_FALSE(one.resources.empty()) << one.sid;
        EXPECT_TRUE(std::is_sorted(one.actions.begin(), one.actions.end())) << one.sid;
        for (const auto& action : one.actions) EXPECT_EQ(action.find('*'), std::string::npos) << action;
    }
}

TEST(IamStatements, star_is_argued_in_the_purpose) {
    for (const auto& one : policy_statements()) {
        const bool star = std::find(one.resources.begin(), one.resources.end(), "*") != one.resources.end();
        EXPECT_EQ(star, one.purpose.find("no resource level") != std::string::npos) << one.sid;
    }
}

TEST(IamStatements, writes_on_iam_stay_under_our_names) {
    for (const auto& one : policy_statements()) {
        for (const auto& action : one.actions) {
            const bool reads = action.starts_with("iam:Get") || action.starts_with("iam:List");
            if (!action.starts_with("iam:") || reads) continue;
            for (const auto& resource : one.resources) {
                const bool ours = resource.find("/instantstart-") != std::string::npos ||
                                  resource.find("/SageMakerHyperPodInference") != std::string::npos ||
                                  resource.find("oidc-provider/oidc.eks.") != std::string::npos ||
                                  resource.find("role/aws-service-role/") != std::string::npos ||
                                  resource == "{execution_role}";
                EXPECT_TRUE(ours) << action << " " << resource;
            }
        }
    }
}

TEST(IamStatements, are_filled_with_the_account) {
    const auto made = statement_json(statement("OwnProviders"), {"iam:GetOpenIDConnectProvider"}, narrow());
    EXPECT_EQ(base::get_string(made, "Resource"),
              "arn:aws-us-gov:iam::111122223333:oidc-provider/oidc.eks.us-gov-west-1.*");
    const auto open =
        statement_json(statement("OwnProviders"), {"iam:GetOpenIDConnectProvider"}, PolicyLimits());
    EXPECT_EQ(base::get_string(open, "Resource"), "arn:aws:iam::*:oidc-provider/oidc.eks.*.*");
}

TEST(IamStatements, conditions_on_what_is_not_given_are_left_out) {
    const auto open = statement_json(statement("SeeNetwork"), {"ec2:DescribeVpcs"}, PolicyLimits());
    EXPECT_FALSE(open.contains("Condition")) << base::to_text(open);
    const auto made = statement_json(statement("SeeNetwork"), {"ec2:DescribeVpcs"}, narrow());
    const base::JsonObject equals{{"aws:RequestedRegion", "us-gov-west-1"}};
    EXPECT_EQ(base::get_object(made, "Condition.StringEquals"), equals) << base::to_text(made);
    const auto attach =
        statement_json(statement("AttachToOwnRoles"), {"iam:AttachRolePolicy"}, PolicyLimits());
    EXPECT_NE(base::to_text(attach).find("arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"),
              std::string::npos);
}

TEST(IamStatements, demand_the_boundary_where_there_is_one) {
    auto limits = narrow();
    limits.permissions_boundary = "arn:aws-us-gov:iam::111122223333:policy/edge";
    for (const char* sid : {"MakeOwnRoles", "FillOwnRoles", "AttachToOwnRoles"}) {
        const auto& one = statement(sid);
        const auto made = statement_json(one, one.actions, limits);
        EXPECT_NE(base::to_text(made).find(
                      R"("iam:PermissionsBoundary":"arn:aws-us-gov:iam::111122223333:policy/edge")"),
                  std::string::npos)
            << base::to_text(made);
        EXPECT_EQ(base::to_text(statement_json(one, one.actions, narrow())).find("PermissionsBoundary"),
                  std::string::npos);
    }
}

TEST(IamStatements, for_the_users_own_things_are_printed_on_request) {
    auto limits = narrow();
    EXPECT_FALSE(is_printed(statement("UseKeys"), limits));
    EXPECT_FALSE(is_printed(statement("ShareImages"), limits));
    limits.kms_keys = {"arn:aws:kms:us-west-2:1:key/a"};
    limits.custom_images = true;
    EXPECT_TRUE(is_printed(statement("UseKeys"), limits));
    EXPECT_TRUE(is_printed(statement("ShareImages"), limits));
    const auto& pass = statement("PassRolesToHyperPod");
    EXPECT_EQ(base::get_string(statement_json(pass, pass.actions, limits), "Resource"),
              "arn:aws-us-gov:iam::111122223333:role/instantstart-*");
    limits.execution_roles = {"arn:aws:iam::1:role/research"};
    EXPECT_EQ(base::get_array(statement_json(pass, pass.actions, limits), "Resource").size(), 2U);
}

TEST(IamStatements, patterns_match_as_in_policies) {
    EXPECT_TRUE(matches_pattern("arn:*:role/a?-*", "arn:aws:role/ab-x"));
    EXPECT_TRUE(matches_pattern("*", ""));
    EXPECT_FALSE(matches_pattern("role/a-*", "role/A-x"));
    EXPECT_FALSE(matches_pattern("a", "ab"));
}

}  // namespace
}  // namespace instantstart::aws::model
