"""create, get, update and all patch types of built-in kinds; names, validation, dry run, field validation."""
from lib_cases import case

MERGE = {"Content-Type": "application/merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "main", "image": "busybox:1.36", "command": ["sleep", "1000"]}], **spec}}


def deployment(name, replicas=0):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [
                         {"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "1"}]}]}}}}


@case
def config_maps(run):
    run.make_namespace()
    run.call("create", "POST", "{ns}/configmaps", config_map("a", x="1"))
    run.call("create again", "POST", "{ns}/configmaps", config_map("a", x="1"))
    run.call("get", "GET", "{ns}/configmaps/a")
    run.call("get what is not there", "GET", "{ns}/configmaps/none")
    run.call("in a namespace that is not there", "POST", "/api/v1/namespaces/no-such/configmaps", config_map("a"))
    run.call("of another kind", "POST", "{ns}/configmaps", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})
    run.call("of another version", "POST", "{ns}/configmaps", {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "s"}})
    run.call("without kind and version", "POST", "{ns}/configmaps", {"metadata": {"name": "bare"}, "data": {"a": "b"}})
    run.call("of another namespace", "POST", "{ns}/configmaps", {"metadata": {"name": "s", "namespace": "other"}})
    run.call("without a name", "POST", "{ns}/configmaps", {"metadata": {}, "data": {}})
    run.call("with a bad name", "POST", "{ns}/configmaps", config_map("Bad_Name"))
    run.call("with a bad label", "POST", "{ns}/configmaps", {"metadata": {"name": "l", "labels": {"a b": "c"}}})
    run.call("with a bad annotation", "POST", "{ns}/configmaps", {"metadata": {"name": "l", "annotations": {"a b": "c"}}})
    run.call("with a bad data key", "POST", "{ns}/configmaps", {"metadata": {"name": "l"}, "data": {"a b": "c"}})
    run.call("with a number as data", "POST", "{ns}/configmaps", {"metadata": {"name": "l"}, "data": {"a": 1}})
    run.call("body that is no JSON", "POST", "{ns}/configmaps", b"{broken", {"Content-Type": "application/json"}, only=["kind", "reason", "code"])
    run.call("body that is a list", "POST", "{ns}/configmaps", b"[]", {"Content-Type": "application/json"}, only=["kind", "reason", "code"])
    run.call("empty body", "POST", "{ns}/configmaps", b"", {"Content-Type": "application/json"}, only=["kind", "reason", "code"])
    run.call("unknown content type", "POST", "{ns}/configmaps", b"a=b", {"Content-Type": "text/csv"}, only=["kind", "reason", "code"])
    run.call("YAML", "POST", "{ns}/configmaps", b"metadata:\n  name: yaml\ndata:\n  a: b\n", {"Content-Type": "application/yaml"})
    run.call("with a resource version", "POST", "{ns}/configmaps", {"metadata": {"name": "rv", "resourceVersion": "5"}})
    run.call("with server-owned metadata", "POST", "{ns}/configmaps", {
        "metadata": {"name": "owned", "uid": "11111111-1111-1111-1111-111111111111", "generation": 7, "creationTimestamp": "2020-01-01T00:00:00Z", "selfLink": "/x"}})
    run.call("immutable", "POST", "{ns}/configmaps", {"metadata": {"name": "fixed"}, "immutable": True, "data": {"a": "1"}})
    run.call("change of an immutable one", "PATCH", "{ns}/configmaps/fixed", {"data": {"a": "2"}}, MERGE)
    run.call("binary", "POST", "{ns}/configmaps", {"metadata": {"name": "bytes"}, "binaryData": {"a": "AAEC"}})
    run.call("bad base64", "POST", "{ns}/configmaps", {"metadata": {"name": "bytes2"}, "binaryData": {"a": "***"}}, only=["kind", "reason", "code"])
    run.call("method not allowed", "POST", "{ns}/configmaps/a", config_map("a"), only=["kind", "reason", "code"])
    run.call("no such kind", "GET", "{ns}/nothings", only=["kind", "reason", "code", "status"])
    run.call("no such group", "GET", "/apis/nothing.example/v1/things")
    run.call("no such subresource", "GET", "{ns}/configmaps/a/status", only=["kind", "reason", "code"])
    run.call("who is this", "GET", "/api/v1/namespaces", headers={"Authorization": "Bearer wrong"})
    run.call("HEAD", "HEAD", "{ns}/configmaps/a")


@case
def generated_names(run):
    run.make_namespace()
    made = run.quiet("POST", "{ns}/configmaps", {"metadata": {"generateName": "run-"}, "data": {"a": "1"}})
    name = made.at("metadata.name", "")
    run.names[name] = "<generated>"
    run.note("answer", {"status": made.status, "body": made.body})
    run.note("form", [name.startswith("run-"), len(name), name[4:].isalnum()])
    long = run.quiet("POST", "{ns}/configmaps", {"metadata": {"generateName": "x" * 80 + "-"}}).at("metadata.name", "")
    run.note("a long prefix is cut", [len(long), long.startswith("x" * 58)])
    both = run.call("a name goes before", "POST", "{ns}/configmaps", {"metadata": {"generateName": "run-", "name": "chosen"}})
    run.note("chosen", both.at("metadata.name"))
    run.call("bad prefix", "POST", "{ns}/configmaps", {"metadata": {"generateName": "Run_"}}, only=["reason", "code", "details.causes.0.field"])


@case
def updates(run):
    run.make_namespace()
    first = run.must("POST", "{ns}/configmaps", config_map("a", x="1"))
    body = first.body
    body["data"] = {"x": "2"}
    second = run.call("update with the present revision", "PUT", "{ns}/configmaps/a", body)
    run.note("revision grows", int(second.at("metadata.resourceVersion")) > int(first.at("metadata.resourceVersion")))
    body["data"] = {"x": "3"}
    run.call("update with an old revision", "PUT", "{ns}/configmaps/a", body)
    run.call("update without a revision", "PUT", "{ns}/configmaps/a", config_map("a", y="1"))
    same = run.call("the same again", "PUT", "{ns}/configmaps/a", config_map("a", y="1"))
    again = run.call("and again", "PUT", "{ns}/configmaps/a", config_map("a", y="1"))
    run.note("nothing written", same.at("metadata.resourceVersion") == again.at("metadata.resourceVersion"))
    wrong = config_map("a", y="2")
    wrong["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111"
    run.call("with another uid", "PUT", "{ns}/configmaps/a", wrong)
    run.call("with another name", "PUT", "{ns}/configmaps/a", config_map("b"))
    run.call("of what is not there", "PUT", "{ns}/configmaps/none", config_map("none"))
    run.call("with a bad revision", "PUT", "{ns}/configmaps/a", {"metadata": {"name": "a", "resourceVersion": "abc"}}, only=["reason", "code"])
    run.call("as another manager", "PUT", "{ns}/configmaps/a?fieldManager=second", config_map("a", y="1", z="1"))
    long = "m" * 129
    run.call("too long a manager", "PUT", f"{{ns}}/configmaps/a?fieldManager={long}", config_map("a", y="1", z="2"), only=["reason", "code", "details"])


@case
def patches(run):
    run.make_namespace()
    run.must("POST", "{ns}/configmaps", config_map("a", x="1", y="2"))
    run.call("merge", "PATCH", "{ns}/configmaps/a", {"data": {"x": None, "z": "3"}, "metadata": {"labels": {"k": "v"}}}, MERGE)
    run.call("merge that changes nothing", "PATCH", "{ns}/configmaps/a", {"data": {"z": "3"}}, MERGE)
    run.call("merge with an old revision", "PATCH", "{ns}/configmaps/a", {"metadata": {"resourceVersion": "1"}, "data": {"z": "4"}}, MERGE)
    run.call("merge of what is not there", "PATCH", "{ns}/configmaps/none", {"data": {}}, MERGE)
    run.call("merge that is no JSON", "PATCH", "{ns}/configmaps/a", b"{oops", MERGE, only=["kind", "reason", "code"])
    run.call("merge that renames", "PATCH", "{ns}/configmaps/a", {"metadata": {"name": "b"}}, MERGE, only=["kind", "reason", "code"])
    run.call("JSON patch", "PATCH", "{ns}/configmaps/a", [{"op": "test", "path": "/data/z", "value": "3"}, {"op": "replace", "path": "/data/z", "value": "4"},
                                                          {"op": "add", "path": "/metadata/annotations", "value": {"a~b/c": "1"}}], JSON_PATCH)
    run.call("JSON patch: escaped path", "PATCH", "{ns}/configmaps/a", [{"op": "replace", "path": "/metadata/annotations/a~0b~1c", "value": "2"},
                                                                       {"op": "copy", "from": "/data/z", "path": "/data/w"}, {"op": "move", "from": "/data/w", "path": "/data/v"}], JSON_PATCH)
    run.call("JSON patch: test fails", "PATCH", "{ns}/configmaps/a", [{"op": "test", "path": "/data/z", "value": "no"}], JSON_PATCH, only=["kind", "reason", "code"])
    run.call("JSON patch: removes what is not there", "PATCH", "{ns}/configmaps/a", [{"op": "remove", "path": "/data/none"}], JSON_PATCH, only=["kind", "reason", "code"])
    run.call("JSON patch: unknown operation", "PATCH", "{ns}/configmaps/a", [{"op": "frobnicate", "path": "/data"}], JSON_PATCH, only=["kind", "code"])
    run.call("JSON patch that is an object", "PATCH", "{ns}/configmaps/a", {"op": "remove"}, JSON_PATCH, only=["kind", "reason", "code"])
    run.call("unknown patch type", "PATCH", "{ns}/configmaps/a", {"data": {}}, {"Content-Type": "application/json"}, only=["kind", "reason", "code"])
    run.call("no patch type", "PATCH", "{ns}/configmaps/a", b"{}", {"Content-Type": ""}, only=["kind", "reason", "code"])


@case
def strategic_patches(run):
    run.make_namespace()
    run.must("POST", "{apps}/deployments", deployment("d"))
    path = "{apps}/deployments/d"
    see = ["spec.template.spec.containers", "spec.template.metadata", "metadata.labels", "spec.replicas", "spec.template.spec.tolerations", "spec.strategy", "spec.template.spec.volumes"]

    def patch(label, spec, **more):
        run.call(label, "PATCH", path, {"spec": {"template": {"spec": spec}}, **more}, STRATEGIC, only=see)

    patch("a container is merged by name", {"containers": [{"name": "web", "image": "nginx:1.28"}]})
    patch("a second container", {"containers": [{"name": "side", "image": "busybox:1.36"}]})
    patch("environment by name", {"containers": [{"name": "web", "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "9"}]}]})
    patch("ports by number", {"containers": [{"name": "web", "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 443}]}]})
    patch("delete an entry", {"containers": [{"name": "side", "$patch": "delete"}]})
    patch("tolerations are replaced", {"tolerations": [{"key": "a", "operator": "Exists"}]})
    patch("tolerations again", {"tolerations": [{"key": "b", "operator": "Exists"}]})
    patch("volumes keep one source", {"volumes": [{"name": "v", "emptyDir": {}}]})
    patch("a volume of another source", {"volumes": [{"name": "v", "emptyDir": None, "configMap": {"name": "c"}}]})
    patch("order of the list", {"$setElementOrder/containers": [{"name": "side"}, {"name": "web"}], "containers": [{"name": "side", "image": "busybox:1"}]})
    patch("replace the whole list", {"containers": [{"$patch": "replace"}, {"name": "only", "image": "nginx:2"}]})
    run.call("strategy with retained keys", "PATCH", path, {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}, STRATEGIC, only=see)
    run.call("a null deletes", "PATCH", path, {"metadata": {"labels": {"x": "1"}}}, STRATEGIC, only=see)
    run.call("a null deletes what was set", "PATCH", path, {"metadata": {"labels": {"x": None}}}, STRATEGIC, only=see)
    run.must("POST", "{ns}/serviceaccounts", {"metadata": {"name": "sa", "finalizers": ["example.com/a"]}, "secrets": [{"name": "s1"}]})
    account = "{ns}/serviceaccounts/sa"
    run.call("primitive list merges", "PATCH", account, {"metadata": {"finalizers": ["example.com/b"]}}, STRATEGIC, only=["metadata.finalizers"])
    run.call("delete from a primitive list", "PATCH", account, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}}, STRATEGIC, only=["metadata.finalizers"])
    run.call("none is left", "PATCH", account, {"metadata": {"finalizers": None}}, STRATEGIC, only=["metadata.finalizers"])


@case
def dry_run(run):
    run.make_namespace()
    run.call("create", "POST", "{ns}/configmaps?dryRun=All", config_map("a", x="1"), without=["metadata.resourceVersion"])
    run.call("nothing was stored", "GET", "{ns}/configmaps/a")
    run.call("unknown directive", "POST", "{ns}/configmaps?dryRun=Some", config_map("a"), only=["reason", "code", "details"])
    first = run.must("POST", "{ns}/configmaps", config_map("a", x="1"))
    run.call("create what exists", "POST", "{ns}/configmaps?dryRun=All", config_map("a", x="1"))
    run.call("update", "PUT", "{ns}/configmaps/a?dryRun=All", config_map("a", x="2"))
    run.call("merge patch", "PATCH", "{ns}/configmaps/a?dryRun=All", {"data": {"x": "3"}}, MERGE)
    run.call("apply", "PATCH", "{ns}/configmaps/a?dryRun=All&fieldManager=m&force=true", config_map("a", x="4"), {"Content-Type": "application/apply-patch+yaml"})
    run.call("apply of a new one", "PATCH", "{ns}/configmaps/b?dryRun=All&fieldManager=m", config_map("b", x="4"), {"Content-Type": "application/apply-patch+yaml"},
             without=["metadata.resourceVersion"])
    run.call("delete", "DELETE", "{ns}/configmaps/a?dryRun=All")
    run.call("delete by the body", "DELETE", "{ns}/configmaps/a", {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]})
    run.call("delete all", "DELETE", "{ns}/configmaps?dryRun=All&fieldSelector=metadata.name%3Da")
    last = run.call("untouched", "GET", "{ns}/configmaps/a")
    run.note("at the first revision", first.at("metadata.resourceVersion") == last.at("metadata.resourceVersion"))
    run.call("invalid object", "POST", "{ns}/configmaps?dryRun=All", config_map("B_B"), only=["reason", "code"])


@case
def field_validation(run):
    run.make_namespace()
    odd = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd", "colour": "red"}, "data": {"a": "1"}, "extra": {"b": 2}}
    run.call("Strict", "POST", "{ns}/configmaps?fieldValidation=Strict", odd)
    run.call("Warn", "POST", "{ns}/configmaps?fieldValidation=Warn", odd)
    odd["metadata"]["name"] = "odd2"
    run.call("the default warns", "POST", "{ns}/configmaps", odd)
    odd["metadata"]["name"] = "odd3"
    run.call("Ignore", "POST", "{ns}/configmaps?fieldValidation=Ignore", odd)
    run.call("another word", "POST", "{ns}/configmaps?fieldValidation=Loose", odd, only=["reason", "code", "details"])
    double = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}'
    again = double.replace(b"twice", b"twice-more")
    run.call("a key twice, Strict", "POST", "{ns}/configmaps?fieldValidation=Strict", double, {"Content-Type": "application/json"})
    run.call("a key twice, Warn", "POST", "{ns}/configmaps?fieldValidation=Warn", again, {"Content-Type": "application/json"})
    run.call("merge patch, Strict", "PATCH", "{ns}/configmaps/odd?fieldValidation=Strict", {"more": 1}, MERGE)
    run.call("merge patch, Warn", "PATCH", "{ns}/configmaps/odd?fieldValidation=Warn", {"more": 1, "data": {"b": "2"}}, MERGE)
    run.call("JSON patch, Strict", "PATCH", "{ns}/configmaps/odd?fieldValidation=Strict", [{"op": "add", "path": "/more", "value": 1}], JSON_PATCH)
    run.call("update, Strict", "PUT", "{ns}/configmaps/odd?fieldValidation=Strict", odd, only=["reason", "code"])
    run.call("apply, Strict", "PATCH", "{ns}/configmaps/odd?fieldManager=m&force=true&fieldValidation=Strict", odd, {"Content-Type": "application/apply-patch+yaml"}, only=["reason", "code"])
    deep = deployment("deep")
    deep["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x"
    deep["spec"]["template"]["spec"]["containers"][0]["ports"][0]["port"] = 1
    run.call("deep, Strict", "POST", "{apps}/deployments?fieldValidation=Strict", deep)
    run.call("deep, Warn", "POST", "{apps}/deployments?fieldValidation=Warn", deep, only=["metadata.name"])
    wrong = deployment("wrong")
    wrong["spec"]["replicas"] = "two"
    run.call("wrong type", "POST", "{apps}/deployments", wrong, only=["reason", "code"])
    letters = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "letters"}, "Data": {"a": "1"}}
    run.call("another case of letters, Strict", "POST", "{ns}/configmaps?fieldValidation=Strict", letters, only=["reason", "code", "message"])


@case
def pods(run):
    run.make_namespace()
    run.call("defaults", "POST", "{ns}/pods", pod("plain", nodeSelector={"no": "node"}))
    full = pod("full", nodeSelector={"no": "node"}, tolerations=[{"key": "gpu", "operator": "Exists"}], automountServiceAccountToken=False, restartPolicy="Never",
               initContainers=[{"name": "first", "image": "busybox"}], volumes=[{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "x"}}])
    full["spec"]["containers"][0].update(image="busybox:latest", resources={"limits": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "1"}}, ports=[{"containerPort": 80}],
                                         volumeMounts=[{"name": "v", "mountPath": "/v"}], readinessProbe={"httpGet": {"path": "/", "port": 80}},
                                         env=[{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])
    run.call("many members", "POST", "{ns}/pods", full)
    equal = pod("equal", nodeSelector={"no": "node"}, automountServiceAccountToken=False)
    equal["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "500m", "memory": "64Mi"}}
    run.call("guaranteed", "POST", "{ns}/pods", equal, only=["status.qosClass", "spec.containers.0.resources"])
    run.call("no containers", "POST", "{ns}/pods", {"metadata": {"name": "none"}, "spec": {"containers": []}})
    run.call("no spec", "POST", "{ns}/pods", {"metadata": {"name": "none"}})
    run.call("no image", "POST", "{ns}/pods", {"metadata": {"name": "none"}, "spec": {"containers": [{"name": "a"}]}})
    run.call("no name of the container", "POST", "{ns}/pods", {"metadata": {"name": "none"}, "spec": {"containers": [{"image": "a"}]}})
    run.call("container named twice", "POST", "{ns}/pods", {"metadata": {"name": "none"}, "spec": {"containers": [{"name": "a", "image": "a"}, {"name": "a", "image": "b"}]}})
    run.call("mount of an unknown volume", "POST", "{ns}/pods", {"metadata": {"name": "none"}, "spec": {"containers": [{"name": "a", "image": "a", "volumeMounts": [
        {"name": "v", "mountPath": "/v"}]}]}})
    run.call("bad restart policy", "POST", "{ns}/pods", pod("none", restartPolicy="Sometimes"))
    run.call("bad quantity", "POST", "{ns}/pods", {"metadata": {"name": "none"}, "spec": {"containers": [{"name": "a", "image": "a", "resources": {"limits": {"cpu": "much"}}}]}},
             only=["reason", "code"])
    over = pod("over")
    over["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}
    run.call("request above the limit", "POST", "{ns}/pods", over)
    half = pod("half")
    half["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": "1"}}
    run.call("extended resource without a limit", "POST", "{ns}/pods", half)
    run.call("unknown service account", "POST", "{ns}/pods", pod("none", serviceAccountName="nobody"))
    run.call("unknown priority class", "POST", "{ns}/pods", pod("none", priorityClassName="none"))
    run.call("change of the image", "PATCH", "{ns}/pods/plain", {"spec": {"containers": [{"name": "main", "image": "busybox:2"}]}}, STRATEGIC, only=["spec.containers.0.image"])
    run.call("change of the command", "PATCH", "{ns}/pods/plain", {"spec": {"containers": [{"name": "main", "command": ["other"]}]}}, STRATEGIC, only=["reason", "code", "details.causes.0.field"])
    run.call("change of the node", "PATCH", "{ns}/pods/plain", {"spec": {"nodeName": "n"}}, STRATEGIC, only=["reason", "code", "details.causes.0.field"])


@case
def workloads(run):
    run.make_namespace()
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}], "nodeSelector": {"no": "node"}}}
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": template}
    shown = ["kind", "apiVersion", "metadata.generation", "metadata.managedFields", "metadata.labels", "spec"]
    run.call("deployment", "POST", "{apps}/deployments", {"metadata": {"name": "d"}, "spec": {"replicas": 0, **spec}}, only=shown)
    run.call("daemon set", "POST", "{apps}/daemonsets", {"metadata": {"name": "d"}, "spec": spec}, only=shown)
    run.call("stateful set", "POST", "{apps}/statefulsets", {"metadata": {"name": "d"}, "spec": {"serviceName": "s", "replicas": 0, **spec}}, only=shown)
    run.call("replica set", "POST", "{apps}/replicasets", {"metadata": {"name": "d"}, "spec": {"replicas": 0, **spec}}, only=shown)
    job = {"template": {"spec": {"restartPolicy": "Never", "containers": template["spec"]["containers"], "nodeSelector": {"no": "node"}}}}
    made = run.quiet("POST", "/apis/batch/v1/namespaces/{name}/jobs", {"metadata": {"name": "j"}, "spec": {"suspend": True, **job}})
    run.note("job", {"status": made.status, "spec": made.at("spec"), "labels": made.at("metadata.labels"), "fields": made.at("metadata.managedFields"), "generation": made.at("metadata.generation")})
    run.call("cron job", "POST", "/apis/batch/v1/namespaces/{name}/cronjobs", {"metadata": {"name": "c"}, "spec": {"schedule": "0 0 1 1 *", "suspend": True, "jobTemplate": {"spec": job}}}, only=shown)
    service = {"metadata": {"name": "s"}, "spec": {"selector": {"app": "x"}, "ports": [{"port": 80}]}}
    run.call("service", "POST", "{ns}/services", service)
    run.call("load balancer", "POST", "{ns}/services", {"metadata": {"name": "lb"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80, "targetPort": 8080}]}}, without=["status"])
    run.call("headless service", "POST", "{ns}/services", {"metadata": {"name": "h"}, "spec": {"clusterIP": "None", "selector": {"app": "x"}}})
    run.call("external name", "POST", "{ns}/services", {"metadata": {"name": "e"}, "spec": {"type": "ExternalName", "externalName": "example.com"}})
    run.call("service without ports", "POST", "{ns}/services", {"metadata": {"name": "n"}, "spec": {}})
    run.call("claim", "POST", "{ns}/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {"storageClassName": "none", "accessModes": ["ReadWriteMany"], "resources": {
        "requests": {"storage": "1Gi"}}}})
    run.call("claim without a size", "POST", "{ns}/persistentvolumeclaims", {"metadata": {"name": "c2"}, "spec": {"accessModes": ["ReadWriteMany"]}})
    volume = {"metadata": {"name": run.namespace}, "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "csi": {"driver": "s3.csi.aws.com", "volumeHandle": "v"}}}
    run.made.append(f"/api/v1/persistentvolumes/{run.namespace}")
    run.call("volume", "POST", "/api/v1/persistentvolumes", volume, without=["status.phase", "status.lastPhaseTransitionTime"])
    run.call("selector that does not match", "POST", "{apps}/deployments", {"metadata": {"name": "bad"}, "spec": {"selector": {"matchLabels": {"app": "y"}}, "template": template}})
    run.call("no selector", "POST", "{apps}/deployments", {"metadata": {"name": "bad"}, "spec": {"template": template}})
    run.call("negative replicas", "POST", "{apps}/deployments", {"metadata": {"name": "bad"}, "spec": {"replicas": -1, **spec}})
    run.call("job that restarts always", "POST", "/apis/batch/v1/namespaces/{name}/jobs", {"metadata": {"name": "bad"}, "spec": {"template": {"spec": {"containers": template["spec"]["containers"]}}}})
    run.call("selector cannot change", "PATCH", "{apps}/deployments/d", {"spec": {"selector": {"matchLabels": {"b": "c"}}}}, MERGE, only=["reason", "code", "details.causes"])
    other = {"secret": {"type": "Opaque", "stringData": {"a": "b"}}, "role": None}
    run.call("secret", "POST", "{ns}/secrets", {"metadata": {"name": "s"}, **other["secret"]})
    run.call("service account", "POST", "{ns}/serviceaccounts", {"metadata": {"name": "sa"}})
    run.call("role", "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/{name}/roles", {"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})
    run.call("role binding", "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/{name}/rolebindings", {
        "metadata": {"name": "r"}, "roleRef": {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}, "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": run.namespace},
                                                                                                                                {"kind": "User", "name": "u"}]})
    run.call("network policy", "POST", "/apis/networking.k8s.io/v1/namespaces/{name}/networkpolicies", {"metadata": {"name": "n"}, "spec": {"podSelector": {}}})
    run.call("lease", "POST", "/apis/coordination.k8s.io/v1/namespaces/{name}/leases", {"metadata": {"name": "n"}, "spec": {"holderIdentity": "me"}})
    run.call("disruption budget", "POST", "/apis/policy/v1/namespaces/{name}/poddisruptionbudgets", {"metadata": {"name": "n"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}},
             without=["status"])
    run.call("autoscaler", "POST", "/apis/autoscaling/v2/namespaces/{name}/horizontalpodautoscalers", {
        "metadata": {"name": "n"}, "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}}, without=["status"])


@case
def protobuf_bodies(run):
    """kubectl 1.32 and later send protobuf for imperative creates; the rest of this is in the cases of kubectl."""
    run.make_namespace()
    run.call("magic without content", "POST", "{ns}/configmaps", b"k8s\x00", {"Content-Type": "application/vnd.kubernetes.protobuf"}, only=["kind", "reason", "code"])
    run.call("broken content", "POST", "{ns}/configmaps", b"k8s\x00\xff\xff\xff", {"Content-Type": "application/vnd.kubernetes.protobuf"}, only=["kind", "reason", "code"])


@case
def events(run):
    run.make_namespace()
    event = {"metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": run.namespace}, "reason": "Testing", "message": "hello", "type": "Normal",
             "source": {"component": "conformance"}, "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:04:05Z", "count": 1}
    run.call("create", "POST", "{ns}/events", event)
    run.call("of another namespace", "POST", "{ns}/events", {**event, "metadata": {"name": "f"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "other"}}, only=["reason", "code"])
    run.call("by the object's name", "GET", "{ns}/events?fieldSelector=involvedObject.name%3Dp,type%3DNormal", only=["items"])
    run.call("by another name", "GET", "{ns}/events?fieldSelector=involvedObject.name%3Dq", only=["items"])
    run.call("counts on", "PATCH", "{ns}/events/e", {"count": 2, "lastTimestamp": "2026-01-02T03:05:05Z"}, STRATEGIC)
    run.call("in the newer group", "GET", "/apis/events.k8s.io/v1/namespaces/{name}/events/e")
