"""Lists: selectors, pages, what a resourceVersion means, partial metadata."""
import base64

from cases_objects import MERGE, config_map
from lib_cases import case


def make(run, count, prefix="c"):
    run.make_namespace()
    for i in range(count):
        run.must("POST", "{ns}/configmaps", {"metadata": {"name": f"{prefix}{i}", "labels": {"n": str(i), "even": str(i % 2 == 0).lower(), "set": "all"}}, "data": {"i": str(i)}})


def names(answer):
    return [item["metadata"]["name"] for item in answer.at("items", [])]


@case
def label_selectors(run):
    make(run, 4)
    for selector in ("even=true", "even==true", "even!=true", "even in (true)", "n in (1,2)", "n notin (1,2)", "even", "!even", "set=all,n in (0,3)", "n>1", "n<2", "none", "n=", " even = true ",
                     "even=true,", "n in ()", "a b", "=x", "n in (1,2", "even%3Dtrue"):
        query = selector if "%" in selector else selector.replace(" ", "%20").replace("=", "%3D").replace(",", "%2C").replace("<", "%3C").replace(">", "%3E")
        answer = run.quiet("GET", f"{{ns}}/configmaps?labelSelector={query}")
        run.note(selector, {"status": answer.status, "names": [n for n in names(answer) if n != "kube-root-ca.crt"], "reason": answer.at("reason")})


@case
def field_selectors(run):
    make(run, 3)
    for selector in ("metadata.name=c1", "metadata.name!=c1", "metadata.namespace=default", "metadata.name=c1,metadata.name=c2", "data.i=1", "metadata.labels.n=1", "nonsense"):
        answer = run.quiet("GET", "{ns}/configmaps?fieldSelector=" + selector.replace("=", "%3D").replace(",", "%2C").replace("!", "%21"))
        run.note(selector, {"status": answer.status, "names": [n for n in names(answer) if n != "kube-root-ca.crt"], "reason": answer.at("reason"), "message": answer.at("message")})
    for path, selector in (("{ns}/pods", "status.phase=Running"), ("{ns}/pods", "spec.nodeName="), ("{ns}/pods", "spec.restartPolicy=Always"), ("{ns}/pods", "spec.containers=x"),
                           ("{ns}/secrets", "type=Opaque"), ("/api/v1/namespaces", "status.phase=Active,metadata.name=" + run.namespace), ("/api/v1/nodes", "spec.unschedulable=true"),
                           ("{ns}/events", "reason=x,involvedObject.kind=Pod"), ("{apps}/deployments", "spec.replicas=1"), ("/apis/batch/v1/namespaces/{name}/jobs", "status.successful=1")):
        answer = run.quiet("GET", f"{path}?fieldSelector=" + selector.replace("=", "%3D").replace(",", "%2C"))
        run.note(f"{path} {selector}", {"status": answer.status, "count": len(answer.at("items", []) or []), "message": answer.at("message")})


@case
def pages(run):
    make(run, 5)
    select = "labelSelector=set%3Dall"
    first = run.quiet("GET", "{ns}/configmaps?limit=2")
    run.note("first page", [len(names(first)), first.at("metadata.remainingItemCount"), bool(first.at("metadata.continue"))])
    token = first.at("metadata.continue")
    second = run.quiet("GET", f"{{ns}}/configmaps?limit=2&continue={token}")
    run.note("second page", [names(second), second.at("metadata.remainingItemCount"), second.at("metadata.resourceVersion") == first.at("metadata.resourceVersion")])
    run.must("PATCH", "{ns}/configmaps/c4", {"data": {"i": "changed"}}, MERGE)
    run.must("POST", "{ns}/configmaps", config_map("c9"))
    run.must("DELETE", "{ns}/configmaps/c3")
    third = run.quiet("GET", f"{{ns}}/configmaps?limit=10&continue={second.at('metadata.continue')}")
    run.note("the rest as it was", [(i["metadata"]["name"], i.get("data", {}).get("i")) for i in third.at("items", []) if i["metadata"]["name"] != "kube-root-ca.crt"])
    run.note("and its end", [third.at("metadata.continue"), third.at("metadata.remainingItemCount")])
    with_selector = run.quiet("GET", f"{{ns}}/configmaps?limit=2&{select}")
    run.note("with a selector", [names(with_selector), with_selector.at("metadata.remainingItemCount"), bool(with_selector.at("metadata.continue"))])
    run.note("limit 0 is all", len(names(run.quiet("GET", f"{{ns}}/configmaps?limit=0&{select}"))))
    run.call("limit that is no number", "GET", "{ns}/configmaps?limit=x", only=["reason", "code"])
    run.call("a token that is none", "GET", "{ns}/configmaps?limit=2&continue=xxx", only=["reason", "code"])
    run.call("a token of nonsense", "GET", "{ns}/configmaps?limit=2&continue=" + base64.urlsafe_b64encode(b'{"v":"x"}').decode().rstrip("="), only=["reason", "code"])
    run.call("a token and a revision", "GET", f"{{ns}}/configmaps?limit=2&continue={token}&resourceVersion=5", only=["reason", "code"])
    run.call("a token and revision 0", "GET", f"{{ns}}/configmaps?limit=1&continue={token}&resourceVersion=0", only=["reason", "code", "kind"])
    exact = run.quiet("GET", "{ns}/configmaps?limit=2")
    run.note("a table can be paged", run.quiet("GET", "{ns}/configmaps?limit=2", headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}).at("metadata.remainingItemCount"))
    run.note("a token keeps", run.quiet("GET", f"{{ns}}/configmaps?limit=2&continue={exact.at('metadata.continue')}").status)


