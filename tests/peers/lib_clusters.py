"""A script over the rest of the twin's operations, through boto3: EKS with its add-ons and access, HyperPod, quotas, log groups, load balancers, STS. Every
refusal that it provokes carries the code that the service's documentation gives."""
import json
import time

import lib_capacity
import lib_managed
import lib_nodes

REGION, ACCOUNT = "us-west-2", "111122223333"
TYPE = "ml.g5.12xlarge"
LIMIT_SECONDS = 120


def trust(service, actions=("sts:AssumeRole",)):
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}]})


class Script:
    """Calls of one client set; `expect` is the code of a refusal, None for a success."""

    def __init__(self, client, check):
        self.client, self.check = client, check

    def do(self, service, method, expect=None, **parameters):
        from botocore.exceptions import ClientError
        try:
            answer = getattr(self.client(service), method)(**parameters)
            code = None
        except ClientError as error:
            answer, code = error.response, error.response["Error"]["Code"]
        self.check(f"{service} {method}" + (f" is refused with {expect}" if expect else ""), code == expect, answer)
        return answer

    def until(self, what, good, service, method, **parameters):
        """The answer of a read once it is good; a refusal counts by its code."""
        from botocore.exceptions import ClientError
        end = time.time() + LIMIT_SECONDS
        while True:
            try:
                answer = getattr(self.client(service), method)(**parameters)
            except ClientError as error:
                answer = {"code": error.response["Error"]["Code"], "message": error.response["Error"]["Message"]}
            seen = good(answer)
            if seen or time.time() > end:
                self.check(f"{service} {method}: {what}", seen, answer)
                return answer
            time.sleep(0.2)

    def role(self, name, service, policies, actions=("sts:AssumeRole",)):
        arn = self.do("iam", "create_role", RoleName=name, AssumeRolePolicyDocument=trust(service, actions))["Role"]["Arn"]
        for policy in policies:
            self.do("iam", "attach_role_policy", RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
        return arn


def network(script):
    do, until = script.do, script.until
    vpc = do("ec2", "create_vpc", CidrBlock="10.40.0.0/16")["Vpc"]["VpcId"]
    until("the network shows", lambda seen: seen.get("Vpcs"), "ec2", "describe_vpcs", VpcIds=[vpc])
    subnets = [do("ec2", "create_subnet", VpcId=vpc, CidrBlock=f"10.40.{index * 16}.0/20", AvailabilityZone=f"{REGION}{zone}")["Subnet"]["SubnetId"]
               for index, zone in enumerate("ab")]
    group = do("ec2", "create_security_group", VpcId=vpc, GroupName="nodes", Description="nodes")["GroupId"]
    until("the subnets show", lambda seen: len(seen.get("Subnets", [])) == 2, "ec2", "describe_subnets", SubnetIds=subnets)
    until("the group shows", lambda seen: seen.get("SecurityGroups"), "ec2", "describe_security_groups", GroupIds=[group])
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    do("ec2", "authorize_security_group_ingress", GroupId=group, IpPermissions=own)
    do("ec2", "authorize_security_group_egress", GroupId=group, IpPermissions=own)
    return vpc, subnets, group


def eks_cluster(script, subnets, group):
    do, until = script.do, script.until
    role = script.role("peer-eks", "eks.amazonaws.com", ["AmazonEKSClusterPolicy"], ("sts:AssumeRole", "sts:TagSession"))
    body = {"name": "peer", "roleArn": role, "resourcesVpcConfig": {"subnetIds": subnets, "securityGroupIds": [group], "endpointPrivateAccess": True,
                                                                  "publicAccessCidrs": ["10.0.0.0/8"]},
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False}, "bootstrapSelfManagedAddons": False,
            "tags": {"team": "a"}, "upgradePolicy": {"supportType": "STANDARD"}}
    do("eks", "describe_cluster", "ResourceNotFoundException", name="peer")
    do("eks", "create_cluster", "InvalidParameterException", **{**body, "resourcesVpcConfig": {"subnetIds": subnets[:1]}})
    do("eks", "create_cluster", "InvalidParameterException", **{**body, "version": "1.12"})
    do("eks", "create_cluster", "InvalidParameterException", **{**body, "roleArn": f"arn:aws:iam::{ACCOUNT}:role/nobody"})
    until("the role is known in time", lambda seen: "cluster" in seen, "eks", "create_cluster", **body)
    do("eks", "create_cluster", "ResourceInUseException", **body)
    do("eks", "list_clusters")
    do("eks", "list_clusters", "InvalidParameterException", nextToken="no token of ours")
    do("eks", "create_addon", "ResourceInUseException", clusterName="peer", addonName="coredns")
    return until("ACTIVE", lambda seen: seen.get("cluster", {}).get("status") == "ACTIVE", "eks", "describe_cluster", name="peer")["cluster"]


