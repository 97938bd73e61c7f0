"""Features seen from outside: what switching on makes, what drift is called, what a repair puts back, what switching off leaves."""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import Product, check, finish  # noqa: E402

FEATURES = "/clusters/feat/features"
KINDS = ("namespaces", "serviceaccounts", "services", "deployments.apps", "daemonsets.apps", "customresourcedefinitions", "apiservices", "csidrivers", "clusterroles",
         "clusterrolebindings", "roles.rbac.authorization.k8s.io", "rolebindings", "ingressclasses", "mutatingwebhookconfigurations", "validatingwebhookconfigurations")


class Eyes:
    """The account and the cluster by boto3 and kubectl."""

    def __init__(self, product):
        self.product = product
        self.iam, self.eks, self.sagemaker, self.s3 = (product.boto(name) for name in ("iam", "eks", "sagemaker", "s3"))
        product.shell("aws", "eks", "update-kubeconfig", "--name", "feat")

    def hyperpod(self):
        return self.sagemaker.describe_cluster(ClusterName="feat")

    def get(self, *what):
        code, text = self.product.shell("kubectl", "get", *what, "-o", "json")
        return json.loads(text) if code == 0 else {}

    def account(self):
        seen = {}
        for role in self.iam.list_roles()["Roles"]:
            if role["Path"] == "/":
                name = role["RoleName"]
                seen[f"role {name}"] = json.dumps([role["AssumeRolePolicyDocument"], self.iam.list_role_policies(RoleName=name)["PolicyNames"],
                                                   [each["PolicyArn"] for each in self.iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]]], sort_keys=True)
        seen["policies"] = json.dumps(sorted(each["Arn"] for each in self.iam.list_policies(Scope="Local")["Policies"]))
        seen["providers"] = json.dumps(self.iam.list_open_id_connect_providers()["OpenIDConnectProviderList"])
        seen["add-ons"] = json.dumps(sorted(self.eks.list_addons(clusterName="feat")["addons"]))
        seen["associations"] = json.dumps(self.eks.list_pod_identity_associations(clusterName="feat")["associations"], default=str)
        seen["buckets"] = json.dumps(sorted(each["Name"] for each in self.s3.list_buckets()["Buckets"]))
        cluster = self.hyperpod()
        seen["groups"] = json.dumps(cluster["InstanceGroups"], default=str, sort_keys=True)
        seen["tiers"] = str(cluster.get("TieredStorageConfig", {}).get("Mode") == "Enable")
        seen["tags"] = json.dumps(self.sagemaker.list_tags(ResourceArn=cluster["ClusterArn"])["Tags"], sort_keys=True)
        for kind in KINDS:
            for item in self.get(kind, "-A").get("items", []):
                seen[f"{kind} {item['metadata'].get('namespace', '')}/{item['metadata']['name']}"] = ""
        return seen


