"""Our own Kubernetes client and cache against a real kube-apiserver: what it writes is there, what it refuses to write twice is refused,
and what its cache holds is what the server holds, also after conflicts, a compaction and restarts.

  .venv/bin/python tests/conformance/client.py KUBE_DRIVER

KUBE_DRIVER is the program of kube_driver.cc: src/kube under this script's orders. The other side is Python's own HTTP client and kubectl."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

from lib_servers import PEERS, RealServer

NAMESPACE = "client"
PODS, PAGES = 1100, 3
STATUS = {"Content-Type": "application/merge-patch+json"}
counts = {"passed": 0, "failed": 0}


def check(what, good, seen=""):
    counts["passed" if good else "failed"] += 1
    if not good:
        print(f"FAIL  {what}   saw: {str(seen)[:1500]}", flush=True)
    return good


class Driver:
    """The program, one order at a time."""

    def __init__(self, program, server):
        self.process = subprocess.Popen([program, server.url, server.ca_file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={"PATH": os.environ["PATH"], "KUBE_TOKEN": server.token})

    def ask(self, do, **more):
        """(what was answered, the error)"""
        self.process.stdin.write(json.dumps({"do": do, **more}) + "\n")
        self.process.stdin.flush()
        patience = threading.Timer(120, self.process.kill)
        patience.start()
        line = self.process.stdout.readline()
        patience.cancel()
        if not line:
            raise SystemExit(f"the driver ended: {self.process.wait()}")
        answer = json.loads(line)
        return answer.get("ok"), answer.get("error")

    def stop(self):
        self.process.stdin.close()
        check("the driver ends well", self.process.wait(30) == 0, self.process.returncode)


def pod(name, node="node-1", **more):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE, **more},
            "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [{"name": "main", "image": "example.com/main:1"}]}}


def config_map(**data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": NAMESPACE}, "data": data}


class Suite:
    def __init__(self, server, driver):
        self.server, self.driver = server, driver
        self.pods = f"/api/v1/namespaces/{NAMESPACE}/pods"

    def must(self, method, path, body=None, headers=None):
        answer = self.server.request(method, path, body, headers)
        if answer.status >= 400:
            raise SystemExit(f"{method} {path}: {answer.status} {answer.text[:500]}")
        return answer

    def truth(self):
        pods, nodes, events = (self.must("GET", f"/api/v1/{kind}").at("items") or [] for kind in ("pods", "nodes", "events"))
        return {"pods": {f"{p['metadata']['namespace']}/{p['metadata']['name']}": [p["status"].get("phase", "Unknown"), p["spec"].get("nodeName", "")] for p in pods},
                "nodes": {n["metadata"]["name"]: any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"].get("conditions", [])) for n in nodes},
                "events": sorted(f"{e['metadata']['namespace']}/{e['metadata']['name']}" for e in events)}

    def agree(self, what, seconds=60):
        """The cache comes to hold what the server does; returns how it fared."""
        end = time.time() + seconds
        while True:
            shown, error = self.driver.ask("show")
            truth = self.truth()
            held = shown and {"pods": shown["pods"], "nodes": shown["nodes"], "events": sorted(shown["events"])}
            same = held == truth and shown["complete"]
            if same or time.time() > end:
                break
            time.sleep(0.2)
        wrong = {kind: [x for x in set(map(str, truth[kind])) ^ set(map(str, held[kind]))][:5] for kind in truth} if held else error
        if check(f"{what}: the cache holds what the server does", same, wrong):
            check(f"{what}: and is kept up to date", all(kind["fresh"] for kind in shown["kinds"].values()), shown.get("problem"))
        return shown["kinds"]

    def fill(self):
        self.must("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        end = time.time() + 30
        while self.server.request("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default").status != 200 and time.time() < end:
            time.sleep(0.1)
        for number in (1, 2, 3):
            self.must("POST", "/api/v1/nodes", {"metadata": {"name": f"node-{number}"}})
        for number in range(PODS):
            self.must("POST", self.pods, pod(f"pod-{number:04}", f"node-{number % 3 + 1}"))
        self.event("begun")

    def event(self, name):
        self.must("POST", f"/api/v1/namespaces/{NAMESPACE}/events",
                  {"metadata": {"name": name}, "reason": "Tested", "message": name, "type": "Normal", "lastTimestamp": "2026-11-30T10:00:00Z",
                   "involvedObject": {"kind": "Pod", "namespace": NAMESPACE, "name": "pod-0000"}})

    def change(self, mark):
        """Something of everything, of objects that other rounds leave alone."""
        for number in range(mark * 20, mark * 20 + 10):
            self.must("PATCH", f"{self.pods}/pod-{number:04}/status", {"status": {"phase": "Running"}}, STATUS)
        for number in range(mark * 20 + 10, mark * 20 + 20):
            self.must("DELETE", f"{self.pods}/pod-{number:04}")
        for number in range(5):
            self.must("POST", self.pods, pod(f"new-{mark}-{number}"))
        self.must("PATCH", f"/api/v1/nodes/node-{mark % 3 + 1}/status", {"status": {"conditions": [{"type": "Ready", "status": "True" if mark % 2 else "False"}]}}, STATUS)
        self.must("POST", "/api/v1/nodes", {"metadata": {"name": f"later-{mark}"}})
        self.event(f"changed-{mark}")

    def lists_and_follows(self):
        began = self.agree("first list")
        listed, _ = self.driver.ask("list", resource="pods", namespace=NAMESPACE, page_size=PODS // PAGES)
        check("a list in pages is whole", len(listed["items"]) == PODS, len(listed["items"]))
        self.change(1)
        kinds = self.agree("after changes")
        check("changes come by watches, without a list", all(kinds[kind]["lists"] == began[kind]["lists"] == 1 for kind in kinds), kinds)
        check("and are counted", kinds["pods"]["changes"] >= 25, kinds["pods"])

    def writes(self):
        ask = self.driver.ask
        made, error = ask("create", resource="pods", object=pod("ours"))
        check("create", made and made["metadata"]["uid"], error)
        _, error = ask("create", resource="pods", object=pod("ours"))
        check("a second create is refused", error and [error["kind"], error["code"]] == ["conflict", "AlreadyExists"], error)
        _, error = ask("create", resource="pods", object={**pod("bad"), "spec": {"containers": [{"name": "BAD NAME", "image": "a"}]}})
        check("what is invalid is refused by its field", error and error["kind"] == "invalid" and "/spec/containers/0/name" in error["fields"], error)
        _, error = ask("get", resource="pods", namespace=NAMESPACE, name="nobody")
        check("absent is not found", error and [error["kind"], error["code"]] == ["not_found", "NotFound"], error)
        gone = [ask("remove", resource="pods", namespace=NAMESPACE, name="ours")[0] for _ in (1, 2)]
        check("remove tells absence", gone == [True, False], gone)
        patched, error = ask("patch", resource="pods", namespace=NAMESPACE, name="pod-0900", patch={"metadata": {"labels": {"seen": "yes"}}})
        code, words, _ = self.server.kubectl("-n", NAMESPACE, "get", "pods", "-l", "seen=yes", "-o", "name")
        check("kubectl sees what was patched", [code, words.strip()] == [0, "pod/pod-0900"] and not error, [words, error])
        _, error = ask("replace", resource="pods", object={**pod("pod-0900"), "metadata": {"name": "pod-0900", "namespace": NAMESPACE, "resourceVersion": "1"}})
        check("a replace of an old version is a conflict", error and [error["kind"], error["code"]] == ["conflict", "Conflict"], error)
        version, _ = ask("raw", path="/version")
        check("the server's own paths", json.loads(version)["gitVersion"] == self.server.version, version)
        self.agree("after writes")

    def applies(self):
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/settings"
        ours, error = self.driver.ask("apply", object=config_map(mode="ours"))
        check("apply makes it", ours and ours["data"] == {"mode": "ours"}, error)
        again, _ = self.driver.ask("apply", object=config_map(mode="ours"))
        check("the same again changes nothing", again["metadata"]["resourceVersion"] == ours["metadata"]["resourceVersion"])
        code, _, words = self.server.kubectl("apply", "--server-side", "-f", "-", stdin=json.dumps(config_map(mode="theirs")))
        check("kubectl is told whose field it is", code != 0 and 'conflict with "instantstart"' in words, words)
        code, _, words = self.server.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=json.dumps(config_map(mode="theirs", more="theirs")))
        check("and may take it by force", code == 0, words)
        planned, _ = self.driver.ask("apply_dry_run", object=config_map(mode="planned"))
        check("a dry run shows what would be", planned["data"] == {"mode": "planned", "more": "theirs"} and self.must("GET", path).at("data.mode") == "theirs", planned)
        self.driver.ask("apply", object=config_map(mode="ours again"))
        check("ours takes it back and leaves the others' alone", self.must("GET", path).at("data") == {"mode": "ours again", "more": "theirs"})
        owners = {entry["manager"]: entry["operation"] for entry in self.must("GET", path).at("metadata.managedFields")}
        check("each under its own name", owners == {"instantstart": "Apply", "kubectl": "Apply"}, owners)
        self.driver.ask("apply", object=config_map())
        check("what is no longer applied goes", self.must("GET", path).at("data") == {"more": "theirs"})

    def kinds_that_come_later(self):
        thing = {"apiVersion": "test.example.com/v1", "kind": "Gadget", "metadata": {"name": "one", "namespace": NAMESPACE}, "spec": {"size": 1}}
        _, error = self.driver.ask("apply", object=thing)
        check("a kind that is not there yet", error and error["code"] == "UnknownKind", error)
        self.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": "gadgets.test.example.com"},
            "spec": {"group": "test.example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                         "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}}}]}})
        end = time.time() + 30
        made = None
        while not made and time.time() < end:
            made, error = self.driver.ask("apply", object=thing)
        check("is found once it is there", made and made["spec"] == {"size": 1}, error)
        _, error = self.driver.ask("apply", object={**thing, "spec": {"size": "large"}})
        check("its schema refuses", error and error["kind"] == "invalid", error)

    def compaction(self):
        """The driver stands still while the server goes on, forgets what was, and is restarted: its versions are too old (410)."""
        before = self.agree("before the compaction")
        self.driver.process.send_signal(signal.SIGSTOP)
        self.change(2)
        self.server.compact()
        self.server.kill()
        self.server.start()
        self.change(3)
        self.driver.process.send_signal(signal.SIGCONT)
        after = self.agree("after a compaction")
        check("by a list anew", after["pods"]["lists"] > before["pods"]["lists"], [before["pods"], after["pods"]])

    def restarts(self):
        for mark in (4, 5, 6):
            before = self.agree(f"before restart {mark - 3}")
            self.server.kill()
            shown, error = self.driver.ask("show")
            check(f"restart {mark - 3}: what was read stays readable", shown and len(shown["pods"]) > PODS / 2, error)
            made, error = self.driver.ask("create", resource="pods", object=pod(f"away-{mark}"))
            check(f"restart {mark - 3}: a write says that nobody is there", not made and error["code"] == "KubernetesUnreachable", error or made)
            self.server.start()
            check(f"restart {mark - 3}: and did nothing", self.server.request("GET", f"{self.pods}/away-{mark}").status == 404)
            self.change(mark)
            made, error = self.driver.ask("create", resource="pods", object=pod(f"back-{mark}"))
            check(f"restart {mark - 3}: writes go on", made, error)
            after = self.agree(f"after restart {mark - 3}")
            print(f"restart {mark - 3}: {after['pods']['lists'] - before['pods']['lists']} lists, {after['pods']['changes'] - before['pods']['changes']} changes of pods")

    def killed_in_writes(self):
        """The server dies while writes are under way: each is done once or not at all, and its answer does not say otherwise."""
        answers = {}
        killer = threading.Timer(0.35, self.server.kill)
        killer.start()
        for number in range(2000):
            name = f"storm-{number}"
            made, error = self.driver.ask("create", resource="pods", object=pod(name))
            answers[name] = "made" if made else error["kind"]
            if not made:
                break
        killer.join()
        self.server.start()
        there = {item["metadata"]["name"] for item in self.must("GET", self.pods).at("items")}
        lost = [name for name, answer in answers.items() if answer == "made" and name not in there]
        ghosts = [name for name, answer in answers.items() if answer == "unavailable" and name in there]
        check("what was answered is there", not lost, lost)
        check("what is said not to be done is not there", not ghosts, ghosts)
        check("the server died among the writes", 1 < len(answers) < 2000 and list(answers.values())[-1] != "made", len(answers))
        print(f"killed in write {len(answers)}: {list(answers.values())[-1]}")
        self.agree("after the death in a write")


def main():
    if not (PEERS / "kube-apiserver").exists():
        print("build/peers/kube-apiserver is missing: run tools/setup test\n0 passed, 1 failed")
        return 1
    server = RealServer()
    suite = Suite(server, None)
    suite.fill()
    suite.driver = Driver(sys.argv[1], server)
    print(f"our client against kube-apiserver {server.version} with {PODS} pods")
    for part in (suite.lists_and_follows, suite.writes, suite.applies, suite.kinds_that_come_later, suite.compaction, suite.restarts, suite.killed_in_writes):
        part()
    suite.driver.stop()
    server.stop()
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