def eks_access(script):
    do, until = script.do, script.until
    principal = script.role("peer-admin", "ec2.amazonaws.com", [])
    key = {"clusterName": "peer", "principalArn": principal}
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    do("eks", "describe_access_entry", "ResourceNotFoundException", **key)
    until("the role is known in time", lambda seen: "accessEntry" in seen, "eks", "create_access_entry", **key, tags={"a": "b"})
    do("eks", "create_access_entry", "ResourceInUseException", **key)
    do("eks", "create_access_entry", "ResourceNotFoundException", **{**key, "clusterName": "none"})
    do("eks", "describe_access_entry", **key)
    do("eks", "list_access_entries", clusterName="peer")
    do("eks", "associate_access_policy", policyArn=policy, accessScope={"type": "cluster"}, **key)
    do("eks", "associate_access_policy", "InvalidParameterException", policyArn=policy, accessScope={"type": "galaxy"}, **key)
    do("eks", "list_associated_access_policies", **key)
    do("eks", "list_associated_access_policies", "ResourceNotFoundException", clusterName="peer", principalArn=principal + "-none")
    do("eks", "list_access_policies")
    do("eks", "disassociate_access_policy", policyArn=policy, **key)
    do("eks", "delete_access_entry", **key)
    do("eks", "delete_access_entry", "ResourceNotFoundException", **key)


def eks_addons(script):
    do, until = script.do, script.until
    do("eks", "describe_cluster_versions")
    do("eks", "describe_addon_versions", kubernetesVersion="1.33")
    do("eks", "describe_addon_versions", addonName="coredns")
    do("eks", "describe_addon_versions", "ResourceNotFoundException", addonName="no-such-addon")
    do("eks", "describe_addon_configuration", addonName="coredns",
       addonVersion=do("eks", "describe_addon_versions", addonName="coredns")["addons"][0]["addonVersions"][0]["addonVersion"])
    key = {"clusterName": "peer", "addonName": "vpc-cni"}
    do("eks", "describe_addon", "ResourceNotFoundException", **key)
    do("eks", "create_addon", "InvalidParameterException", **{**key, "addonVersion": "v0"})
    do("eks", "create_addon", resolveConflicts="OVERWRITE", tags={"a": "b"}, **key)
    do("eks", "create_addon", "ResourceInUseException", **key)
    do("eks", "update_addon", "ResourceInUseException", **key)
    until("ACTIVE", lambda seen: seen.get("addon", {}).get("status") in ("ACTIVE", "DEGRADED"), "eks", "describe_addon", **key)
    do("eks", "list_addons", clusterName="peer")
    do("eks", "update_addon", "InvalidParameterException", configurationValues="[", **key)
    update = do("eks", "update_addon", configurationValues="{}", **key)["update"]["id"]
    do("eks", "describe_update", name="peer", addonName="vpc-cni", updateId=update)
    do("eks", "list_updates", name="peer", addonName="vpc-cni")
    until("settled", lambda seen: seen.get("addon", {}).get("status") in ("ACTIVE", "DEGRADED"), "eks", "describe_addon", **key)
    do("eks", "delete_addon", **key)
    until("gone", lambda seen: seen.get("code") == "ResourceNotFoundException", "eks", "describe_addon", **key)
    do("eks", "delete_addon", "ResourceNotFoundException", **key)
    pods = script.role("peer-pods", "pods.eks.amazonaws.com", [], ("sts:AssumeRole", "sts:TagSession"))
    who = {"clusterName": "peer", "namespace": "default", "serviceAccount": "worker", "roleArn": pods}
    made = until("the role is known in time", lambda seen: "association" in seen, "eks", "create_pod_identity_association", **who)["association"]["associationId"]
    do("eks", "create_pod_identity_association", "ResourceInUseException", **who)
    do("eks", "describe_pod_identity_association", clusterName="peer", associationId=made)
    do("eks", "list_pod_identity_associations", clusterName="peer")
    do("eks", "list_pod_identity_associations", "ResourceNotFoundException", clusterName="none")
    do("eks", "update_pod_identity_association", clusterName="peer", associationId=made, roleArn=pods)
    do("eks", "update_pod_identity_association", "ResourceNotFoundException", clusterName="peer", associationId="a-none", roleArn=pods)
    do("iam", "update_assume_role_policy", RoleName="peer-pods", PolicyDocument=trust("pods.eks.amazonaws.com", ("sts:AssumeRole", "sts:TagSession")))
    do("iam", "update_assume_role_policy", "NoSuchEntity", RoleName="peer-none", PolicyDocument=trust("pods.eks.amazonaws.com"))
    do("eks", "delete_pod_identity_association", clusterName="peer", associationId=made)
    do("eks", "describe_pod_identity_association", "ResourceNotFoundException", clusterName="peer", associationId=made)
    do("eks", "delete_pod_identity_association", "ResourceNotFoundException", clusterName="peer", associationId=made)