def difference(before, after):
    return {key: (before.get(key, "none")[:200], after.get(key, "none")[:200]) for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def noticed(product, feature, limit=30):
    """The feature's row once it says that something is wrong."""
    end = time.time() + limit
    while not (seen := row(product, feature)).get("reasons") and time.time() < end:
        time.sleep(0.2)
    return seen


def settled(eyes, before, limit=60):
    """Namespaces and add-ons take a moment to be gone."""
    end = time.time() + limit
    while (left := difference(before, eyes.account())) and time.time() < end:
        time.sleep(1)
    return left


def row(product, feature):
    answer = product.api("GET", FEATURES)[1]
    return next((each for each in answer.get("features", []) if each["name"] == feature), answer)


def switch(product, feature, on, **settings):
    return product.run("PATCH", FEATURES, {feature: {"enabled": on, **settings}, **({} if on else {"confirm": "feat"})})


def no_call(product, what, act):
    before = len(product.mutations())
    operation = act()
    check(f"{what}: no change, no call", operation.get("no_change") is True and len(product.mutations()) == before, (operation, product.mutations()[before:]))


def there_and_back(product, eyes, feature, harm, seen_on, **settings):
    before = eyes.account()
    plan = product.api("PATCH", FEATURES, {feature: {"enabled": True, **settings}, "dry_run": True})[1].get("plan", {})
    check(f"{feature}: the plan says what it would bring", plan.get("creates") and not plan.get("removes"), plan)
    operation = switch(product, feature, True, **settings)
    check(f"{feature}: on", operation["state"] == "succeeded" and row(product, feature).get("status") == "on", (operation, row(product, feature)))
    check(f"{feature}: seen from outside", seen_on(), difference(before, eyes.account()))
    no_call(product, f"{feature} on again", lambda: switch(product, feature, True, **settings))
    harm()
    drifted = noticed(product, feature)
    check(f"{feature}: drift is seen and named", drifted.get("status") in ("drifted", "working") and drifted.get("reasons"), drifted)
    operation = switch(product, feature, True, **settings)
    check(f"{feature}: repaired", operation["state"] == "succeeded" and row(product, feature).get("status") == "on" and seen_on(), (operation, row(product, feature)))
    status, refused = product.api("PATCH", FEATURES, {feature: {"enabled": False}})
    check(f"{feature}: off asks, and says what is lost", status == 409 and refused.get("code") == "confirmation_required" and refused.get("would_remove"), (status, refused))
    operation = switch(product, feature, False)
    check(f"{feature}: off", operation["state"] == "succeeded" and row(product, feature).get("status") == "off", (operation, row(product, feature)))
    no_call(product, f"{feature} off again", lambda: switch(product, feature, False))
    left = settled(eyes, before)
    check(f"{feature}: account and cluster are as before", not left, left)


def tiered(product, eyes):
    def harm():
        product.shell("kubectl", "delete", "serviceaccount", "checkpointing")

    def seen():
        account = eyes.get("serviceaccount", "checkpointing")
        return eyes.hyperpod().get("TieredStorageConfig", {}).get("InstanceMemoryAllocationPercentage") == 30 and "eks.amazonaws.com/role-arn" in account.get("metadata", {}).get("annotations", {})
    there_and_back(product, eyes, "tiered_checkpointing", harm, seen, memory_percent=30)


def settings(product, eyes):
    switch(product, "tiered_checkpointing", True)
    operation = product.run("PATCH", FEATURES, {"tiered_checkpointing": {"memory_percent": 45}})
    share = eyes.hyperpod().get("TieredStorageConfig", {}).get("InstanceMemoryAllocationPercentage")
    check("a setting alone is changed", operation["state"] == "succeeded" and share == 45, (operation, share))
    for what, body in (("a share below 20", {"tiered_checkpointing": {"memory_percent": 10}}), ("no feature", {}), ("a setting of a feature that is off", {"tiered_checkpointing": {"enabled": False, "memory_percent": 40}}),
                       ("an unknown feature", {"teleport": {"enabled": True}})):
        before = len(product.mutations())
        status, problem = product.api("PATCH", FEATURES, body)
        check(f"refused before any call: {what}", status == 422 and problem.get("errors") and len(product.mutations()) == before, (status, problem))
    switch(product, "tiered_checkpointing", False)


def training(product, eyes):
    name = "amazon-sagemaker-hyperpod-training-operator"

    def seen():
        return name in eyes.eks.list_addons(clusterName="feat")["addons"] and product.shell("kubectl", "get", "hyperpodpytorchjobs")[0] == 0
    there_and_back(product, eyes, "training_operator", lambda: eyes.eks.delete_addon(clusterName="feat", addonName=name), seen)


def inference(product, eyes):
    def harm():
        eyes.iam.detach_role_policy(RoleName="SageMakerHyperPodInference-feat-us-west-2", PolicyArn="arn:aws:iam::aws:policy/AmazonSageMakerHyperPodInferenceAccess")

    def seen():
        return product.shell("kubectl", "get", "inferenceendpointconfigs")[0] == 0 and any(each["Name"].startswith("hyperpod-tls-") for each in eyes.s3.list_buckets()["Buckets"])
    there_and_back(product, eyes, "inference_operator", harm, seen)


def operators(product, eyes):
    for feature, space, deployment, kind in (("kuberay", "kuberay-system", "kuberay-operator", "rayjobs"), ("keda", "keda", "keda-operator", "scaledobjects"),
                                             ("load_balancer_controller", "kube-system", "aws-load-balancer-controller", "targetgroupbindings")):
        there_and_back(product, eyes, feature, lambda: product.shell("kubectl", "delete", "deployment", "-n", space, deployment), lambda: product.shell("kubectl", "get", kind)[0] == 0)


def pairs(product):
    before = len(product.mutations())
    status, problem = product.api("PATCH", FEATURES, {"inference_operator": {"enabled": True}, "keda": {"enabled": True}})
    check("two that exclude each other are refused by name with the way out", status == 409 and problem.get("code") == "features_exclude_each_other" and "keda" in str(problem) and problem.get("hint"), (status, problem))
    check("nothing was done", len(product.mutations()) == before, product.mutations()[before:])


def rival(product):
    """Somebody's own KEDA."""
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "keda-operator", "namespace": "default", "labels": {"app.kubernetes.io/managed-by": "Helm"}},
                  "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "keda"}}, "template": {"metadata": {"labels": {"app": "keda"}}, "spec": {"containers": [{"name": "keda", "image": "ghcr.io/kedacore/keda:2.17.1"}]}}}}
    product.shell("kubectl", "apply", "-f", "-", stdin=json.dumps(deployment))
    before = len(product.mutations())
    status, problem = product.api("PATCH", FEATURES, {"keda": {"enabled": True}})
    check("never a second KEDA beside somebody's own", status == 409 and problem.get("code") == "feature_blocked" and "Helm" in str(problem) and len(product.mutations()) == before, (status, problem))
    product.shell("kubectl", "delete", "deployment", "keda-operator")


