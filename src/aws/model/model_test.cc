#include "aws/model/model.h"

#include <gtest/gtest.h>

#include "aws/model/pattern.h"

namespace instantstart::aws::model {
namespace {

std::vector<std::string> faults_of(const char* service, const char* operation, const char* parameters) {
    const Operation* found = embedded(service)->operation(operation);
    std::vector<std::string> out;
    for (const Fault& fault : validate(*found->input, base::parse_json(parameters).value())) {
        out.push_back(fault.path + " " + fault.rule);
    }
    return out;
}

using Strings = std::vector<std::string>;

TEST(Models, every_embedded_model_loads_with_a_protocol_and_operations) {
    ASSERT_GE(embedded_names().size(), 15U);
    for (const std::string& name : embedded_names()) {
        const Service* service = embedded(name);
        ASSERT_NE(service, nullptr) << name;
        EXPECT_EQ(service->name, name);
        EXPECT_FALSE(service->operations.empty()) << name;
        EXPECT_FALSE(service->protocol.empty()) << name;
        EXPECT_FALSE(service->signing_name.empty()) << name;
    }
    EXPECT_EQ(embedded("nothing"), nullptr);
    EXPECT_EQ(embedded("iam-actions"), nullptr);
}

TEST(Models, every_pattern_compiles) {
    for (const std::string& name : embedded_names()) {
        for (const auto& [shape_name, shape] : embedded(name)->shapes) {
            EXPECT_TRUE(shape->pattern.empty() || shape->compiled_pattern)
                << name << " " << shape_name << " " << shape->pattern;
        }
    }
}

TEST(Models, traits_of_references_and_shapes_are_there) {
    const Service* ec2 = embedded("ec2");
    EXPECT_EQ(ec2->protocol, "ec2");
    EXPECT_EQ(ec2->api_version, "2016-11-15");
    const Operation* nat = ec2->operation("CreateNatGateway");
    ASSERT_NE(nat->idempotency_token(), nullptr);
    EXPECT_EQ(nat->idempotency_token()->name, "ClientToken");
    EXPECT_EQ(ec2->operation("CreateVpc")->idempotency_token(), nullptr);
    EXPECT_FALSE(nat->read_only());
    EXPECT_TRUE(ec2->operation("DescribeVpcs")->read_only());
    ASSERT_NE(ec2->operation("DescribeVpcs")->paginator, nullptr);
    EXPECT_EQ(ec2->operation("DescribeVpcs")->paginator->result_keys, Strings{"Vpcs"});

    const Service* eks = embedded("eks");
    const Operation* describe = eks->operation("DescribeCluster");
    EXPECT_EQ(describe->request_uri, "/clusters/{name}");
    EXPECT_EQ(describe->input->member("name")->location, "uri");

    const Service* s3 = embedded("s3");
    EXPECT_TRUE(s3->operation("DeleteObjects")->http_checksum_required);
    EXPECT_EQ(s3->operation("PutObject")->input->payload, "Body");
    EXPECT_TRUE(s3->operation("PutObject")->input->member("Body")->streaming);
    EXPECT_TRUE(embedded("iam")->global);
    EXPECT_EQ(embedded("iam")->shapes.find("NoSuchEntityException")->second->error_code, "NoSuchEntity");
    EXPECT_EQ(embedded("cloudwatch")->protocol, "json");
    EXPECT_TRUE(embedded("sts")->operation("AssumeRoleWithWebIdentity")->unsigned_call);
}

TEST(Models, broken_models_are_errors) {
    EXPECT_FALSE(load("").has_value());
    EXPECT_FALSE(load("[]").has_value());
    EXPECT_FALSE(load(R"({"shapes":{"A":{"type":"riddle"}}})").has_value());
    EXPECT_FALSE(load(R"({"shapes":{"A":{"type":"list"}}})").has_value());
    EXPECT_FALSE(load(R"({"shapes":{"A":{"type":"map","key":{"shape":"A"}}}})").has_value());
    EXPECT_FALSE(load(R"({"shapes":{"A":3}})").has_value());
    EXPECT_FALSE(load(R"({"operations":{"A":{"input":{"shape":"Gone"}}}})").has_value());
    EXPECT_FALSE(
        load(R"({"shapes":{"A":{"type":"structure","members":{"B":{"shape":"Gone"}}}}})").has_value());
}

TEST(Validate, all_faults_are_told_at_once) {
    EXPECT_EQ(faults_of("sagemaker", "CreateCluster",
                        R"({"ClusterName":"-bad","NodeRecovery":"Sometimes","Colour":1,
                            "InstanceGroups":[{"InstanceCount":-1,"InstanceGroupName":"a",
                              "InstanceType":"ml.g5.xlarge","ExecutionRole":"arn:aws:iam::111122223333:role/x"}]})"),
              (Strings{"ClusterName pattern", "InstanceGroups.0.InstanceCount range", "NodeRecovery enum",
                       "Colour unknown"}));
    EXPECT_EQ(faults_of("eks", "CreateCluster", R"({"name":"demo","resourcesVpcConfig":{"subnetIds":"x"}})"),
              (Strings{"roleArn required", "resourcesVpcConfig.subnetIds type"}));
    EXPECT_EQ(faults_of("eks", "CreateCluster", R"([])"), Strings{" type"});
}

TEST(Validate, good_parameters_have_no_fault) {
    EXPECT_EQ(faults_of("ec2", "CreateSubnet",
                        R"({"VpcId":"vpc-1","CidrBlock":"10.0.0.0/24","TagSpecifications":
                            [{"ResourceType":"subnet","Tags":[{"Key":"a","Value":"b"}]}]})"),
              Strings{});
    EXPECT_EQ(faults_of("iam", "CreateRole",
                        R"({"RoleName":"r","Path":"/platform/","AssumeRolePolicyDocument":"{\n\t\"a\": 1 }",
                            "Tags":[{"Key":"instantstart:cluster","Value":"demo ü"}]})"),
              Strings{});
    EXPECT_EQ(faults_of("sagemaker", "DescribeCluster", R"({"ClusterName":"demo"})"), Strings{});
}

