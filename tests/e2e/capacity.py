"""Capacity by the real binary, looked at from outside with boto3: groups, fixed fields, scaling, labels, nodes, node groups, software and a VPC that is full."""
import json
import threading
import time

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


def together(*asked):
    """The operations of several requests at once, each as (method, path, body)."""
    ends = [None] * len(asked)
    run = lambda index: ends.__setitem__(index, p.run(asked[index][0], BASE + asked[index][1], asked[index][2]))
    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(asked))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    return ends


def eventually(read, good, limit=60):
    end = time.time() + limit
    while True:
        seen = read()
        if good(seen) or time.time() > end:
            return seen
        time.sleep(0.2)


def members(group):
    """The group's nodes as list-cluster-nodes has them, by logical id."""
    listed = sm.list_cluster_nodes(ClusterName="grow", InstanceGroupNameContains=group, IncludeNodeLogicalIds=True)
    return {n["NodeLogicalId"]: n for n in listed["ClusterNodeSummaries"]}


def running(group):
    return [n for n in members(group).values() if n["InstanceStatus"]["Status"] == "Running"]


def said_of(node):
    return p.api("GET", f"{BASE}/nodes/{node}")[1].get("node", {})


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
    status, answer = p.api("POST", BASE + "/node-groups", {"name": "pods", "instance_types": ["m5.xlarge", "m5.large"], "count": 2, "zone": "us-west-2a", "capacity": "spot", "dry_run": True})
    plan = answer.get("plan", {})
    row = (plan.get("addresses") or [{}])[0]
    check("its plan shows the addresses of the subnet", row.get("needed") == 60 and row.get("free", 0) > 3000 and row.get("subnet", "").startswith("subnet-") and "pods" in row.get("figures", ""), plan)
    quotas = {q["name"]: q for q in plan.get("quota", [])}
    vcpus = next((q for name, q in quotas.items() if "Standard" in name and "Spot" in name), {})
    check("and the quotas of EC2 and EKS", vcpus.get("needed") == 8 and quotas.get("Managed node groups per cluster", {}).get("needed") == 1 and quotas.get("Network interfaces per Region", {}).get("needed") == 4, quotas)
    check("and what it costs", plan.get("cost", {}).get("hourly_usd", 0) > 0 and "Spot" in str(plan.get("cost")), plan.get("cost"))
    refused("a node group above EC2's quota", "POST", "/node-groups", {"name": "pods", "instance_types": ["m5.24xlarge"], "count": 3, "zone": "us-west-2a"}, 422, "invalid_field")
    op = p.run("POST", BASE + "/node-groups", {"name": "pods", "instance_types": ["m5.xlarge"], "count": 1, "max_count": 3, "zone": "us-west-2a", "capacity": "spot", "labels": {"role": "pods"}})
    made = eks.describe_nodegroup(clusterName="grow", nodegroupName="pods")["nodegroup"]
    check("a node group runs", op["state"] == "succeeded" and made["status"] == "ACTIVE" and made["capacityType"] == "SPOT" and made["labels"] == {"role": "pods"}, (op, made))
    data = ec2.describe_launch_template_versions(LaunchTemplateId=made["launchTemplate"]["id"])["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    check("its template asks for tokens and tags what it starts", data["MetadataOptions"]["HttpTokens"] == "required" and len(data["TagSpecifications"]) == 3, data)
    check("it stands in the zone's compute subnet", ec2.describe_subnets(SubnetIds=made["subnets"])["Subnets"][0]["CidrBlock"].endswith("/20"), made)
    refused("another capacity", "PATCH", "/node-groups/pods", {"capacity": "on_demand"}, 409, "immutable_field", "node_group.add")
    refused("EFA for it", "PATCH", "/node-groups/pods", {"efa": True}, 409, "immutable_field", "node_group.add")
    refused("another volume", "PATCH", "/node-groups/pods", {"volume_size_gib": 100}, 409, "immutable_field", "node_group.add")
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

    # Several types of which the first is not to be had, deep health checks, and a group that is marked for managed autoscaling; all at once.
    flexible = {"name": "flexible", "instance_types": ["ml.g5.4xlarge", "ml.g5.2xlarge"], "count": 2, "zone": "us-west-2a"}
    marked = group("spot", instance_type="ml.g5.xlarge", count=0, capacity={"type": "spot"}, autoscaled=True, labels={"team": "a"})
    ends = together(("POST", "/instance-groups", flexible), ("POST", "/instance-groups", group("checked", deep_health_checks=["InstanceStress", "InstanceConnectivity"])),
                    ("POST", "/instance-groups", marked))
    check("three groups at once", all(op["state"] == "succeeded" for op in ends), ends)
    seen = groups()["flexible"]
    counts = {d["InstanceType"]: d["CurrentCount"] for d in seen["InstanceTypeDetails"]}
    check("a flexible group takes its second type where the first is not to be had", counts == {"ml.g5.4xlarge": 0, "ml.g5.2xlarge": 2} and seen["CurrentCount"] == 2, seen)
    check("its types stand in its order of preference", seen["InstanceRequirements"]["DesiredInstanceTypes"] == flexible["instance_types"] and "InstanceType" not in seen, seen)
    row = {g["name"]: g for g in p.api("GET", BASE + "/instance-groups")[1]["instance_groups"]}["flexible"]
    check("instance_group.list names them", row["instance_types"] == flexible["instance_types"] and row["current_count"] == 2, row)
    check("its nodes are of the second type in Kubernetes", p.shell("kubectl", "get", "nodes", "-l", "sagemaker.amazonaws.com/instance-group-name=flexible", "-o", "jsonpath={.items[*].metadata.labels.node\\.kubernetes\\.io/instance-type}")[1].split() == ["ml.g5.2xlarge"] * 2)
    refused("other types", "PATCH", "/instance-groups/flexible", {"instance_types": ["ml.g5.4xlarge"]}, 409, "immutable_field", "instance_group.add")
    op = p.run("PATCH", BASE + "/instance-groups/flexible", {"labels": {"team": "b"}})
    check("labelled, it keeps its types and nodes", op["state"] == "succeeded" and groups()["flexible"]["InstanceRequirements"]["DesiredInstanceTypes"] == flexible["instance_types"] and len(running("flexible")) == 2, (op, groups()["flexible"]))

    check("deep checks stand in the group", groups()["checked"]["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"], groups()["checked"])
    steps = [s for s in ends[1]["steps"] if s["id"] == "checked.nodes"]
    node = said_of(nodes("checked")[0])
    told = " ".join(str(h["message"]) for h in node.get("history", []))
    check("a node is usable only once they have passed", node.get("deep_health_check", {}).get("status") == "Passed" and "have started" in told and "have passed" in told and steps and steps[0]["state"] == "succeeded", (node, steps))
    began, passed = (next(e["EventTime"] for e in sm.list_cluster_events(ClusterName="grow", InstanceGroupName="checked")["Events"] if word in e["Description"]) for word in ("have started", "have passed"))
    check("and the operation has waited for that", began < passed and passed.timestamp() <= time.time(), (began, passed))
    refused("taints for a group that is checked", "PATCH", "/instance-groups/checked", {"taints": [{"key": "a", "effect": "NoSchedule"}]}, 422, "invalid_field")

    # A group that is marked for autoscaling, and that no class names, is scaled by hand; the mark goes.
    label = "instantstart.dev/autoscaled"
    check("the mark is a label, told as autoscaled", groups()["spot"]["KubernetesConfig"]["DesiredLabels"] == {label: "true", "team": "a"}
          and [(g["autoscaled"], g["labels"]) for g in p.api("GET", BASE + "/instance-groups")[1]["instance_groups"] if g["name"] == "spot"] == [(True, {"team": "a"})], groups()["spot"])
    refused("a count beside the mark", "PATCH", "/instance-groups/spot", {"count": 1, "autoscaled": True}, 422, "invalid_field")
    status, answer = p.api("PATCH", BASE + "/instance-groups/spot", {"count": 1, "dry_run": True})
    check("its plan says that the mark goes", "managed autoscaling does not take it any more" in str(answer.get("plan", {}).get("changes")), answer)
    op = p.run("PATCH", BASE + "/instance-groups/spot", {"count": 1})
    seen = groups()["spot"]
    check("a marked group is scaled by hand, and the mark goes", op["state"] == "succeeded" and seen["CurrentCount"] == 1 and seen["KubernetesConfig"]["DesiredLabels"] == {"team": "a"}, (op, seen))

    # Spot capacity is taken back: two minutes ahead it is told, then another instance stands in the same place.
    (logical, before), = members("spot").items()
    p.twin("POST", f"/nodes/{before['InstanceId']}/fail", {"fault": "spot_interruption"})
    after = eventually(lambda: members("spot").get(logical, {}), lambda n: n.get("InstanceId") not in (None, before["InstanceId"]) and n["InstanceStatus"]["Status"] == "Running")
    check("a reclaimed Spot instance is replaced in its group", after.get("InstanceStatus", {}).get("Status") == "Running" and after["InstanceId"] != before["InstanceId"] and groups()["spot"]["CurrentCount"] == 1, (before, after))
    node = eventually(lambda: said_of(logical), lambda n: n.get("instance_id") == after.get("InstanceId"))
    notices = [h["instance_id"] for h in node.get("history", []) if "Spot interruption notice" in str(h["message"])]
    check("node.get of the new one tells the notice to the old one", notices == [before["InstanceId"]] and node.get("capacity") == "spot", node)

    # Two nodes rebooted together, of which one is just being replaced since its GPU broke: HyperPod refuses that one, with HTTP 200.
    (good, one), (bad, two) = members("flexible").items()
    before = boot_of(one["InstanceId"])
    p.twin("POST", "/clock", {"speed": 30})
    p.twin("POST", f"/nodes/{two['InstanceId']}/fail", {"fault": "gpu_xid", "code": 79})
    eventually(lambda: members("flexible")[bad], lambda n: n["InstanceStatus"]["Status"] != "Running")
    calls = len([c for c in p.mutations() if c["operation"] == "BatchRebootClusterNodes"])
    status, answer = p.api("POST", f"{BASE}/nodes/{good}/reboot", {"further_nodes": [bad]})
    p.until(answer.get("operation"), lambda op: any(s["id"] == "usable" and s["state"] != "pending" for s in op["steps"]))
    p.twin("POST", "/clock", {"speed": 1200})
    # Meanwhile an agent switches a feature on: a role takes its time.
    on = lambda: {f["name"]: f["settings"] for f in tool("feature_list", cluster="grow")["features"] if f["enabled"]}
    check("the tool's features are those of describe-cluster: none", not on() and "TieredStorageConfig" not in sm.describe_cluster(ClusterName="grow"), on())
    feature = tool("feature_update", cluster="grow", tiered_checkpointing={"enabled": True, "memory_percent": 30})["operation"]
    op = p.wait(answer["operation"])
    failed = (op.get("result") or {}).get("failed", [])
    check("a reboot of two, one of which cannot, says which and why", op["state"] == "succeeded" and [f["code"] for f in failed] == ["InvalidInstanceStatus"] and failed[0]["node"] in (bad, two["InstanceId"], members("flexible")[bad].get("InstanceId")) and failed[0]["message"], op)
    check("the other is rebooted, and one call was made", list(op["result"]["nodes"]) == [one["InstanceId"]] and boot_of(one["InstanceId"]) not in ("", before)
          and len([c for c in p.mutations() if c["operation"] == "BatchRebootClusterNodes"]) == calls + 1, (op["result"], before))
    after = eventually(lambda: members("flexible")[bad], lambda n: n["InstanceStatus"]["Status"] == "Running" and n["InstanceId"] != two["InstanceId"])
    node = eventually(lambda: said_of(bad), lambda n: n.get("instance_id") == after["InstanceId"])
    causes = [h["instance_id"] for h in node.get("history", []) if "NvidiaXid79" in str(h["message"])]
    check("node.get of the new instance tells the fault of the broken one", causes == [two["InstanceId"]], node)
    ends = together(*(("DELETE", f"/instance-groups/{name}", {"confirm": name}) for name in ("flexible", "checked", "spot")))
    check("the three go", all(op["state"] == "succeeded" for op in ends) and set(groups()) == {"system"}, (ends, groups()))

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
    op = p.wait(feature)
    seen = sm.describe_cluster(ClusterName="grow").get("TieredStorageConfig")
    check("a tool switches one on, and both tell the same", op["state"] == "succeeded" and on() == {"tiered_checkpointing": {"memory_percent": 30}} and seen == {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 30}, (op, on(), seen))

    # A VPC that others made, without a way out: the plan says what will be missing.
    own = [v["VpcId"] for v in ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]]
    two = [s["SubnetId"] for s in ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": own}])["Subnets"]][:2]
    status, answer = p.api("POST", "/clusters", {"name": "given", "network": {"vpc_id": own[0], "subnet_ids": two}, "dry_run": True})
    told = str(answer.get("plan", {}).get("warnings"))
    check("the plan in a given VPC warns of its ways out", "NAT gateway" in told and "endpoint of S3" in told, (status, answer))
    op = p.run("DELETE", "/clusters/grow", {"confirm": "grow", "delete_buckets": True})
    check("deleted", op["state"] == "succeeded" and not [v for v in ec2.describe_vpcs()["Vpcs"] if v["VpcId"] == vpc], op)
finally:
    p.stop()
finish()