def elastic(product, eyes):
    """Jobs that grow and shrink while they run."""
    switch(product, "training_operator", True)
    job = {"apiVersion": "sagemaker.amazonaws.com/v1", "kind": "HyperPodPyTorchJob", "metadata": {"name": "llama", "namespace": "default"},
           "spec": {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 2, "replicaIncrementStep": 1}, "replicaSpecs": [{"name": "workers", "replicas": 1, "template": {"spec": {"containers": [{"name": "main", "image": "train"}]}}}]}}
    code, text = product.shell("kubectl", "apply", "-f", "-", stdin=json.dumps(job))
    check("an elastic job is there", code == 0, text)
    before = len(product.mutations())
    status, problem = product.api("PATCH", FEATURES, {"tiered_checkpointing": {"enabled": True}})
    check("tiered checkpointing beside it is refused by both names, before any call", status == 409 and problem.get("code") == "feature_blocked" and "elastic training (HyperPodPyTorchJob default/llama)" in str(problem)
          and "managed tiered checkpointing" in str(problem) and len(product.mutations()) == before, (status, problem))
    spot = {"name": "cheap", "instance_type": "ml.g5.2xlarge", "count": 1, "zone": "us-west-2a", "capacity": {"type": "spot"}, "dry_run": True}
    plan = product.api("POST", "/clusters/feat/instance-groups", spot)[1].get("plan", {})
    check("a plan for a Spot group warns of it", any("default/llama" in each for each in plan.get("warnings", [])), plan)
    product.shell("kubectl", "delete", "hyperpodpytorchjob", "llama")
    switch(product, "training_operator", False)


def main():
    product = Product(speed=1200)
    try:
        group = {"name": "system", "instance_type": "ml.m5.4xlarge", "count": 2, "zone": "us-west-2a"}
        operation = product.run("POST", "/clusters/launch", {"name": "feat", "instance_groups": [group]})
        if not check("launched", operation["state"] == "succeeded", operation):
            return
        eyes = Eyes(product)
        answer = product.api("GET", FEATURES)[1]
        names = [each["name"] for each in answer.get("features", [])]
        check("the list names every feature", {"training_operator", "inference_operator", "tiered_checkpointing", "kuberay", "keda", "load_balancer_controller"} <= set(names), answer)
        tiered(product, eyes)
        settings(product, eyes)
        training(product, eyes)
        elastic(product, eyes)
        inference(product, eyes)
        operators(product, eyes)
        pairs(product)
        rival(product)
        operation = product.run("DELETE", "/clusters/feat", {"confirm": "feat"})
        check("the cluster is deleted", operation["state"] == "succeeded", operation)
    finally:
        product.stop()


main()
finish()
