#include "domain/names.h"

#include <gtest/gtest.h>

#include "domain/policies.h"

namespace instantstart::domain {
namespace {

TEST(names, cluster_names_follow_the_rule) {
    EXPECT_TRUE(check_cluster_name("demo", "/name"));
    EXPECT_TRUE(check_cluster_name("a", "/name"));
    for (const char* bad : {"", "Not_A Name!", "-a", "a-", "1a", "active", "import", "launch",
                            "a234567890123456789012345678x"}) {
        auto refused = check_cluster_name(bad, "/name");
        ASSERT_FALSE(refused) << bad;
        EXPECT_EQ(refused.error().fields.at(0).pointer, "/name");
    }
}

TEST(names, long_names_are_shortened_and_stay_apart) {
    const auto a = role_name("a23456789012345678901234567a", "ap-southeast-4", "a-very-long-purpose-indeed");
    const auto b = role_name("a23456789012345678901234567b", "ap-southeast-4", "a-very-long-purpose-indeed");
    EXPECT_LE(a.size(), 64U);
    EXPECT_NE(a, b);
    EXPECT_TRUE(a.starts_with("instantstart-"));
    EXPECT_TRUE(a.ends_with("-a-very-long-purpose-indeed"));
    EXPECT_LE(bucket_name("a23456789012345678901234567a", "111122223333", "ap-southeast-4").size(), 63U);
    EXPECT_EQ(bucket_name("demo", "111122223333", "us-west-2"), "sagemaker-demo-111122223333-us-west-2");
}

TEST(names, tags_are_read_in_both_forms) {
    Owner owner;
    owner.cluster = "demo";
    owner.user = {{"team", "x"}};
    EXPECT_EQ(tag_of(tag_list(owner), kTagCluster), "demo");
    EXPECT_EQ(tag_of(tag_map(owner), "team"), "x");
    EXPECT_EQ(tag_of(tag_map(owner), "other"), "");
}

TEST(names, hidden_characters_are_taken_out_of_foreign_text) {
    EXPECT_EQ(clean_text("a\x1b[31mb\xE2\x80\xAE"
                         "c",
                         100),
              "abc");
    EXPECT_EQ(clean_text("abcdef", 3), "abc");
}

TEST(policies, trust_names_account_and_service_account) {
    PolicyScope scope;
    scope.account = "111122223333";
    scope.region = "us-west-2";
    scope.cluster = "demo";
    EXPECT_NE(pod_identity_trust(scope).find("arn:aws:eks:us-west-2:111122223333:cluster/demo"),
              std::string::npos);
    const auto trust = oidc_trust(scope, "oidc.eks/id/X", "kube-system:s3");
    EXPECT_NE(trust.find("\"oidc.eks/id/X:sub\":\"system:serviceaccount:kube-system:s3\""),
              std::string::npos);
    EXPECT_EQ(trust.find('*'), std::string::npos);
    EXPECT_TRUE(base::parse_json(execution_role_policy(scope)));
}

}  // namespace
}  // namespace instantstart::domain
