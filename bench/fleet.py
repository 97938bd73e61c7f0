"""The twin with a fleet: 10,000 nodes and 100,000 pods in one HyperPod cluster, as a server for benchmarks.

The product launches a cluster of a few nodes on a twin of its own; the snapshot of that account, with each node many times, is given
to another twin (a VPC has not the addresses for so many). There the controllers do the rest: every DaemonSet puts a pod on every
node, Deployments and Jobs that are created through the API server fill the rest, and all pods are scheduled and started."""
import copy
import http.client
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import uuid

import lib

TYPE, GROUPS, NAMESPACES = "ml.p5.48xlarge", 4, 10
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATWIN000000000000", "AWS_SECRET_ACCESS_KEY": "twin", "AWS_REGION": "us-west-2", "AWS_EC2_METADATA_DISABLED": "true"}
PORTS = ["--twin-aws", "127.0.0.1:0", "--twin-kube", "127.0.0.1:0"]


def control(url, path, body=None):
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/_twin/{path}", method="GET" if body is None else "POST", data=data)
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.loads(answer.read() or b"{}")


def small_account():
    """The snapshot of an account with a cluster "fleet" of one node a group."""
    process, _, ready, folder = lib.product(speed=6000)
    try:
        for name in (f"{TYPE} for cluster usage", "Maximum number of instances allowed per SageMaker HyperPod cluster", "Total number of instances allowed across SageMaker HyperPod clusters"):
            control(ready["twin_aws"], "quotas", {"quota_name": name, "value": 100_000})
        api = lib.Api(ready["console"] + "/api/v1")
        zone = api("GET", f"/zones?instance_type={TYPE}")["zones"][0]["name"]
        groups = [{"name": f"workers-{i}", "instance_type": TYPE, "count": 1, "zone": zone} for i in range(GROUPS)]
        operation = api("POST", "/clusters/launch", {"name": "fleet", "instance_groups": groups})["operation"]
        while operation["state"] not in ("succeeded", "failed", "cancelled"):
            operation = api("GET", f"/operations/{operation['id']}?wait_seconds=20")["operation"]
        if operation["state"] != "succeeded":
            raise SystemExit(f"the launch ended {operation['state']}: {operation.get('error')}")
        # DescribeCluster counts what runs: all nodes are there now.
        return control(ready["twin_aws"], "snapshot")
    finally:
        lib.end(process)
        shutil.rmtree(folder)


def table(snapshot, plural):
    return next(t["objects"] for t in snapshot["more"]["fleet"]["objects"]["tables"] if t["plural"] == plural)


def multiplied(snapshot, nodes):
    """Every node of the account so often that there are `nodes`: SageMaker's record and Kubernetes' object."""
    machines, objects = snapshot["services"]["sagemaker"]["nodes"], table(snapshot, "nodes")
    by_name = {each["metadata"]["name"]: each for each in objects}
    first = list(machines)
    for n in range(len(first), nodes):
        like = first[n % len(first)]
        machine, node = copy.deepcopy(like), copy.deepcopy(by_name["hyperpod-" + like["data"]["InstanceId"]])
        instance, address = f"i-{n:017x}", f"10.{64 + n // 62500}.{n // 250 % 250}.{4 + n % 250}"
        machine["id"] = machine["data"]["NodeLogicalId"] = str(uuid.UUID(int=n))
        machine["data"].update(InstanceId=instance, PrivatePrimaryIp=address, PrivateDnsHostname=f"ip-{address.replace('.', '-')}.us-west-2.compute.internal")
        machine["hidden"]["interface"] = ""
        name = node["metadata"]["name"] = node["metadata"]["labels"]["kubernetes.io/hostname"] = f"hyperpod-{instance}"
        node["metadata"]["uid"] = str(uuid.UUID(int=n))
        node["spec"]["providerID"] = node["spec"]["providerID"].replace(like["data"]["InstanceId"], instance)
        node["status"]["addresses"] = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]
        machines.append(machine)
        objects.append(node)
    for group in snapshot["services"]["sagemaker"]["groups"]:
        group["data"]["TargetCount"] = sum(m["data"]["InstanceGroupName"] == group["data"]["InstanceGroupName"] for m in machines)
    return snapshot


