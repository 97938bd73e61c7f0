"""HyperPod's capacity through boto3: batch calls on nodes, deep checks, software, training plans, groups that are changed and refused, managed autoscaling."""

CLUSTER = "peer-pod"
PLAN_TYPE = "ml.p5.48xlarge"


def running(seen):
    return [each for each in seen.get("ClusterNodeSummaries", []) if each["InstanceStatus"]["Status"] == "Running"]


def update(script, expect=None, **parameters):
    """UpdateCluster once the one before it has ended; a refusal by its code."""
    def done(seen):
        return seen.get("code") != "ConflictException"
    answer = script.until("the update before has ended", done, "sagemaker", "update_cluster", ClusterName=CLUSTER, **parameters)
    script.check(f"sagemaker update_cluster {'is refused with ' + expect if expect else 'is taken'}", answer.get("code") == expect, answer)


def nodes(script, workers):
    do, until = script.do, script.until
    key = {"ClusterName": CLUSTER}
    listed = until("a node runs", running, "sagemaker", "list_cluster_nodes", IncludeNodeLogicalIds=True, **key)
    logical = running(listed)[0]["NodeLogicalId"]
    do("sagemaker", "describe_cluster_node", NodeLogicalId=logical, **key)
    do("sagemaker", "describe_cluster_node", "ValidationException", **key)
    wanted = [{"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}]
    added = do("sagemaker", "batch_add_cluster_nodes", ClientToken="peer", NodesToAdd=wanted, **key)
    again = do("sagemaker", "batch_add_cluster_nodes", ClientToken="peer", NodesToAdd=wanted, **key)
    script.check("the same token adds nothing again", added["Successful"][0]["NodeLogicalId"] == again["Successful"][0]["NodeLogicalId"], again)
    do("sagemaker", "batch_add_cluster_nodes", "ResourceNotFound", ClusterName="none", NodesToAdd=wanted)
    failed = do("sagemaker", "batch_add_cluster_nodes", NodesToAdd=[{"InstanceGroupName": "none", "IncrementTargetCountBy": 1}], **key)
    script.check("an unknown group fails in part", failed["Failed"][0]["ErrorCode"] == "InstanceGroupNotFound", failed)
    gone = do("sagemaker", "batch_delete_cluster_nodes", NodeLogicalIds=[added["Successful"][0]["NodeLogicalId"], "none"], **key)
    script.check("deleted in part", gone.get("FailedNodeLogicalIds", [{}])[0].get("Code") == "NodeIdNotFound" and gone.get("SuccessfulNodeLogicalIds"), gone)
    do("sagemaker", "batch_delete_cluster_nodes", "ResourceNotFound", ClusterName="none", NodeIds=["i-0123456789abcdef0"])
    for method in ("batch_reboot_cluster_nodes", "batch_replace_cluster_nodes"):
        do("sagemaker", method, "ResourceNotFound", ClusterName="none", NodeIds=["i-0123456789abcdef0"])
        answer = do("sagemaker", method, NodeIds=["i-0123456789abcdef0"], **key)
        script.check(f"{method} fails in part", answer["Failed"][0]["ErrorCode"] == "InstanceIdNotFound", answer)
    instance = running(until("a node runs", running, "sagemaker", "list_cluster_nodes", **key))[0]["InstanceId"]
    checks = [{"InstanceGroupName": "workers", "InstanceIds": [instance], "DeepHealthChecks": ["InstanceStress"]}]
    do("sagemaker", "start_cluster_health_check", "ResourceNotFound", ClusterName="none", DeepHealthCheckConfigurations=checks)
    do("sagemaker", "start_cluster_health_check", "ValidationException",
       DeepHealthCheckConfigurations=[{"InstanceGroupName": "none", "DeepHealthChecks": ["InstanceStress"]}], **key)
    do("sagemaker", "start_cluster_health_check", DeepHealthCheckConfigurations=checks, **key)
    do("sagemaker", "update_cluster", "ConflictException", InstanceGroups=[{**workers, "InstanceCount": 3}], **key)
    until("the deep checks have ended", lambda seen: seen.get("NodeDetails", {}).get("InstanceStatus", {}).get("Status") == "Running",
          "sagemaker", "describe_cluster_node", NodeId=instance, **key)


def software(script):
    do, until = script.do, script.until
    do("sagemaker", "update_cluster_software", "ResourceNotFound", ClusterName="none")
    do("sagemaker", "update_cluster_software", "ValidationException", ClusterName=CLUSTER, InstanceGroups=[{"InstanceGroupName": "none"}])
    rolling = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 50}}}
    until("no other update", lambda seen: "ClusterArn" in seen, "sagemaker", "update_cluster_software", ClusterName=CLUSTER, DeploymentConfig=rolling)
    until("the software is updated", lambda seen: seen["InstanceGroups"][0].get("SoftwareUpdateStatus") == "Succeeded",
          "sagemaker", "describe_cluster", ClusterName=CLUSTER)


