"""Managed features through the product, seen from outside: MLflow, task governance, observability, managed autoscaling, FSx for Lustre, and what plans cost. Each is
switched on, asked for again, broken from outside, repaired, switched off and off again; afterwards the account is as it was before."""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import Product, check, finish  # noqa: E402

ZONE, TYPE = "us-west-2a", "ml.m5.4xlarge"
ONLY = sys.argv[2:]
TRUST = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "sts:AssumeRole"}]})


def eventually(read, good, limit=90):
    end = time.time() + limit
    while True:
        seen = read()
        if good(seen) or time.time() > end:
            return seen
        time.sleep(0.3)


class Account:
    """What features could leave behind."""

    def __init__(self, product):
        self.product = product
        self.iam, self.eks, self.sm, self.amp, self.ec2 = (product.boto(name) for name in ("iam", "eks", "sagemaker", "amp", "ec2"))

    def roles(self):
        return {each["RoleName"] for page in self.iam.get_paginator("list_roles").paginate() for each in page["Roles"]}

    def kube(self, *arguments):
        code, text = self.product.shell("kubectl", "get", *arguments, "-o", "json")
        return json.loads(text)["items"] if code == 0 else []

    def state(self):
        return {
            "roles": self.roles(),
            "addons": set(self.eks.list_addons(clusterName="fed")["addons"]),
            "associations": {each["serviceAccount"] for each in self.eks.list_pod_identity_associations(clusterName="fed")["associations"]},
            "servers": {each["TrackingServerName"] for each in self.sm.list_mlflow_tracking_servers()["TrackingServerSummaries"]},
            "apps": {each["Arn"] for each in self.sm.list_mlflow_apps()["Summaries"] if each["Status"] != "Deleted"},
            "workspaces": {each["workspaceId"] for each in self.amp.list_workspaces()["workspaces"]},
            "autoscaling": self.sm.describe_cluster(ClusterName="fed").get("AutoScaling", {}).get("Mode", "Disable"),
            "rules": sorted(json.dumps(rule, sort_keys=True) for group in self.ec2.describe_security_groups()["SecurityGroups"]
                            for rule in group["IpPermissions"]),
            "node classes": [each["metadata"]["name"] for each in self.kube("hyperpodnodeclasses")],
            "node pools": [each["metadata"]["name"] for each in self.kube("nodepools")],
            "volumes": [each["metadata"]["name"] for each in self.kube("persistentvolumes")],
        }


def differences(before, after):
    return {key: (before[key], after[key]) for key in before if before[key] != after[key]}


def switch(product, **features):
    body = dict(features)
    if any(not each.get("enabled", True) for each in features.values()):
        body["confirm"] = "fed"
    return product.run("PATCH", "/clusters/fed/features", body)


def row(product, feature):
    rows = product.api("GET", "/clusters/fed/features")[1].get("features", [])
    return next((each for each in rows if each["name"] == feature), {})


def on_and_off(product, account, feature, settings, breaks, seen_on):
    """The whole life of a feature. `breaks` is a list of (what, how); `seen_on` looks at the account while it is on."""
    before = account.state()
    want = {feature: {"enabled": True, **settings}}
    operation = switch(product, **want)
    check(f"{feature} goes on", operation["state"] == "succeeded", operation)
    check(f"{feature} is said to be on", row(product, feature).get("status") == "on", row(product, feature))
    seen_on()
    count = len(product.mutations())
    operation = switch(product, **want)
    check(f"{feature} on again: no change, no call", operation.get("no_change") is True and len(product.mutations()) == count, (operation, product.mutations()[count:]))
    for what, how in breaks:
        how()
        seen = eventually(lambda: row(product, feature), lambda each: each.get("status") not in ("on", None))
        check(f"{feature}: it is seen that {what}", seen.get("status") not in ("on", None), seen)
        operation = switch(product, **want)
        check(f"{feature} is mended after {what}", operation["state"] == "succeeded" and not operation.get("no_change"), operation)
        check(f"{feature} is on again after {what}", row(product, feature).get("status") == "on", row(product, feature))
    status, problem = product.api("PATCH", "/clusters/fed/features", {feature: {"enabled": False}})
    check(f"{feature}: switching off asks first and says what goes", status == 409 and problem.get("code") == "confirmation_required", (status, problem))
    operation = switch(product, **{feature: {"enabled": False}})
    check(f"{feature} goes off", operation["state"] == "succeeded", operation)
    left = eventually(lambda: differences(before, account.state()), lambda each: not each, 30)
    check(f"{feature} off: the account is as before", not left, left)
    count = len(product.mutations())
    operation = switch(product, **{feature: {"enabled": False}})
    check(f"{feature} off again: no change, no call", operation.get("no_change") is True and len(product.mutations()) == count, (operation, product.mutations()[count:]))


