#include "aws/model/iam_actions.h"

#include <gtest/gtest.h>

#include "aws/model/model.h"
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
    const std::string vpc = "arn:aws:ec2:us-west-2:111122223333:vpc/*";
    EXPECT_EQ(needed("ec2", "CreateVpc", R"({"CidrBlock":"10.0.0.0/16"})"), Strings{"ec2:CreateVpc " + vpc});
    EXPECT_EQ(needed("ec2", "CreateVpc", R"({"TagSpecifications":[{"ResourceType":"vpc"}]})"),
              (Strings{"ec2:CreateVpc " + vpc, "ec2:CreateTags " + vpc + " ec2:CreateAction=CreateVpc"}));
}

TEST(IamActions, what_is_made_and_what_it_is_made_in_are_both_asked_about) {
    const std::string in = "arn:aws:ec2:us-west-2:111122223333:";
    EXPECT_EQ(needed("ec2", "CreateSubnet", R"({"VpcId":"vpc-1"})"),
              (Strings{"ec2:CreateSubnet " + in + "subnet/*", "ec2:CreateSubnet " + in + "vpc/vpc-1"}));
    EXPECT_EQ(needed("ec2", "DeleteVpcEndpoints", R"({"VpcEndpointIds":["vpce-1","vpce-2"]})"),
              (Strings{"ec2:DeleteVpcEndpoints " + in + "vpc-endpoint/vpce-1",
                       "ec2:DeleteVpcEndpoints " + in + "vpc-endpoint/vpce-2"}));
}

TEST(IamActions, a_provider_is_named_by_its_url_without_the_scheme) {
    EXPECT_EQ(needed("iam", "CreateOpenIDConnectProvider",
                     R"({"Url":"https://oidc.eks.us-west-2.amazonaws.com/id/1"})"),
              Strings{"iam:CreateOpenIDConnectProvider "
                      "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/1"});
}

TEST(IamActions, roles_passed_are_named_once_each) {
    const auto rows = needed("sagemaker", "UpdateCluster",
                             R"({"InstanceGroups":[{"ExecutionRole":"arn:a"},{"ExecutionRole":"arn:b"},
                                                  {"ExecutionRole":"arn:a"}]})");
    ASSERT_GE(rows.size(), 3U);
    EXPECT_EQ(Strings(rows.begin(), rows.begin() + 3),
              (Strings{"sagemaker:UpdateCluster arn:aws:sagemaker:us-west-2:111122223333:cluster/*",
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

// The paths into the parameters that a template holds.
std::vector<std::string> places_of(const std::string& text) {
    std::vector<std::string> out;
    for (auto open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
        std::string name = text.substr(open + 1, text.find('}', open) - open - 1);
        if (name.starts_with("without_scheme(")) name = name.substr(15, name.size() - 16);
        if (name != "partition" && name != "region" && name != "account") out.push_back(name);
    }
    return out;
}

void expect_path(const Shape* at, const std::string& path, const std::string& row) {
    if (path.empty()) return;
    for (const std::string& step : base::split(path, '.')) {
        ASSERT_NE(at, nullptr) << row << " " << path;
        const Member* member = step == "*" ? &at->element : at->member(step);
        ASSERT_NE(member, nullptr) << row << " " << path;
        at = member->shape;
    }
}

TEST(IamActions, every_row_names_an_operation_of_the_models_and_paths_that_exist) {
    for (const auto& name : iam_table_operations()) {
        const auto parts = base::split(name, ':');
        ASSERT_EQ(parts.size(), 2U) << name;
        const Service* service = embedded(parts[0]);
        ASSERT_NE(service, nullptr) << name;
        const Operation* operation = service->operation(parts[1]);
        ASSERT_NE(operation, nullptr) << name;
        for (const RequiredAction& action : iam_actions(parts[0], parts[1])) {
            expect_path(operation->input, action.when, name);
            for (const auto& place : places_of(action.resource)) expect_path(operation->input, place, name);
            for (const auto& [key, value] : action.condition) {
                for (const auto& place : places_of(value)) expect_path(operation->input, place, name);
            }
        }
    }
}

}  // namespace
}  // namespace instantstart::aws::model
