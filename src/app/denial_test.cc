#include "app/denial.h"

#include <gtest/gtest.h>

#include "app/projection.h"
#include "base/result.h"

namespace instantstart::app {
namespace {

constexpr const char* kUser =
    "User: arn:aws:sts::111122223333:assumed-role/ops/me is not authorized to perform: ";

base::Error refused(const std::string& code, const std::string& message, const std::string& operation = "") {
    base::Error error(base::ErrorKind::denied, code, message);
    if (!operation.empty()) error.extra["aws_operation"] = operation;
    return error;
}

base::JsonObject only_statement(const base::Error& error) {
    const auto& statements = base::get_array(error.extra, "policy.Statement");
    EXPECT_EQ(statements.size(), 1U) << base::to_text(error.extra);
    return statements.empty() ? base::JsonObject() : statements.front().as_object();
}

TEST(Denial, names_action_resource_and_statement) {
    const auto error = explain_denial(
        refused("UnauthorizedOperation",
                std::string("ec2:CreateVpc: You are not authorized to perform this operation. ") + kUser +
                    "ec2:CreateVpc on resource: arn:aws:ec2:us-west-2:111122223333:vpc/* because no "
                    "identity-based policy "
                    "allows the ec2:CreateVpc action. Encoded authorization failure message: abcdef"));
    EXPECT_EQ(error.code, "aws_access_denied");
    EXPECT_EQ(base::get_string(error.extra, "missing_action"), "ec2:CreateVpc");
    EXPECT_EQ(base::get_string(error.extra, "resource"), "arn:aws:ec2:us-west-2:111122223333:vpc/*");
    EXPECT_EQ(base::get_string(error.extra, "statement"), "MakeNetwork");
    EXPECT_EQ(base::get_string(error.extra, "upstream_code"), "UnauthorizedOperation");
    EXPECT_NE(error.hint.find("\"MakeNetwork\""), std::string::npos) << error.hint;
    const auto statement = only_statement(error);
    EXPECT_EQ(base::get_string(statement, "Effect"), "Allow");
    EXPECT_EQ(base::get_array(statement, "Action"), base::JsonArray{"ec2:CreateVpc"});
    EXPECT_NE(base::to_text(statement).find("arn:aws:ec2:us-west-2:111122223333:vpc/*"), std::string::npos);
}

TEST(Denial, of_what_exists_and_what_is_made_have_different_statements) {
    const auto on = [](const std::string& resource) {
        const auto error = explain_denial(
            refused("UnauthorizedOperation",
                    kUser + std::string("ec2:CreateSubnet on resource: arn:aws:ec2:us-west-2:111122223333:") +
                        resource + " because no identity-based policy allows the ec2:CreateSubnet action"));
        return base::get_string(error.extra, "statement");
    };
    EXPECT_EQ(on("subnet/*"), "MakeNetwork");
    EXPECT_EQ(on("vpc/vpc-0a1b2c3d4e5f60718"), "UseAnyVpc");
}

TEST(Denial, of_passing_a_role_knows_to_which_service) {
    const std::string text =
        kUser + std::string(
                    "iam:PassRole on resource: arn:aws:iam::111122223333:role/instantstart-a-eks because no "
                    "identity-based policy allows the iam:PassRole action");
    EXPECT_EQ(
        base::get_string(explain_denial(refused("AccessDeniedException", text, "eks:CreateCluster")).extra,
                         "statement"),
        "PassRolesToEks");
    EXPECT_EQ(base::get_string(
                  explain_denial(refused("AccessDeniedException", text, "sagemaker:UpdateCluster")).extra,
                  "statement"),
              "PassRolesToHyperPod");
    EXPECT_EQ(base::get_string(explain_denial(refused("AccessDeniedException", text)).extra, "statement"),
              "PassRolesToEks or PassRolesToPods or PassRolesToHyperPod");
}

TEST(Denial, of_a_role_outside_of_our_prefix_names_the_flag) {
    const auto error = explain_denial(refused(
        "AccessDeniedException",
        kUser + std::string("iam:PassRole on resource: arn:aws:iam::111122223333:role/research because no "
                            "identity-based policy allows the iam:PassRole action"),
        "sagemaker:CreateCluster"));
    EXPECT_NE(error.hint.find("--execution-role"), std::string::npos) << error.hint;
    EXPECT_NE(base::to_text(only_statement(error)).find("arn:aws:iam::111122223333:role/research"),
              std::string::npos);
}

TEST(Denial, reads_quoted_resources_and_the_end_of_a_sentence) {
    const auto denial = read_denial(refused(
        "AccessDenied", kUser + std::string("s3:ListBucket on resource: \"arn:aws:s3:::mine\" because no "
                                            "identity-based policy allows the s3:ListBucket action")));
    ASSERT_TRUE(denial);
    EXPECT_EQ(denial->resource, "arn:aws:s3:::mine");
    const auto short_text = read_denial(refused("AccessDenied", kUser + std::string("iam:ListRoles.")));
    ASSERT_TRUE(short_text);
    EXPECT_EQ(short_text->action, "iam:ListRoles");
    EXPECT_EQ(short_text->resource, "");
}

TEST(Denial, without_words_is_told_by_the_call) {
    const auto error = explain_denial(
        refused("UnauthorizedOperation",
                "You are not authorized to perform this operation. Encoded authorization failure "
                "message: 0123456789",
                "ec2:DeleteVpc"));
    EXPECT_EQ(base::get_string(error.extra, "missing_action"), "ec2:DeleteVpc");
    EXPECT_EQ(base::get_string(error.extra, "statement"), "ChangeOwnNetwork");
    const auto listed = explain_denial(refused("AccessDenied", "Access Denied", "s3:ListObjectsV2"));
    EXPECT_EQ(base::get_string(listed.extra, "missing_action"), "s3:ListBucket");
}

TEST(Denial, by_others_than_the_principals_policies_has_its_own_words) {
    const auto hint = [](const std::string& why) {
        return explain_denial(refused("AccessDenied",
                                      kUser +
                                          std::string("iam:CreateRole on resource: "
                                                      "arn:aws:iam::111122223333:role/instantstart-a-eks ") +
                                          why))
            .hint;
    };
    EXPECT_NE(hint("with an explicit deny in a service control policy").find("organisation"),
              std::string::npos);
    EXPECT_NE(hint("because no service control policy allows the iam:CreateRole action").find("organisation"),
              std::string::npos);
    EXPECT_NE(hint("with an explicit deny in a resource control policy").find("organisation"),
              std::string::npos);
    EXPECT_NE(hint("because no permissions boundary allows the iam:CreateRole action").find("boundary"),
              std::string::npos);
    EXPECT_NE(hint("because no session policy allows the iam:CreateRole action").find("session"),
              std::string::npos);
    EXPECT_NE(hint("because no VPC endpoint policy allows the iam:CreateRole action").find("endpoint"),
              std::string::npos);
    EXPECT_NE(hint("with an explicit deny in an identity-based policy").find("Deny must go"),
              std::string::npos);
    EXPECT_NE(hint("with an explicit deny in a resource-based policy").find("resource itself"),
              std::string::npos);
    const auto linked = explain_denial(
        refused("AccessDenied",
                kUser + std::string("iam:CreateServiceLinkedRole on resource: arn:aws:iam::1:role/x")));
    EXPECT_NE(linked.hint.find("organisation"), std::string::npos) << linked.hint;
}

TEST(Denial, of_an_action_that_no_statement_has_says_so) {
    const auto error = explain_denial(
        refused("AccessDenied", kUser + std::string("athena:StartQueryExecution on resource: *")));
    EXPECT_FALSE(error.extra.contains("statement"));
    EXPECT_NE(error.hint.find("athena:StartQueryExecution"), std::string::npos);
}

TEST(Denial, leaves_other_errors_alone) {
    for (const char* code :
         {"UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "AuthFailure"}) {
        const auto error =
            explain_denial(refused(code, "The security token is invalid.", "ec2:DescribeVpcs"));
        EXPECT_EQ(error.code, code);
        EXPECT_FALSE(error.extra.contains("missing_action"));
    }
    const auto kubernetes = explain_denial(refused("Forbidden", "pods is forbidden: User \"x\" cannot list"));
    EXPECT_EQ(kubernetes.code, "Forbidden");
    EXPECT_FALSE(read_denial(base::not_found_error("x")));
}

TEST(Denial, reaches_every_face_through_the_public_error) {
    const auto error = public_error(
        refused("AccessDeniedException", kUser + std::string("eks:ListClusters because no identity-based "
                                                             "policy allows the eks:ListClusters action")));
    EXPECT_EQ(error.code, "aws_access_denied");
    EXPECT_EQ(base::get_string(error.extra, "statement"), "SeeRegion");
}

TEST(PublicError, names_the_operation_of_aws_and_says_to_try_again) {
    base::Error fault(base::ErrorKind::unavailable, "ServerException", "an unknown error");
    fault.extra["aws_operation"] = "eks:DescribeCluster";
    const auto shown = public_error(fault);
    EXPECT_EQ(shown.code, "upstream_error");
    EXPECT_EQ(shown.message, "eks:DescribeCluster: an unknown error");
    EXPECT_NE(shown.hint.find("try again"), std::string::npos);
    fault.kind = base::ErrorKind::unknown_outcome;
    EXPECT_EQ(public_error(fault).message, "eks:DescribeCluster: an unknown error");
    fault.kind = base::ErrorKind::invalid;  // trying again would not help
    EXPECT_TRUE(public_error(fault).hint.empty());
}

}  // namespace
}  // namespace instantstart::app