def plans(script, workers):
    do, until = script.do, script.until
    wish = {"InstanceType": PLAN_TYPE, "InstanceCount": 1, "DurationHours": 48, "TargetResources": ["hyperpod-cluster"]}
    do("sagemaker", "search_training_plan_offerings", "ValidationException", InstanceType=PLAN_TYPE, UltraServerType="ml.u-p6e-gb200x72", DurationHours=24)
    offering = do("sagemaker", "search_training_plan_offerings", **wish)["TrainingPlanOfferings"][0]
    do("sagemaker", "search_training_plan_offerings", UltraServerType="ml.u-p6e-gb200x72", UltraServerCount=1, DurationHours=24)
    bought = {"TrainingPlanName": "peer-plan", "TrainingPlanOfferingId": offering["TrainingPlanOfferingId"]}
    do("sagemaker", "create_training_plan", "ResourceNotFound", **{**bought, "TrainingPlanOfferingId": "tpo-none"})
    arn = do("sagemaker", "create_training_plan", Tags=[{"Key": "a", "Value": "b"}], **bought)["TrainingPlanArn"]
    do("sagemaker", "create_training_plan", "ResourceInUse", **bought)
    do("sagemaker", "describe_training_plan", "ResourceNotFound", TrainingPlanName="none")
    until("paid", lambda seen: seen.get("Status") == "Scheduled", "sagemaker", "describe_training_plan", TrainingPlanName="peer-plan")
    do("sagemaker", "list_training_plans", Filters=[{"Name": "Status", "Value": "Scheduled"}])
    do("sagemaker", "list_training_plans", "ValidationException", NextToken="no token of ours")
    do("sagemaker", "list_tags", ResourceArn=arn)
    update(script, "ValidationException", InstanceGroups=[{**workers, "InstanceGroupName": "planned", "TrainingPlanArn": arn}])


def scaling(script):
    do, until = script.do, script.until
    role = script.role("peer-scaler", "hyperpod.sagemaker.amazonaws.com", [])
    rights = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["sagemaker:BatchAddClusterNodes","sagemaker:BatchDeleteClusterNodes"],"Resource":"*"}]}'
    do("iam", "put_role_policy", RoleName="peer-scaler", PolicyName="scale", PolicyDocument=rights)
    on = {"AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}}
    update(script, "ValidationException", **on)
    until("the role is known in time", lambda seen: "ClusterArn" in seen, "sagemaker", "update_cluster", ClusterName=CLUSTER, ClusterRole=role, **on)
    until("autoscaling is in service", lambda seen: seen.get("AutoScaling", {}).get("Status") == "InService", "sagemaker", "describe_cluster", ClusterName=CLUSTER)
    update(script, AutoScaling={"Mode": "Disable"})
    until("autoscaling is gone", lambda seen: "AutoScaling" not in seen, "sagemaker", "describe_cluster", ClusterName=CLUSTER)


def run(script, workers):
    nodes(script, workers)
    software(script)
    plans(script, workers)
    update(script, "ValidationException", InstanceGroups=[{**workers, "InstanceType": "ml.m5.large"}])
    update(script, InstanceGroups=[{**workers, "KubernetesConfig": {"Labels": {"team": "a"}, "Taints": [{"Key": "own", "Value": "b", "Effect": "NoSchedule"}]}}])
    flexible = {**workers, "InstanceGroupName": "flexible", "CapacityRequirements": {"Spot": {}},
                "InstanceRequirements": {"InstanceTypes": ["ml.g5.24xlarge", "ml.g5.12xlarge"]}}
    del flexible["InstanceType"]
    update(script, InstanceGroups=[flexible])
    script.do("sagemaker", "describe_cluster", ClusterName=CLUSTER)
    scaling(script)
