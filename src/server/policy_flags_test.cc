#include "server/policy_flags.h"

#include <gtest/gtest.h>

namespace instantstart::server {
namespace {

std::string flag_of(const PolicyFlags& policy, const std::string& region = "us-west-2") {
    return policy_flags_fault(policy, region).flag;
}

PolicyFlags of_account() {
    PolicyFlags policy;
    policy.account = "111122223333";
    return policy;
}

TEST(PolicyFlags, whole_arns_of_the_place_are_taken) {
    PolicyFlags policy = of_account();
    policy.permissions_boundary = "arn:aws:iam::aws:policy/PowerUserAccess";
    policy.execution_roles = {"arn:aws:iam::111122223333:role/path/nodes"};
    policy.kms_keys = {"arn:aws:kms:us-west-2:111122223333:key/mrk-0f5c"};
    EXPECT_EQ(flag_of(policy), "");
    policy.account = "";
    policy.kms_keys = {"arn:aws:kms:eu-west-1:444455556666:key/0f5c"};
    EXPECT_EQ(flag_of(policy, ""), "");
}

TEST(PolicyFlags, roles_of_another_kind_or_place_and_wildcards_are_refused) {
    for (const char* arn :
         {"arn:aws:iam::111122223333:role/*", "arn:aws:iam::111122223333:role/node?",
          "arn:aws:iam::111122223333:user/nodes", "arn:aws:iam::111122223333:role/", "nodes",
          "arn:aws:iam::444455556666:role/nodes", "arn:aws-cn:iam::111122223333:role/nodes"}) {
        PolicyFlags policy = of_account();
        policy.execution_roles = {"arn:aws:iam::111122223333:role/good", arn};
        EXPECT_EQ(flag_of(policy), "--execution-role") << arn;
    }
}

TEST(PolicyFlags, keys_and_boundaries_of_another_kind_or_place_are_refused) {
    for (const char* arn :
         {"arn:aws:kms:us-west-2:111122223333:key/*", "arn:aws:kms:us-west-2:111122223333:alias/a",
          "arn:aws:kms:eu-west-1:111122223333:key/0f5c", "arn:aws:kms:*:111122223333:key/0f5c",
          "arn:aws:kms:us-west-2:444455556666:key/0f5c"}) {
        PolicyFlags policy = of_account();
        policy.kms_keys = {arn};
        EXPECT_EQ(flag_of(policy), "--kms-key") << arn;
    }
    for (const char* arn : {"arn:aws:iam::111122223333:policy/*", "arn:aws:iam::444455556666:policy/b"}) {
        PolicyFlags policy = of_account();
        policy.permissions_boundary = arn;
        EXPECT_EQ(flag_of(policy), "--permissions-boundary") << arn;
    }
}

TEST(PolicyFlags, partition_is_the_one_of_the_region) {
    PolicyFlags policy;
    policy.partition = "aws-cn";
    EXPECT_EQ(flag_of(policy, "us-west-2"), "--partition");
    EXPECT_EQ(flag_of(policy, "cn-north-1"), "");
    EXPECT_EQ(flag_of(policy, ""), "");
}

}  // namespace
}  // namespace instantstart::server
