"""Tables, scale and status of built-in kinds, access reviews."""
from cases_apply import APPLY
from cases_objects import MERGE, STRATEGIC, config_map, deployment
from lib_cases import case

TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
REVIEWS = "/apis/authorization.k8s.io/v1"


def table(run, label, path):
    answer = run.quiet("GET", path, headers=TABLE)
    body = answer.body
    ages = [i for i, column in enumerate(body.get("columnDefinitions", [])) if column["name"] in ("Age", "Last Seen", "First Seen", "Duration")]
    for column in body.get("columnDefinitions", []):
        # The type decides nothing: kubectl prints what the cell holds.
        column.pop("description", None)
        column.pop("type", None)
    body["rows"] = body.get("rows") or []  # no rows are null or an empty list
    for row in body["rows"]:
        row.pop("object", None)
        for i in ages:
            row["cells"][i] = "<age>"
    run.note(label, {"status": answer.status, "body": body})


@case
def tables(run):
    run.make_namespace()
    run.must("POST", "{ns}/configmaps", config_map("a", x="1", y="2"))
    run.must("POST", "{ns}/secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}})
    run.must("POST", "{ns}/pods", {"metadata": {"name": "p", "labels": {"l": "1"}}, "spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"no": "node"}, "automountServiceAccountToken": False}})
    run.must("POST", "{apps}/deployments", deployment("d"))
    run.must("POST", "{ns}/services", {"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80, "name": "a"}, {"port": 443, "name": "b", "protocol": "TCP"}]}})
    run.must("POST", "{ns}/serviceaccounts", {"metadata": {"name": "sa"}})
    run.must("POST", "/apis/batch/v1/namespaces/{name}/jobs", {"metadata": {"name": "j"}, "spec": {"suspend": True, "completions": 3, "template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}], "nodeSelector": {"no": "node"}}}}})
    run.must("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/{name}/roles", {"metadata": {"name": "r"}, "rules": []})
    run.must("POST", "{ns}/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {"storageClassName": "none", "accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}})
    table(run, "configmap", "{ns}/configmaps/a")
    table(run, "secret", "{ns}/secrets/s")
    table(run, "pod", "{ns}/pods/p")
    table(run, "deployment", "{apps}/deployments/d")
    table(run, "service", "{ns}/services/s")
    table(run, "service account", "{ns}/serviceaccounts/sa")
    table(run, "job", "/apis/batch/v1/namespaces/{name}/jobs/j")
    table(run, "role", "/apis/rbac.authorization.k8s.io/v1/namespaces/{name}/roles/r")
    table(run, "claim", "{ns}/persistentvolumeclaims/c")
    table(run, "namespace", "/api/v1/namespaces/{name}")
    for plural in ("replicasets", "daemonsets", "statefulsets", "controllerrevisions"):
        table(run, f"no {plural}", f"{{apps}}/{plural}?labelSelector=none%3Dnone")
    for group, plural in (("networking.k8s.io/v1", "ingresses"), ("networking.k8s.io/v1", "networkpolicies"), ("coordination.k8s.io/v1", "leases"), ("discovery.k8s.io/v1", "endpointslices"),
                          ("batch/v1", "cronjobs"), ("policy/v1", "poddisruptionbudgets"), ("autoscaling/v2", "horizontalpodautoscalers"), ("rbac.authorization.k8s.io/v1", "rolebindings")):
        table(run, f"no {plural}", f"/apis/{group}/namespaces/{{name}}/{plural}?labelSelector=none%3Dnone")
    for plural in ("nodes", "persistentvolumes", "events", "endpoints", "replicationcontrollers", "resourcequotas", "limitranges", "podtemplates"):
        table(run, f"no {plural}", f"/api/v1/{plural}?labelSelector=none%3Dnone")
    for group, plural in (("storage.k8s.io/v1", "storageclasses"), ("storage.k8s.io/v1", "csidrivers"), ("storage.k8s.io/v1", "csinodes"), ("storage.k8s.io/v1", "volumeattachments"),
                          ("scheduling.k8s.io/v1", "priorityclasses"), ("rbac.authorization.k8s.io/v1", "clusterroles"), ("rbac.authorization.k8s.io/v1", "clusterrolebindings"),
                          ("apiextensions.k8s.io/v1", "customresourcedefinitions"), ("admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations"),
                          ("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations"), ("networking.k8s.io/v1", "ingressclasses"), ("node.k8s.io/v1", "runtimeclasses"),
                          ("apiregistration.k8s.io/v1", "apiservices")):
        table(run, f"no {plural}", f"/apis/{group}/{plural}?labelSelector=none%3Dnone")


@case
def scale_of_deployments(run):
    run.make_namespace()
    paused = deployment("d")
    paused["spec"]["paused"] = True
    run.must("POST", "{apps}/deployments", paused)
    path = "{apps}/deployments/d/scale"
    run.call("get", "GET", path)
    run.call("patch", "PATCH", path, {"spec": {"replicas": 0}}, MERGE)
    answer = run.quiet("PATCH", path + "?fieldManager=scaler", {"spec": {"replicas": 1}}, MERGE)
    run.note("to one", [answer.status, answer.at("spec.replicas"), answer.at("kind")])
    fields = [f for f in run.quiet("GET", "{apps}/deployments/d").at("metadata.managedFields") if f["manager"] == "scaler"]
    run.note("who owns replicas", fields)
    run.call("negative", "PATCH", path, {"spec": {"replicas": -1}}, MERGE, only=["reason", "code", "details"])
    run.call("not a number", "PATCH", path, {"spec": {"replicas": "x"}}, MERGE, only=["code"])
    run.call("strategic", "PATCH", path, {"spec": {"replicas": 0}}, STRATEGIC, only=["spec", "kind"])
    run.call("of another kind", "PUT", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}}, only=["code"])
    run.call("apply to scale", "PATCH", path + "?fieldManager=hpa&force=true", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 0}}, APPLY, only=["kind", "spec", "code"])


@case
def status_of_nodes(run):
    name = "node-" + run.namespace
    run.made.append(f"/api/v1/nodes/{name}")
    node = run.quiet("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {"a": "b"}}, "spec": {"providerID": "aws:///x/i-1"}})
    run.note("create", [node.status, node.at("kind"), node.at("spec.providerID")])
    status = {"status": {"capacity": {"cpu": "4", "nvidia.com/gpu": "8"}, "conditions": [{"type": "Example", "status": "True", "reason": "R", "message": "m"}]}}
    answer = run.quiet("PATCH", f"/api/v1/nodes/{name}/status", status, STRATEGIC)
    run.note("status", [answer.status, answer.at("status.capacity"), [c["type"] for c in answer.at("status.conditions", []) if c["type"] == "Example"]])
    second = {"status": {"conditions": [{"type": "Example", "status": "False"}, {"type": "Second", "status": "True"}]}}
    answer = run.quiet("PATCH", f"/api/v1/nodes/{name}/status", second, STRATEGIC)
    run.note("conditions merge by type", sorted((c["type"], c["status"], c.get("reason")) for c in answer.at("status.conditions", []) if c["type"] in ("Example", "Second")))
    answer = run.quiet("PATCH", f"/api/v1/nodes/{name}", {"status": {"capacity": {"cpu": "9"}}, "metadata": {"labels": {"c": "d"}}}, STRATEGIC)
    run.note("not through the object", [answer.at("status.capacity.cpu"), answer.at("metadata.labels.c")])
    answer = run.quiet("PATCH", f"/api/v1/nodes/{name}", {"spec": {"unschedulable": True}}, STRATEGIC)
    run.note("cordon", [answer.at("spec.unschedulable"), "unschedulable" in answer.text])
    answer = run.quiet("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}, MERGE)
    run.note("taints", [t for t in answer.at("spec.taints", []) if t["key"] == "k"])
    run.call("bad taint", "PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": [{"key": "k", "effect": "Never"}]}}, MERGE, only=["reason", "code"])
    run.call("the provider's id stays", "PATCH", f"/api/v1/nodes/{name}", {"spec": {"providerID": "aws:///y/i-2"}}, MERGE, only=["reason", "code"])


@case
def access_reviews(run):
    run.make_namespace()
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    run.must("POST", f"{rbac}/namespaces/{run.namespace}/roles", {"metadata": {"name": "r"}, "rules": [
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]}, {"apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["one"], "verbs": ["*"]}]})
    run.must("POST", f"{rbac}/namespaces/{run.namespace}/rolebindings", {"metadata": {"name": "r"}, "roleRef": {"kind": "Role", "name": "r", "apiGroup": "rbac.authorization.k8s.io"},
                                                                       "subjects": [{"kind": "User", "name": "ann"}, {"kind": "Group", "name": "team"}, {"kind": "ServiceAccount", "name": "sa", "namespace": run.namespace}]})

    def ask(user, verb, resource, groups=None, **more):
        spec = {"user": user, "resourceAttributes": {"namespace": run.namespace, "verb": verb, "resource": resource, **more}}
        if groups:
            spec["groups"] = groups
        return run.quiet("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec}).at("status.allowed")
    run.until("the role is known", lambda: ask("ann", "get", "pods"))
    for user, verb, resource, more in (("ann", "get", "pods", {}), ("ann", "delete", "pods", {}), ("ann", "get", "pods", {"subresource": "log"}), ("ann", "get", "pods", {"subresource": "exec"}),
                                       ("ann", "get", "pods", {"namespace": "other"}), ("ann", "delete", "deployments", {"group": "apps", "name": "one"}), ("ann", "delete", "deployments", {"group": "apps", "name": "two"}),
                                       ("bob", "get", "pods", {}), ("bob", "get", "pods", {"groups": ["team"]}), (f"system:serviceaccount:{run.namespace}:sa", "list", "pods", {}), ("x", "get", "pods", {"groups": ["system:masters"]}),
                                       ("ann", "*", "pods", {}), ("ann", "get", "*", {})):
        run.note(f"{user} {verb} {resource} {more}", ask(user, verb, resource, **more))
    run.call("whole answer", "POST", f"{REVIEWS}/subjectaccessreviews", {"spec": {"user": "bob", "resourceAttributes": {"verb": "get", "resource": "pods"}}})
    run.call("allowed answer", "POST", f"{REVIEWS}/subjectaccessreviews", {"spec": {"user": "ann", "resourceAttributes": {"namespace": run.namespace, "verb": "get", "resource": "pods"}}}, without=["status.reason"])
    run.call("no user", "POST", f"{REVIEWS}/subjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}, only=["reason", "code", "details.causes"])
    run.call("no attributes", "POST", f"{REVIEWS}/subjectaccessreviews", {"spec": {"user": "ann"}}, only=["reason", "code", "details.causes"])
    run.call("both attributes", "POST", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}, "nonResourceAttributes": {"path": "/", "verb": "get"}}},
             only=["reason", "code"])
    run.call("oneself", "POST", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}}, without=["status.reason"])
    run.call("a path", "POST", f"{REVIEWS}/selfsubjectaccessreviews", {"spec": {"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}}, without=["status.reason"])
    local = f"{REVIEWS}/namespaces/{run.namespace}/localsubjectaccessreviews"
    run.call("local", "POST", local, {"metadata": {"namespace": run.namespace}, "spec": {"user": "ann", "resourceAttributes": {"namespace": run.namespace, "verb": "get", "resource": "pods"}}}, without=["status.reason"])
    run.call("local of another namespace", "POST", local, {"metadata": {"namespace": run.namespace}, "spec": {"user": "ann", "resourceAttributes": {"namespace": "other", "verb": "get", "resource": "pods"}}}, only=["reason", "code"])
    run.call("reviews cannot be listed", "GET", f"{REVIEWS}/subjectaccessreviews", only=["reason", "code"])
    who = run.quiet("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    run.note("who am I", [who.status, who.at("kind"), "system:authenticated" in who.at("status.userInfo.groups", []), "system:masters" in who.at("status.userInfo.groups", [])])
    token = run.quiet("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "nonsense"}})
    run.note("a bad token", [token.status, token.at("status.authenticated", False), bool(token.at("status.error"))])
    run.note("my token", run.quiet("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": run.server.token}}).at("status.authenticated"))
    as_ann = {"Impersonate-User": "ann"}
    run.call("as another, refused", "DELETE", "{ns}/pods/x", headers=as_ann)
    run.call("as another, refused across namespaces", "GET", "/api/v1/nodes", headers=as_ann)
    run.call("as another, a path", "GET", "/metrics", headers=as_ann)
    run.call("as another, allowed", "GET", "{ns}/pods?labelSelector=none", headers=as_ann, only=["kind"])
    run.call("as a member of a group", "GET", "{ns}/pods?labelSelector=none", headers={"Impersonate-User": "zoe", "Impersonate-Group": "team"}, only=["kind"])
    rules = run.quiet("POST", f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": run.namespace}}, headers=as_ann)
    run.note("rules", [r for r in rules.at("status.resourceRules", []) if "pods" in r["resources"] or "deployments" in r["resources"]])
    token = run.quiet("POST", "{ns}/serviceaccounts/default/token", {"spec": {"expirationSeconds": 600}})
    run.note("a token of a service account", [token.status, token.at("kind"), token.at("spec.expirationSeconds"), len(token.at("status.token", "").split("."))])
