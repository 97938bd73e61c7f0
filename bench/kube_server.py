#!/usr/bin/env python3
"""A fleet for the benchmarks, as cheap to serve as can be: a Kubernetes API server that lists and watches any number of nodes and pods,
and as much of AWS as `cluster.get` asks (EKS, SageMaker, STS) on the same port. Nothing is kept but counters: objects are made
from templates of the size that real ones have; a change is a restart of a pod's container, and every other one ends it. Prints {"ready": URL}.

  POST /bench/changes?count=N&rate=R   N changes of pods, R a second (0: as fast as they are taken)
  GET  /bench/changes                  how many have been made and how many each watch has been sent
"""
import argparse
import json
import socket
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARGS = None
TYPE = "ml.p5.48xlarge"
PAGE_PODS, CREATED = 100, "2026-11-30T10:00:00Z"


def managed_fields(depth):
    """What server-side apply leaves in every object: about as much as all the rest."""
    inner = {".": {}, **{f"f:field{i}": {} for i in range(depth)}}
    return [{"manager": manager, "operation": "Update", "apiVersion": "v1", "time": CREATED, "fieldsType": "FieldsV1",
             "fieldsV1": {"f:metadata": {"f:labels": inner}, "f:spec": {'k:{"name":"main"}': inner}, "f:status": {"f:conditions": {'k:{"type":"Ready"}': inner}}}}
            for manager in ("kube-controller-manager", "kubelet")]


def template(value):
    """JSON text with places like @NAME@ for what differs."""
    return json.dumps(value, separators=(",", ":"))