def delete_role(account, name):
    iam = account.iam
    for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]:
        iam.delete_role_policy(RoleName=name, PolicyName=policy)
    iam.delete_role(RoleName=name)


def own_role(account, purpose):
    return next(name for name in account.roles() if name.startswith("instantstart-fed-") and name.endswith(purpose))


def mlflow(product, account):
    status, problem = product.api("POST", "/clusters/fed/mlflow/open", {})
    check("a link into MLflow that is off is refused, with the way", status == 409 and problem.get("code") == "mlflow_off" and "feature.update" in problem.get("hint", ""), problem)
    bucket = "sagemaker-fed-111122223333-us-west-2"

    def opened(kind):
        status, answer = product.api("POST", "/clusters/fed/mlflow/open", {"expires_seconds": 30})
        link = answer.get("mlflow", {})
        check(f"a link into the {kind}", status == 200 and link.get("kind") == kind and "authToken=" in link.get("url", "") and link.get("expires_seconds") == 30, answer)
        stored = b"".join(path.read_bytes() for path in pathlib.Path(product.folder).rglob("*") if path.is_file() and "twin" not in path.parts)
        check("the link is kept nowhere", link.get("url", "?").encode() not in stored and link.get("url", "?") not in pathlib.Path(product.log.name).read_text())

    def seen_app():
        apps = [each for each in account.sm.list_mlflow_apps()["Summaries"] if each["Status"] != "Deleted"]
        check("one app was made", len(apps) == 1, apps)
        app = account.sm.describe_mlflow_app(Arn=apps[0]["Arn"])
        check("it keeps artifacts in the cluster's bucket with its own role", app["ArtifactStoreUri"] == f"s3://{bucket}/mlflow" and app["RoleArn"].endswith("-mlflow"), app)
        document = account.iam.get_role_policy(RoleName=own_role(account, "-mlflow"), PolicyName="permissions")["PolicyDocument"]
        check("the role reaches that prefix and nothing else", f"{bucket}/mlflow/*" in json.dumps(document) and '"*"' not in json.dumps(document) and "s3:*" not in json.dumps(document), document)
        opened("app")

    def lose_app():
        arn = next(each["Arn"] for each in account.sm.list_mlflow_apps()["Summaries"] if each["Status"] != "Deleted")
        account.sm.delete_mlflow_app(Arn=arn)
        eventually(lambda: account.sm.describe_mlflow_app(Arn=arn)["Status"], lambda each: each == "Deleted")

    on_and_off(product, account, "mlflow", {"kind": "app"},
               [("its role was deleted", lambda: delete_role(account, own_role(account, "-mlflow"))), ("its app was deleted", lose_app)], seen_app)

    def seen_server():
        server = account.sm.describe_mlflow_tracking_server(TrackingServerName="fed-mlflow")
        check("the tracking server is active", server["IsActive"] == "Active", server)
        opened("tracking_server")
        status, problem = product.api("PATCH", "/clusters/fed/features", {"mlflow": {"kind": "app"}})
        check("the kind cannot change while it is on, with the way round", status == 409 and "switch it off" in json.dumps(problem), problem)

    def stop_server():
        account.sm.stop_mlflow_tracking_server(TrackingServerName="fed-mlflow")
        eventually(lambda: account.sm.describe_mlflow_tracking_server(TrackingServerName="fed-mlflow")["TrackingServerStatus"], lambda each: each == "Stopped")

    on_and_off(product, account, "mlflow", {"kind": "tracking_server"}, [("it was stopped", stop_server)], seen_server)


