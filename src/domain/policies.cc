#include "domain/policies.h"

#include <initializer_list>

namespace instantstart::domain {

namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

std::string document(JsonArray statements) {
    return base::to_text(JsonObject{{"Version", "2012-10-17"}, {"Statement", std::move(statements)}});
}

JsonArray strings(std::initializer_list<const char*> values) {
    JsonArray array;
    for (const char* value : values) array.emplace_back(value);
    return array;
}

JsonObject allow(std::string_view sid, JsonArray actions, std::string_view resource) {
    return {{"Sid", sid}, {"Effect", "Allow"}, {"Action", std::move(actions)}, {"Resource", resource}};
}

}  // namespace

std::string PolicyScope::eks_cluster_arn() const {
    return "arn:" + partition + ":eks:" + region + ":" + account + ":cluster/" + cluster;
}

std::string service_trust(const PolicyScope& scope, const std::string& service, bool confused_deputy) {
    JsonObject statement{
        {"Effect", "Allow"}, {"Principal", {{"Service", service}}}, {"Action", "sts:AssumeRole"}};
    if (confused_deputy) statement["Condition"] = {{"StringEquals", {{"aws:SourceAccount", scope.account}}}};
    return document({statement});
}

std::string pod_identity_trust(const PolicyScope& scope) {
    return document({JsonObject{{"Effect", "Allow"},
                                {"Principal", {{"Service", "pods.eks.amazonaws.com"}}},
                                {"Action", strings({"sts:AssumeRole", "sts:TagSession"})},
                                {"Condition",
                                 {{"StringEquals", {{"aws:SourceAccount", scope.account}}},
                                  {"ArnEquals", {{"aws:SourceArn", scope.eks_cluster_arn()}}}}}}});
}

std::string oidc_trust(const PolicyScope& scope, const std::string& issuer,
                       const std::string& service_account) {
    const auto provider = "arn:" + scope.partition + ":iam::" + scope.account + ":oidc-provider/" + issuer;
    return document({JsonObject{{"Effect", "Allow"},
                                {"Principal", {{"Federated", provider}}},
                                {"Action", "sts:AssumeRoleWithWebIdentity"},
                                {"Condition",
                                 {{"StringEquals",
                                   {{issuer + ":sub", "system:serviceaccount:" + service_account},
                                    {issuer + ":aud", "sts.amazonaws.com"}}}}}}});
}

std::string execution_role_policy(const PolicyScope& scope) {
    const auto interfaces = "arn:" + scope.partition + ":ec2:*:*:network-interface/*";
    return document({
        allow("PodNetwork",
              strings({"ec2:AssignPrivateIpAddresses", "ec2:AttachNetworkInterface",
                       "ec2:CreateNetworkInterface", "ec2:CreateNetworkInterfacePermission",
                       "ec2:DeleteNetworkInterface", "ec2:DeleteNetworkInterfacePermission",
                       "ec2:DetachNetworkInterface", "ec2:ModifyNetworkInterfaceAttribute",
                       "ec2:UnassignPrivateIpAddresses", "ec2:DescribeInstances", "ec2:DescribeInstanceTypes",
                       "ec2:DescribeTags", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets",
                       "ec2:DescribeVpcs", "ec2:DescribeDhcpOptions", "ec2:DescribeSecurityGroups"}),
              "*"),
        allow("TagInterfaces", strings({"ec2:CreateTags"}), interfaces),
        allow("PullImages",
              strings({"ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage",
                       "ecr:GetDownloadUrlForLayer"}),
              "*"),
        allow("PodIdentity", strings({"eks-auth:AssumeRoleForPodIdentity"}), scope.eks_cluster_arn()),
    });
}

std::string bucket_access_policy(const PolicyScope& scope, const std::string& bucket) {
    const auto arn = "arn:" + scope.partition + ":s3:::" + bucket;
    return document(
        {allow("List", strings({"s3:ListBucket"}), arn),
         allow("ReadAndWrite",
               strings({"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"}),
               arn + "/*")});
}

std::string tls_only_bucket_policy(const PolicyScope& scope, const std::string& bucket) {
    const auto arn = "arn:" + scope.partition + ":s3:::" + bucket;
    return document({JsonObject{{"Sid", "TlsOnly"},
                                {"Effect", "Deny"},
                                {"Principal", "*"},
                                {"Action", "s3:*"},
                                {"Resource", JsonArray{arn, arn + "/*"}},
                                {"Condition", {{"Bool", {{"aws:SecureTransport", "false"}}}}}}});
}

std::string managed_policy_arn(const PolicyScope& scope, const std::string& name) {
    return "arn:" + scope.partition + ":iam::aws:policy/" + name;
}

}  // namespace instantstart::domain