@case
def pages_expire(run):
    make(run, 5)
    first = run.quiet("GET", "{ns}/configmaps?limit=2")
    token = first.at("metadata.continue")
    run.must("PATCH", "{ns}/configmaps/c4", {"data": {"i": "changed"}}, MERGE)
    run.server.compact()

    def gone():
        return run.quiet("GET", f"{{ns}}/configmaps?limit=2&continue={token}").status == 410
    run.until("the token has expired", gone, 60)
    answer = run.call("an expired token", "GET", f"{{ns}}/configmaps?limit=10&continue={token}")
    onward = answer.at("metadata.continue")
    run.note("a new token is offered", bool(onward))
    rest = run.quiet("GET", f"{{ns}}/configmaps?limit=10&continue={onward}")
    run.note("it goes on with the present state", [(i["metadata"]["name"], i.get("data", {}).get("i")) for i in rest.at("items", []) if i["metadata"]["name"] != "kube-root-ca.crt"])
    run.call("an old revision, exactly", "GET", f"{{ns}}/configmaps?resourceVersion={first.at('metadata.resourceVersion')}&resourceVersionMatch=Exact&limit=5", only=["reason", "code"])


@case
def revisions_of_lists(run):
    make(run, 3)
    before = run.quiet("GET", "{ns}/configmaps")
    revision = before.at("metadata.resourceVersion")
    run.must("PATCH", "{ns}/configmaps/c0", {"data": {"i": "new"}}, MERGE)
    run.must("DELETE", "{ns}/configmaps/c1")
    run.must("POST", "{ns}/configmaps", config_map("c5", i="5"))

    def state(answer):
        items = [(i["metadata"]["name"], i.get("data", {}).get("i")) for i in answer.at("items", []) or [] if i["metadata"]["name"].startswith("c")]
        return {"status": answer.status, "items": items, "reason": answer.at("reason"), "message": answer.at("message"), "causes": answer.at("details.causes"),
                "same revision": answer.at("metadata.resourceVersion") == revision}
    for query in ("", f"resourceVersion={revision}", f"resourceVersion={revision}&resourceVersionMatch=NotOlderThan", f"resourceVersion={revision}&resourceVersionMatch=Exact",
                  f"resourceVersion={revision}&resourceVersionMatch=Exact&limit=2", f"resourceVersion={revision}&limit=2", "resourceVersion=0&resourceVersionMatch=Exact",
                  "resourceVersion=0&resourceVersionMatch=NotOlderThan", "resourceVersionMatch=Exact", f"resourceVersion={revision}&resourceVersionMatch=Newest", "resourceVersion=abc",
                  f"resourceVersion={int(revision) + 100000}", f"resourceVersion={int(revision) + 100000}&resourceVersionMatch=Exact"):
        shown = query.replace(str(int(revision) + 100000), "FUTURE").replace(revision, "R")
        value = state(run.quiet("GET", "{ns}/configmaps?" + query))
        value["message"] = (value["message"] or "").replace(str(int(revision) + 100000), "FUTURE").replace(revision, "R")
        run.note(shown, value)
    run.until("revision 0 shows the newest in the end", lambda: "c5" in names(run.quiet("GET", "{ns}/configmaps?resourceVersion=0")))
    run.note("revision 0", state(run.quiet("GET", "{ns}/configmaps?resourceVersion=0"))["items"])


@case
def revisions_of_objects(run):
    run.make_namespace()
    first = run.must("POST", "{ns}/configmaps", config_map("a", x="1"))
    revision = int(first.at("metadata.resourceVersion"))
    run.must("PATCH", "{ns}/configmaps/a", {"data": {"x": "2"}}, MERGE)
    run.call("at the old revision or later", "GET", f"{{ns}}/configmaps/a?resourceVersion={revision}")
    run.until("revision 0 finds it", lambda: run.quiet("GET", "{ns}/configmaps/a?resourceVersion=0").status == 200)
    answer = run.quiet("GET", f"{{ns}}/configmaps/a?resourceVersion={revision + 100000}")
    run.note("of the future", {"status": answer.status, "reason": answer.at("reason"), "causes": answer.at("details.causes"), "retry": answer.at("details.retryAfterSeconds")})
    run.call("no number", "GET", "{ns}/configmaps/a?resourceVersion=abc", only=["reason", "code"])


@case
def partial_metadata(run):
    make(run, 2)
    item = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    listed = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
    run.call("of one", "GET", "{ns}/configmaps/c0", headers=item)
    run.call("of a list", "GET", "{ns}/configmaps?labelSelector=set%3Dall", headers=listed)
    run.call("of a patched one", "PATCH", "{ns}/configmaps/c0", {"data": {"q": "1"}}, {**MERGE, **item})
    run.call("pretty", "GET", "{ns}/configmaps/c0?pretty=true", only=["metadata.name"])
    run.call("nothing acceptable", "GET", "{ns}/configmaps/c0", headers={"Accept": "text/html"}, only=["reason", "code"])
    run.call("anything", "GET", "{ns}/configmaps/c0", headers={"Accept": "*/*"}, only=["metadata.name"])


@case
def lists_across_namespaces(run):
    make(run, 1, "only-here-")
    answer = run.quiet("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Donly-here-0")
    run.note("found", [[i["metadata"]["namespace"], i["metadata"]["name"], "kind" in i, "apiVersion" in i] for i in answer.at("items")])
    run.note("kind", [answer.at("kind"), answer.at("apiVersion"), sorted(answer.at("metadata"))])
    run.call("an empty list", "GET", "{ns}/secrets?labelSelector=none", without=["metadata.resourceVersion"])
    run.call("of a namespace that is not there", "GET", "/api/v1/namespaces/none-such/secrets")
    run.call("create across namespaces", "POST", "/api/v1/configmaps", config_map("x"), only=["reason", "code"])
