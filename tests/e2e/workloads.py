"""A day on a cluster with kubectl alone: rollouts, jobs, drains, quotas and images that cannot be pulled, told in the words of a real cluster."""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import Product, check, finish  # noqa: E402


def container(image="app:1", **more):
    return {"name": "main", "image": image, **more}


def deployment(name, replicas, **spec):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container()], **spec}}}}


def job(name, command, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {**spec, "template": {"spec": {"restartPolicy": "Never", "containers": [container(command=command)]}}}}


product = Product()
try:
    def kubectl(*words, stdin=None, timeout=120):
        return product.shell("kubectl", "--request-timeout=60s", *words, stdin=None if stdin is None else json.dumps(stdin), timeout=timeout)

    def until(what, good, *words, limit=60):
        """Asks until the answer is good."""
        end = time.time() + limit
        while True:
            code, text = kubectl(*words)
            if (code == 0 and good(text)) or time.time() > end:
                return check(what, code == 0 and good(text), text[-1500:])
            time.sleep(0.2)

    def events(about, *words):
        until(f"events of {about}: {' / '.join(words)}", lambda text: all(word in text for word in words),
              "get", "events", "--field-selector", f"involvedObject.name={about}", "-o", "custom-columns=R:.reason,M:.message", "--no-headers")

    zone = product.api("GET", "/zones?instance_type=ml.g5.12xlarge")[1]["zones"][0]["name"]
    product.run("POST", "/clusters/launch", {"name": "demo", "instance_groups": [
        {"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2, "zone": zone}]}, limit=400)
    code, text = product.shell("aws", "eks", "update-kubeconfig", "--name", "demo")
    check("aws eks update-kubeconfig", code == 0, text)
    until("both nodes are ready", lambda text: text.split() == ["True", "True"], "get", "nodes", "-o",
          "jsonpath={range .items[*]}{.status.conditions[?(@.type==\"Ready\")].status} {end}")
    nodes = kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}")[1].split()

    # Rollouts.
    code, text = kubectl("apply", "-f", "-", stdin=deployment("web", 4))
    check("a deployment is applied", code == 0, text)
    code, text = kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    check("rollout status ends well", code == 0 and 'deployment "web" successfully rolled out' in text, text)
    events("web", "ScalingReplicaSet", "from 0 to 4")
    code, text = kubectl("set", "image", "deployment/web", "main=registry.invalid/web:2")
    check("an image that cannot be had is set", code == 0, text)
    until("its pods say why they wait", lambda text: "ImagePullBackOff" in text or "ErrImagePull" in text, "get", "pods", "-l", "app=web", "--no-headers")
    until("the pull is told", lambda text: "Back-off pulling image \"registry.invalid/web:2\"" in text and "no such host" in text, "get", "events", "-o",
          "custom-columns=M:.message")
    code, text = kubectl("rollout", "undo", "deployment/web")
    check("rollout undo", code == 0 and "rolled back" in text, text)
    code, text = kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    check("the old image serves again", code == 0, text)
    code, text = kubectl("rollout", "history", "deployment/web")
    check("the history counts on", code == 0 and "3" in text.split(), text)
    code, text = kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
    check("wait for Available", code == 0 and "condition met" in text, text)
    code, text = kubectl("describe", "deployment", "web")
    check("describe shows the rollout", code == 0 and "NewReplicaSetAvailable" in text and "4 available" in text, text)

    # Services.
    kubectl("expose", "deployment", "web", "--type=LoadBalancer", "--port=80", "--target-port=8080", "--name=public")
    until("a service gets its load balancer's name", lambda text: text.strip().endswith(".us-west-2.elb.amazonaws.com"), "get", "service", "public", "-o",
          "jsonpath={.status.loadBalancer.ingress[0].hostname}")
    events("public", "EnsuredLoadBalancer")
    until("its endpoints are its pods", lambda text: len(text.split()) == 4, "get", "endpointslices", "-l", "kubernetes.io/service-name=public", "-o",
          "jsonpath={range .items[*].endpoints[*]}{.addresses[0]} {end}")
    code, text = kubectl("delete", "service", "public", "--timeout=60s")
    check("it goes once the load balancer is gone", code == 0 and "deleted" in text, text)

    # Images by the control.
    def fail_images(failure):
        return product.http("POST", "/_twin/clusters/demo/images", {"prefix": "docker.io/library/secret", "failure": failure}, base=product.aws, token=None)

    status, _, answer = fail_images("broken")
    check("the control names the member at fault", status == 400 and b"/failure" in answer, answer)
    status, _, answer = fail_images("denied")
    check("images of a name cannot be pulled", status == 200, answer)
    kubectl("run", "private", "--image=secret:1")
    events("private", "Failed", "pull access denied", "ErrImagePull")

    # What does not fit.
    kubectl("apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "large"}, "spec": {
        "containers": [container(resources={"limits": {"nvidia.com/gpu": "64"}})]}})
    events("large", "FailedScheduling", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
           "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
    code, text = kubectl("describe", "pod", "large")
    check("describe pod shows the events", code == 0 and "Insufficient nvidia.com/gpu" in text, text)

    # Priorities.
    kubectl("create", "priorityclass", "low", "--value=-10", "--global-default=true")
    kubectl("create", "priorityclass", "high", "--value=1000")
    kubectl("create", "priorityclass", "polite", "--value=900", "--preemption-policy=Never")
    allocatable = kubectl("get", "node", nodes[0], "-o", "jsonpath={.status.allocatable.cpu}")[1].strip()
    most = int(allocatable[:-1]) if allocatable.endswith("m") else int(allocatable) * 1000
    whole = container(resources={"requests": {"cpu": f"{most * 7 // 10}m"}})
    for name in ("filler-0", "filler-1"):
        kubectl("apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [whole]}})
    code, text = kubectl("wait", "--for=condition=Ready", "pod/filler-0", "pod/filler-1", "--timeout=60s")
    check("both nodes are full of the global default's priority", code == 0, text)
    kubectl("apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "polite"}, "spec": {"priorityClassName": "polite", "containers": [whole]}})
    events("polite", "2 Insufficient cpu", "preemption: not eligible due to preemptionPolicy=Never.")
    kubectl("apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "urgent"}, "spec": {"priorityClassName": "high", "containers": [whole]}})
    code, text = kubectl("wait", "--for=condition=Ready", "pod/urgent", "--timeout=60s")
    check("a pod of high priority takes the place of one of low priority", code == 0, text)
    until("which is told", lambda text: "Preempted by pod " in text, "get", "events", "-o", "custom-columns=M:.message")
    kubectl("delete", "pod", "filler-0", "filler-1", "urgent", "polite", "--ignore-not-found", "--wait=false")
    kubectl("delete", "priorityclass", "low", "high", "polite")

    # Jobs.
    kubectl("apply", "-f", "-", stdin=job("good", ["sh", "-c", "sleep 5"], completions=3, parallelism=3, completionMode="Indexed"))
    code, text = kubectl("wait", "--for=condition=Complete", "job/good", "--timeout=60s")
    check("a job completes", code == 0, text)
    code, text = kubectl("get", "job", "good", "-o", "jsonpath={.status.completedIndexes}")
    check("its indexes are told", code == 0 and text.strip() == "0-2", text)
    kubectl("apply", "-f", "-", stdin=job("bad", ["sh", "-c", "exit 3"], backoffLimit=1))
    code, text = kubectl("wait", "--for=condition=Failed", "job/bad", "--timeout=60s")
    check("a failing job fails", code == 0, text)
    events("bad", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    kubectl("apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "crash"}, "spec": {"containers": [container(command=["sh", "-c", "exit 1"])]}})
    until("a failing container is in back-off", lambda text: "CrashLoopBackOff" in text, "get", "pod", "crash", "--no-headers")
    events("crash", "BackOff", "Back-off restarting failed container main in pod crash_default(")

    # Sets.
    kubectl("apply", "-f", "-", stdin={"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "replicas": 2, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container()]}}}})
    code, text = kubectl("rollout", "status", "statefulset/db", "--timeout=60s")
    check("a stateful set rolls out", code == 0, text)
    code, text = kubectl("rollout", "history", "statefulset/db")
    check("its history has a revision", code == 0 and "1" in text.split(), text)
    kubectl("apply", "-f", "-", stdin={"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {
        "selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container()]}}}})
    code, text = kubectl("rollout", "status", "daemonset/agent", "--timeout=60s")
    check("a daemon set rolls out", code == 0, text)

    # Nodes.
    kubectl("apply", "-f", "-", stdin={"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": {
        "maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}})
    until("the budget is counted", lambda text: text.strip() == "1", "get", "pdb", "web", "-o", "jsonpath={.status.disruptionsAllowed}")
    code, text = kubectl("cordon", nodes[0])
    check("cordon", code == 0 and "cordoned" in text, text)
    until("the node shows it", lambda text: "SchedulingDisabled" in text, "get", "node", nodes[0], "--no-headers")
    code, text = kubectl("drain", nodes[0], "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=100s", timeout=130)
    check("drain ends well", code == 0 and "drained" in text, text[-1500:])
    until("the pods serve on the other node", lambda text: text.split() == [nodes[1]] * 4, "get", "pods", "-l", "app=web",
          "--field-selector=status.phase=Running", "-o", "jsonpath={range .items[*]}{.spec.nodeName} {end}")
    code, text = kubectl("uncordon", nodes[0])
    check("uncordon", code == 0, text)
    code, text = kubectl("taint", "node", nodes[1], "repair=now:NoExecute")
    check("a taint that evicts", code == 0, text)
    until("the pods move", lambda text: text.split() == [nodes[0]] * 4, "get", "pods", "-l", "app=web", "--field-selector=status.phase=Running", "-o",
          "jsonpath={range .items[*]}{.spec.nodeName} {end}")
    until("the eviction is told", lambda text: "Marking for deletion Pod default/web-" in text, "get", "events", "-o", "custom-columns=M:.message")
    kubectl("taint", "node", nodes[1], "repair-")

    # Quotas.
    kubectl("create", "namespace", "team")
    kubectl("create", "quota", "q", "-n", "team", "--hard=pods=1,requests.nvidia.com/gpu=2")
    until("the quota is counted", lambda text: text.strip() == "0", "get", "quota", "q", "-n", "team", "-o", "jsonpath={.status.used.pods}")
    code, text = kubectl("run", "one", "-n", "team", "--image=app:1")
    check("the first pod is taken", code == 0, text)
    code, text = kubectl("run", "two", "-n", "team", "--image=app:1")
    check("the second is refused in a quota's words", code != 0 and 'pods "two" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1' in text, text)

    # Claims.
    kubectl("apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": {
        "storageClassName": "gp2", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    events("data", "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
    kubectl("apply", "-f", "-", stdin={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "user"}, "spec": {
        "containers": [container(volumeMounts=[{"name": "v", "mountPath": "/data"}])], "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}})
    code, text = kubectl("wait", "--for=condition=Ready", "pod/user", "--timeout=60s")
    check("a pod with a claim becomes ready", code == 0, text)
    code, text = kubectl("get", "pvc", "data", "--no-headers")
    check("its claim is bound", code == 0 and "Bound" in text, text)
finally:
    product.stop()
finish()
