"""Watches: events and their order, selectors, bookmarks, initial events, what is too old."""
import time

from cases_objects import MERGE, config_map
from lib_cases import case

KEEP = ("object.metadata.managedFields",)


@case
def watch_events(run):
    run.make_namespace()
    run.must("POST", "{ns}/configmaps", config_map("a", x="1"))
    revision = run.quiet("GET", "{ns}/configmaps").at("metadata.resourceVersion")
    stream = run.watch(f"{{ns}}/configmaps?watch=1&resourceVersion={revision}&timeoutSeconds=30")
    run.note("status", stream.status)
    run.must("POST", "{ns}/configmaps", config_map("b", x="1"))
    run.must("PATCH", "{ns}/configmaps/a", {"data": {"x": "2"}}, MERGE)
    run.must("PATCH", "{ns}/configmaps/a", {"data": {"x": "2"}}, MERGE)  # no change, no event
    run.must("DELETE", "{ns}/configmaps/b")
    got = run.events("added, modified, deleted", stream, 3)
    revisions = [int(event["object"]["metadata"]["resourceVersion"]) for event in got if event]
    run.note("revisions grow", revisions == sorted(set(revisions)))
    stream.close()
    again = run.watch(f"{{ns}}/configmaps?watch=true&resourceVersion={revision}")
    run.events("from the same revision again", again, 3, KEEP)
    again.close()


@case
def watch_begins_with_what_is_there(run):
    run.make_namespace()
    for name in "ab":
        run.must("POST", "{ns}/configmaps", {**config_map(name), "metadata": {"name": name, "labels": {"w": "1"}}})
    query = "{ns}/configmaps?watch=1&labelSelector=w%3D1&timeoutSeconds=30"
    for label, more in (("no revision", ""), ("revision 0", "&resourceVersion=0")):
        stream = run.watch(query + more)
        got = [stream.next() for _ in range(2)]
        run.note(label, sorted([event["type"], event["object"]["metadata"]["name"]] for event in got if event))
        stream.close()


@case
def watch_with_selectors(run):
    run.make_namespace()
    revision = run.quiet("GET", "{ns}/configmaps").at("metadata.resourceVersion")
    stream = run.watch(f"{{ns}}/configmaps?watch=1&labelSelector=in%3Dyes&resourceVersion={revision}&timeoutSeconds=30")
    run.must("POST", "{ns}/configmaps", {"metadata": {"name": "never"}})
    run.must("POST", "{ns}/configmaps", {"metadata": {"name": "a", "labels": {"in": "no"}}})
    for value in ("yes", "yes2", "yes", None):
        run.must("PATCH", "{ns}/configmaps/a", {"metadata": {"labels": {"in": value}}}, MERGE)
    run.must("PATCH", "{ns}/configmaps/a", {"metadata": {"labels": {"in": "yes"}}}, MERGE)
    run.must("DELETE", "{ns}/configmaps/a")
    run.events("in, out, in, out, in, deleted", stream, 6, KEEP)
    stream.close()
    one = run.watch(f"{{ns}}/configmaps?watch=1&fieldSelector=metadata.name%3Dsingle&resourceVersion={revision}&timeoutSeconds=30")
    run.must("POST", "{ns}/configmaps", config_map("single"))
    run.must("POST", "{ns}/configmaps", config_map("double"))
    run.must("DELETE", "{ns}/configmaps/single")
    run.events("one object by name", one, 2, KEEP)
    one.close()
    old = run.watch(f"/api/v1/watch/namespaces/{run.namespace}/configmaps?resourceVersion={revision}&timeoutSeconds=5")
    run.note("the old path", old.status)
    old.close()