def governance(product, account):
    def seen():
        addon = account.eks.describe_addon(clusterName="fed", addonName="amazon-sagemaker-hyperpod-taskgovernance")["addon"]
        check("the add-on is ACTIVE", addon["status"] == "ACTIVE", addon)
        check("Kueue's kinds are served", product.shell("kubectl", "get", "clusterqueues")[0] == 0)

    def lose_addon():
        account.eks.delete_addon(clusterName="fed", addonName="amazon-sagemaker-hyperpod-taskgovernance")
        eventually(lambda: account.eks.list_addons(clusterName="fed")["addons"], lambda each: "amazon-sagemaker-hyperpod-taskgovernance" not in each)

    on_and_off(product, account, "task_governance", {}, [("its add-on was deleted", lose_addon)], seen)
    # another Kueue is in the way
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "clusterqueues.kueue.x-k8s.io"},
                  "spec": {"group": "kueue.x-k8s.io", "scope": "Cluster", "names": {"kind": "ClusterQueue", "plural": "clusterqueues", "singular": "clusterqueue", "listKind": "ClusterQueueList"},
                           "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
    code, text = product.shell("kubectl", "apply", "-f", "-", stdin=json.dumps(definition))
    check("somebody installs a Kueue of his own", code == 0, text)
    status, problem = product.api("PATCH", "/clusters/fed/features", {"task_governance": {"enabled": True}})
    check("task governance beside another Kueue is refused", status == 409 and "another Kueue" in json.dumps(problem), (status, problem))
    product.shell("kubectl", "delete", "crd", "clusterqueues.kueue.x-k8s.io")


def observability(product, account):
    def configuration():
        return json.loads(account.eks.describe_addon(clusterName="fed", addonName="amazon-sagemaker-hyperpod-observability")["addon"]["configurationValues"])

    def seen():
        spaces = [each for each in account.amp.list_workspaces()["workspaces"] if each.get("alias") == "instantstart-fed"]
        check("a workspace was made, with the tag that AWS's policies ask for", len(spaces) == 1 and spaces[0]["tags"].get("SageMaker") == "true", spaces)
        check("the add-on writes into it", configuration()["ampWorkspace"]["arn"] == spaces[0]["arn"] and not configuration()["ampWorkspace"]["prometheusEndpoint"].endswith("/"), configuration())
        other = account.amp.create_workspace(alias="other")
        status, problem = product.api("PATCH", "/clusters/fed/features", {"observability": {"workspace_arn": other["arn"]}})
        check("metrics do not move to another workspace", status == 409 and "switch it off" in json.dumps(problem), problem)
        eventually(lambda: account.amp.describe_workspace(workspaceId=other["workspaceId"])["workspace"]["status"]["statusCode"], lambda each: each == "ACTIVE")
        account.amp.delete_workspace(workspaceId=other["workspaceId"])
        eventually(lambda: [each["alias"] for each in account.amp.list_workspaces()["workspaces"]], lambda each: "other" not in each)

    on_and_off(product, account, "observability", {}, [("its role was deleted", lambda: delete_role(account, own_role(account, "-observability")))], seen)
    given = account.amp.create_workspace(alias="ours", tags={"SageMaker": "true"})
    eventually(lambda: account.amp.describe_workspace(workspaceId=given["workspaceId"])["workspace"]["status"]["statusCode"], lambda each: each == "ACTIVE")
    operation = switch(product, observability={"enabled": True, "workspace_arn": given["arn"]})
    check("observability with a given workspace", operation["state"] == "succeeded" and configuration()["ampWorkspace"]["arn"] == given["arn"], operation)
    document = account.iam.get_role_policy(RoleName=own_role(account, "-observability"), PolicyName="permissions")["PolicyDocument"]
    check("its role writes into that one only", given["arn"] in json.dumps(document) and "workspace/*" not in json.dumps(document), document)
    operation = switch(product, observability={"enabled": False})
    check("a given workspace stays", operation["state"] == "succeeded" and account.amp.describe_workspace(workspaceId=given["workspaceId"])["workspace"]["status"]["statusCode"] == "ACTIVE", operation)
    status, problem = product.api("PATCH", "/clusters/fed/features", {"observability": {"enabled": True, "workspace_arn": "arn:aws:s3:::x"}})
    check("what is no workspace is refused by its field", status == 422 and problem["errors"][0]["pointer"] == "/observability/workspace_arn", problem)


def rival(product):
    """Somebody's own Cluster Autoscaler."""
    container = {"name": "scaler", "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "scaler", "namespace": "kube-system"},
                  "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "scaler"}}, "template": {"metadata": {"labels": {"app": "scaler"}}, "spec": {"containers": [container]}}}}
    product.shell("kubectl", "apply", "-f", "-", stdin=json.dumps(deployment))
    count = len(product.mutations())
    status, problem = product.api("PATCH", "/clusters/fed/features", {"autoscaling": {"enabled": True}})
    check("autoscaling beside a Cluster Autoscaler is refused before any call", status == 409 and "kube-system/scaler" in json.dumps(problem) and "remove it" in json.dumps(problem)
          and len(product.mutations()) == count, problem)
    product.shell("kubectl", "delete", "deployment", "-n", "kube-system", "scaler")


def launches(product):
    """Features that come with the cluster: what could not be is refused by its field, the rest stands when the launch ends."""
    system = {"name": "system", "instance_type": TYPE, "count": 1, "zone": ZONE}
    burst = {"name": "burst", "instance_type": "ml.g5.12xlarge", "count": 0, "zone": ZONE}
    on = {"autoscaling": {"enabled": True}}
    named = {"autoscaling": {"enabled": True, "instance_groups": ["burst"]}}
    for what, groups, features, pointer in (
            ("autoscaling without a group to scale", [system], on, "/features/autoscaling"),
            ("autoscaling of all that there is", [{**burst, "autoscaled": True}], on, "/features/autoscaling"),
            ("autoscaling of a group that has nodes", [system, {**burst, "count": 1}], named, "/features/autoscaling/instance_groups/0"),
            ("autoscaling of a group with deep checks", [system, {**burst, "deep_health_checks": ["InstanceStress"]}], named, "/features/autoscaling/instance_groups/0"),
            ("autoscaling of a group that is not asked for", [system], named, "/features/autoscaling/instance_groups/0"),
            ("a wait that Spot does not bear", [system, {**burst, "capacity": {"type": "spot"}}], {"autoscaling": {**named["autoscaling"], "consolidate_after": "Never"}}, "/features/autoscaling/consolidate_after"),
            ("observability on small nodes", [{**system, "instance_type": "ml.m5.2xlarge"}], {"observability": {"enabled": True}}, "/features/observability"),
            ("an operator without nodes", [{**burst, "autoscaled": True}], {"training_operator": {"enabled": True}}, "/features/training_operator")):
        count = len(product.mutations())
        status, problem = product.api("POST", "/clusters/launch", {"name": "all", "instance_groups": groups, "features": features})
        pointers = [each["pointer"] for each in problem.get("errors", [])]
        check(f"refused at launch before any call: {what}", status == 422 and pointers == [pointer] and len(product.mutations()) == count, (status, problem))
    body = {"name": "all", "instance_groups": [system, {**burst, "autoscaled": True}], "features": {**on, "observability": {"enabled": True}}}
    operation = product.run("POST", "/clusters/launch", body)
    rows = {each["name"]: each for each in product.api("GET", "/clusters/all/features")[1].get("features", [])}
    check("what can be is on when the launch ends", operation["state"] == "succeeded" and all(rows[each]["status"] == "on" for each in ("autoscaling", "observability")), (operation, rows))
    operation = product.run("DELETE", "/clusters/all", {"confirm": "all"})
    check("that cluster is deleted", operation["state"] == "succeeded", operation)


def autoscaling(product, account):
    status, problem = product.api("PATCH", "/clusters/fed/features", {"autoscaling": {"enabled": True}})
    check("autoscaling without a group to scale is refused", status == 409 and "autoscaled" in json.dumps(problem), problem)
    operation = product.run("POST", "/clusters/fed/instance-groups", {"name": "burst", "instance_type": "ml.g5.12xlarge", "count": 0, "zone": ZONE, "autoscaled": True})
    check("a group that begins at zero", operation["state"] == "succeeded", operation)
    status, problem = product.api("PATCH", "/clusters/fed/features", {"autoscaling": {"enabled": True, "instance_groups": ["burst"], "limits": {"cats": 3, "nvidia.com/gpu": "many"}}})
    check("limits of nothing are refused by their fields", status == 422 and sorted(each["pointer"] for each in problem["errors"]) == ["/autoscaling/limits/cats", "/autoscaling/limits/nvidia.com~1gpu"], problem)
    for what, names, word in (("a group that has nodes", ["system"], "has nodes"), ("a group that does not exist", ["ghost"], "does not exist")):
        count = len(product.mutations())
        status, problem = product.api("PATCH", "/clusters/fed/features", {"autoscaling": {"enabled": True, "instance_groups": names}})
        check(f"autoscaling of {what} is refused before any call", status == 409 and word in json.dumps(problem) and len(product.mutations()) == count, problem)
    rival(product)
    groups = {each["InstanceGroupName"]: each for each in account.sm.describe_cluster(ClusterName="fed")["InstanceGroups"]}

    def seen():
        cluster = account.sm.describe_cluster(ClusterName="fed")
        check("AutoScaling is in service with our role", cluster["AutoScaling"]["Status"] == "InService" and cluster["ClusterRole"].endswith("-autoscaling"), cluster)
        trust = account.iam.get_role(RoleName=own_role(account, "-autoscaling"))["Role"]["AssumeRolePolicyDocument"]
        check("it trusts HyperPod's own principal", trust["Statement"][0]["Principal"] == {"Service": "hyperpod.sagemaker.amazonaws.com"}, trust)
        check("the class names the group", account.kube("hyperpodnodeclasses")[0]["spec"]["instanceGroups"] == ["burst"], account.kube("hyperpodnodeclasses"))
        pool = account.kube("nodepools")[0]["spec"]
        check("the pool refers to it, has limits and gives nodes no age", pool["template"]["spec"]["nodeClassRef"] == {"group": "karpenter.sagemaker.amazonaws.com", "kind": "HyperpodNodeClass", "name": "instantstart"}
              and pool["limits"] == {"nodes": 4} and pool["template"]["spec"]["expireAfter"] == "Never" and pool["disruption"]["consolidateAfter"] == "60s", pool)
        now = {each["InstanceGroupName"]: each for each in cluster["InstanceGroups"]}
        lost = [(name, key) for name in groups for key in groups[name] if key not in ("Status",) and now[name].get(key) != groups[name][key]]
        check("no group lost a setting", set(now) == set(groups) and not lost, lost)

    settings = {"instance_groups": ["burst"], "limits": {"nodes": 4}}
    on_and_off(product, account, "autoscaling", settings,
               [("its node pool was deleted", lambda: product.shell("kubectl", "delete", "nodepool", "instantstart")),
                ("its role was deleted", lambda: delete_role(account, own_role(account, "-autoscaling")))], seen)


def lustre(product, account):
    fsx = product.boto("fsx")
    cluster = account.sm.describe_cluster(ClusterName="fed")
    network = next(each for each in cluster["InstanceGroups"] if each["InstanceGroupName"] == "system").get("OverrideVpcConfig") or cluster["VpcConfig"]
    subnets = {each["SubnetId"]: each for each in account.ec2.describe_subnets()["Subnets"]}
    vpc = subnets[network["Subnets"][0]]["VpcId"]
    stranger = account.ec2.create_security_group(GroupName="files", Description="files", VpcId=vpc)["GroupId"]
    far = next(each["SubnetId"] for each in subnets.values() if each["VpcId"] == vpc and each["AvailabilityZone"] != ZONE)
    foreign = next(each["SubnetId"] for each in subnets.values() if each["VpcId"] != vpc)

    def system(subnet, groups=None):
        made = fsx.create_file_system(FileSystemType="LUSTRE", StorageCapacity=2400, SubnetIds=[subnet], LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
                                      **({"SecurityGroupIds": groups} if groups else {}))["FileSystem"]["FileSystemId"]
        eventually(lambda: fsx.describe_file_systems(FileSystemIds=[made])["FileSystems"][0]["Lifecycle"], lambda each: each == "AVAILABLE")
        return made

    groups = lambda: {each["GroupId"]: each for each in account.ec2.describe_security_groups()["SecurityGroups"]}  # it lags behind writes
    eventually(groups, lambda seen: stranger in seen)
    near, away, elsewhere, closed = system(network["Subnets"][0], network["SecurityGroupIds"]), system(far, network["SecurityGroupIds"]), system(foreign), system(network["Subnets"][0], [stranger])
    for what, body, word in (("no file system", {}, "is needed"), ("one that does not exist", {"file_system_id": "fs-0123456789abcdef0"}, "no file system"),
                             ("one of another VPC", {"file_system_id": elsewhere}, "VPC"), ("one of another zone", {"file_system_id": away}, "us-west-2"),
                             ("one whose group lets nothing in", {"file_system_id": closed}, "988"), ("a bucket beside it", {"file_system_id": near, "bucket": "x-y-z"}, "kind s3")):
        count = len(product.mutations())
        status, problem = product.api("POST", "/clusters/fed/storages", {"name": "files", "kind": "fsx_lustre", **body})
        check(f"Lustre with {what} is refused before any call", status == 422 and word in json.dumps(problem) and len(product.mutations()) == count, (status, problem))
    before = account.state()
    operation = product.run("POST", "/clusters/fed/storages", {"name": "files", "kind": "fsx_lustre", "file_system_id": near})
    check("Lustre is mounted", operation["state"] == "succeeded" and operation["result"].get("file_system_id") == near, operation)
    volume = next(each for each in account.kube("persistentvolumes") if each["spec"]["csi"]["driver"] == "fsx.csi.aws.com")
    real = fsx.describe_file_systems(FileSystemIds=[near])["FileSystems"][0]
    check("the volume names the file system by DNS and mount name", volume["spec"]["csi"]["volumeAttributes"] == {"dnsname": real["DNSName"], "mountname": real["LustreConfiguration"]["MountName"]}
          and volume["spec"]["capacity"]["storage"] == "2400Gi" and volume["spec"]["mountOptions"] == ["flock"] and volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain", volume)
    count = len(product.mutations())
    operation = product.run("POST", "/clusters/fed/storages", {"name": "files", "kind": "fsx_lustre", "file_system_id": near})
    check("the same again: no change, no call", operation.get("no_change") is True and len(product.mutations()) == count, operation)
    rows = product.api("GET", "/clusters/fed/storages")[1]["storages"]
    check("it is listed", any(each["kind"] == "fsx_lustre" and each.get("file_system_id") == near and each["status"] == "Bound" for each in rows), rows)
    status, problem = product.api("GET", "/clusters/fed/storages/files/objects")
    check("its files cannot be browsed from here", status == 409 and problem.get("code") == "not_browsable", problem)
    # a group of its own that lets the nodes in: our own group gets the way back, and loses it again
    permissions = [{"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "UserIdGroupPairs": [{"GroupId": network["SecurityGroupIds"][0]}]} for low, high in ((988, 988), (1018, 1023))]
    account.ec2.authorize_security_group_ingress(GroupId=stranger, IpPermissions=permissions)
    eventually(groups, lambda seen: len(seen[stranger]["IpPermissions"]) == len(permissions))
    rules = account.state()["rules"]
    operation = product.run("POST", "/clusters/fed/storages", {"name": "more", "kind": "fsx_lustre", "file_system_id": closed})
    check("our own group lets Lustre in", operation["state"] == "succeeded" and len(account.state()["rules"]) == len(rules) + 2, operation)
    for name in ("files", "more"):
        operation = product.run("DELETE", f"/clusters/fed/storages/{name}", {"confirm": name})
        check(f"storage {name} is deleted", operation["state"] == "succeeded", operation)
    after = account.state()
    check("the file system stays, the rules and volumes go", after["rules"] == rules and after["volumes"] == before["volumes"]
          and fsx.describe_file_systems(FileSystemIds=[near])["FileSystems"][0]["Lifecycle"] == "AVAILABLE", differences(before, after))


def prices(product, account):
    status, answer = product.api("GET", f"/prices?instance_type={TYPE}")
    price = (answer.get("prices") or [{}])[0]
    listed = product.boto("sagemaker").meta.region_name
    check("a price, and as of when", status == 200 and price.get("hourly_usd", 0) > 0 and len(price.get("as_of", "")) == 10, (listed, answer))
    body = {"name": "more", "instance_type": TYPE, "count": 3, "zone": ZONE, "dry_run": True}
    cost = product.api("POST", "/clusters/fed/instance-groups", body)[1]["plan"].get("cost", {})
    check("three nodes cost three times as much", abs(cost.get("hourly_usd", 0) - 3 * price.get("hourly_usd", 0)) < 0.001 and cost["groups"][0]["count"] == 3, cost)
    cost = product.api("POST", "/clusters/fed/instance-groups", {**body, "capacity": {"type": "spot"}})[1]["plan"].get("cost", {})
    check("of Spot it is said that it is less", "Spot" in cost.get("groups", [{}])[0].get("note", ""), cost)
    product.twin("POST", "/faults", {"service": "pricing", "operation": "*", "kind": "error", "code": "InternalErrorException", "status": 500})
    cost = product.api("POST", "/clusters/fed/instance-groups", body)[1]["plan"].get("cost", {})
    check("what was read serves while the list is away", cost.get("hourly_usd", 0) > 0, cost)
    plan = product.api("POST", "/clusters/fed/instance-groups", {**body, "instance_type": "ml.c5.18xlarge"})[1].get("plan", {})
    check("without a price the cost is left out, with a warning", "cost" not in plan and any("cost is left out" in each for each in plan.get("warnings", [])), plan)
    status, problem = product.api("GET", "/prices?instance_type=ml.none.large")
    check("a type that does not exist has no price", status == 404, problem)
    for fault in product.twin("GET", "/faults").get("faults", []):
        product.twin("DELETE", f"/faults/{fault['id']}")


def main():
    product = Product(speed=1200)
    try:
        if not ONLY or "launches" in ONLY:
            launches(product)
        if ONLY == ["launches"]:
            return
        body = {"name": "fed", "instance_groups": [{"name": "system", "instance_type": TYPE, "count": 2, "zone": ZONE}]}
        operation = product.run("POST", "/clusters/launch", body)
        check("launched", operation["state"] == "succeeded", operation)
        code, text = product.shell("aws", "eks", "update-kubeconfig", "--name", "fed")
        check("kubectl is set up", code == 0, text)
        account = Account(product)
        for part in (mlflow, governance, autoscaling, observability, lustre, prices):
            if not ONLY or part.__name__ in ONLY:
                part(product, account)
    finally:
        product.stop()


main()
finish()