def pod_template():
    env = [{"name": f"SETTING_{i}", "value": f"value-of-setting-{i}"} for i in range(20)]
    conditions = [{"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": CREATED} for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")]
    image = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.7.1-gpu-py312-cu128-ubuntu22.04-ec2"
    return template({
        "metadata": {"name": "@NAME@", "generateName": "worker-", "namespace": "team-@SPACE@", "uid": "8f1c0f0e-0000-4000-8000-@UID@", "resourceVersion": "@VERSION@",
                     "creationTimestamp": CREATED, "labels": {"app": "train-@JOB@", "batch.kubernetes.io/job-name": "train-@JOB@", "kueue.x-k8s.io/queue-name": "queue-@SPACE@", "controller-uid": "8f1c0f0e-0000-4000-8000-000000000000"},
                     "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train-@JOB@", "uid": "8f1c0f0e-0000-4000-8000-000000000000", "controller": True, "blockOwnerDeletion": True}],
                     "managedFields": managed_fields(12)},
        "spec": {"volumes": [{"name": "kube-api-access", "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}, {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}], "defaultMode": 420}},
                             {"name": "shared", "persistentVolumeClaim": {"claimName": "shared"}}],
                 "containers": [{"name": "main", "image": image, "command": ["torchrun", "--nproc_per_node=8", "train.py"], "env": env,
                                 "resources": {"limits": {"cpu": "96", "memory": "1000Gi", "nvidia.com/gpu": "@GPUS@"}, "requests": {"cpu": "96", "memory": "1000Gi", "nvidia.com/gpu": "@GPUS@"}},
                                 "volumeMounts": [{"name": "shared", "mountPath": "/data"}, {"name": "kube-api-access", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
                                 "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "imagePullPolicy": "IfNotPresent"}],
                 "restartPolicy": "OnFailure", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "serviceAccountName": "default", "nodeName": "@NODE@", "securityContext": {}, "schedulerName": "default-scheduler",
                 "tolerations": [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")], "priority": 0, "enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority"},
        "status": {"phase": "@PHASE@", "conditions": conditions, "hostIP": "10.0.0.1", "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}], "startTime": CREATED, "qosClass": "Guaranteed",
                   "containerStatuses": [{"name": "main", "state": {"running": {"startedAt": CREATED}}, "lastState": {}, "ready": True, "restartCount": "@RESTARTS@", "image": image,
                                          "imageID": image + "@sha256:" + "0" * 64, "containerID": "containerd://" + "0" * 64, "started": True}]},
    }).replace('"@RESTARTS@"', "@RESTARTS@")


def node_template():
    names = ["amazon-k8s-cni", "kube-proxy", "pause", "pytorch-training", "nvidia-device-plugin", "dcgm-exporter", "hyperpod-health", "efa-plugin", "mountpoint-s3", "coredns"]
    images = [{"names": [f"602401143452.dkr.ecr.us-west-2.amazonaws.com/{name}@sha256:{'0' * 64}", f"602401143452.dkr.ecr.us-west-2.amazonaws.com/{name}:v1"], "sizeBytes": 123456789} for name in names * 2]
    conditions = [{"type": kind, "status": status, "lastHeartbeatTime": "@BEAT@", "lastTransitionTime": CREATED, "reason": "Kubelet" + kind, "message": "kubelet says " + kind}
                  for kind, status in (("MemoryPressure", "False"), ("DiskPressure", "False"), ("PIDPressure", "False"), ("Ready", "True"))]
    sizes = {"cpu": "192", "memory": "2097152000Ki", "nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "pods": "110", "ephemeral-storage": "500Gi", "hugepages-2Mi": "0"}
    return template({
        "metadata": {"name": "@NODE@", "uid": "9f1c0f0e-0000-4000-8000-@UID@", "resourceVersion": "@VERSION@", "creationTimestamp": CREATED, "managedFields": managed_fields(12),
                     "labels": {"kubernetes.io/hostname": "@NODE@", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": TYPE, "topology.kubernetes.io/zone": "us-west-2a",
                                "topology.kubernetes.io/region": "us-west-2", "sagemaker.amazonaws.com/instance-group-name": "workers-@GROUP@", "sagemaker.amazonaws.com/node-health-status": "Schedulable",
                                "sagemaker.amazonaws.com/compute-type": "hyperpod", "sagemaker.amazonaws.com/cluster-name": "fleet"},
                     "annotations": {"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
        "spec": {"providerID": "aws:///us-west-2a/sagemaker/cluster/hyperpod-@NODE@"},
        "status": {"capacity": sizes, "allocatable": sizes, "conditions": conditions, "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}, {"type": "Hostname", "address": "@NODE@"}],
                   "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}, "images": images,
                   "nodeInfo": {"machineID": "0" * 32, "systemUUID": "0" * 36, "bootID": "0" * 36, "kernelVersion": "6.1.0", "osImage": "Amazon Linux 2023", "containerRuntimeVersion": "containerd://1.7.27", "kubeletVersion": "v1.33.1-eks", "kubeProxyVersion": "v1.33.1-eks", "operatingSystem": "linux", "architecture": "amd64"}},
    })


class Template:
    def __init__(self, text):
        parts = text.replace("%", "%%").split("@")
        self.names, self.text = parts[1::2], "%s".join(parts[::2])

    def fill(self, **values):
        return self.text % tuple(values[name] for name in self.names)


class Fleet:
    def __init__(self, nodes, pods):
        self.nodes, self.pods = nodes, pods
        # An image's digest has an @ of its own, which is no place.
        self.pod = Template(pod_template().replace("@sha256", "%40sha256"))
        self.node = Template(node_template().replace("@sha256", "%40sha256"))
        self.version, self.made, self.sent = 1000, 0, 0
        self.restarts = {}
        self.condition = threading.Condition()
        self.changes = []  # (version, pod number), never shortened: a benchmark is short

    def instance(self, i):
        return f"i-{i:017x}"

    def node_text(self, i):
        return self.node.fill(NODE="hyperpod-" + self.instance(i), UID=f"{i:012x}", VERSION="900", GROUP=str(i % 20), BEAT=CREATED)

    def pod_text(self, i, version="900"):
        return self.pod.fill(NAME=f"worker-{i:06d}-abcde", SPACE=str(i % 10), UID=f"{i:012x}", VERSION=version, JOB=str(i // 100),
                             NODE="hyperpod-" + self.instance(i % self.nodes), GPUS="1" if i % 2 else "0", RESTARTS=str(self.restarts.get(i, 0)), PHASE="Succeeded" if self.restarts.get(i, 0) % 2 else "Running")

    def change(self, count, rate):
        began = time.perf_counter()
        for n in range(count):
            with self.condition:
                self.version += 1
                pod = (n * 7919) % self.pods
                self.restarts[pod] = self.restarts.get(pod, 0) + 1
                self.changes.append((self.version, pod))
                self.made += 1
                self.condition.notify_all()
            if rate and (ahead := n / rate - (time.perf_counter() - began)) > 0.002:
                time.sleep(ahead)


FLEET = None


def status(code, reason):
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": reason}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, code, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_one(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.sent_body = self.rfile.read(length) if length else b""
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        try:
            if url.path == "/bench/changes":
                self.changes(query)
            elif url.path.startswith("/kube/") or "Authorization" not in self.headers or url.path.startswith("/api"):
                self.kubernetes(url.path.removeprefix("/kube"), query)
            else:
                self.aws(url.path, query)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

    def changes(self, query):
        if self.command == "POST":
            threading.Thread(target=FLEET.change, args=(int(query["count"]), float(query.get("rate", 0))), daemon=True).start()
        self.answer(200, {"made": FLEET.made, "version": FLEET.version, "sent": FLEET.sent})

    # --- Kubernetes ---

    def kubernetes(self, path, query):
        kinds = {"/api/v1/nodes": ("NodeList", FLEET.nodes, FLEET.node_text), "/api/v1/pods": ("PodList", FLEET.pods, FLEET.pod_text)}
        if path in kinds:
            if query.get("watch") in ("1", "true"):
                return self.watch(path, query)
            return self.list(*kinds[path], query)
        if path.startswith("/api/v1/") and path.count("/") == 3:
            return self.list("List", 0, None, query)
        return self.answer(*status(404, "NotFound"))

    def list(self, kind, count, text, query):
        begin = int(query.get("continue") or 0)
        end = min(count, begin + int(query.get("limit") or count or 1))
        head = {"resourceVersion": str(FLEET.version)}
        if end < count:
            head["continue"] = str(end)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.chunk('{"kind":"%s","apiVersion":"v1","metadata":%s,"items":[' % (kind, json.dumps(head)))
        for at in range(begin, end, PAGE_PODS):
            some = ",".join(text(i) for i in range(at, min(end, at + PAGE_PODS)))
            self.chunk(("," if at > begin else "") + some)
        self.chunk("]}\n")
        self.wfile.write(b"0\r\n\r\n")

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def watch(self, path, query):
        seen = int(query.get("resourceVersion") or 0)
        until = time.time() + float(query.get("timeoutSeconds") or 300)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        kind = "Pod" if path.endswith("pods") else "Node"
        while time.time() < until:
            with FLEET.condition:
                if kind == "Node" or not FLEET.changes or FLEET.changes[-1][0] <= seen:
                    FLEET.condition.wait(5 if kind == "Pod" else 30)
                fresh = [] if kind == "Node" else FLEET.changes[max(0, len(FLEET.changes) - (FLEET.version - seen)):][:200]
            lines = ['{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",' + FLEET.pod_text(pod, str(version))[1:] + "}\n" for version, pod in fresh]
            if fresh:
                seen = fresh[-1][0]
            else:
                lines.append('{"type":"BOOKMARK","object":{"kind":"%s","apiVersion":"v1","metadata":{"resourceVersion":"%d"}}}\n' % (kind, max(seen, FLEET.version if kind == "Node" else seen)))
            self.chunk("".join(lines))
            FLEET.sent += len(fresh)
        self.wfile.write(b"0\r\n\r\n")

    # --- AWS, as much as is asked ---

    def aws(self, path, query):
        target = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        if target:
            return self.sagemaker(target, json.loads(self.sent_body or b"{}"))
        if path == "/" and b"GetCallerIdentity" in self.sent_body:
            return self.answer(200, b"<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::111122223333:user/bench</Arn><UserId>AIDA</UserId>"
                               b"<Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>", "text/xml")
        if path == "/clusters":
            return self.answer(200, {"clusters": ["fleet"]})
        if path == "/clusters/fleet":
            host = self.headers["Host"]
            return self.answer(200, {"cluster": {"name": "fleet", "arn": "arn:aws:eks:us-west-2:111122223333:cluster/fleet", "status": "ACTIVE", "version": "1.33", "createdAt": 1796000000.0,
                                                 "endpoint": f"http://{host}/kube", "certificateAuthority": {"data": ""}, "tags": {"instantstart:cluster": "fleet"}, "resourcesVpcConfig": {"vpcId": "vpc-1", "subnetIds": []}}})
        self.send_response(404)
        body = json.dumps({"message": "there is none"}).encode()
        self.send_header("x-amzn-ErrorType", "ResourceNotFoundException")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def sagemaker(self, operation, given):
        arn = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
        if operation == "DescribeCluster":
            groups = [{"InstanceGroupName": f"workers-{i}", "InstanceType": TYPE, "CurrentCount": FLEET.nodes // 20, "TargetCount": FLEET.nodes // 20, "Status": "InService"} for i in range(20)]
            return self.answer(200, {"ClusterArn": arn, "ClusterName": "fleet", "ClusterStatus": "InService", "NodeRecovery": "Automatic", "InstanceGroups": groups,
                                     "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/fleet"}}})
        if operation == "ListClusterNodes":
            begin = int(given.get("NextToken") or 0)
            end = min(FLEET.nodes, begin + int(given.get("MaxResults") or 100))
            rows = [{"InstanceGroupName": f"workers-{i % 20}", "InstanceId": FLEET.instance(i), "InstanceType": TYPE, "LaunchTime": 1796000000.0, "InstanceStatus": {"Status": "Running"}} for i in range(begin, end)]
            return self.answer(200, {"ClusterNodeSummaries": rows, **({"NextToken": str(end)} if end < FLEET.nodes else {})})
        if operation == "ListClusters":
            return self.answer(200, {"ClusterSummaries": [{"ClusterArn": arn, "ClusterName": "fleet", "CreationTime": 1796000000.0, "ClusterStatus": "InService"}]})
        return self.answer(200, {"Events": []})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    address_family = socket.AF_INET


def main():
    global FLEET
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--pods", type=int, default=100_000)
    args = parser.parse_args()
    FLEET = Fleet(args.nodes, args.pods)
    server = Server(("127.0.0.1", 0), Handler)
    print(json.dumps({"ready": f"http://127.0.0.1:{server.server_address[1]}"}), flush=True)
    sys.setswitchinterval(0.001)
    server.serve_forever()


if __name__ == "__main__":
    main()
