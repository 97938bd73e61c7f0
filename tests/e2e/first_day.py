"""The first day on a real account: refusals before anything is made, imports, drift, lost capacity, retries, and what a deletion leaves alone."""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import Product, check, finish  # noqa: E402

TYPE = "ml.g5.12xlarge"
ONLY = sys.argv[2:]


def group(**changes):
    return {"name": "workers", "instance_type": TYPE, "count": 1, "zone": "us-west-2a", **changes}


def pointers(problem):
    return [each.get("pointer", "") for each in problem.get("errors", [])]


def texts(problem):
    return " | ".join(each.get("message", "") for each in problem.get("errors", []))


def made(product, service, operation):
    """Parameters of the calls of one kind that were carried out, oldest first."""
    return [call["parameters"] for call in product.mutations()
            if call["service"] == service and call["operation"] == operation and call["status"] < 400]


def refused(product, what, pointer, body, *says, path="/clusters/launch"):
    before = len(product.mutations())
    status, problem = product.api("POST", path, body)
    seen = texts(problem)
    check(what, status == 422 and any(each.startswith(pointer) for each in pointers(problem)) and all(word in seen for word in says),
          (status, problem))
    check(what + ": nothing was made", len(product.mutations()) == before, product.mutations()[before:])


def eventually(read, good, limit=60):
    end = time.time() + limit
    while True:
        seen = read()
        if good(seen) or time.time() > end:
            return seen
        time.sleep(0.2)


def seen(describe, **arguments):
    """Whether EC2 shows it already: what was made is shown a little later."""
    try:
        return bool(describe(**arguments))
    except Exception as error:
        if "NotFound" not in str(error):
            raise
        return False


