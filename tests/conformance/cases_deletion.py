"""Deletion: options, preconditions, finalizers, owners and dependents, namespaces."""
from cases_objects import MERGE, config_map
from lib_cases import case


def owned(run, name, *owners, block=False):
    references = [{"apiVersion": "v1", "kind": "ConfigMap", "name": n, "uid": uid, **({"blockOwnerDeletion": True} if block else {})} for n, uid in owners]
    return run.must("POST", "{ns}/configmaps", {"metadata": {"name": name, "ownerReferences": references}}).at("metadata.uid")


def gone(run, name):
    return lambda: run.quiet("GET", f"{{ns}}/configmaps/{name}").status == 404


@case
def deletes(run):
    run.make_namespace()
    made = {name: run.must("POST", "{ns}/configmaps", config_map(name)) for name in "abcdef"}
    run.call("plain", "DELETE", "{ns}/configmaps/a")
    run.call("again", "DELETE", "{ns}/configmaps/a")
    run.call("another uid", "DELETE", "{ns}/configmaps/b", {"preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}})
    run.call("another revision", "DELETE", "{ns}/configmaps/b", {"preconditions": {"resourceVersion": "1"}}, only=["reason", "code", "details"])
    run.call("the right ones", "DELETE", "{ns}/configmaps/b", {"preconditions": {"uid": made["b"].at("metadata.uid"), "resourceVersion": made["b"].at("metadata.resourceVersion")}})
    run.call("unknown policy", "DELETE", "{ns}/configmaps/c", {"propagationPolicy": "Sideways"}, only=["reason", "code", "details.causes"])
    run.call("two policies", "DELETE", "{ns}/configmaps/c", {"propagationPolicy": "Background", "orphanDependents": True}, only=["reason", "code"])
    run.call("policy in the query", "DELETE", "{ns}/configmaps/c?propagationPolicy=Background")
    run.call("options of another kind", "DELETE", "{ns}/configmaps/d", {"kind": "ConfigMap", "apiVersion": "v1"}, only=["code"])
    run.call("broken options", "DELETE", "{ns}/configmaps/e", b"{oops", {"Content-Type": "application/json"}, only=["code"])
    run.call("negative grace", "DELETE", "{ns}/configmaps/f?gracePeriodSeconds=-5", only=["kind", "status", "code"])


@case
def delete_collections(run):
    run.make_namespace()
    for i in range(4):
        run.must("POST", "{ns}/configmaps", {"metadata": {"name": f"c{i}", "labels": {"even": str(i % 2 == 0).lower()}}})
    run.call("by label", "DELETE", "{ns}/configmaps?labelSelector=even%3Dtrue")
    run.call("by field", "DELETE", "{ns}/configmaps?fieldSelector=metadata.name%3Dc1")
    run.call("of none", "DELETE", "{ns}/configmaps?labelSelector=even%3Dtrue", without=["metadata.resourceVersion"])
    run.note("left", [i["metadata"]["name"] for i in run.quiet("GET", "{ns}/configmaps?labelSelector=even").at("items")])
    run.call("of services, which have none", "DELETE", "/api/v1/configmaps", only=["reason", "code"])
    run.call("bad selector", "DELETE", "{ns}/configmaps?labelSelector=a%20b", only=["reason", "code"])


@case
def finalizers(run):
    run.make_namespace()
    run.must("POST", "{ns}/configmaps", {"metadata": {"name": "f", "finalizers": ["example.com/one", "example.com/two"]}, "data": {"x": "1"}})
    run.call("delete waits", "DELETE", "{ns}/configmaps/f")
    run.call("it is marked", "GET", "{ns}/configmaps/f")
    run.call("delete again", "DELETE", "{ns}/configmaps/f")
    run.call("created over it", "POST", "{ns}/configmaps", config_map("f"), only=["reason", "code", "message"])
    run.call("it may still change", "PATCH", "{ns}/configmaps/f", {"data": {"x": "2"}}, MERGE, only=["data"])
    run.call("a new finalizer is refused", "PATCH", "{ns}/configmaps/f", {"metadata": {"finalizers": ["example.com/one", "example.com/two", "example.com/three"]}}, MERGE)
    run.call("the mark cannot be taken back", "PATCH", "{ns}/configmaps/f", {"metadata": {"deletionTimestamp": None}}, MERGE, only=["metadata.deletionTimestamp", "metadata.deletionGracePeriodSeconds"])
    run.call("one is done", "PATCH", "{ns}/configmaps/f", {"metadata": {"finalizers": ["example.com/two"]}}, MERGE)
    run.call("the last one ends it", "PATCH", "{ns}/configmaps/f", {"metadata": {"finalizers": None}}, MERGE)
    run.call("gone", "GET", "{ns}/configmaps/f")
    run.call("unqualified finalizer", "POST", "{ns}/configmaps", {"metadata": {"name": "g", "finalizers": ["plain"]}}, only=["reason", "code", "details.causes"])


@case
def owners_background(run):
    run.make_namespace()
    owner = run.must("POST", "{ns}/configmaps", config_map("owner")).at("metadata.uid")
    second = run.must("POST", "{ns}/configmaps", config_map("second")).at("metadata.uid")
    child = owned(run, "child", ("owner", owner))
    owned(run, "grandchild", ("child", child))
    owned(run, "shared", ("owner", owner), ("second", second))
    run.call("delete the owner", "DELETE", "{ns}/configmaps/owner", {"propagationPolicy": "Background"})
    run.until("the child goes", gone(run, "child"))
    run.until("its child too", gone(run, "grandchild"))
    run.until("the shared one loses one reference", lambda: len(run.quiet("GET", "{ns}/configmaps/shared").at("metadata.ownerReferences", [])) == 1)
    run.note("what is left of it", run.quiet("GET", "{ns}/configmaps/shared").at("metadata.ownerReferences"))
    run.must("DELETE", "{ns}/configmaps/second")
    run.until("it goes with its last owner", gone(run, "shared"))
    run.note("all done", True)
    owned(run, "stray", ("never", "11111111-1111-1111-1111-111111111111"))
    run.until("a child of nobody goes", gone(run, "stray"))
    two = {"metadata": {"name": "two", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": n, "uid": second, "controller": True} for n in "ab"]}}
    run.call("two controllers are refused", "POST", "{ns}/configmaps", two, only=["reason", "code", "details.causes"])
    run.call("a reference without uid", "POST", "{ns}/configmaps", {"metadata": {"name": "no", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "n"}]}}, only=["reason", "code"])


@case
def owners_foreground(run):
    run.make_namespace()
    owner = run.must("POST", "{ns}/configmaps", config_map("owner")).at("metadata.uid")
    run.must("POST", "{ns}/configmaps", {"metadata": {"name": "child", "finalizers": ["example.com/hold"], "ownerReferences": [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner, "blockOwnerDeletion": True}]}})
    run.call("delete the owner", "DELETE", "{ns}/configmaps/owner", {"propagationPolicy": "Foreground"})
    run.until("the child is asked to go", lambda: run.quiet("GET", "{ns}/configmaps/child").at("metadata.deletionTimestamp"))
    waiting = run.quiet("GET", "{ns}/configmaps/owner")
    run.note("the owner waits", [waiting.status, waiting.at("metadata.finalizers")])
    run.must("PATCH", "{ns}/configmaps/child", {"metadata": {"finalizers": None}}, MERGE)
    run.until("then the owner goes", gone(run, "owner"))
    run.note("the child is gone", gone(run, "child")())
    run.must("POST", "{ns}/configmaps", config_map("alone"))
    run.call("foreground without dependents", "DELETE", "{ns}/configmaps/alone", {"propagationPolicy": "Foreground"}, only=["kind", "metadata.finalizers", "status"])
    run.until("it goes", gone(run, "alone"))


@case
def owners_orphan(run):
    run.make_namespace()
    owner = run.must("POST", "{ns}/configmaps", config_map("owner")).at("metadata.uid")
    owned(run, "child", ("owner", owner))
    run.call("delete the owner", "DELETE", "{ns}/configmaps/owner", {"propagationPolicy": "Orphan"})
    run.until("the owner goes", gone(run, "owner"))
    run.call("the child stays without it", "GET", "{ns}/configmaps/child")
    old = run.must("POST", "{ns}/configmaps", config_map("old")).at("metadata.uid")
    owned(run, "old-child", ("old", old))
    run.call("by the old option", "DELETE", "{ns}/configmaps/old", {"orphanDependents": True}, only=["kind", "metadata.finalizers"])
    run.until("it goes", gone(run, "old"))
    run.note("its child stays", run.quiet("GET", "{ns}/configmaps/old-child").status)


@case
def pods_end_in_time(run):
    run.make_namespace()
    run.must("POST", "{ns}/pods", {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"no": "node"}, "automountServiceAccountToken": False}})
    answer = run.quiet("DELETE", "{ns}/pods/p")
    run.note("an unscheduled pod goes at once", [answer.status, answer.at("kind"), answer.at("metadata.deletionGracePeriodSeconds"), answer.at("metadata.name"), run.quiet("GET", "{ns}/pods/p").status])
    run.must("POST", "{ns}/pods", {"metadata": {"name": "q"}, "spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"no": "node"}, "automountServiceAccountToken": False}})
    run.call("eviction", "POST", "{ns}/pods/q/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "q"}})
    run.note("evicted", run.quiet("GET", "{ns}/pods/q").status)
    run.call("eviction of none", "POST", "{ns}/pods/none/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "none"}})


@case
def namespaces(run):
    run.call("create", "POST", "/api/v1/namespaces", {"metadata": {"name": run.namespace}})
    run.call("create again", "POST", "/api/v1/namespaces", {"metadata": {"name": run.namespace}})
    run.call("bad name", "POST", "/api/v1/namespaces", {"metadata": {"name": "a.b"}})
    run.until("its service account comes", lambda: run.quiet("GET", "{ns}/serviceaccounts/default").status == 200)
    run.until("its authority comes", lambda: run.quiet("GET", "{ns}/configmaps/kube-root-ca.crt").status == 200)
    run.call("the account", "GET", "{ns}/serviceaccounts/default", without=["metadata.managedFields"])
    run.must("POST", "{ns}/configmaps", {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}})
    run.must("POST", "{ns}/secrets", {"metadata": {"name": "s"}})
    run.call("delete", "DELETE", "/api/v1/namespaces/{name}")
    run.until("what may go goes", lambda: run.quiet("GET", "{ns}/secrets/s").status == 404)
    ns = run.quiet("GET", "/api/v1/namespaces/{name}")
    run.note("terminating", [ns.status, ns.at("status.phase"), ns.at("spec.finalizers"), bool(ns.at("metadata.deletionTimestamp"))])
    run.until("it says what remains", lambda: any(c["type"] == "NamespaceFinalizersRemaining" and c["status"] == "True" for c in run.quiet("GET", "/api/v1/namespaces/{name}").at("status.conditions", []) or []))
    run.note("conditions", sorted((c["type"], c["status"], c["reason"]) for c in run.quiet("GET", "/api/v1/namespaces/{name}").at("status.conditions")))
    run.call("nothing new comes in", "POST", "{ns}/configmaps", config_map("late"))
    run.call("delete again", "DELETE", "/api/v1/namespaces/{name}", only=["kind", "status.phase"])
    run.must("PATCH", "{ns}/configmaps/held", {"metadata": {"finalizers": None}}, MERGE)
    run.until("then it ends", lambda: run.quiet("GET", "/api/v1/namespaces/{name}").status == 404)
    run.call("its objects are not found", "GET", "{ns}/configmaps/held")
    run.call("its lists are empty", "GET", "{ns}/configmaps", without=["metadata.resourceVersion"])
    run.call("default cannot go", "DELETE", "/api/v1/namespaces/default", only=["reason", "code", "message"])
    run.call("labels", "GET", "/api/v1/namespaces/default", without=["metadata.managedFields"])
