"""Custom resources: definitions, their schemas, defaults, pruning, subresources, several versions, rules in CEL."""
from cases_apply import APPLY
from cases_objects import JSON_PATCH, MERGE, STRATEGIC
from lib_cases import case

SPEC = {"type": "object", "required": ["size"], "properties": {
    "size": {"type": "integer", "minimum": 1, "maximum": 9}, "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
    "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5}, "replicas": {"type": "integer"}, "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "parts": {"type": "array", "maxItems": 3, "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "weight": {"type": "integer", "default": 1}}},
              "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    "port": {"x-kubernetes-int-or-string": True}, "note": {"type": "string", "nullable": True}, "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "limits": {"type": "object", "additionalProperties": {"type": "string"}}, "low": {"type": "integer"}, "high": {"type": "integer"}, "when": {"type": "string", "format": "date-time"}},
    "x-kubernetes-validations": [{"rule": "!has(self.low) || !has(self.high) || self.low <= self.high", "message": "low must not be above high"}]}
STATUS = {"type": "object", "properties": {"ready": {"type": "integer"}, "selector": {"type": "string"}, "phase": {"type": "string"}}}


def version(name, storage, **more):
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "status": STATUS}}},
            "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.ready", "labelSelectorPath": ".status.selector"}},
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}, {"name": "Phase", "type": "string", "jsonPath": ".status.phase", "priority": 1},
                                         {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}], **more}


def definition(run, *versions):
    group = run.namespace + ".example.com"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"widgets.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wg"], "categories": ["all"]},
                     "versions": list(versions) or [version("v1", True)]}}


