#include "server/iam_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace instantstart::server {
namespace {

const app::Catalogue& catalogue() {
    static const auto kCatalogue = app::make_catalogue();
    return *kCatalogue;
}

PolicyOptions narrow() {
    PolicyOptions options;
    options.limits.region = "ap-southeast-4";
    options.limits.account = "111122223333";
    return options;
}

// With every flag, so that every statement is printed.
PolicyOptions all_flags() {
    auto options = narrow();
    options.limits.permissions_boundary = "arn:aws:iam::111122223333:policy/company-boundary";
    options.limits.execution_roles = {"arn:aws:iam::111122223333:role/research"};
    options.limits.kms_keys = {
        "arn:aws:kms:ap-southeast-4:111122223333:key/0f5c0c22-0000-4000-8000-000000000001"};
    options.limits.custom_images = true;
    return options;
}

std::set<std::string> actions_of(const base::JsonObject& policy) {
    std::set<std::string> actions;
    for (const auto& statement : base::get_array(policy, "Statement")) {
        for (const auto& action : base::get_array(statement, "Action")) actions.emplace(action.as_string());
    }
    return actions;
}

// Needed by a call only with members that the product never sends: endpoints with private DNS, tags of
// objects, versions of objects that are read, add-ons with pod identity.
const std::set<std::string>& never_asked() {
    static const std::set<std::string> kActions = {"route53:AssociateVPCWithHostedZone",
                                                   "s3:PutObjectTagging", "s3:GetObjectVersion",
                                                   "eks:CreatePodIdentityAssociation"};
    return kActions;
}

TEST(IamPolicy, allows_what_operations_need_and_nothing_else) {
    const auto needed = needed_actions(catalogue());
    std::set<std::string> granted;
    for (const auto& statement : aws::model::policy_statements())
        granted.insert(statement.actions.begin(), statement.actions.end());
    for (const auto& action : needed) {
        if (never_asked().contains(action)) continue;
        EXPECT_TRUE(granted.contains(action)) << action << " is needed, and no statement has it";
    }
    for (const auto& action : granted) {
        EXPECT_TRUE(std::binary_search(needed.begin(), needed.end(), action))
            << action << " stands in a statement, and no operation needs it";
    }
    EXPECT_EQ(actions_of(iam_policy(catalogue(), all_flags())), granted);
}

TEST(IamPolicy, is_split_into_whole_statements_that_fit_managed_policies) {
    for (const auto& options : {narrow(), all_flags(), PolicyOptions()}) {
        const auto parts = managed_policies(catalogue(), options);
        EXPECT_LE(parts.size(), 3U);
        base::JsonArray together;
        for (const auto& part : parts) {
            EXPECT_LE(policy_size(part), kManagedPolicyLimit);
            for (const auto& statement : base::get_array(part, "Statement")) together.push_back(statement);
        }
        EXPECT_EQ(together, base::get_array(iam_policy(catalogue(), options), "Statement"));
    }
}

TEST(IamPolicy, of_readers_changes_nothing) {
    auto options = narrow();
    options.read_only = true;
    const auto actions = actions_of(iam_policy(catalogue(), options));
    EXPECT_TRUE(actions.contains("eks:DescribeCluster"));
    EXPECT_TRUE(actions.contains("s3:ListBucket"));
    for (const auto& action : actions) {
        const auto verb = action.substr(action.find(':') + 1);
        EXPECT_TRUE(verb.starts_with("Describe") || verb.starts_with("List") || verb.starts_with("Get"))
            << action;
    }
}

TEST(IamPolicy, template_holds_every_part) {
    const auto made = policy_template(catalogue(), narrow());
    const auto& resources = base::get_object(made, "Resources");
    const auto parts = managed_policies(catalogue(), narrow());
    ASSERT_EQ(resources.size(), parts.size());
    for (std::size_t index = 0; index < parts.size(); ++index) {
        const auto& resource = resources.at("InstantStartPolicy" + std::to_string(index + 1));
        EXPECT_EQ(base::get_string(resource, "Type"), "AWS::IAM::ManagedPolicy");
        EXPECT_EQ(base::get_object(resource, "Properties.PolicyDocument"), parts[index]);
    }
}

}  // namespace
}  // namespace instantstart::server