def eks_changes(script, cluster, subnets):
    do, until = script.do, script.until
    do("eks", "update_cluster_config", "InvalidParameterException", name="peer")
    do("eks", "update_cluster_config", "ResourceNotFoundException", name="none", accessConfig={"authenticationMode": "API"})
    do("eks", "update_cluster_config", name="peer", resourcesVpcConfig={"publicAccessCidrs": ["10.0.0.0/9"]})
    do("eks", "update_cluster_config", "ResourceInUseException", name="peer", resourcesVpcConfig={"publicAccessCidrs": ["10.0.0.0/10"]})
    until("ACTIVE again", lambda seen: seen["cluster"]["status"] == "ACTIVE", "eks", "describe_cluster", name="peer")
    do("eks", "list_updates", name="peer")
    do("eks", "describe_update", "ResourceNotFoundException", name="peer", updateId="0" * 8)
    do("eks", "tag_resource", resourceArn=cluster["arn"], tags={"b": "c"})
    do("eks", "list_tags_for_resource", resourceArn=cluster["arn"])
    do("eks", "untag_resource", resourceArn=cluster["arn"], tagKeys=["b"])
    node_role = script.role("peer-nodes", "ec2.amazonaws.com", ["AmazonEKSWorkerNodePolicy"])
    group = {"clusterName": "peer", "nodegroupName": "system"}
    do("eks", "list_nodegroups", clusterName="peer")
    do("eks", "list_nodegroups", "ResourceNotFoundException", clusterName="none")
    do("eks", "delete_nodegroup", "ResourceNotFoundException", **group)
    until("the role is known in time", lambda seen: "nodegroup" in seen, "eks", "create_nodegroup", subnets=subnets, nodeRole=node_role,
          scalingConfig={"minSize": 0, "maxSize": 1, "desiredSize": 0}, **group)
    until("ACTIVE", lambda seen: seen.get("nodegroup", {}).get("status") == "ACTIVE", "eks", "describe_nodegroup", **group)
    do("eks", "delete_cluster", "ResourceInUseException", name="peer")
    lib_capacity.node_group(script, subnets, node_role)
    do("eks", "delete_nodegroup", **group)
    until("gone", lambda seen: seen.get("code") == "ResourceNotFoundException", "eks", "describe_nodegroup", **group)