def template(name, gpus, command):
    env = [{"name": f"SETTING_{i}", "value": f"value-of-setting-{i}"} for i in range(10)]
    return {"metadata": {"labels": {"app": name, "kueue.x-k8s.io/queue-name": "research"}},
            "spec": {"restartPolicy": "Always", "containers": [{
                "name": "main", "image": "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.7.1-gpu-py312", "command": command, "env": env,
                "resources": {"limits": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": str(gpus)}}}]}}


def deployment(name, replicas):
    pod = template(name, 1, ["serve"])
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": pod}}


def job(name, pods):
    pod = template(name, 2, ["sh", "-c", "sleep infinity"])
    pod["spec"]["restartPolicy"] = "OnFailure"
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"parallelism": pods, "completions": pods, "template": pod}}


class Fleet:
    """A twin of its own with `nodes` nodes and `pods` pods, all running."""

    def __init__(self, nodes, pods):
        self.nodes, self.pods = nodes, pods
        self.folder = tempfile.mkdtemp(prefix="bench-fleet-")
        self.process, _, line = lib.started([lib.BINARY, "twin", "--data", self.folder, *PORTS, "--twin-speed", "1"], '"ready"')
        ready = json.loads(line)
        self.aws, self.keys = ready["twin_aws"], {**KEYS, "AWS_ENDPOINT_URL": ready["twin_aws"]}
        try:
            self.fill(ready["twin_kube"])
        except BaseException:
            self.end()
            raise

    def fill(self, kube):
        began = time.perf_counter()
        control(self.aws, "snapshot", json.dumps(multiplied(small_account(), self.nodes)).encode())
        self.kube, self.ca = f"{kube}/clusters/fleet", str(next(pathlib.Path(self.folder).rglob("ca.pem")))
        self.token = self.new_token()
        sets = sum(each["status"]["desiredNumberScheduled"] > 0 for each in self.ask("GET", "/apis/apps/v1/daemonsets")["items"])
        self.wait(lambda: self.figures()["objects"]["pods"] >= sets * self.nodes, "a pod of every DaemonSet on every node")
        left = self.pods - self.figures()["objects"]["pods"]
        for n in range(NAMESPACES):
            self.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{n}"}})
        triples = left // 330
        for n in range(triples):  # a Job and two Deployments of a hundred pods each
            self.ask("POST", f"/apis/batch/v1/namespaces/team-{n % NAMESPACES}/jobs", job(f"train-{n}", 100))
            for k in (2 * n, 2 * n + 1):
                self.ask("POST", f"/apis/apps/v1/namespaces/team-{k % NAMESPACES}/deployments", deployment(f"serve-{k}", 100))
        self.ask("POST", "/apis/apps/v1/namespaces/team-0/deployments", deployment("wide", left - triples * 300))
        self.wait(lambda: self.figures()["objects"]["pods"] >= self.pods, f"{self.pods} pods")
        self.wait(lambda: not self.ask("GET", "/api/v1/pods?limit=1&fieldSelector=status.phase!%3DRunning")["items"], "all pods running")
        self.filled = time.perf_counter() - began

    def wait(self, true, what, seconds=900):
        until = time.time() + seconds
        while not true():
            if time.time() > until:
                raise SystemExit(f"the twin has not come to this in {seconds} s: {what}; {self.figures()}")
            time.sleep(1)

    def new_token(self):
        aws = lib.ROOT / ".venv/bin/aws"
        made = subprocess.run([str(aws), "eks", "get-token", "--cluster-name", "fleet", "--output", "json"], env={**os.environ, **self.keys, "AWS_DEFAULT_REGION": "us-west-2"}, capture_output=True, text=True, check=True)
        return json.loads(made.stdout)["status"]["token"]

    def ask(self, method, path, body=None):
        url = urllib.parse.urlsplit(self.kube)
        connection = http.client.HTTPSConnection(url.hostname, url.port, context=ssl.create_default_context(cafile=self.ca), timeout=300)
        connection.request(method, url.path + path, None if body is None else json.dumps(body), {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {text[:600]!r}")
        return json.loads(text)

    def figures(self):
        return control(self.aws, "clusters/fleet")

    def churn(self, changes_per_second, seconds):
        control(self.aws, "clusters/fleet/churn", {"changes_per_second": changes_per_second, "seconds": seconds})

    def settle(self):
        """Waits until every workload is whole again: containers that churn ended wait out their back-off before they start again."""
        def whole():
            sets = self.ask("GET", "/apis/apps/v1/daemonsets")["items"]
            deployments = self.ask("GET", "/apis/apps/v1/deployments")["items"]
            return all(each["status"].get("numberReady", 0) == each["status"]["desiredNumberScheduled"] for each in sets) and all(
                each["status"].get("readyReplicas", 0) == each["spec"]["replicas"] for each in deployments)

        self.wait(lambda: not self.figures()["churning"] and whole(), "all DaemonSets and Deployments ready")

    def end(self):
        # Nothing of it is wanted any more: to write it down would take its time.
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


class Lag:
    """How many changes of pods the product's cache is behind the twin, every half second."""

    def __init__(self, fleet, console):
        self.fleet, self.console, self.samples, self.going = fleet, console, [], True
        self.base = fleet.figures()["pod_changes"] - self.seen()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def seen(self):
        request = urllib.request.Request(self.console + "/metrics", headers={"Authorization": f"Bearer {lib.TOKEN}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith("instantstart_kube_cache_changes_total{") and 'kind="pods"' in line:
                    return int(line.rpartition(" ")[2])
        return 0

    def now(self):
        return max(0, self.fleet.figures()["pod_changes"] - self.base - self.seen())

    def run(self):
        while self.going:
            self.samples.append(self.now())
            time.sleep(0.5)

    def stop(self):
        self.going = False
        self.thread.join()
        return self.samples
