"""Capacity by the real binary, looked at from outside with boto3: groups, fixed fields, scaling, labels, nodes, node groups, software and a VPC that is full."""
import json
import threading

from lib import Product, check, finish

p = Product(speed=1200)
sm, ec2, eks, iam = (p.boto(service) for service in ("sagemaker", "ec2", "eks", "iam"))
BASE = "/clusters/grow"


def groups():
    return {g["InstanceGroupName"]: g for g in sm.describe_cluster(ClusterName="grow")["InstanceGroups"]}


def nodes(group):
    return [n["InstanceId"] for n in sm.list_cluster_nodes(ClusterName="grow", InstanceGroupNameContains=group)["ClusterNodeSummaries"]]


def group(name, **more):
    return {"name": name, "instance_type": "ml.g5.2xlarge", "count": 1, "zone": "us-west-2a", **more}


def tool(name, **arguments):
    """The structured answer of an MCP tool."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = json.loads(p.http("POST", "/mcp/all", call, headers={"Accept": "application/json, text/event-stream"})[2])
    return answer.get("result", {}).get("structuredContent", answer)


def refused(what, method, path, body, status, code, hint=""):
    before = len(p.mutations())
    seen, answer = p.api(method, BASE + path, body)
    good = seen == status and answer.get("code") == code and answer.get("changed") is False and hint in (answer.get("hint") or "")
    check(f"refused: {what}", good and len(p.mutations()) == before, (seen, answer))


try:
    # A /19 has room for one /20 beside the service subnets: the second zone needs a secondary range.
    op = p.run("POST", "/clusters/launch", {"name": "grow", "network": {"vpc_cidr": "10.40.0.0/19"}, "instance_groups": [group("system", instance_type="ml.m5.4xlarge")]})
    check("launched in a small VPC", op["state"] == "succeeded", op)
    vpc = eks.describe_cluster(name="grow")["cluster"]["resourcesVpcConfig"]["vpcId"]
    ranges = lambda: [a["CidrBlock"] for a in ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["CidrBlockAssociationSet"]]
    check("one range so far", ranges() == ["10.40.0.0/19"], ranges())
    op = p.run("POST", BASE + "/instance-groups", group("workers", zone="us-west-2b", labels={"team": "a"}, min_count=1))
    check("a group in another zone runs", op["state"] == "succeeded", op)
    check("the full VPC got a secondary range", ranges() == ["10.40.0.0/19", "100.64.0.0/16"], ranges())
    subnet = groups()["workers"]["OverrideVpcConfig"]["Subnets"][0]
    described = ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]
    tags = {t["Key"]: t["Value"] for t in described["Tags"]}
    check("its subnet is a /20 of it, with discovery tags", described["CidrBlock"] == "100.64.0.0/20" and tags.get("karpenter.sh/discovery") == "grow"
          and tags.get("kubernetes.io/cluster/grow") == "shared", described)
    tables = ec2.describe_route_tables(Filters=[{"Name": "association.subnet-id", "Values": [subnet]}])["RouteTables"]
    routes = tables[0]["Routes"] if tables else []
    check("it leads out by the NAT gateway and to S3 by the endpoint", any(r.get("NatGatewayId") for r in routes) and any(r.get("GatewayId", "").startswith("vpce-") for r in routes), routes)

    refused("another type", "PATCH", "/instance-groups/workers", {"instance_type": "ml.g5.4xlarge"}, 409, "immutable_field", "instance_group.add")
    refused("a minimum above the count", "PATCH", "/instance-groups/workers", {"min_count": 5}, 422, "invalid_field")
    refused("a count above the quota", "PATCH", "/instance-groups/workers", {"count": 600}, 422, "invalid_field")
    refused("a group that is not there", "PATCH", "/instance-groups/wrokers", {"count": 2}, 404, "not_found", "workers")
    refused("deleting without confirmation", "DELETE", "/instance-groups/workers", {}, 409, "confirmation_required", "workers")
    check("nothing to do is no change", p.run("PATCH", BASE + "/instance-groups/workers", {"count": 1, "labels": {"team": "a"}, "zone": "us-west-2b"}).get("no_change") is True)

    # Two groups at once: each waits for the other inside, and neither loses a setting.
    ends = {}
    change = lambda name, body: ends.update({name: p.run("PATCH", f"{BASE}/instance-groups/{name}", body)})
    threads = [threading.Thread(target=change, args=("workers", {"count": 2})), threading.Thread(target=change, args=("system", {"labels": {"role": "system"}}))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    check("two groups changed at once", all(op["state"] == "succeeded" for op in ends.values()), ends)
    seen = groups()
    check("each as asked", seen["workers"]["CurrentCount"] == 2 and seen["system"]["KubernetesConfig"]["CurrentLabels"] == {"role": "system"}, seen)
    check("what was not named is as it was", seen["workers"]["KubernetesConfig"]["CurrentLabels"] == {"team": "a"} and seen["workers"].get("MinCount") == 1 and seen["system"]["CurrentCount"] == 1, seen)
    status, first = p.api("PATCH", BASE + "/instance-groups/workers", {"labels": {"team": "b"}})
    status, second = p.api("PATCH", BASE + "/instance-groups/workers", {"labels": {"team": "c"}})
    check("the same group with another body is refused meanwhile", status == 409 and second.get("code") == "operation_in_progress", (status, second))
    check("and the first goes on", p.wait(first["operation"])["state"] == "succeeded", first)

    # nodes
    one, two = nodes("workers")
    p.shell("aws", "eks", "update-kubeconfig", "--name", "grow")
    boot_of = lambda node: p.shell("kubectl", "get", "node", f"hyperpod-{node}", "-o", "jsonpath={.status.nodeInfo.bootID}")[1]
    before = boot_of(one)
    op = p.run("POST", f"{BASE}/nodes/hyperpod-{one}/reboot", {})
    check("a node is rebooted by its name", op["state"] == "succeeded" and boot_of(one) not in ("", before), (op, before, boot_of(one)))
    refused("a node that is not there", "POST", "/nodes/i-00000000000000000/reboot", {}, 404, "not_found")
    refused("deleting below the minimum", "DELETE", f"/nodes/{one}", {"confirm": one, "further_nodes": [two]}, 409, "below_minimum", "min_count")
    refused("replacing without confirmation", "POST", f"/nodes/{one}/replace", {}, 409, "confirmation_required", one)
    logical = sm.describe_cluster_node(ClusterName="grow", NodeId=one)["NodeDetails"]["NodeLogicalId"]
    op = p.run("POST", f"{BASE}/nodes/{logical}/replace", {"confirm": logical})
    now = sm.describe_cluster_node(ClusterName="grow", NodeLogicalId=logical)["NodeDetails"]["InstanceId"]
    check("a node is replaced by its logical id", op["state"] == "succeeded" and now != one, (op, now))
    op = p.run("DELETE", f"{BASE}/nodes/{two}", {"confirm": two})
    check("a node is deleted and does not come back", op["state"] == "succeeded" and groups()["workers"]["TargetCount"] == 1 and nodes("workers") == [now], (op, groups()["workers"]))
    status, answer = p.api("GET", f"{BASE}/nodes/{logical}")
    node = answer.get("node", {})
    check("node.get says what is known of it", node.get("instance_id") == now and node.get("capacity") == "on_demand" and node.get("image", {}).get("status") and node.get("history"), answer)

    # scaling down, and the group's end
    refused("scaling down without confirmation", "PATCH", "/instance-groups/workers", {"count": 0, "min_count": 0}, 409, "confirmation_required", "workers")
    op = p.run("PATCH", BASE + "/instance-groups/workers", {"count": 0, "min_count": 0, "confirm": "workers"})
    check("scaled to nothing", op["state"] == "succeeded" and nodes("workers") == [], op)
    op = p.run("DELETE", BASE + "/instance-groups/workers", {"confirm": "workers"})
    check("the group is deleted, the other stays", op["state"] == "succeeded" and set(groups()) == {"system"}, (op, groups()))

    # EKS node groups
    roles = lambda: {r["RoleName"] for r in iam.list_roles()["Roles"] if not r["Path"].startswith("/aws-service-role/")}
    templates = lambda: ec2.describe_launch_templates()["LaunchTemplates"]
    r0 = roles()
    op = p.run("POST", BASE + "/node-groups", {"name": "pods", "instance_types": ["m5.xlarge"], "count": 1, "max_count": 3, "zone": "us-west-2a", "capacity": "spot", "labels": {"role": "pods"}})
    made = eks.describe_nodegroup(clusterName="grow", nodegroupName="pods")["nodegroup"]
    check("a node group runs", op["state"] == "succeeded" and made["status"] == "ACTIVE" and made["capacityType"] == "SPOT" and made["labels"] == {"role": "pods"}, (op, made))
    data = ec2.describe_launch_template_versions(LaunchTemplateId=made["launchTemplate"]["id"])["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    check("its template asks for tokens and tags what it starts", data["MetadataOptions"]["HttpTokens"] == "required" and len(data["TagSpecifications"]) == 3, data)
    check("it stands in the zone's compute subnet", ec2.describe_subnets(SubnetIds=made["subnets"])["Subnets"][0]["CidrBlock"].endswith("/20"), made)
    refused("another capacity", "PATCH", "/node-groups/pods", {"capacity": "on_demand"}, 409, "immutable_field", "node_group.add")
    check("as it is: no change", p.run("PATCH", BASE + "/node-groups/pods", {"count": 1}).get("no_change") is True)
    op = p.run("PATCH", BASE + "/node-groups/pods", {"count": 2, "labels": {"role": "system"}})
    made = eks.describe_nodegroup(clusterName="grow", nodegroupName="pods")["nodegroup"]
    check("it grows", op["state"] == "succeeded" and made["scalingConfig"] == {"minSize": 1, "maxSize": 3, "desiredSize": 2} and made["labels"] == {"role": "system"}, (op, made))
    status, answer = p.api("GET", BASE + "/node-groups")
    row = (answer.get("node_groups") or [{}])[0]
    check("node_group.list shows it", row.get("current_count") == 2 and row.get("zones") == ["us-west-2a"] and row.get("capacity") == "spot", answer)
    refused("fewer nodes without confirmation", "PATCH", "/node-groups/pods", {"count": 1}, 409, "confirmation_required", "pods")
    op = p.run("DELETE", BASE + "/node-groups/pods", {"confirm": "pods"})
    check("it goes with its template and its role", op["state"] == "succeeded" and roles() == r0 and templates() == [] and eks.list_nodegroups(clusterName="grow")["nodegroups"] == [], (op, roles() ^ r0, templates()))

    # capacity that was bought ahead, and capacity that does not come
    zone = p.api("GET", "/zones?instance_type=ml.p5.48xlarge")[1]["zones"][0]["name"]
    plan = {"name": "later", "instance_type": "ml.p5.48xlarge", "zone": zone, "count": 1, "status": "Scheduled", "start_in_hours": 5, "hours": 48}
    p.twin("POST", "/training-plans", plan)
    status, answer = p.api("GET", "/training-plans?instance_type=ml.p5.48xlarge&status=scheduled")
    row = (answer.get("training_plans") or [{}])[0]
    check("training_plan.list shows it", row.get("name") == "later" and row.get("zone") == zone and row.get("total_count") == 1, answer)
    planned = group("planned", instance_type="ml.p5.48xlarge", zone=zone, capacity={"type": "training_plan", "training_plan_arn": row.get("arn")})
    refused("more than the plan has", "POST", "/instance-groups", {**planned, "count": 2}, 422, "invalid_field")
    refused("another type than the plan's", "POST", "/instance-groups", {**planned, "instance_type": "ml.p4d.24xlarge"}, 422, "invalid_field")
    refused("a plan that is not there", "POST", "/instance-groups", {**planned, "capacity": {"type": "training_plan", "training_plan_arn": row.get("arn", "") + "x"}}, 422, "invalid_field")
    status, answer = p.api("POST", BASE + "/instance-groups", planned)
    waiting = p.until(answer.get("operation"), lambda op: any(c.get("type") == "WaitingForTrainingPlan" for c in op.get("conditions", [])))
    check("a group of a scheduled plan is bound and waits", waiting and groups()["planned"].get("TrainingPlanArn") == row.get("arn"), answer)
    p.twin("POST", "/clock", {"advance_seconds": 6 * 3600})
    op = p.wait(answer["operation"])
    check("and is filled once the plan begins", op["state"] == "succeeded" and groups()["planned"]["CurrentCount"] == 1, op)
    op = p.run("DELETE", BASE + "/instance-groups/planned", {"confirm": "planned"})
    check("it goes", op["state"] == "succeeded" and "planned" not in groups(), op)
    p.twin("POST", "/capacity", {"instance_type": "ml.g5.4xlarge", "zone": "us-west-2a", "available": 0})
    status, answer = p.api("POST", BASE + "/instance-groups", group("tight", instance_type="ml.g5.4xlarge", min_count=1))
    waiting = p.until(answer.get("operation"), lambda op: any(c.get("type") == "WaitingForCapacity" for c in op.get("conditions", [])))
    check("capacity that does not come is waited for, and said", waiting, answer)
    p.twin("POST", "/clock", {"advance_seconds": 4 * 3600})
    op = p.wait(answer["operation"])
    check("a minimum that is not reached ends it", op["state"] == "failed" and op["error"]["code"] == "minimum_not_reached", op)
    op = p.run("DELETE", BASE + "/instance-groups/tight", {"confirm": "tight"})
    check("what is left of it goes", op["state"] == "succeeded" and "tight" not in groups(), op)

    # software
    p.twin("POST", "/images", {})
    status, answer = p.api("POST", BASE + "/hyperpod/update-software", {"dry_run": True})
    check("the plan names the groups that would change", "system" in str(answer.get("plan", {}).get("changes")), answer)
    op = p.run("POST", BASE + "/hyperpod/update-software", {"max_batch_percent": 50})
    seen = groups()["system"]
    check("software is rolled out", op["state"] == "succeeded" and seen.get("SoftwareUpdateStatus") == "Succeeded" and seen["ImageVersionStatus"] == "UpToDate", (op, seen))
    check("up-to-date software is no change", p.run("POST", BASE + "/hyperpod/update-software", {}).get("no_change") is True)
    refused("software of a group that is not there", "POST", "/hyperpod/update-software", {"instance_groups": ["sytem"]}, 422, "invalid_field")

    # agents: the tools see what SageMaker's own client sees, and change it
    op = p.wait(tool("instance_group_update", cluster="grow", group="system", labels={"role": "agents"})["operation"])
    check("a tool changes a group", op["state"] == "succeeded" and groups()["system"]["KubernetesConfig"]["DesiredLabels"] == {"role": "agents"}, (op, groups()))
    said = {g["name"]: (g["target_count"], g["current_count"]) for g in tool("instance_group_list", cluster="grow")["instance_groups"]}
    seen = {name: (g["TargetCount"], g["CurrentCount"]) for name, g in groups().items()}
    check("the tool's groups are those of describe-cluster", said == seen, (said, seen))
    said = {n["instance_id"] for n in tool("node_list", cluster="grow")["nodes"] if n.get("instance_id")}
    seen = {n["InstanceId"] for n in sm.list_cluster_nodes(ClusterName="grow")["ClusterNodeSummaries"]}
    check("the tool's nodes are those of list-cluster-nodes", said == seen and said, (said, seen))
    said = {f["name"] for f in tool("feature_list", cluster="grow")["features"] if f["enabled"]}
    check("the tool's features are those of describe-cluster: none", not said and "TieredStorageConfig" not in sm.describe_cluster(ClusterName="grow"), said)
    op = p.run("DELETE", "/clusters/grow", {"confirm": "grow", "delete_buckets": True})
    check("deleted", op["state"] == "succeeded" and not [v for v in ec2.describe_vpcs()["Vpcs"] if v["VpcId"] == vpc], op)
finally:
    p.stop()
finish()
