"""Server-side apply: field managers, conflicts, forced ownership, lists with keys, giving fields up."""
from cases_objects import JSON_PATCH, MERGE, config_map, deployment
from lib_cases import case

APPLY = {"Content-Type": "application/apply-patch+yaml"}
SEE = ["reason", "code", "message", "details", "data", "spec", "metadata.managedFields", "metadata.labels"]


def apply(run, label, path, body, manager, more="", **options):
    return run.call(label, "PATCH", f"{path}?fieldManager={manager}{more}", body, APPLY, **options)


@case
def apply_creates_and_owns(run):
    run.make_namespace()
    path = "{ns}/configmaps/a"
    apply(run, "creates", path, config_map("a", x="1", y="1"), "one")
    first = apply(run, "the same again", path, config_map("a", x="1", y="1"), "one")
    again = apply(run, "and again", path, config_map("a", x="1", y="1"), "one")
    run.note("writes nothing", first.at("metadata.resourceVersion") == again.at("metadata.resourceVersion"))
    apply(run, "what is left out goes", path, config_map("a", x="1"), "one")
    apply(run, "another manager adds", path, config_map("a", z="1"), "two")
    apply(run, "both may say the same", path, config_map("a", z="1", x="1"), "two")
    apply(run, "conflict", path, config_map("a", x="2"), "two")
    apply(run, "conflict with one's own untouched", path, config_map("a", x="2", w="1"), "three")
    apply(run, "forced", path, config_map("a", x="2"), "three", "&force=true")
    apply(run, "the first one conflicts now", path, config_map("a", x="1"), "one")
    apply(run, "one gives up x", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, "one")
    apply(run, "YAML", path, b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  yaml: 'yes'\n", "four")
    run.call("an update owns too", "PATCH", path + "?fieldManager=editor", {"data": {"x": "9"}}, MERGE)
    apply(run, "conflict with an update", path, config_map("a", x="8"), "three")


@case
def apply_refusals(run):
    run.make_namespace()
    path = "{ns}/configmaps/a"
    run.call("no manager", "PATCH", path, config_map("a", x="1"), APPLY)
    apply(run, "no kind", path, {"metadata": {"name": "a"}}, "m", only=["reason", "code"])
    apply(run, "another name", path, config_map("b"), "m", only=["reason", "code"])
    apply(run, "another namespace", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "other"}}, "m", only=["reason", "code"])
    apply(run, "managed fields in the body", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}, "m", only=["reason", "code", "message"])
    apply(run, "a uid that is not", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "11111111-1111-1111-1111-111111111111"}}, "m", only=["reason", "code"])
    apply(run, "a revision that is not", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "5"}}, "m", only=["reason", "code"])
    apply(run, "broken YAML", path, b"a: [", "m", only=["reason", "code"])
    apply(run, "no such namespace", "/api/v1/namespaces/no-such/configmaps/a", config_map("a"), "m")
    apply(run, "wrong type", "{apps}/deployments/d", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": "two"}}, "m", only=["code"])
    apply(run, "bad name", "{ns}/configmaps/A_B", config_map("A_B"), "m", only=["reason", "code"])
    run.call("force without apply", "PATCH", "{ns}/configmaps/a?force=true", {"data": {}}, MERGE, only=["reason", "code"])
    apply(run, "creates", path, config_map("a", x="1"), "m")
    apply(run, "an old revision", path, {**config_map("a", x="2"), "metadata": {"name": "a", "resourceVersion": "1"}}, "m", only=["reason", "code"])


@case
def apply_lists_with_keys(run):
    run.make_namespace()
    path = "{apps}/deployments/d"
    apply(run, "creates", path, deployment("d"), "one", only=SEE)
    side = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox:1.36"}]}}}}
    apply(run, "another manager's container", path, side, "two", only=SEE)
    image = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:9"}]}}}}
    apply(run, "conflict over the image", path, image, "two", only=SEE)
    env = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
           "spec": {"template": {"spec": {"containers": [{"name": "web", "env": [{"name": "B", "value": "2"}], "ports": [{"containerPort": 443, "protocol": "TCP"}]}]}}}}
    apply(run, "an entry in a list of the other's", path, env, "three", only=SEE)
    empty = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    apply(run, "given up again", path, empty, "three", only=SEE)
    apply(run, "the container goes with its owner", path, empty, "two", only=SEE)
    twice = deployment("d")
    twice["spec"]["template"]["spec"]["containers"] *= 2
    apply(run, "an entry twice", path, twice, "one", only=["code"])
    replicas = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 0}}
    apply(run, "replicas of a second manager", path, replicas, "scaler", only=SEE)
    less = deployment("d")
    del less["spec"]["replicas"]
    apply(run, "the first gives replicas up", path, less, "one", only=SEE)
    run.call("and an update takes labels", "PATCH", path, {"metadata": {"labels": {"l": "1"}}}, {"Content-Type": "application/merge-patch+json"}, only=SEE)


@case
def apply_of_services(run):
    run.make_namespace()
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80, "name": "http"}]}}
    path = "{ns}/services/s"
    apply(run, "creates", path, body, "one")
    apply(run, "a second port of another", path, {**body, "spec": {"ports": [{"port": 443, "name": "https"}]}}, "two")
    apply(run, "the selector is one thing", path, {**body, "spec": {"selector": {"c": "d"}}}, "two")
    apply(run, "force it", path, {**body, "spec": {"selector": {"c": "d"}}}, "two", "&force=true")


@case
def apply_metadata(run):
    run.make_namespace()
    path = "{ns}/configmaps/a"
    meta = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"x": "1"}, "annotations": {"n": "1"}, "finalizers": ["example.com/one"]}}
    apply(run, "creates", path, meta, "one")
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"y": "1"}, "finalizers": ["example.com/two"]}}
    apply(run, "labels and finalizers are shared", path, other, "two")
    owner = run.must("POST", "{ns}/configmaps", config_map("owner")).at("metadata.uid")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner}
    apply(run, "owner references by uid", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": [reference]}}, "three")
    run.call("reset of managed fields", "PATCH", path, [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}], JSON_PATCH)
    apply(run, "after a reset all is free", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"x": "2"}}}, "four")
    run.call("finalizers away", "PATCH", path, {"metadata": {"finalizers": None}}, MERGE)


@case
def apply_of_status(run):
    run.make_namespace()
    run.must("POST", "{ns}/pods", {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"no": "node"}, "automountServiceAccountToken": False}})
    condition = {"type": "example.com/Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"conditions": [condition]}}
    see = ["code", "reason", "spec.containers"]
    answer = apply(run, "status", "{ns}/pods/p/status", body, "controller", only=see)
    run.note("its condition is there", [c for c in answer.at("status.conditions", []) if c["type"] == "example.com/Ready"])
    run.note("managed as a subresource", [f for f in answer.at("metadata.managedFields", []) if f["manager"] == "controller"])
    body["status"]["conditions"][0]["status"] = "False"
    answer = apply(run, "conflict in status", "{ns}/pods/p/status", body, "other", only=["code", "reason", "message", "details"])
    apply(run, "status through the object does nothing", "{ns}/pods/p", body, "other", only=see)
