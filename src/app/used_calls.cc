#include "app/used_calls.h"

#include <algorithm>

namespace instantstart::app {

namespace {

using Calls = std::vector<std::string>;

Calls joined_calls(const std::vector<Calls>& lists) {
    Calls all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

Calls roles() {
    return {"iam:GetRole",          "iam:CreateRole",    "iam:ListAttachedRolePolicies", "iam:GetRolePolicy",
            "iam:AttachRolePolicy", "iam:PutRolePolicy", "sts:GetCallerIdentity"};
}

Calls cluster_access() {
    return {"eks:DescribeCluster", "eks:DescribeAccessEntry", "eks:CreateAccessEntry",
            "eks:ListAssociatedAccessPolicies", "eks:AssociateAccessPolicy"};
}

Calls addons() {
    return {"eks:DescribeAddonVersions", "eks:DescribeAddon", "eks:CreateAddon", "eks:DeleteAddon",
            "eks:UpdateAddon"};
}

Calls bucket() {
    return {"s3:HeadBucket",           "s3:CreateBucket",        "s3:GetPublicAccessBlock",
            "s3:PutPublicAccessBlock", "s3:GetBucketEncryption", "s3:PutBucketEncryption",
            "s3:GetBucketPolicy",      "s3:PutBucketPolicy",     "s3:GetBucketTagging",
            "s3:PutBucketTagging",     "s3:ListObjectsV2"};
}

Calls oidc() {
    return {"iam:GetOpenIDConnectProvider", "iam:CreateOpenIDConnectProvider"};
}

}  // namespace

Calls used_by_cluster_create() {
    return joined_calls({roles(),
                         cluster_access(),
                         addons(),
                         oidc(),
                         {"ec2:DescribeAvailabilityZones",
                          "ec2:DescribeVpcs",
                          "ec2:DescribeVpcPeeringConnections",
                          "ec2:CreateVpc",
                          "ec2:DescribeVpcAttribute",
                          "ec2:ModifyVpcAttribute",
                          "ec2:DescribeSubnets",
                          "ec2:CreateSubnet",
                          "ec2:DescribeInternetGateways",
                          "ec2:CreateInternetGateway",
                          "ec2:AttachInternetGateway",
                          "ec2:DescribeRouteTables",
                          "ec2:CreateRouteTable",
                          "ec2:CreateRoute",
                          "ec2:AssociateRouteTable",
                          "ec2:DescribeAddresses",
                          "ec2:AllocateAddress",
                          "ec2:DescribeNatGateways",
                          "ec2:CreateNatGateway",
                          "ec2:DescribeNetworkInterfaces",
                          "iam:ListRoles",
                          "iam:ListOpenIDConnectProviders",
                          "ec2:DescribeVpcEndpoints",
                          "ec2:CreateVpcEndpoint",
                          "ec2:DescribeSecurityGroups",
                          "ec2:CreateSecurityGroup",
                          "ec2:AuthorizeSecurityGroupIngress",
                          "ec2:AuthorizeSecurityGroupEgress",
                          "eks:CreateCluster",
                          "eks:DescribeClusterVersions",
                          "eks:ListClusters",
                          "service-quotas:ListServiceQuotas",
                          "service-quotas:ListAWSDefaultServiceQuotas"}});
}

Calls used_by_hyperpod() {
    return joined_calls({roles(),
                         cluster_access(),
                         addons(),
                         bucket(),
                         {"ec2:AssociateVpcCidrBlock",
                          "ec2:DescribeVpcEndpoints",
                          "ec2:ModifyVpcEndpoint",
                          "pricing:GetProducts",
                          "sagemaker:DescribeTrainingPlan",
                          "ec2:DescribeVpcs",
                          "ec2:DescribeSubnets",
                          "ec2:CreateSubnet",
                          "ec2:DescribeRouteTables",
                          "ec2:AssociateRouteTable",
                          "ec2:DescribeAvailabilityZones",
                          "ec2:DescribeInstanceTypeOfferings",
                          "ec2:DescribeNetworkInterfaces",
                          "ec2:DescribeSecurityGroups",
                          "s3:HeadObject",
                          "s3:PutObject",
                          "sagemaker:CreateCluster",
                          "sagemaker:UpdateCluster",
                          "sagemaker:DescribeCluster",
                          "sagemaker:ListClusters",
                          "sagemaker:ListClusterNodes",
                          "sagemaker:ListClusterEvents",
                          "service-quotas:ListServiceQuotas",
                          "service-quotas:ListAWSDefaultServiceQuotas"}});
}

Calls used_by_group_change() {
    return joined_calls(
        {cluster_access(),
         {"ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTypeOfferings",
          "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "iam:GetRole", "pricing:GetProducts",
          "sagemaker:DescribeCluster", "sagemaker:DescribeTrainingPlan", "sagemaker:ListClusterEvents",
          "sagemaker:ListClusterNodes", "sagemaker:ListClusters", "sagemaker:UpdateCluster",
          "service-quotas:ListAWSDefaultServiceQuotas", "service-quotas:ListServiceQuotas",
          "sts:GetCallerIdentity"}});
}

Calls used_by_node_action(std::string batch_call) {
    return joined_calls(
        {cluster_access(),
         {std::move(batch_call), "iam:GetRole", "sagemaker:DescribeCluster", "sagemaker:DescribeClusterNode",
          "sagemaker:ListClusters", "sts:GetCallerIdentity"}});
}

Calls used_by_node_group_add() {
    return joined_calls({roles(),
                         cluster_access(),
                         {"ec2:AssociateRouteTable",
                          "ec2:AssociateVpcCidrBlock",
                          "ec2:CreateLaunchTemplate",
                          "ec2:CreateSubnet",
                          "ec2:DescribeAvailabilityZones",
                          "ec2:DescribeInstanceTypeOfferings",
                          "ec2:DescribeLaunchTemplates",
                          "ec2:DescribeNetworkInterfaces",
                          "ec2:DescribeRouteTables",
                          "ec2:DescribeSubnets",
                          "ec2:DescribeVpcEndpoints",
                          "ec2:DescribeVpcs",
                          "ec2:ModifyVpcEndpoint",
                          "eks:CreateNodegroup",
                          "eks:DescribeNodegroup",
                          "eks:ListNodegroups",
                          "pricing:GetProducts",
                          "sagemaker:DescribeCluster",
                          "sagemaker:ListClusters",
                          "service-quotas:ListAWSDefaultServiceQuotas",
                          "service-quotas:ListServiceQuotas"}});
}

Calls used_by_node_group_change() {
    return joined_calls(
        {cluster_access(),
         {"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "eks:DescribeNodegroup",
          "eks:UpdateNodegroupConfig", "iam:GetRole", "pricing:GetProducts", "sagemaker:DescribeCluster",
          "sagemaker:ListClusters", "service-quotas:ListAWSDefaultServiceQuotas",
          "service-quotas:ListServiceQuotas", "sts:GetCallerIdentity"}});
}

Calls used_by_node_group_removal() {
    return {"ec2:DeleteLaunchTemplate",
            "ec2:DescribeLaunchTemplates",
            "eks:DeleteAccessEntry",
            "eks:DeleteNodegroup",
            "eks:DescribeAccessEntry",
            "eks:DescribeCluster",
            "eks:DescribeNodegroup",
            "iam:DeleteRole",
            "iam:DeleteRolePolicy",
            "iam:DetachRolePolicy",
            "iam:GetRole",
            "iam:ListAttachedRolePolicies",
            "iam:ListInstanceProfilesForRole",
            "iam:ListRolePolicies",
            "iam:RemoveRoleFromInstanceProfile",
            "sagemaker:DescribeCluster",
            "sagemaker:ListClusters",
            "sts:GetCallerIdentity"};
}

Calls used_by_software_update() {
    return joined_calls(
        {cluster_access(),
         {"iam:GetRole", "sagemaker:DescribeCluster", "sagemaker:DescribeTrainingPlan",
          "sagemaker:ListClusterEvents", "sagemaker:ListClusterNodes", "sagemaker:ListClusters",
          "sagemaker:UpdateClusterSoftware", "sts:GetCallerIdentity"}});
}

Calls used_by_storage() {
    return joined_calls({roles(),
                         cluster_access(),
                         addons(),
                         bucket(),
                         oidc(),
                         {"ec2:AuthorizeSecurityGroupIngress", "ec2:DescribeNetworkInterfaces",
                          "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "fsx:DescribeFileSystems",
                          "sagemaker:DescribeCluster", "sagemaker:ListClusters"}});
}

Calls used_by_cluster_launch() {
    return joined_calls(
        {used_by_cluster_create(), used_by_hyperpod(), used_by_storage(), used_by_feature_update()});
}

Calls used_by_feature_list() {
    return {"eks:DescribeCluster",
            "eks:DescribeAddon",
            "eks:ListPodIdentityAssociations",
            "eks:DescribePodIdentityAssociation",
            "sagemaker:DescribeCluster",
            "sagemaker:ListClusters",
            "sagemaker:ListTags",
            "s3:HeadBucket",
            "s3:GetBucketTagging",
            "s3:GetPublicAccessBlock",
            "s3:GetBucketEncryption",
            "s3:GetBucketPolicy",
            "s3:ListObjectsV2",
            "sagemaker:DescribeMlflowTrackingServer",
            "sagemaker:ListMlflowApps",
            "sagemaker:DescribeMlflowApp",
            "amp:ListWorkspaces",
            "amp:DescribeWorkspace",
            "iam:GetRole",
            "iam:GetRolePolicy",
            "iam:ListAttachedRolePolicies",
            "iam:GetOpenIDConnectProvider",
            "sts:GetCallerIdentity"};
}

Calls used_by_feature_update() {
    return joined_calls({used_by_feature_list(),
                         roles(),
                         cluster_access(),
                         addons(),
                         oidc(),
                         bucket(),
                         {"s3:ListObjectVersions",
                          "s3:DeleteObjects",
                          "s3:DeleteBucket",
                          "iam:UpdateAssumeRolePolicy",
                          "iam:DetachRolePolicy",
                          "iam:ListRolePolicies",
                          "iam:DeleteRolePolicy",
                          "iam:ListInstanceProfilesForRole",
                          "iam:DeleteRole",
                          "iam:DeleteOpenIDConnectProvider",
                          "eks:CreatePodIdentityAssociation",
                          "eks:UpdatePodIdentityAssociation",
                          "eks:DeletePodIdentityAssociation",
                          "sagemaker:UpdateCluster",
                          "sagemaker:AddTags",
                          "sagemaker:DeleteTags",
                          "sagemaker:CreateMlflowTrackingServer",
                          "sagemaker:StartMlflowTrackingServer",
                          "sagemaker:DeleteMlflowTrackingServer",
                          "sagemaker:CreateMlflowApp",
                          "sagemaker:DeleteMlflowApp",
                          "amp:CreateWorkspace",
                          "amp:DeleteWorkspace",
                          "pricing:GetProducts"}});
}

Calls used_by_planning() {
    return {"ec2:DescribeAddresses",
            "ec2:DescribeAvailabilityZones",
            "ec2:DescribeInstanceTypeOfferings",
            "ec2:DescribeInternetGateways",
            "ec2:DescribeNatGateways",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeVpcEndpoints",
            "ec2:DescribeVpcPeeringConnections",
            "ec2:DescribeVpcs",
            "eks:DescribeAddon",
            "eks:DescribeCluster",
            "eks:DescribeClusterVersions",
            "eks:DescribeNodegroup",
            "eks:ListClusters",
            "eks:ListNodegroups",
            "iam:GetRole",
            "iam:ListOpenIDConnectProviders",
            "iam:ListRoles",
            "pricing:GetProducts",
            "s3:HeadBucket",
            "s3:ListObjectsV2",
            "sagemaker:DescribeCluster",
            "sagemaker:DescribeTrainingPlan",
            "sagemaker:ListClusters",
            "service-quotas:ListAWSDefaultServiceQuotas",
            "service-quotas:ListServiceQuotas",
            "sts:GetCallerIdentity"};
}

Calls used_by_dependencies() {
    return joined_calls(
        {cluster_access(),
         addons(),
         {"sts:GetCallerIdentity", "iam:GetRole", "sagemaker:DescribeCluster", "sagemaker:ListClusters"}});
}

Calls used_by_cluster_delete() {
    return {"elbv2:DescribeLoadBalancers",
            "iam:GetRole",
            "elbv2:DescribeTags",
            "sagemaker:DescribeCluster",
            "sagemaker:DeleteCluster",
            "sagemaker:ListClusters",
            "sagemaker:DescribeMlflowTrackingServer",
            "sagemaker:DeleteMlflowTrackingServer",
            "sagemaker:ListMlflowApps",
            "sagemaker:DeleteMlflowApp",
            "sagemaker:ListTags",
            "amp:ListWorkspaces",
            "amp:DeleteWorkspace",
            "eks:ListNodegroups",
            "eks:DeleteNodegroup",
            "eks:DescribeCluster",
            "eks:DeleteCluster",
            "ec2:DescribeNatGateways",
            "ec2:DeleteNatGateway",
            "ec2:DescribeAddresses",
            "ec2:ReleaseAddress",
            "ec2:DescribeVpcEndpoints",
            "ec2:DeleteVpcEndpoints",
            "ec2:DescribeLaunchTemplates",
            "ec2:DeleteLaunchTemplate",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DeleteNetworkInterface",
            "ec2:DescribeInternetGateways",
            "ec2:DetachInternetGateway",
            "ec2:DeleteInternetGateway",
            "ec2:DescribeSubnets",
            "ec2:DeleteSubnet",
            "ec2:DescribeRouteTables",
            "ec2:DeleteRouteTable",
            "ec2:DescribeSecurityGroups",
            "ec2:RevokeSecurityGroupIngress",
            "ec2:DeleteSecurityGroup",
            "ec2:DescribeVpcs",
            "ec2:DeleteVpc",
            "iam:ListRoles",
            "iam:ListRoleTags",
            "iam:ListAttachedRolePolicies",
            "iam:DetachRolePolicy",
            "iam:ListRolePolicies",
            "iam:DeleteRolePolicy",
            "iam:ListInstanceProfilesForRole",
            "iam:RemoveRoleFromInstanceProfile",
            "iam:DeleteRole",
            "iam:ListOpenIDConnectProviders",
            "iam:ListOpenIDConnectProviderTags",
            "iam:DeleteOpenIDConnectProvider",
            "s3:HeadBucket",
            "s3:GetBucketTagging",
            "s3:ListObjectsV2",
            "s3:ListObjectVersions",
            "s3:DeleteObjects",
            "s3:DeleteBucket",
            "logs:DescribeLogGroups",
            "sts:GetCallerIdentity"};
}

}  // namespace instantstart::app