TEST(Validate, unions_take_exactly_one_member) {
    EXPECT_EQ(faults_of("eks", "UpdateNodegroupConfig",
                        R"({"clusterName":"c","nodegroupName":"n","scalingConfig":{"minSize":"1"}})"),
              Strings{"scalingConfig.minSize type"});
    auto loaded = load(R"({"shapes":{"S":{"type":"string"},"U":{"type":"structure","union":true,
        "members":{"A":{"shape":"S"},"B":{"shape":"S"}}}}})");
    ASSERT_TRUE(loaded.has_value());
    const Shape& shape = *loaded.value()->shapes.find("U")->second;
    EXPECT_EQ(validate(shape, base::parse_json(R"({"A":"x"})").value()).size(), 0U);
    EXPECT_EQ(validate(shape, base::parse_json(R"({"A":"x","B":"y"})").value()).size(), 1U);
    EXPECT_EQ(validate(shape, base::parse_json("{}").value()).size(), 1U);
}

TEST(Pattern, means_the_whole_value_and_knows_unicode) {
    const auto tag = Pattern::compile(R"(^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$)");
    ASSERT_NE(tag, nullptr);
    EXPECT_TRUE(tag->matches("Übung 1: a/b=c+d-e@f"));
    EXPECT_FALSE(tag->matches("a;b"));
    const auto document = Pattern::compile(R"([\u0009\u000A\u000D\u0020-\u00FF]+)");
    ASSERT_NE(document, nullptr);
    EXPECT_TRUE(document->matches("{\n\t\"a\" : 1}"));
    EXPECT_FALSE(document->matches("\x01"));
    const auto part = Pattern::compile("[a-z]{3}");
    EXPECT_FALSE(part->matches("abcd"));
    EXPECT_TRUE(Pattern::compile("[a-z0-9-_.]+")->matches("a-_.9"));
    EXPECT_EQ(Pattern::compile("(unclosed"), nullptr);
    // What is no escape makes the whole no pattern: it must not refuse values.
    for (const char* text : {R"([\u-003])", R"(a\u00)", R"(\u)", R"([\u 0x1-z])", R"(\p{L)", R"(\u00G0)"})
        EXPECT_EQ(Pattern::compile(text), nullptr) << text;
}

}  // namespace
}  // namespace instantstart::aws::model
