#include "twin/aws/iam/managed.h"

#include "base/json.h"
#include "base/text.h"

namespace instantstart::twin::iam {

namespace {

struct Row {
    const char* name;
    const char* path;
    const char* actions;  // separated by spaces
};

constexpr Row kRows[] = {
    {"AdministratorAccess", "/", "*"},
    {"PowerUserAccess", "/", "ec2:* eks:* sagemaker:* s3:* logs:*"},
    {"ReadOnlyAccess", "/",
     "ec2:Describe* eks:Describe* eks:List* iam:Get* iam:List* s3:Get* s3:List* sagemaker:Describe* "
     "sagemaker:List*"},
    {"AmazonEKSClusterPolicy", "/",
     "ec2:* elasticloadbalancing:* iam:CreateServiceLinkedRole kms:DescribeKey autoscaling:*"},
    {"AmazonEKSServicePolicy", "/", "ec2:* eks:UpdateClusterVersion iam:ListAttachedRolePolicies"},
    {"AmazonEKSVPCResourceController", "/",
     "ec2:CreateNetworkInterface ec2:Describe* ec2:DeleteNetworkInterface"},
    {"AmazonEKSWorkerNodePolicy", "/", "ec2:Describe* eks:DescribeCluster eks-auth:AssumeRoleForPodIdentity"},
    {"AmazonEKSWorkerNodeMinimalPolicy", "/", "eks-auth:AssumeRoleForPodIdentity"},
    {"AmazonEKSComputePolicy", "/", "ec2:* iam:CreateInstanceProfile"},
    {"AmazonEKSNetworkingPolicy", "/", "ec2:*"},
    {"AmazonEKSLoadBalancingPolicy", "/", "elasticloadbalancing:* ec2:Describe*"},
    {"AmazonEKSBlockStoragePolicy", "/", "ec2:*"},
    {"AmazonEKS_CNI_Policy", "/",
     "ec2:AssignPrivateIpAddresses ec2:CreateNetworkInterface ec2:Describe* ec2:CreateTags"},
    {"AmazonEKSFargatePodExecutionRolePolicy", "/", "ecr:GetAuthorizationToken ecr:BatchGetImage"},
    {"AmazonEC2ContainerRegistryReadOnly", "/",
     "ecr:GetAuthorizationToken ecr:BatchGetImage ecr:Describe* ecr:List*"},
    {"AmazonEC2ContainerRegistryPullOnly", "/", "ecr:GetAuthorizationToken ecr:BatchGetImage"},
    {"AmazonEC2ContainerRegistryFullAccess", "/", "ecr:*"},
    {"AmazonEC2FullAccess", "/", "ec2:*"},
    {"AmazonSSMManagedInstanceCore", "/", "ssm:* ssmmessages:* ec2messages:*"},
    {"AmazonSSMReadOnlyAccess", "/", "ssm:Describe* ssm:Get* ssm:List*"},
    {"CloudWatchAgentServerPolicy", "/",
     "cloudwatch:PutMetricData logs:CreateLogGroup logs:CreateLogStream logs:PutLogEvents"},
    {"CloudWatchLogsFullAccess", "/", "logs:*"},
    {"AmazonS3FullAccess", "/", "s3:*"},
    {"AmazonS3ReadOnlyAccess", "/", "s3:Get* s3:List*"},
    {"AmazonFSxFullAccess", "/", "fsx:*"},
    {"AmazonFSxReadOnlyAccess", "/", "fsx:Describe*"},
    {"AmazonPrometheusRemoteWriteAccess", "/", "aps:RemoteWrite"},
    {"AmazonPrometheusFullAccess", "/", "aps:*"},
    {"AmazonGrafanaCloudWatchAccess", "/service-role/", "cloudwatch:Get* cloudwatch:List* logs:Describe*"},
    {"AmazonSageMakerFullAccess", "/", "sagemaker:* s3:* ecr:* logs:*"},
    {"AmazonSageMakerClusterInstanceRolePolicy", "/",
     "logs:* cloudwatch:PutMetricData s3:GetObject s3:ListBucket ssmmessages:*"},
    {"AmazonSageMakerHyperPodTrainingOperatorAccess", "/", "sagemaker:DescribeClusterNode"},
    {"AmazonSageMakerHyperPodInferenceAccess", "/", "sagemaker:* s3:* ecr:* elasticloadbalancing:* acm:*"},
    {"AmazonSageMakerHyperPodGatedModelAccess", "/", "sagemaker:DescribeHubContent s3:GetObject"},
    {"AmazonSageMakerHyperPodObservabilityAdminAccess", "/",
     "aps:* grafana:* sagemaker:Describe* eks:Describe*"},
    {"AmazonSageMakerHyperPodSpotAccess", "/", "sagemaker:DescribeCluster"},
    {"AmazonSageMakerHyperPodServiceRolePolicy", "/aws-service-role/",
     "ec2:* eks:* logs:* cloudwatch:PutMetricData"},
    {"AmazonEBSCSIDriverPolicy", "/service-role/", "ec2:*"},
    {"AmazonEBSCSIDriverPolicyV2", "/", "ec2:*"},
    {"AmazonEFSCSIDriverPolicy", "/service-role/", "elasticfilesystem:*"},
    {"AmazonEKSServiceRolePolicy", "/aws-service-role/", "ec2:* iam:ListAttachedRolePolicies"},
    {"AWSServiceRoleForAmazonEKSNodegroup", "/aws-service-role/", "ec2:* autoscaling:*"},
    {"AWSElasticLoadBalancingServiceRolePolicy", "/aws-service-role/", "ec2:*"},
    {"AWSXRayDaemonWriteAccess", "/", "xray:PutTraceSegments"},
};

}  // namespace

std::string ManagedPolicy::arn() const {
    return "arn:aws:iam::aws:policy" + path + name;
}

std::string ManagedPolicy::document() const {
    base::JsonArray list(actions.begin(), actions.end());
    base::JsonObject statement{{"Effect", "Allow"}, {"Action", std::move(list)}, {"Resource", "*"}};
    base::JsonObject out;
    out["Version"] = "2012-10-17";
    out["Statement"] = base::JsonArray{std::move(statement)};
    return base::to_text(out);
}

const std::vector<ManagedPolicy>& managed_policies() {
    static const std::vector<ManagedPolicy> made = [] {
        std::vector<ManagedPolicy> out;
        for (const Row& row : kRows) {
            ManagedPolicy policy;
            policy.name = row.name;
            policy.path = row.path;
            policy.actions = base::split(row.actions, ' ');
            out.push_back(std::move(policy));
        }
        return out;
    }();
    return made;
}

const ManagedPolicy* find_managed_policy(std::string_view arn) {
    for (const ManagedPolicy& policy : managed_policies()) {
        if (policy.arn() == arn) return &policy;
    }
    return nullptr;
}

}  // namespace instantstart::twin::iam
