#include "domain/policies.h"

#include <initializer_list>

#include "base/check.h"
#include "base/result.h"

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
    JsonObject condition{{"StringEquals", {{issuer + ":aud", "sts.amazonaws.com"}}}};
    const JsonObject subject{{issuer + ":sub", "system:serviceaccount:" + service_account}};
    if (service_account.find('*') == std::string::npos) {
        condition["StringEquals"].as_object()[issuer + ":sub"] = "system:serviceaccount:" + service_account;
    } else {
        condition["StringLike"] = subject;
    }
    return document({JsonObject{{"Effect", "Allow"},
                                {"Principal", {{"Federated", provider}}},
                                {"Action", "sts:AssumeRoleWithWebIdentity"},
                                {"Condition", condition}}});
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

std::string checkpoint_policy(const PolicyScope& scope, const std::string& bucket) {
    // PutMetricData has no resource level; AWS does not say which namespace its library writes to.
    auto metrics = allow("Metrics", strings({"cloudwatch:PutMetricData"}), "*");
    metrics["Condition"] = {
        {"StringLike", {{"cloudwatch:namespace", JsonArray{"*SageMaker*", "*sagemaker*"}}}}};
    return joined_documents(bucket_access_policy(scope, bucket), document({std::move(metrics)}));
}

std::string mlflow_policy(const PolicyScope& scope, const std::string& bucket, const std::string& prefix) {
    const auto arn = "arn:" + scope.partition + ":s3:::" + bucket;
    auto list = allow("List", strings({"s3:ListBucket"}), arn);
    list["Condition"] = {
        {"StringLike", {{"s3:prefix", JsonArray{JsonValue(prefix), JsonValue(prefix + "/*")}}}}};
    return document({std::move(list), allow("Artifacts",
                                            strings({"s3:GetObject", "s3:PutObject",
                                                     "s3:AbortMultipartUpload", "s3:DeleteObject"}),
                                            arn + "/" + prefix + "/*")});
}

std::string observability_policy(const PolicyScope& scope, const std::string& cluster,
                                 const std::string& workspace_arn) {
    const auto place = scope.region + ":" + scope.account;
    const auto any = "arn:" + scope.partition + ":aps:" + place + ":workspace/*";
    auto metrics =
        allow("Metrics", strings({"aps:RemoteWrite"}), workspace_arn.empty() ? any : workspace_arn);
    if (workspace_arn.empty())
        metrics["Condition"] = {{"StringEquals", {{"aws:ResourceTag/instantstart:cluster", cluster}}}};
    return document(
        {std::move(metrics),
         allow("Logs",
               strings({"logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogGroups",
                        "logs:DescribeLogStreams", "logs:PutLogEvents", "logs:GetLogEvents",
                        "logs:FilterLogEvents", "logs:StartQuery", "logs:GetQueryResults"}),
               "arn:" + scope.partition + ":logs:" + place + ":log-group:/aws/sagemaker/Clusters/*")});
}

std::string autoscaling_policy(const PolicyScope& scope) {
    return document({allow(
        "Nodes", strings({"sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"}),
        "arn:" + scope.partition + ":sagemaker:" + scope.region + ":" + scope.account + ":cluster/*")});
}

std::string metric_reader_policy(const PolicyScope& scope) {
    const auto workspaces =
        "arn:" + scope.partition + ":aps:" + scope.region + ":" + scope.account + ":workspace/*";
    return document(
        {allow("CloudWatch",  // these have no resource level
               strings(
                   {"cloudwatch:GetMetricData", "cloudwatch:GetMetricStatistics", "cloudwatch:ListMetrics"}),
               "*"),
         allow("Prometheus",
               strings({"aps:QueryMetrics", "aps:GetLabels", "aps:GetSeries", "aps:GetMetricMetadata"}),
               workspaces)});
}