def make(run, *versions):
    run.make_namespace()
    body = definition(run, *versions)
    run.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    run.made.append(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{body['metadata']['name']}")
    group = body["spec"]["group"]
    path = f"/apis/{group}/{body['spec']['versions'][0]['name']}/namespaces/{run.namespace}/widgets"
    run.until("it is served", lambda: run.quiet("GET", path).status == 200)
    return path, group + "/" + body["spec"]["versions"][0]["name"]


def widget(api, name, **spec):
    return {"apiVersion": api, "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 2, **spec}}


@case
def definitions(run):
    body = definition(run)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    name = body["metadata"]["name"]
    run.made.append(f"{path}/{name}")
    run.call("unknown before", "GET", f"/apis/{body['spec']['group']}/v1/widgets")
    run.call("create", "POST", path, body, without=["status", "metadata.managedFields"])
    run.until("established", lambda: any(c["type"] == "Established" and c["status"] == "True" for c in run.quiet("GET", f"{path}/{name}").at("status.conditions", []) or []))
    answer = run.quiet("GET", f"{path}/{name}")
    run.note("status", {"conditions": sorted((c["type"], c["status"], c["reason"]) for c in answer.at("status.conditions")), "names": answer.at("status.acceptedNames"),
                        "stored": answer.at("status.storedVersions")})
    run.until("served", lambda: run.quiet("GET", f"/apis/{body['spec']['group']}/v1/widgets").status == 200)
    run.call("an empty list", "GET", f"/apis/{body['spec']['group']}/v1/widgets", without=["metadata.resourceVersion"])
    run.until("in discovery", lambda: run.quiet("GET", f"/apis/{body['spec']['group']}/v1").status == 200)
    run.call("discovery of the version", "GET", f"/apis/{body['spec']['group']}/v1")
    run.until("group in discovery", lambda: run.quiet("GET", f"/apis/{body['spec']['group']}").status == 200)
    run.call("discovery of the group", "GET", f"/apis/{body['spec']['group']}")
    wrong = definition(run)
    wrong["metadata"]["name"] = "other.example.com"
    run.call("name that does not fit", "POST", path, wrong, only=["reason", "code", "details.causes"])
    two = definition(run, version("v1", True), version("v2", True))
    two["metadata"]["name"], two["spec"]["names"]["plural"] = f"gadgets.{two['spec']['group']}", "gadgets"
    run.call("two versions stored", "POST", path, two, only=["reason", "code"])
    bare = definition(run, {"name": "v1", "served": True, "storage": True})
    bare["metadata"]["name"], bare["spec"]["names"]["plural"] = f"gadgets.{bare['spec']['group']}", "gadgets"
    run.call("no schema", "POST", path, bare, only=["reason", "code", "details.causes"])
    run.call("delete", "DELETE", f"{path}/{name}", only=["kind", "status.conditions.0.type"], )
    run.until("it is gone", lambda: run.quiet("GET", f"{path}/{name}").status == 404)
    run.until("and its kind", lambda: run.quiet("GET", f"/apis/{body['spec']['group']}/v1/widgets").status == 404)
    run.note("gone", True)


@case
def custom_objects(run):
    path, api = make(run)
    run.call("create with defaults", "POST", path, widget(api, "a", parts=[{"name": "p"}]))
    run.call("get", "GET", f"{path}/a")
    run.call("list", "GET", path, without=["metadata.resourceVersion"])
    run.call("unknown member is pruned", "POST", path, widget(api, "b", extra=1, free={"any": {"thing": [1]}}))
    run.call("unknown member, Strict", "POST", f"{path}?fieldValidation=Strict", widget(api, "c", extra=1))
    run.call("unknown deep, Strict", "POST", f"{path}?fieldValidation=Strict", widget(api, "c", parts=[{"name": "p", "wait": 1}]))
    run.call("unknown metadata, Strict", "POST", f"{path}?fieldValidation=Strict", {**widget(api, "c"), "metadata": {"name": "c", "colour": "x"}})
    run.call("status is not taken", "POST", path, {**widget(api, "d"), "status": {"phase": "Done"}}, only=["status.phase", "metadata.generation"])
    run.call("another kind", "POST", path, {**widget(api, "e"), "kind": "Gadget"}, only=["code", "reason"])
    run.call("no kind", "POST", path, {"metadata": {"name": "e"}, "spec": {"size": 1}}, only=["code", "reason"])
    run.call("delete", "DELETE", f"{path}/a")
    run.call("delete all", "DELETE", path, without=["metadata.resourceVersion", "items.*.metadata.managedFields"])


@case
def custom_validation(run):
    path, api = make(run)
    for label, spec in (("required", {"size": None}), ("minimum", {"size": 0}), ("maximum", {"size": 10}), ("type", {"size": "big"}), ("enum", {"colour": "green"}), ("pattern", {"code": "ABC"}),
                        ("length", {"code": "abcdef"}), ("items", {"parts": [{"name": n} for n in "abcd"]}), ("required in an item", {"parts": [{"weight": 1}]}),
                        ("double key", {"parts": [{"name": "a"}, {"name": "a"}]}), ("double in a set", {"tags": ["a", "a"]}), ("int or string", {"port": True}), ("null that may be", {"note": None}),
                        ("null that may not", {"code": None}), ("map value", {"limits": {"a": 1}}), ("rule in CEL", {"low": 3, "high": 2}), ("fraction for an integer", {"size": 1.5}),
                        ("whole float for an integer", {"size": 2.0}), ("format", {"when": "yesterday"}), ("several at once", {"size": 0, "colour": "green", "code": "ABC"}), ("object for a list", {"parts": {}})):
        body = widget(api, "x", **spec)
        if label == "required":
            body["spec"] = {"colour": "red"}
        answer = run.quiet("POST", path, body)
        # With a fault of the schema the real server adds that its rules in CEL were not looked at.
        causes = [c for c in answer.at("details.causes") or [] if c["field"] != "<nil>"]
        run.note(label, {"status": answer.status, "reason": answer.at("reason"), "causes": sorted(causes, key=str),
                         "spec": answer.at("spec")})
        run.quiet("DELETE", f"{path}/x")
    run.call("no spec at all", "POST", path, {"apiVersion": api, "kind": "Widget", "metadata": {"name": "empty"}}, only=["metadata.name", "reason", "code"])
    run.call("status is checked too", "PATCH", f"{path}/empty/status", {"status": {"ready": "yes"}}, MERGE, only=["reason", "code", "details.causes"])


@case
def custom_patches(run):
    path, api = make(run)
    run.must("POST", path, widget(api, "a", parts=[{"name": "p"}], limits={"x": "1"}))
    run.call("merge", "PATCH", f"{path}/a", {"spec": {"limits": {"y": "2"}, "size": 3}}, MERGE)
    run.call("merge that breaks a rule", "PATCH", f"{path}/a", {"spec": {"size": 99}}, MERGE, only=["reason", "code", "details.causes"])
    run.call("merge replaces a list", "PATCH", f"{path}/a", {"spec": {"parts": [{"name": "q"}]}}, MERGE, only=["spec.parts"])
    run.call("JSON patch", "PATCH", f"{path}/a", [{"op": "add", "path": "/spec/parts/-", "value": {"name": "r"}}], JSON_PATCH, only=["spec.parts"])
    run.call("strategic merge is not known here", "PATCH", f"{path}/a", {"spec": {"size": 4}}, STRATEGIC, only=["reason", "code"])
    run.call("apply", "PATCH", f"{path}/a?fieldManager=m", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 3, "parts": [{"name": "m", "weight": 5}]}}, APPLY)
    run.call("apply conflicts", "PATCH", f"{path}/a?fieldManager=m2", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 5}}, APPLY)
    run.call("apply gives an entry up", "PATCH", f"{path}/a?fieldManager=m", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 3}}, APPLY)
    run.call("apply creates", "PATCH", f"{path}/new?fieldManager=m", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "new"}, "spec": {"size": 3, "tags": ["a", "b"]}}, APPLY)
    run.call("a set is shared", "PATCH", f"{path}/new?fieldManager=n", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "new"}, "spec": {"tags": ["c"], "size": 3}}, APPLY)
    run.call("apply, Strict", "PATCH", f"{path}/new?fieldManager=m&fieldValidation=Strict", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "new"}, "spec": {"size": 3, "extra": 1}}, APPLY,
             only=["reason", "code"])
    run.call("apply of an invalid value", "PATCH", f"{path}/new?fieldManager=m", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "new"}, "spec": {"size": 30}}, APPLY, only=["reason", "code"])
    body = run.quiet("GET", f"{path}/a").body
    body["spec"]["size"] = 7
    first = run.call("update", "PUT", f"{path}/a", body, only=["spec.size", "metadata.generation"])
    body["spec"]["size"] = 8
    run.call("update with an old revision", "PUT", f"{path}/a", body, only=["reason", "code"])
    run.call("update without a revision", "PUT", f"{path}/a", widget(api, "a"), only=["reason", "code", "details.causes", "message"])
    run.note("generation grew", (first.at("metadata.generation") or 0) > 1)


