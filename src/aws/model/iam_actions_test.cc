#include "aws/model/iam_actions.h"

#include <gtest/gtest.h>

#include "aws/model/model.h"
#include "base/embedded.h"
#include "base/result.h"
#include "base/text.h"

namespace instantstart::aws::model {
namespace {

std::vector<std::string> needed(const char* service, const char* operation, const char* parameters) {
    const AccountPlace place{"aws", "us-west-2", "111122223333"};
    std::vector<std::string> out;
    for (const auto& row :
         iam_actions_of_call(service, operation, base::parse_json(parameters).value().get_object(), place)) {
        std::string text = row.action + " " + row.resource;
        for (const auto& [key, value] : row.condition) text += " " + key + "=" + value;
        out.push_back(text);
    }
    return out;
}

using Strings = std::vector<std::string>;

TEST(IamActions, default_is_the_action_of_the_same_name) {
    EXPECT_EQ(needed("ec2", "DescribeVpcs", "{}"), Strings{"ec2:DescribeVpcs *"});
    EXPECT_EQ(needed("elbv2", "DescribeTags", "{}"), Strings{"elasticloadbalancing:DescribeTags *"});
    EXPECT_EQ(needed("sts", "GetCallerIdentity", "{}"), Strings{});
}

TEST(IamActions, tags_on_create_need_their_own_action) {
    EXPECT_EQ(needed("ec2", "CreateVpc", R"({"CidrBlock":"10.0.0.0/16"})"), Strings{"ec2:CreateVpc *"});
    EXPECT_EQ(needed("ec2", "CreateVpc", R"({"TagSpecifications":[{"ResourceType":"vpc"}]})"),
              (Strings{"ec2:CreateVpc *",
                       "ec2:CreateTags arn:aws:ec2:us-west-2:111122223333:*/* ec2:CreateAction=CreateVpc"}));
}

TEST(IamActions, roles_passed_are_named_once_each) {
    const auto rows = needed("sagemaker", "UpdateCluster",
                             R"({"InstanceGroups":[{"ExecutionRole":"arn:a"},{"ExecutionRole":"arn:b"},
                                                  {"ExecutionRole":"arn:a"}]})");
    EXPECT_EQ(rows, (Strings{"sagemaker:UpdateCluster arn:aws:sagemaker:us-west-2:111122223333:cluster/*",
                             "iam:PassRole arn:a iam:PassedToService=sagemaker.amazonaws.com",
                             "iam:PassRole arn:b iam:PassedToService=sagemaker.amazonaws.com"}));
}

TEST(IamActions, api_names_differ_from_actions) {
    EXPECT_EQ(needed("s3", "ListObjectsV2", R"({"Bucket":"b"})"), Strings{"s3:ListBucket arn:aws:s3:::b"});
    EXPECT_EQ(needed("s3", "HeadObject", R"({"Bucket":"b","Key":"k"})"),
              Strings{"s3:GetObject arn:aws:s3:::b/k"});
    EXPECT_EQ(needed("s3", "PutPublicAccessBlock", R"({"Bucket":"b"})"),
              Strings{"s3:PutBucketPublicAccessBlock arn:aws:s3:::b"});
    EXPECT_EQ(needed("s3", "ListBuckets", "{}"), Strings{"s3:ListAllMyBuckets *"});
}

TEST(IamActions, every_row_names_an_operation_of_the_models_and_paths_that_exist) {
    for (const base::EmbeddedFile& file : embedded::models()) {
        if (file.name != "iam-actions.json") continue;
        const auto table = base::parse_json(file.content).value();
        for (const auto& row : table.get_object()) {
            const auto parts = base::split(row.key(), ':');
            ASSERT_EQ(parts.size(), 2U) << row.key();
            const Service* service = embedded(parts[0]);
            ASSERT_NE(service, nullptr) << row.key();
            const Operation* operation = service->operation(parts[1]);
            ASSERT_NE(operation, nullptr) << row.key();
            for (const RequiredAction& action : iam_actions(parts[0], parts[1])) {
                if (action.when.empty()) continue;
                const Shape* at = operation->input;
                for (const std::string& step : base::split(action.when, '.')) {
                    ASSERT_NE(at, nullptr) << row.key() << " " << action.when;
                    const Member* member = step == "*" ? &at->element : at->member(step);
                    ASSERT_NE(member, nullptr) << row.key() << " " << action.when;
                    at = member->shape;
                }
            }
        }
    }
}

}  // namespace
}  // namespace instantstart::aws::model