namespace {

constexpr const char* kBalancerTag = "aws:ResourceTag/elbv2.k8s.aws/cluster";
constexpr const char* kBalancerRequestTag = "aws:RequestTag/elbv2.k8s.aws/cluster";

JsonObject where(JsonObject statement, JsonObject condition) {
    statement["Condition"] = std::move(condition);
    return statement;
}

JsonObject has_tag(const char* tag) {
    return {{"Null", {{tag, "false"}}}};
}

JsonArray balancer_reads() {
    return strings({"ec2:DescribeAccountAttributes",
                    "ec2:DescribeAddresses",
                    "ec2:DescribeAvailabilityZones",
                    "ec2:DescribeInternetGateways",
                    "ec2:DescribeVpcs",
                    "ec2:DescribeVpcPeeringConnections",
                    "ec2:DescribeSubnets",
                    "ec2:DescribeSecurityGroups",
                    "ec2:DescribeInstances",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeTags",
                    "ec2:DescribeCoipPools",
                    "ec2:DescribeIpamPools",
                    "ec2:DescribeRouteTables",
                    "ec2:GetCoipPoolUsage",
                    "ec2:GetSecurityGroupsForVpc",
                    "elasticloadbalancing:DescribeLoadBalancers",
                    "elasticloadbalancing:DescribeLoadBalancerAttributes",
                    "elasticloadbalancing:DescribeListeners",
                    "elasticloadbalancing:DescribeListenerCertificates",
                    "elasticloadbalancing:DescribeListenerAttributes",
                    "elasticloadbalancing:DescribeSSLPolicies",
                    "elasticloadbalancing:DescribeRules",
                    "elasticloadbalancing:DescribeTargetGroups",
                    "elasticloadbalancing:DescribeTargetGroupAttributes",
                    "elasticloadbalancing:DescribeTargetHealth",
                    "elasticloadbalancing:DescribeTags",
                    "elasticloadbalancing:DescribeTrustStores",
                    "elasticloadbalancing:DescribeCapacityReservation",
                    "acm:ListCertificates",
                    "acm:DescribeCertificate",
                    "iam:ListServerCertificates",
                    "iam:GetServerCertificate"});
}

JsonArray own_balancer_writes() {
    return strings({"elasticloadbalancing:ModifyLoadBalancerAttributes",
                    "elasticloadbalancing:SetIpAddressType", "elasticloadbalancing:SetSecurityGroups",
                    "elasticloadbalancing:SetSubnets", "elasticloadbalancing:DeleteLoadBalancer",
                    "elasticloadbalancing:ModifyTargetGroup",
                    "elasticloadbalancing:ModifyTargetGroupAttributes",
                    "elasticloadbalancing:DeleteTargetGroup", "elasticloadbalancing:ModifyListenerAttributes",
                    "elasticloadbalancing:ModifyCapacityReservation", "elasticloadbalancing:ModifyIpPools"});
}

JsonArray listener_writes() {
    return strings({"elasticloadbalancing:CreateListener", "elasticloadbalancing:DeleteListener",
                    "elasticloadbalancing:CreateRule", "elasticloadbalancing:DeleteRule",
                    "elasticloadbalancing:ModifyListener", "elasticloadbalancing:ModifyRule",
                    "elasticloadbalancing:SetRulePriorities", "elasticloadbalancing:AddListenerCertificates",
                    "elasticloadbalancing:RemoveListenerCertificates"});
}

}  // namespace

std::string load_balancer_policy(const PolicyScope& scope) {
    const auto balancing =
        "arn:" + scope.partition + ":elasticloadbalancing:" + scope.region + ":" + scope.account + ":";
    const auto groups =
        "arn:" + scope.partition + ":ec2:" + scope.region + ":" + scope.account + ":security-group/*";
    const auto network = "arn:" + scope.partition + ":ec2:" + scope.region + ":" + scope.account + ":vpc/*";
    const auto linked = "arn:" + scope.partition + ":iam::" + scope.account + ":role/aws-service-role/*";
    auto make_group = allow("MakeGroups", strings({"ec2:CreateSecurityGroup"}), groups);
    make_group["Resource"] = JsonArray{JsonValue(groups), JsonValue(network)};
    return document(
        {allow("See", balancer_reads(), "*"),
         where(allow("LinkedRole", strings({"iam:CreateServiceLinkedRole"}), linked),
               {{"StringEquals", {{"iam:AWSServiceName", "elasticloadbalancing.amazonaws.com"}}}}),
         std::move(make_group),
         where(allow("TagNewGroups", strings({"ec2:CreateTags"}), groups),
               {{"StringEquals", {{"ec2:CreateAction", "CreateSecurityGroup"}}},
                {"Null", {{kBalancerRequestTag, "false"}}}}),
         // The nodes' own group takes rules from the balancers', so these are not limited by tag.
         allow("Rules", strings({"ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"}),
               groups),
         where(allow("OwnGroups", strings({"ec2:DeleteSecurityGroup", "ec2:CreateTags", "ec2:DeleteTags"}),
                     groups),
               has_tag(kBalancerTag)),
         where(allow("Make",
                     strings({"elasticloadbalancing:CreateLoadBalancer",
                              "elasticloadbalancing:CreateTargetGroup"}),
                     balancing + "*"),
               has_tag(kBalancerRequestTag)),
         where(allow("TagNew", strings({"elasticloadbalancing:AddTags"}), balancing + "*"),
               has_tag(kBalancerRequestTag)),
         where(allow("Own", own_balancer_writes(), balancing + "*"), has_tag(kBalancerTag)),
         where(allow("TagOwn", strings({"elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"}),
                     balancing + "*"),
               has_tag(kBalancerTag)),
         allow("Listeners", listener_writes(), balancing + "*"),
         allow("Targets",
               strings({"elasticloadbalancing:RegisterTargets", "elasticloadbalancing:DeregisterTargets"}),
               balancing + "targetgroup/*")});
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

std::string joined_documents(const std::string& a, const std::string& b) {
    JsonArray statements;
    for (const auto& text : {a, b}) {
        const auto parsed = base::parse_json(text);
        CHECK(parsed);
        for (const auto& statement : base::get_array(*parsed, "Statement")) statements.push_back(statement);
    }
    return document(std::move(statements));
}

std::string managed_policy_arn(const PolicyScope& scope, const std::string& name) {
    return "arn:" + scope.partition + ":iam::aws:policy/" + name;
}

}  // namespace instantstart::domain