@case
def custom_subresources(run):
    path, api = make(run)
    run.must("POST", path, widget(api, "a", replicas=2))
    run.call("status by merge", "PATCH", f"{path}/a/status", {"status": {"phase": "Ready", "ready": 1, "selector": "a=b"}, "spec": {"size": 9}}, MERGE)
    body = run.quiet("GET", f"{path}/a").body
    body["status"]["phase"] = "Other"
    body["spec"]["size"] = 8
    run.call("status by update", "PUT", f"{path}/a/status", body)
    run.call("status read", "GET", f"{path}/a/status", only=["kind", "status"])
    run.call("the object keeps its status", "PATCH", f"{path}/a", {"status": {"phase": "Mine"}, "spec": {"size": 5}}, MERGE)
    run.call("scale", "GET", f"{path}/a/scale")
    run.call("scale by merge", "PATCH", f"{path}/a/scale", {"spec": {"replicas": 5}}, MERGE)
    scale = run.quiet("GET", f"{path}/a/scale").body
    scale["spec"]["replicas"] = 7
    run.call("scale by update", "PUT", f"{path}/a/scale", scale)
    run.call("scale by an old one", "PUT", f"{path}/a/scale", scale, only=["reason", "code"])
    run.call("negative scale", "PATCH", f"{path}/a/scale", {"spec": {"replicas": -1}}, MERGE, only=["reason", "code"])
    run.call("the object follows", "GET", f"{path}/a")
    run.call("scale of none", "GET", f"{path}/none/scale", only=["reason", "code", "message"])
    run.call("status applied", "PATCH", f"{path}/a/status?fieldManager=ctl&force=true", {"apiVersion": api, "kind": "Widget", "metadata": {"name": "a"}, "status": {"phase": "Applied"}}, APPLY)
    run.call("no such subresource", "GET", f"{path}/a/exec", only=["code", "reason"])


@case
def custom_versions(run):
    path, api = make(run, version("v1", False), version("v2", True))
    run.must("POST", path, widget(api, "a"))
    later = path.replace("/v1/", "/v2/")
    run.until("both are served", lambda: run.quiet("GET", later).status == 200)
    run.call("read in another version", "GET", f"{later}/a")
    run.call("list in another version", "GET", later, without=["metadata.resourceVersion", "items.*.metadata.managedFields"])
    run.call("apply in another version", "PATCH", f"{later}/a?fieldManager=m", {"apiVersion": api.replace("/v1", "/v2"), "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 2}}, APPLY)
    run.until("discovery has both", lambda: len(run.quiet("GET", f"/apis/{api.split('/')[0]}").at("versions", []) or []) == 2)
    run.call("which is preferred", "GET", f"/apis/{api.split('/')[0]}")
    name = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{api.split('/')[0]}"
    run.must("PATCH", name, [{"op": "replace", "path": "/spec/versions/0/served", "value": False}], JSON_PATCH)
    run.until("no more served", lambda: run.quiet("GET", f"{path}/a").status == 404)
    run.call("the other is", "GET", f"{later}/a", only=["kind", "apiVersion"])


@case
def custom_tables(run):
    path, api = make(run)
    run.must("POST", path, widget(api, "a"))
    run.must("PATCH", f"{path}/a/status", {"status": {"phase": "Ready"}}, MERGE)

    def table(label, path):
        answer = run.quiet("GET", path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
        for column in answer.body["columnDefinitions"]:
            column.pop("description", None)
        for row in answer.body["rows"]:
            row["cells"][-1] = "<age>"
        run.note(label, answer.body)
    run.call("of a list, as it is", "GET", path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}, only=["kind", "apiVersion"])
    table("list", path)
    table("one", f"{path}/a")
    table("with whole objects", f"{path}?includeObject=Object")
    table("without objects", f"{path}?includeObject=None")