def vpc_by_hand(product, cidr="10.77.0.0/16"):
    """A VPC as a platform team would hand it over: (vpc id, two subnet ids, security group id)."""
    ec2 = product.boto("ec2")
    vpc = ec2.create_vpc(CidrBlock=cidr)["Vpc"]["VpcId"]
    eventually(lambda: seen(ec2.describe_vpcs, VpcIds=[vpc]), lambda there: there)
    for attribute in ("EnableDnsSupport", "EnableDnsHostnames"):
        ec2.modify_vpc_attribute(VpcId=vpc, **{attribute: {"Value": True}})
    base = cidr.split(".")
    subnets = [ec2.create_subnet(VpcId=vpc, CidrBlock=f"{base[0]}.{base[1]}.{240 + index}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
               for index, zone in enumerate(("us-west-2a", "us-west-2b"))]
    eventually(lambda: seen(ec2.describe_subnets, SubnetIds=subnets), lambda there: there)
    return vpc, subnets, ec2.create_security_group(VpcId=vpc, GroupName="theirs", Description="theirs")["GroupId"]


def eks_by_hand(product, name, mode="CONFIG_MAP", cidr="10.78.0.0/16"):
    vpc, subnets, security_group = vpc_by_hand(product, cidr)
    iam, eks = product.boto("iam"), product.boto("eks")
    trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"},
                                                     "Action": ["sts:AssumeRole", "sts:TagSession"]}]}
    role = iam.create_role(RoleName=f"{name}-eks", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    iam.attach_role_policy(RoleName=f"{name}-eks", PolicyArn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy")

    def create():
        try:
            eks.create_cluster(name=name, roleArn=role, resourcesVpcConfig={"subnetIds": subnets, "securityGroupIds": [security_group]},
                               accessConfig={"authenticationMode": mode})
            return True
        except eks.exceptions.InvalidParameterException:
            return False  # the role is not yet known everywhere

    eventually(create, lambda done: done)
    eventually(lambda: eks.describe_cluster(name=name)["cluster"]["status"], lambda status: status == "ACTIVE")
    return vpc, subnets


def preflight(product):
    network = {"vpc_cidr": "10.9.0.0/16"}

    def set_quota(name, value):
        product.twin("POST", "/quotas", {"quota_name": name, "value": value})

    for name, pointer, normal in (
            ("VPCs per Region", "/network/vpc_id", 5), ("Internet gateways per Region", "/network/vpc_id", 5),
            ("EC2-VPC Elastic IPs", "/network/nat", 5), ("NAT gateways per Availability Zone", "/network/nat", 5),
            ("Network interfaces per Region", "/network", 5000), ("Clusters", "/name", 100),
            ("Roles per account", "/name", 1000), ("OpenId connect providers per account", "/name", 100)):
        set_quota(name, 0)
        refused(product, f"quota {name} is used up", pointer, {"name": "full", "network": network}, name, "Service Quotas", path="/clusters")
        set_quota(name, normal)
    for name, value, pointer, normal, changes in (
            (f"{TYPE} for cluster usage", 1, "/instance_groups/0/count", 64, {"count": 2}),
            ("Maximum number instances allowed per SageMaker HyperPod cluster", 1, "/instance_groups/0/count", 512, {"count": 2}),
            ("Total number of instances allowed across SageMaker HyperPod clusters", 1, "/instance_groups/0/count", 2048, {"count": 2}),
            ("Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance", 100, "/instance_groups/0/volume_size_gib", 16384,
             {"volume_size_gib": 500})):
        set_quota(name, value)
        refused(product, f"quota {name} is too low", pointer, {"name": "full", "instance_groups": [group(**changes)]}, name, str(value), "Service Quotas")
        set_quota(name, normal)
    refused(product, "a zone that is none", "/instance_groups/0/zone", {"name": "full", "instance_groups": [group(zone="us-west-2z")]})
    for zone in ("us-west-2-lax-1a", "us-west-2-wl1-las-wlz-1"):
        refused(product, f"{zone} is no choice", "/instance_groups/0/zone", {"name": "full", "instance_groups": [group(zone=zone)]})
    ec2 = product.boto("ec2")
    offered = {}
    for row in ec2.describe_instance_type_offerings(LocationType="availability-zone")["InstanceTypeOfferings"]:
        offered.setdefault(row["InstanceType"], set()).add(row["Location"])
    zones = {row["ZoneName"] for row in ec2.describe_availability_zones()["AvailabilityZones"] if row["ZoneType"] == "availability-zone"}
    scarce = next((kind for kind in ("p5.48xlarge", "p5en.48xlarge", "trn2.48xlarge", "p4d.24xlarge", "g6.12xlarge")
                   if offered.get(kind) and zones - offered[kind]), None)
    if check("some type is not in every zone", scarce):
        elsewhere = sorted(zones - offered[scarce])[0]
        body = {"name": "full", "instance_groups": [group(instance_type="ml." + scarce, zone=elsewhere)]}
        refused(product, "a type that the zone does not offer", "/instance_groups/0/zone", body, "not offered")
        problem = product.api("POST", "/clusters/launch", body)[1]
        check("the zones that offer it are named", problem["errors"][0].get("did_you_mean") in offered[scarce]
              and set(problem["errors"][0].get("allowed", [])) == offered[scarce], problem)
    # addresses: a P5 node can take 81 of a /20's 4,091, fewer without IP on its further cards
    set_quota("ml.p5.48xlarge for cluster usage", 200)
    where = sorted(offered["p5.48xlarge"])[0]
    p5 = group(instance_type="ml.p5.48xlarge", count=60, zone=where)
    refused(product, "60 P5 nodes with EFA in one /20", "/instance_groups/0/count", {"name": "full", "instance_groups": [p5]}, "4091", "4860", "efa-only")
    status, answer = product.api("POST", "/clusters/launch", {"name": "full", "instance_groups": [{**p5, "interface_type": "efa-only"}], "dry_run": True})
    check("efa-only makes room for them", status == 200, answer)
    half = {**p5, "count": 30}
    refused(product, "the groups of one zone are summed", "/instance_groups/1/count",
            {"name": "full", "instance_groups": [half, {**half, "name": "others"}]}, "4091")
    # pods per node
    small = group(instance_type="ml.g5.xlarge", zone="us-west-2a")
    status, answer = product.api("POST", "/clusters/launch", {"name": "full", "instance_groups": [small], "dry_run": True})
    check("14 pods a node are enough for the base components", status == 200, answer)
    refused(product, "14 pods a node are too few for the inference operator", "/instance_groups/0/instance_type",
            {"name": "full", "instance_groups": [small], "features": {"inference_operator": {"enabled": True}}}, "14", "13")
    refused(product, "a type of 3 pods a node", "/instance_groups/0/instance_type",
            {"name": "full", "instance_groups": [group(instance_type="ml.t3.medium", zone="us-west-2a")]}, "pods")
    # the plan says what else comes, and what could not be seen is a warning
    status, answer = product.api("POST", "/clusters/launch", {"name": "full", "instance_groups": [group()], "dry_run": True})
    plan = answer.get("plan", {})
    names = {row["name"] for row in plan.get("quota", [])}
    check("the plan has the quotas", status == 200 and {"VPCs per Region", "EC2-VPC Elastic IPs", f"{TYPE} for cluster usage"} <= names, plan)
    check("the plan names the service-linked roles that will be made",
          any("AWSServiceRoleForSageMakerHyperPod" in line for line in plan.get("creates", []))
          and any("AWSServiceRoleForAmazonEKS" in line for line in plan.get("creates", [])), plan.get("creates"))
    cost = plan.get("cost", {})
    check("the plan says what the groups cost by the hour, and as of when", cost.get("hourly_usd", 0) > 0 and len(cost.get("groups", [])) == 1 and cost.get("as_of"), plan)
    check("the plan says that the endpoint is open", any("api_cidrs" in line for line in plan.get("warnings", [])), plan)
    product.boto("iam").create_service_linked_role(AWSServiceName="hyperpod.sagemaker.amazonaws.com")
    plan = product.api("POST", "/clusters/launch", {"name": "full", "instance_groups": [group()], "dry_run": True})[1]["plan"]
    check("a service-linked role that exists is not promised again",
          not any("AWSServiceRoleForSageMakerHyperPod" in line for line in plan["creates"]), plan["creates"])
    fault = product.twin("POST", "/faults", {"service": "service-quotas", "operation": "*", "kind": "error", "code": "AccessDeniedException", "status": 400})
    status, answer = product.api("POST", "/clusters/launch", {"name": "full", "instance_groups": [group()], "dry_run": True})
    check("quotas that cannot be seen are a warning", status == 200 and any("quota" in line for line in answer["plan"]["warnings"]), answer)
    product.twin("DELETE", f"/faults/{fault['id']}")


def zero_quotas():
    product = Product(arguments=["--twin-quotas", "zero"])
    try:
        refused(product, "accelerated types are at 0 on a new account", "/instance_groups/0/count", {"name": "first", "instance_groups": [group()]},
                f'"{TYPE} for cluster usage"', "0", "request-service-quota-increase", "L-")
        status, answer = product.api("POST", "/clusters/launch",
                                     {"name": "first", "instance_groups": [group(instance_type="ml.c5.xlarge")], "dry_run": True})
        check("types without accelerators can be had", status == 200, answer)
    finally:
        product.stop()


def settings(product):
    """What the request says reaches the calls."""
    iam = product.boto("iam")
    boundary = iam.create_policy(PolicyName="boundary", PolicyDocument=json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}))["Policy"]["Arn"]
    iam.create_role(RoleName="ops", AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "sts:AssumeRole"}]}))
    ops = "arn:aws:iam::111122223333:role/ops"
    key = "arn:aws:kms:us-west-2:111122223333:key/11111111-2222-3333-4444-555555555555"
    vpc, subnets, closed = vpc_by_hand(product)
    body = {"name": "given", "network": {"vpc_id": vpc, "subnet_ids": subnets, "api_cidrs": ["203.0.113.0/24", "127.0.0.0/8"]},
            "permissions_boundary_arn": boundary, "kms_key_arn": key, "log_types": ["audit", "api"], "admin_principals": [ops],
            "tags": {"team": "research"}}
    operation = product.run("POST", "/clusters", body)
    check("a cluster in a given VPC is made", operation["state"] == "succeeded", operation)
    cluster = product.boto("eks").describe_cluster(name="given")["cluster"]
    check("it stands in the given subnets", set(cluster["resourcesVpcConfig"]["subnetIds"]) == set(subnets), cluster["resourcesVpcConfig"])
    check("api_cidrs limit the endpoint", set(cluster["resourcesVpcConfig"]["publicAccessCidrs"]) == {"203.0.113.0/24", "127.0.0.0/8"}
          and cluster["resourcesVpcConfig"]["endpointPrivateAccess"], cluster["resourcesVpcConfig"])
    check("secrets are encrypted with the key", cluster.get("encryptionConfig", [{}])[0].get("provider", {}).get("keyArn") == key, cluster)
    logs = [kind for row in cluster["logging"]["clusterLogging"] if row["enabled"] for kind in row["types"]]
    check("the asked logs are on", set(logs) == {"audit", "api"}, cluster["logging"])
    check("the user's tags are on the cluster", cluster["tags"].get("team") == "research", cluster["tags"])
    roles = [role["RoleName"] for role in iam.list_roles()["Roles"] if role["RoleName"].startswith("instantstart-given")]
    details = [iam.get_role(RoleName=name)["Role"] for name in roles]
    check("every role has the boundary and the tags", details and all(
        role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn") == boundary
        and {"Key": "team", "Value": "research"} in role.get("Tags", []) for role in details), details)
    entries = product.boto("eks").list_access_entries(clusterName="given")["accessEntries"]
    check("the further administrator has an entry", ops in entries, entries)
    policies = product.boto("eks").list_associated_access_policies(clusterName="given", principalArn=ops)["associatedAccessPolicies"]
    check("and is cluster administrator", any("AmazonEKSClusterAdminPolicy" in row["policyArn"] for row in policies), policies)
    # a group in a given subnet, whose security group does not let EFA through
    placed = group(subnet_id=subnets[0], security_group_ids=[closed], count=1)
    refused(product, "security groups that EFA cannot use", "/instance_groups/0/security_group_ids", {"instance_groups": [placed]},
            "to and from itself", path="/clusters/given/hyperpod")
    refused(product, "a subnet of another zone", "/instance_groups/0/subnet_id", {"instance_groups": [{**placed, "zone": "us-west-2b"}]},
            "us-west-2a", path="/clusters/given/hyperpod")
    refused(product, "a subnet without enough addresses", "/instance_groups/0/subnet_id", {"instance_groups": [{**placed, "count": 6}]},
            "free addresses", path="/clusters/given/hyperpod")
    ec2 = product.boto("ec2")
    for authorise in (ec2.authorize_security_group_ingress, ec2.authorize_security_group_egress):
        authorise(GroupId=closed, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": closed}]}])
    status, answer = product.api("POST", "/clusters/given/hyperpod", {"instance_groups": [placed], "dry_run": True})
    check("with rules for itself they can", status == 200, answer)
    # the bucket and HyperPod take the same settings
    operation = product.run("POST", "/clusters/given/storages", {"kind": "s3"})
    check("storage in that cluster", operation["state"] == "succeeded", operation)
    bucket = "sagemaker-given-111122223333-us-west-2"
    tags = {row["Key"]: row["Value"] for row in product.boto("s3").get_bucket_tagging(Bucket=bucket)["TagSet"]}
    check("the user's tags are on the bucket made later", tags.get("team") == "research", tags)
    later = [iam.get_role(RoleName=role["RoleName"])["Role"] for role in iam.list_roles()["Roles"] if role["RoleName"].startswith("instantstart-given")]
    check("roles made later have the boundary, too", all(
        role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn") == boundary for role in later), later)
    rule = product.boto("s3").get_bucket_encryption(Bucket=bucket)["ServerSideEncryptionConfiguration"]["Rules"][0]
    check("the bucket is encrypted with the key", rule["ApplyServerSideEncryptionByDefault"].get("KMSMasterKeyID") == key, rule)

    # deletion: what was given stays, what holds data stays, what is active is cleared
    product.boto("s3").put_object(Bucket=bucket, Key="results/model.bin", Body=b"precious")
    product.boto("logs").create_log_group(logGroupName="/aws/eks/given/cluster")
    product.api("POST", "/clusters/given/activate")
    check("it is active", product.api("GET", "/environment")[1]["environment"].get("active_cluster") == "given")
    operation = product.run("DELETE", "/clusters/given?confirm=given")
    kept = json.dumps(operation.get("result") or {})
    check("deletion succeeded", operation["state"] == "succeeded", operation)
    check("the bucket with data is kept and named", bucket in kept and
          product.boto("s3").list_objects_v2(Bucket=bucket).get("KeyCount", 0) >= 1, kept)
    check("the log group is kept and named", "/aws/eks/given/cluster" in kept and
          product.boto("logs").describe_log_groups(logGroupNamePrefix="/aws/eks/given/")["logGroups"], kept)
    check("the given VPC is kept and named", vpc in kept, kept)
    ec2 = product.boto("ec2")
    left = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Subnets"]
    check("the given VPC and its subnets stay", {row["SubnetId"] for row in left} == set(subnets), left)
    groups = {row["GroupName"] for row in ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["SecurityGroups"]}
    check("its own group is gone, theirs stay", groups == {"default", "theirs"}, groups)
    active = product.api("GET", "/environment")[1]["environment"].get("active_cluster")
    check("nobody's active cluster is the deleted one", not active, active)
    mine = [role["RoleName"] for role in iam.list_roles()["Roles"] if role["RoleName"].startswith("instantstart-given")]
    check("its roles are gone", not mine, mine)


def buckets(product):
    for name, flag, gone in (("empty", "", True), ("wiped", "&delete_buckets=true", True)):
        operation = product.run("POST", "/clusters", {"name": name})
        check(f"{name}: created", operation["state"] == "succeeded", operation)
        operation = product.run("POST", f"/clusters/{name}/storages", {"kind": "s3"})
        bucket = f"sagemaker-{name}-111122223333-us-west-2"
        if name == "wiped":
            product.boto("s3").put_object(Bucket=bucket, Key="results/model.bin", Body=b"unwanted")
        operation = product.run("DELETE", f"/clusters/{name}?confirm={name}{flag}")
        check(f"{name}: deleted", operation["state"] == "succeeded", operation)
        there = bucket in {row["Name"] for row in product.boto("s3").list_buckets()["Buckets"]}
        check(f"{name}: the bucket is {'gone' if gone else 'kept'}", there != gone, operation.get("result"))


def imports(product):
    vpc, subnets = eks_by_hand(product, "theirs")
    status, problem = product.api("POST", "/clusters", {"name": "theirs"})
    check("a name of somebody else's cluster: not_ours", status == 409 and problem.get("code") in ("not_ours", "already_exists")
          and "import" in json.dumps(problem), (status, problem))
    status, problem = product.api("GET", "/clusters/theirs")
    check("what is not ours is not shown", status == 409 and problem.get("code") == "not_ours", (status, problem))
    status, problem = product.api("DELETE", "/clusters/theirs?confirm=theirs")
    check("what is not ours is not deleted", status == 409 and problem.get("code") == "not_ours", (status, problem))
    status, problem = product.api("POST", "/clusters/import", {"eks_cluster_name": "theirs"})
    check("the change of the access mode asks first", status == 409 and problem.get("code") == "confirmation_required", (status, problem))
    operation = product.run("POST", "/clusters/import", {"eks_cluster_name": "theirs", "confirm": "theirs"})
    check("imported", operation["state"] == "succeeded", operation)
    mode = product.boto("eks").describe_cluster(name="theirs")["cluster"]["accessConfig"]["authenticationMode"]
    check("the access mode is API_AND_CONFIG_MAP", mode == "API_AND_CONFIG_MAP", mode)
    listed = product.api("GET", "/clusters")[1]
    check("it is listed", any(row["name"] == "theirs" for row in listed["clusters"]), listed)

    # before there are nodes
    operation = product.run("POST", "/clusters/theirs/dependencies/reconcile", {})
    check("reconcile before there are nodes succeeds", operation["state"] == "succeeded", operation)
    check("and says who waits", "coredns" in (operation.get("result") or {}).get("waiting_for_nodes", []), operation.get("result"))
    check("and warns", any("nodes" in line for line in (operation.get("result") or {}).get("warnings", [])), operation.get("result"))

    drift(product, "theirs")
    unreachable(product, "theirs")

    operation = product.run("DELETE", "/clusters/theirs?confirm=theirs")
    check("an imported cluster is let go", operation["state"] == "succeeded", operation)
    check("EKS and its network stay", product.boto("eks").describe_cluster(name="theirs")["cluster"]["status"] == "ACTIVE"
          and len(product.boto("ec2").describe_subnets(SubnetIds=subnets)["Subnets"]) == 2)
    check("and are named as kept", "theirs" in json.dumps(operation.get("result")), operation.get("result"))
    listed = product.api("GET", "/clusters")[1]
    check("it is no longer listed", not any(row["name"] == "theirs" for row in listed["clusters"]), listed)


def drift(product, name):
    status, output = product.shell("aws", "eks", "update-kubeconfig", "--name", name)
    check("kubeconfig", status == 0, output)
    agent = "daemonset/health-monitoring-agent"
    status, output = product.shell("kubectl", "get", "daemonset", "-A", "-o", "name")
    found = product.shell("kubectl", "get", "daemonset", "-A", "-o", "json")[1]
    rows = [row for row in json.loads(found)["items"] if row["metadata"].get("labels", {}).get("instantstart.dev/component") == "health_monitoring_agent"]
    if not check("the health agent's DaemonSet carries its component", rows, output):
        return
    space = rows[0]["metadata"]["namespace"]
    agent = rows[0]["metadata"]["name"]

    def state():
        return {row["name"]: row["state"] for row in product.api("GET", f"/clusters/{name}/dependencies")[1]["dependencies"]}

    def writes(since):
        return [(call["service"], call["operation"]) for call in product.mutations()[since:]]

    check("all is as wanted", "drifted" not in state().values() and "absent" not in state().values(), state())
    product.shell("kubectl", "set", "image", f"daemonset/{agent}", "*=evil.example/agent:1", "-n", space)
    check("an edited DaemonSet is drift", state()["health_monitoring_agent"] == "drifted", state())
    since = len(product.mutations())
    operation = product.run("POST", f"/clusters/{name}/dependencies/reconcile", {})
    check("reconcile repairs exactly that", operation["state"] == "succeeded" and state()["health_monitoring_agent"] != "drifted"
          and set(writes(since)) == {("kubernetes", "patch daemonsets")}, (writes(since), state(), operation))
    product.shell("kubectl", "delete", "daemonset", agent, "-n", space)
    check("a deleted one is seen", state().get("health_monitoring_agent") in ("absent", "drifted"), state())
    operation = product.run("POST", f"/clusters/{name}/dependencies/reconcile", {})
    check("and comes back", operation["state"] == "succeeded" and state()["health_monitoring_agent"] in ("ready", "waiting_for_nodes"), (state(), operation))
    product.boto("eks").delete_addon(clusterName=name, addonName="kube-proxy")
    eventually(state, lambda seen: seen.get("kube_proxy", "absent") == "absent")
    operation = product.run("POST", f"/clusters/{name}/dependencies/reconcile", {})
    check("a deleted add-on comes back", operation["state"] == "succeeded" and state()["kube_proxy"] == "ready", (state(), operation))
    since = len(product.mutations())
    operation = product.run("POST", f"/clusters/{name}/dependencies/reconcile", {})
    check("then there is nothing to do", operation.get("no_change") is True and not writes(since), (operation, writes(since)))


def unreachable(product, name):
    fault = product.twin("POST", "/faults", {"service": "kubernetes", "operation": "*", "kind": "reset"})
    try:
        status, answer = product.api("GET", f"/clusters/{name}")
        conditions = answer.get("cluster", {}).get("conditions", [])
        found = next((row for row in conditions if row.get("type") == "KubernetesUnreachable"), {})
        check("without its endpoint the cluster is still shown", status == 200 and answer["cluster"]["eks"]["status"] == "ACTIVE", (status, answer))
        check("with a condition, its reason and a remedy", found.get("reason") and found.get("hint"), conditions)
        status, answer = product.api("GET", f"/clusters/{name}/events")
        check("the list of events answers by AWS", status == 200, (status, answer))
        status, answer = product.api("GET", f"/clusters/{name}/dependencies")
        check("add-ons are still told", status == 200 and any(row["name"] == "vpc_cni" for row in answer.get("dependencies", [])), (status, answer))
        check("the list of clusters answers", product.api("GET", "/clusters")[0] == 200)
        status, answer = product.api("GET", f"/clusters/{name}/nodes")
        check("the list of nodes answers by AWS", status == 200, (status, answer))
    finally:
        product.twin("DELETE", f"/faults/{fault['id']}")
    eks = product.boto("eks")
    ours = "arn:aws:iam::111122223333:role/platform/instantstart-admin"
    eks.delete_access_entry(clusterName=name, principalArn=ours)

    def condition():
        rows = product.api("GET", f"/clusters/{name}")[1].get("cluster", {}).get("conditions", [])
        return next((row for row in rows if row.get("type") == "KubernetesUnreachable"), {})

    # What was told last stands for some seconds, so that a server in trouble is not asked by every reader.
    found = eventually(condition, lambda row: row.get("reason") in ("401", "403"), 30)
    check("without an access entry the condition says 401 and how to mend it", found.get("reason") in ("401", "403")
          and "dependency.reconcile" in found.get("hint", ""), found)
    operation = product.run("POST", f"/clusters/{name}/dependencies/reconcile", {})
    check("dependency.reconcile mends it", operation["state"] == "succeeded" and not eventually(condition, lambda row: not row, 30), operation)


def trouble(product):
    # a call fails for good, the operation fails, a retry goes on from there
    fault = product.twin("POST", "/faults", {"service": "eks", "operation": "CreateAddon", "kind": "error", "code": "InvalidParameterException",
                                             "status": 400, "count": 1})
    operation = product.run("POST", "/clusters", {"name": "shaky"})
    check("a refused call fails the operation", operation["state"] == "failed" and operation.get("error"), operation)
    product.twin("DELETE", f"/faults/{fault.get('id')}")
    before = len(made(product, "ec2", "CreateVpc")), len(made(product, "eks", "CreateCluster"))
    again = product.run("POST", f"/operations/{operation['id']}/retry", {})
    check("retry goes on from the failed step", again["state"] == "succeeded", again)
    check("and makes nothing twice", before == (len(made(product, "ec2", "CreateVpc")), len(made(product, "eks", "CreateCluster"))), before)

    # EKS has no room in a zone, and says where it has
    product.twin("POST", "/faults", {"service": "eks", "operation": "CreateCluster", "kind": "error", "code": "UnsupportedAvailabilityZoneException",
                                     "status": 400, "count": 1, "members": {"validZones": ["us-west-2b", "us-west-2c"]}})
    operation = product.run("POST", "/clusters", {"name": "moved", "network": {"zones": ["us-west-2a", "us-west-2b"]}})
    check("a zone without room is left for a valid one", operation["state"] == "succeeded", operation)
    ids = product.boto("eks").describe_cluster(name="moved")["cluster"]["resourcesVpcConfig"]["subnetIds"]
    zones = {row["AvailabilityZone"] for row in product.boto("ec2").describe_subnets(SubnetIds=ids)["Subnets"]}
    check("the control plane stands in the valid zones", zones == {"us-west-2b", "us-west-2c"}, zones)
    operation = product.run("DELETE", "/clusters/moved?confirm=moved")
    vpcs = product.boto("ec2").describe_vpcs(Filters=[{"Name": "tag:instantstart:cluster", "Values": ["moved"]}])["Vpcs"]
    check("and nothing of it is left", operation["state"] == "succeeded" and not vpcs, (operation, vpcs))

    # no capacity: waiting, visible, cancellable
    product.twin("POST", "/capacity", {"instance_type": TYPE, "zone": "us-west-2a", "available": 0})
    status, answer = product.api("POST", "/clusters/shaky/hyperpod", {"instance_groups": [group()]})
    operation = answer.get("operation", {})
    check("hyperpod.create starts", status == 202, answer)

    def conditions():
        return product.api("GET", f"/operations/{operation['id']}")[1]["operation"]

    seen = eventually(conditions, lambda now: any(row.get("type") == "WaitingForCapacity" for row in now.get("conditions", [])) or now["state"] == "failed", 90)
    check("the operation says that it waits for capacity", any(row.get("type") == "WaitingForCapacity" for row in seen.get("conditions", [])), seen)
    cluster = product.api("GET", "/clusters/shaky")[1]["cluster"]
    check("the cluster says so, too", any(row.get("type") == "WaitingForCapacity" for row in cluster.get("conditions", [])), cluster.get("conditions"))
    events = product.api("GET", "/clusters/shaky/events")[1]["events"]
    message = events[0]["message"]
    check("messages of events are marked as untrusted", events and all(row["message"].get("untrusted") is True and row["message"].get("source")
          and isinstance(row["message"].get("lines"), list) for row in events), events[:2])
    check("some event speaks of capacity", any("apacity" in " ".join(row["message"]["lines"]) for row in events), message)
    status, answer = product.api("POST", f"/operations/{operation['id']}/cancel", {})
    ended = product.wait(answer.get("operation", operation))
    check("it can be cancelled", status == 200 and ended["state"] == "cancelled", (status, answer))
    product.twin("POST", "/capacity", {"instance_type": TYPE, "zone": "us-west-2a", "available": 100})
    again = product.run("POST", f"/operations/{operation['id']}/retry", {})
    check("and gone on with when capacity has come", again["state"] == "succeeded", again)

    # text that a workload wrote
    product.shell("aws", "eks", "update-kubeconfig", "--name", "shaky")
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "bait", "namespace": "default"},
             "involvedObject": {"kind": "Pod", "name": "bait", "namespace": "default"}, "type": "Warning", "reason": "Bait",
             "message": "\x1b[31mred\x1b[0m \u202eturned\u200b round password=hunter2secret " + secret + "\nsecond line " + "x" * 5000,
             "lastTimestamp": "2027-01-01T00:00:00Z"}
    status, output = product.shell("kubectl", "create", "-f", "-", stdin=json.dumps(event))
    check("an event with bait", status == 0, output)
    events = product.api("GET", "/clusters/shaky/events")[1]["events"]
    bait = next((row["message"] for row in events if row.get("object") == "Pod/bait"), {})
    text = "\n".join(bait.get("lines", []))
    check("ANSI, direction and hidden characters are taken out", text and not set(text) & set("\x1b\u202e\u200b") and "[31m" not in text, bait)
    check("secrets are taken out and counted", secret not in text and "hunter2secret" not in text and bait.get("redactions") == 2, bait)
    check("it is capped and split in lines", len(text) < 2000 and len(bait.get("lines", [])) >= 2, bait)
    operation = product.run("DELETE", "/clusters/shaky?confirm=shaky")
    check("and away", operation["state"] == "succeeded", operation)


def run(section):
    if ONLY and section.__name__ not in ONLY:
        return
    print(f"--- {section.__name__}", flush=True)
    if section is zero_quotas:
        section()
        return
    product = Product(speed=600)
    try:
        section(product)
    except Exception as error:  # the other sections still run
        check(f"{section.__name__} ends", False, repr(error))
    finally:
        product.stop()


for each in (preflight, zero_quotas, settings, buckets, imports, trouble):
    run(each)
finish()
