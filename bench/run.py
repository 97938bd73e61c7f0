#!/usr/bin/env python3
"""`make bench`: each row is a ratio against a peer or a limit, measured in the same run. Prints a table, exits 1 where a limit
is missed."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from fleet_rows import fleet_latency, kube_cache
from lib import NODE, ROOT, TOKEN, Api, best_of, end, free_port, memory_mb, missed, product, row, rows, started

def start_and_memory():
    def ours():
        process, seconds, _, folder = product()
        time.sleep(1)
        memory = memory_mb(process.pid)
        end(process)
        shutil.rmtree(folder)
        return seconds, memory

    def express():
        process, seconds, _ = started([NODE, "bench/express_server.mjs"], '"ready"')
        time.sleep(1)
        memory = memory_mb(process.pid)
        end(process)
        return seconds, memory

    def kubernetes_mcp():
        # Its own cluster is not needed to start; the time counts until its port answers.
        port = free_port()
        start = time.perf_counter()
        program = next((ROOT / "tests/peers/node_modules/kubernetes-mcp-server-linux-amd64/bin").glob("kubernetes-mcp-server*"))
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
                       "users": [{"name": "u", "user": {"token": "t"}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}, config)
            config.flush()
            process = subprocess.Popen([str(program), "--port", str(port), "--kubeconfig", config.name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if process.poll() is not None:
                        return None
                    time.sleep(0.002)
            seconds = time.perf_counter() - start
            time.sleep(1)
            memory = memory_mb(process.pid)
            end(process)
            return seconds, memory

    mine = best_of(3, ours)
    for name, peer in (("Express hello server", best_of(3, express)), ("kubernetes-mcp-server", kubernetes_mcp())):
        if peer is None:
            row(f"start to ready against {name}", f"{mine[0] * 1000:.0f} ms", "did not start", float("inf"))
            continue
        row(f"start to ready against {name}", f"{mine[0] * 1000:.0f} ms", f"{peer[0] * 1000:.0f} ms", mine[0] / peer[0])
        row(f"idle memory (twin inside) against {name}", f"{mine[1]:.0f} MB", f"{peer[1]:.0f} MB", mine[1] / peer[1])


def parse(time_text):
    import datetime
    return datetime.datetime.fromisoformat(time_text.replace("Z", "+00:00")).timestamp()


def launch_pipeline():
    process, _, ready, folder = product(speed=60)
    api = Api(ready["console"] + "/api/v1")
    try:
        zone = api("GET", "/zones?instance_type=ml.g5.12xlarge")["zones"][0]["name"]
        start = time.perf_counter()
        operation = api("POST", "/clusters/launch", {"name": "bench", "storage": {"kind": "s3"}, "instance_groups": [
            {"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2, "zone": zone}]})["operation"]
        # What the twin itself took for each long resource, seen from outside.
        watch = ResourceTimes(ready["twin_aws"])
        while operation["state"] not in ("succeeded", "failed", "cancelled"):
            operation = api("GET", f"/operations/{operation['id']}?wait_seconds=20")["operation"]
        wall = time.perf_counter() - start
        times = watch.stop()
        if operation["state"] != "succeeded":
            raise SystemExit(f"launch ended {operation['state']}: {operation.get('error')}")
        # The twin holds a new role back for 8 s and a new access entry for 1.5 s of wall time, whatever its speed.
        critical = 8 + times.get("eks", 0) + 1.5 + times.get("hyperpod", 0) + times.get("nodes", 0)
        serial = critical + times.get("nat", 0) + times.get("addons", 0) + 8  # the second role
        row("launch at speed 60 against its critical path (role, EKS, access, HyperPod, nodes)", f"{wall:.1f} s", f"{critical:.1f} s", wall / critical)
        row("launch at speed 60 against the same one after another", f"{wall:.1f} s", f"{serial:.1f} s", wall / serial)
    finally:
        end(process)
        shutil.rmtree(folder)


class ResourceTimes:
    """Polls the twin and keeps how long each kind of resource was on its way."""

    def __init__(self, url):
        import boto3
        options = {"endpoint_url": url, "region_name": "us-west-2", "aws_access_key_id": "AKIATWIN000000000000", "aws_secret_access_key": "twin"}
        self.eks, self.ec2, self.sagemaker = (boto3.client(name, **options) for name in ("eks", "ec2", "sagemaker"))
        self.first, self.last, self.going = {}, {}, True
        self.thread = threading.Thread(target=self.poll)
        self.thread.start()

    def mark(self, kind, busy):
        now = time.perf_counter()
        if busy:
            self.first.setdefault(kind, now)
            self.last[kind] = now

    def poll(self):
        while self.going:
            try:
                self.mark("eks", self.eks.describe_cluster(name="bench")["cluster"]["status"] == "CREATING")
                addons = self.eks.list_addons(clusterName="bench")["addons"]
                self.mark("addons", any(self.eks.describe_addon(clusterName="bench", addonName=a)["addon"]["status"] == "CREATING" for a in addons[:4]))
            except Exception:  # noqa: BLE001 - not there yet
                pass
            try:
                self.mark("nat", any(n["State"] == "pending" for n in self.ec2.describe_nat_gateways()["NatGateways"]))
                cluster = self.sagemaker.describe_cluster(ClusterName="bench")
                self.mark("hyperpod", cluster["ClusterStatus"] == "Creating")
                nodes = self.sagemaker.list_cluster_nodes(ClusterName="bench")["ClusterNodeSummaries"]
                short = cluster["ClusterStatus"] == "InService" and (len(nodes) < 2 or any(n["InstanceStatus"]["Status"] != "Running" for n in nodes))
                self.mark("nodes", short)
            except Exception:  # noqa: BLE001
                pass
            time.sleep(0.05)

    def stop(self):
        self.going = False
        self.thread.join()
        return {kind: self.last[kind] - self.first[kind] for kind in self.first}


def journal():
    subprocess.run(["ninja", "-C", "build/release", "--quiet", "bench_journal"], cwd=ROOT, check=True)
    result = json.loads(subprocess.run([str(ROOT / "build/release/bench/bench_journal")], cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    ours, bare = result["operations_per_second"], result["bare_commits_per_second"]
    row("operations journalled a second against bare SQLite commits", f"{ours}/s", f"{bare}/s", ours / bare, better="higher")


def aws_calls():
    """The AWS client against boto3: one connection, one call after another, the same server with fixed answers."""
    subprocess.run(["ninja", "-C", "build/release", "--quiet", "bench_aws_calls"], cwd=ROOT, check=True)
    server = subprocess.Popen([sys.executable, "bench/aws_answers.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    endpoint = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    clients = ([str(ROOT / "build/release/bench/bench_aws_calls")], [str(ROOT / ".venv/bin/python"), "bench/aws_calls_boto3.py"])

    def measured(command, *call, count):
        done = subprocess.run([*command, endpoint, *call, str(count)], cwd=ROOT, capture_output=True, text=True, check=True)
        figures = json.loads(done.stdout)
        if figures["items"] != 100:
            raise SystemExit(f"{command}: read {figures['items']} of 100 items")
        return figures

    try:
        for call in (("sagemaker", "ListClusterNodes", '{"ClusterName":"demo","MaxResults":100}'), ("ec2", "DescribeSubnets", "{}")):
            # The least of three: what else the machine does only adds.
            ours = min((measured(clients[0], *call, count=2000) for _ in range(3)), key=lambda f: f["cpu_us_per_call"])
            peer = min((measured(clients[1], *call, count=300) for _ in range(3)), key=lambda f: f["cpu_us_per_call"])
            name = f"{call[0]} {call[1]} with 100 items against boto3"
            row(f"CPU a call of {name}", f"{ours['cpu_us_per_call']:.0f} us", f"{peer['cpu_us_per_call']:.0f} us",
                ours["cpu_us_per_call"] / peer["cpu_us_per_call"], limit=0.1)
            row(f"calls a second of {name}", f"{ours['calls_per_second']:.0f}/s", f"{peer['calls_per_second']:.0f}/s",
                ours["calls_per_second"] / peer["calls_per_second"], better="higher")
    finally:
        server.stdin.close()
        server.wait(10)


def read_latency():
    process, _, ready, folder = product(speed=6000)
    api = Api(ready["console"] + "/api/v1")
    try:
        # 1,000 small nodes: a /20 subnet in each of three zones has addresses for 334 of them.
        for name in ("ml.m5.large for cluster usage", "Maximum number of instances allowed per SageMaker HyperPod cluster",
                     "Total number of instances allowed across SageMaker HyperPod clusters"):
            urllib.request.urlopen(urllib.request.Request(ready["twin_aws"] + "/_twin/quotas", method="POST", data=json.dumps({"quota_name": name, "value": 2000}).encode()))
        zones = [zone["name"] for zone in api("GET", "/zones?instance_type=ml.m5.large")["zones"]][:3]
        operation = api("POST", "/clusters/launch", {"name": "fleet", "instance_groups": [
            {"name": f"workers-{i}", "instance_type": "ml.m5.large", "count": 334 if i else 332, "zone": zone} for i, zone in enumerate(zones)]})["operation"]
        while operation["state"] not in ("succeeded", "failed", "cancelled"):
            operation = api("GET", f"/operations/{operation['id']}?wait_seconds=20")["operation"]
        if operation["state"] != "succeeded":
            raise SystemExit(f"launch of 1000 nodes ended {operation['state']}: {operation.get('error')}")

        def percentile(path, count=300):
            import http.client
            host = ready["console"].removeprefix("http://")
            connection = http.client.HTTPConnection(host, timeout=30)
            samples = []
            for _ in range(count):
                begin = time.perf_counter()
                connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
                connection.getresponse().read()
                samples.append(time.perf_counter() - begin)
            samples.sort()
            return samples[len(samples) // 2], samples[int(len(samples) * 0.99)]

        health, cluster = percentile("/healthz"), percentile("/api/v1/clusters/fleet")
        row("cluster.get at 1,000 nodes against /healthz, median", f"{cluster[0] * 1000:.2f} ms", f"{health[0] * 1000:.2f} ms", cluster[0] / health[0])
        row("cluster.get at 1,000 nodes against /healthz, p99", f"{cluster[1] * 1000:.2f} ms", f"{health[1] * 1000:.2f} ms", cluster[1] / health[1])
    finally:
        end(process)
        shutil.rmtree(folder)


def main():
    os.chdir(ROOT)
    sys.path[:0] = [str(p) for p in (ROOT / ".venv/lib").glob("python3*/site-packages")]
    for part in (start_and_memory, launch_pipeline, journal, aws_calls, read_latency, kube_cache, fleet_latency):
        if len(sys.argv) > 1 and part.__name__ not in sys.argv[1:]:
            continue
        part()
    widths = [max(len(r[i]) for r in rows + [("what", "ours", "peer", "ratio", "limit")]) for i in range(5)]
    for line in [("what", "ours", "peer", "ratio", "limit"), *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)))
    if missed:
        print("limits missed: " + "; ".join(missed))
        sys.exit(1)


if __name__ == "__main__":
    main()