@case
def watch_errors(run):
    run.make_namespace()
    run.must("POST", "{ns}/configmaps", config_map("a"))
    stream = run.watch("{ns}/configmaps?watch=1&resourceVersion=1&timeoutSeconds=10")
    first = stream.next()
    shown = {"status": stream.status}
    if first and first.get("type"):
        shown["type"], shown["reason"], shown["code"], shown["kind"] = first["type"], first["object"].get("reason"), first["object"].get("code"), first["object"].get("kind")
    run.note("too old", shown)
    run.call("no number", "GET", "{ns}/configmaps?watch=1&resourceVersion=abc", only=["reason", "code"])
    run.call("initial events without a match", "GET", "{ns}/configmaps?watch=1&sendInitialEvents=true", only=["reason", "code", "details"])
    run.call("initial events with another match", "GET", "{ns}/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact", only=["reason", "code", "details.causes"])
    run.call("a match without initial events", "GET", "{ns}/configmaps?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=5", only=["reason", "code", "details.causes"])
    run.call("initial events of a list", "GET", "{ns}/configmaps?sendInitialEvents=true", only=["reason", "code", "details.causes"])
    run.call("bad selector", "GET", "{ns}/configmaps?watch=1&labelSelector=a%20b", only=["reason", "code"])


@case
def watch_ends_in_time(run):
    run.make_namespace()
    revision = run.quiet("GET", "{ns}/configmaps").at("metadata.resourceVersion")
    start = time.monotonic()
    stream = run.watch(f"{{ns}}/configmaps?watch=1&resourceVersion={revision}&timeoutSeconds=1")
    run.note("nothing, then the end", [stream.next(30), time.monotonic() - start < 25])
    marked = run.watch(f"{{ns}}/configmaps?watch=1&resourceVersion={revision}&timeoutSeconds=3&allowWatchBookmarks=true")
    got = []
    while event := marked.next(30):
        got.append(event)
    run.note("at most bookmarks, of the kind", all([e["type"], e["object"]["kind"], e["object"]["apiVersion"]] == ["BOOKMARK", "ConfigMap", "v1"] for e in got))
    run.note("a bookmark's revision is no older", all(int(e["object"]["metadata"]["resourceVersion"]) >= int(revision) for e in got))


@case
def watch_initial_events(run):
    run.make_namespace()
    for name in "ab":
        run.must("POST", "{ns}/configmaps", {**config_map(name), "metadata": {"name": name, "labels": {"w": "1"}}})
    query = "{ns}/configmaps?watch=1&labelSelector=w%3D1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=30"
    stream = run.watch(query)
    run.note("status", stream.status)
    run.note("what is there", sorted([e["type"], e["object"]["metadata"]["name"]] for e in (stream.next(), stream.next()) if e))
    mark = stream.next()
    run.note("the end of it", mark)
    run.must("POST", "{ns}/configmaps", {**config_map("c"), "metadata": {"name": "c", "labels": {"w": "1"}}})
    run.events("and then what changes", stream, 1, KEEP)
    stream.close()
    revision = run.quiet("GET", "{ns}/configmaps").at("metadata.resourceVersion")
    late = run.watch(query + f"&resourceVersion={revision}")
    run.note("no older than", sorted(e["object"]["metadata"]["name"] for e in [late.next() for _ in range(3)] if e))
    late.close()
    none = run.watch(f"{{ns}}/configmaps?watch=1&labelSelector=w%3D1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={revision}&allowWatchBookmarks=true&timeoutSeconds=30")
    run.must("DELETE", "{ns}/configmaps/c")
    event = none.next()
    while event and event["type"] == "BOOKMARK":
        event = none.next()
    run.note("without", [event["type"], event["object"]["metadata"]["name"]] if event else None)
    none.close()


@case
def watch_tables_and_metadata(run):
    run.make_namespace()
    revision = run.quiet("GET", "{ns}/configmaps").at("metadata.resourceVersion")
    path = f"{{ns}}/configmaps?watch=1&resourceVersion={revision}&timeoutSeconds=30"
    tables = run.watch(path, {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    partial = run.watch(path, {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"})
    run.must("POST", "{ns}/configmaps", config_map("a", x="1"))
    run.must("DELETE", "{ns}/configmaps/a")
    shown = [tables.next(), tables.next()]
    for event in shown:
        for row in event["object"].get("rows") or []:
            row["cells"][-1] = "<age>"
        for column in event["object"].get("columnDefinitions") or []:
            column.pop("description", None)
    run.note("tables", shown)
    run.events("metadata", partial, 2)
    tables.close()
    partial.close()