def hyperpod(script, cluster, subnets, group):
    do, until = script.do, script.until
    bucket = "sagemaker-peer-0123456789"
    do("s3", "create_bucket", Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    do("s3", "put_object", Bucket=bucket, Key="scripts/on_create.sh", Body=b"#!/bin/sh\n")
    role = script.role("peer-hyperpod", "sagemaker.amazonaws.com", ["AmazonSageMakerClusterInstanceRolePolicy"])
    workers = {"InstanceGroupName": "workers", "InstanceType": TYPE, "InstanceCount": 1, "ExecutionRole": role, "ThreadsPerCore": 1,
               "LifeCycleConfig": {"SourceS3Uri": f"s3://{bucket}/scripts", "OnCreate": "on_create.sh"},
               "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 100}}]}
    body = {"ClusterName": "peer-pod", "InstanceGroups": [workers], "Orchestrator": {"Eks": {"ClusterArn": cluster["arn"]}}, "NodeRecovery": "Automatic",
            "NodeProvisioningMode": "Continuous", "VpcConfig": {"Subnets": subnets[:1], "SecurityGroupIds": [group]}, "Tags": [{"Key": "SageMaker", "Value": "true"}]}
    do("sagemaker", "describe_cluster", "ResourceNotFound", ClusterName="peer-pod")
    do("sagemaker", "list_cluster_nodes", "ResourceNotFound", ClusterName="peer-pod")
    do("sagemaker", "list_cluster_events", "ResourceNotFound", ClusterName="peer-pod")
    do("sagemaker", "create_cluster", "ValidationException", **{**body, "ClusterName": "Bad_Name!"})
    do("sagemaker", "create_cluster", "ValidationException", **{**body, "NodeRecovery": "Sometimes"})
    do("sagemaker", "create_cluster", "ValidationException", **{**body, "InstanceGroups": [{**workers, "InstanceCount": -1}]})
    until("a count beyond the quota is refused", lambda seen: seen.get("code") == "ResourceLimitExceeded", "sagemaker", "create_cluster",
          **{**body, "InstanceGroups": [{**workers, "InstanceCount": 5000}]})
    until("the role is known in time", lambda seen: "ClusterArn" in seen, "sagemaker", "create_cluster", **body)
    do("sagemaker", "create_cluster", "ResourceInUse", **body)
    do("sagemaker", "delete_cluster", "ConflictException", ClusterName="peer-pod")
    until("InService", lambda seen: seen.get("ClusterStatus") == "InService", "sagemaker", "describe_cluster", ClusterName="peer-pod")
    do("sagemaker", "list_clusters")
    do("sagemaker", "list_clusters", "ValidationException", MaxResults=10000)
    nodes = until("one node runs", lambda seen: [each for each in seen["ClusterNodeSummaries"] if each["InstanceStatus"]["Status"] == "Running"],
                  "sagemaker", "list_cluster_nodes", ClusterName="peer-pod", IncludeNodeLogicalIds=True)["ClusterNodeSummaries"]
    do("sagemaker", "describe_cluster_node", ClusterName="peer-pod", NodeId=nodes[0]["InstanceId"])
    do("sagemaker", "describe_cluster_node", "ResourceNotFound", ClusterName="peer-pod", NodeId="i-0123456789abcdef0")
    events = do("sagemaker", "list_cluster_events", ClusterName="peer-pod")["Events"]
    do("sagemaker", "describe_cluster_event", ClusterName="peer-pod", EventId=events[0]["EventId"])
    arn = do("sagemaker", "describe_cluster", ClusterName="peer-pod")["ClusterArn"]
    do("sagemaker", "add_tags", ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
    do("sagemaker", "list_tags", ResourceArn=arn)
    do("sagemaker", "delete_tags", ResourceArn=arn, TagKeys=["a"])
    lib_managed.governance(script, arn)
    do("sagemaker", "update_cluster", "ResourceNotFound", ClusterName="none", InstanceGroups=[workers])
    do("sagemaker", "update_cluster", ClusterName="peer-pod", InstanceGroups=[{**workers, "InstanceCount": 2}])
    until("two nodes run", lambda seen: len([each for each in seen["ClusterNodeSummaries"] if each["InstanceStatus"]["Status"] == "Running"]) == 2,
          "sagemaker", "list_cluster_nodes", ClusterName="peer-pod")
    lib_nodes.run(script, {**workers, "InstanceCount": 2})
    until("InService", lambda seen: seen.get("ClusterStatus") == "InService", "sagemaker", "describe_cluster", ClusterName="peer-pod")
    do("sagemaker", "delete_cluster", ClusterName="peer-pod")
    until("gone", lambda seen: seen.get("code") == "ResourceNotFound", "sagemaker", "describe_cluster", ClusterName="peer-pod")
    do("sagemaker", "delete_cluster", "ResourceNotFound", ClusterName="peer-pod")


def small_services(script, subnets, group):
    do, until = script.do, script.until
    do("sts", "get_caller_identity")
    do("sts", "assume_role", "AccessDenied", RoleArn=f"arn:aws:iam::{ACCOUNT}:role/nobody", RoleSessionName="peer")
    admin = do("iam", "get_role", RoleName="instantstart-admin")["Role"]["Arn"]
    do("iam", "simulate_principal_policy", PolicySourceArn=admin, ActionNames=["ec2:CreateVpc"])
    do("iam", "simulate_principal_policy", "NoSuchEntity", PolicySourceArn=f"arn:aws:iam::{ACCOUNT}:role/nobody", ActionNames=["ec2:CreateVpc"])
    first = do("service-quotas", "list_service_quotas", ServiceCode="vpc", MaxResults=2)
    do("service-quotas", "list_service_quotas", ServiceCode="vpc", MaxResults=2, NextToken=first["NextToken"])
    do("service-quotas", "list_service_quotas", "NoSuchResourceException", ServiceCode="nothing")
    do("service-quotas", "list_aws_default_service_quotas", ServiceCode="sagemaker")
    do("service-quotas", "list_aws_default_service_quotas", "NoSuchResourceException", ServiceCode="nothing")
    name = "/aws/eks/peer/cluster"
    do("logs", "create_log_group", logGroupName=name, tags={"a": "b"})
    do("logs", "create_log_group", "ResourceAlreadyExistsException", logGroupName=name)
    do("logs", "describe_log_groups", logGroupNamePrefix="/aws/eks")
    do("logs", "describe_log_groups", "InvalidParameterException", limit=51)
    do("logs", "delete_log_group", logGroupName=name)
    do("logs", "delete_log_group", "ResourceNotFoundException", logGroupName=name)
    do("elbv2", "describe_load_balancers")
    do("elbv2", "describe_load_balancers", "LoadBalancerNotFound", Names=["none"])
    made = do("elbv2", "create_load_balancer", Name="peer", Subnets=subnets, SecurityGroups=[group], Tags=[{"Key": "a", "Value": "b"}])["LoadBalancers"][0]
    do("elbv2", "describe_tags", ResourceArns=[made["LoadBalancerArn"]])
    do("elbv2", "describe_tags", "LoadBalancerNotFound", ResourceArns=[made["LoadBalancerArn"] + "0"])
    until("active", lambda seen: seen["LoadBalancers"][0]["State"]["Code"] == "active", "elbv2", "describe_load_balancers", LoadBalancerArns=[made["LoadBalancerArn"]])
    do("elbv2", "delete_load_balancer", LoadBalancerArn=made["LoadBalancerArn"])
    interface = do("ec2", "describe_network_interfaces", Filters=[{"Name": "status", "Values": ["in-use"]}])["NetworkInterfaces"][0]["NetworkInterfaceId"]
    do("ec2", "delete_network_interface", "OperationNotPermitted", NetworkInterfaceId=interface)
    do("ec2", "describe_network_interfaces", "InvalidNetworkInterfaceID.NotFound", NetworkInterfaceIds=["eni-0123456789abcdef0"])
    do("ec2", "delete_network_interface", "InvalidNetworkInterfaceID.NotFound", NetworkInterfaceId="eni-0123456789abcdef0")
    do("ec2", "describe_vpc_peering_connections")
    do("ec2", "create_internet_gateway", "InvalidParameterValue",
       TagSpecifications=[{"ResourceType": "internet-gateway", "Tags": [{"Key": "aws:mine", "Value": "x"}]}])


def removal(script, subnets):
    do, until = script.do, script.until
    do("eks", "delete_cluster", name="peer")
    until("gone", lambda seen: seen.get("code") == "ResourceNotFoundException", "eks", "describe_cluster", name="peer")
    do("eks", "delete_cluster", "ResourceNotFoundException", name="peer")
    # EKS leaves interfaces behind, as it does now and then: whoever deletes the subnets takes them away.
    left = do("ec2", "describe_network_interfaces", Filters=[{"Name": "subnet-id", "Values": subnets}, {"Name": "status", "Values": ["available"]}])["NetworkInterfaces"]
    for interface in left:
        do("ec2", "delete_network_interface", NetworkInterfaceId=interface["NetworkInterfaceId"])


def run(client, check):
    script = Script(client, check)
    vpc, subnets, group = network(script)
    lib_capacity.network(script, vpc)
    cluster = eks_cluster(script, subnets, group)
    eks_access(script)
    eks_addons(script)
    eks_changes(script, cluster, subnets)
    hyperpod(script, cluster, subnets, group)
    small_services(script, subnets, group)
    lib_managed.run(script, subnets, group)
    removal(script, subnets)
