"""Everything that the product writes to a cluster is accepted by a real kube-apiserver with the operators' own definitions, under strict
field validation, without a warning, and applied twice it changes nothing.

  .venv/bin/python tests/conformance/emitted.py CASES_TEST BINARY [FOLDER]

Three sources, none of which names a manifest: the component table (through the program CASES_TEST); a launch of BINARY over its twin,
whose journal keeps what was applied; and, in FOLDER, what the journals of other suites' twins kept. So what later work applies in any
of those is judged here without being listed."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "e2e"))

from lib_servers import PEERS, RealServer  # noqa: E402

APPLY = {"Content-Type": "application/apply-patch+yaml"}
# Kinds without any published schema: what we write of them is not proven here.
UNPUBLISHED = {"HyperpodNodeClass": "no package holds its definition"}
counts = {"passed": 0, "failed": 0}


def check(what, good, seen=""):
    counts["passed" if good else "failed"] += 1
    if not good:
        print(f"FAIL  {what}   saw: {str(seen)[:1500]}", flush=True)
    return good


def of_components(program):
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        done = subprocess.run([program, "--gtest_filter=EmittedObjects.*", "--gtest_brief=1"], env={**os.environ, "INSTANTSTART_EMITTED_OBJECTS": file.name}, capture_output=True, text=True)
        check("the component table gives its objects", done.returncode == 0, done.stdout[-500:])
        return [json.loads(line) for line in open(file.name)]


def of_a_launch(binary):
    """A launch with storage and groups of each accelerator family, so that its flows apply what they can."""
    sys.argv = [sys.argv[0], binary]
    from lib import Product
    product = Product()
    try:
        groups = []
        for name, kind in (("gpu", "ml.g5.12xlarge"), ("efa", "ml.g6.12xlarge"), ("neuron", "ml.trn1.32xlarge"), ("cpu", "ml.c5.2xlarge")):
            zones = product.api("GET", f"/zones?instance_type={kind}")[1].get("zones") or []
            if zones:
                groups.append({"name": name, "instance_type": kind, "count": 1, "zone": zones[0]["name"]})
        for group in groups:
            product.twin("POST", "/quotas", {"quota_name": f"{group['instance_type']} for cluster usage", "value": 10})
        operation = product.run("POST", "/clusters/launch", {"name": "emitted", "storage": {"kind": "s3"}, "instance_groups": groups[:3]})
        check("the launch ends well", operation["state"] == "succeeded", operation)
        applied = product.applied()
        check("its journal keeps what was applied", len(applied) >= 5, len(applied))
        return [{"from": "launch", **entry} for entry in applied]
    finally:
        product.stop()


def of_folder(folder):
    out = []
    for file in sorted(pathlib.Path(folder).glob("*.jsonl")) if folder else []:
        out += [{"from": file.stem, **json.loads(line)} for line in file.read_text().splitlines()]
    return out


class Judge:
    def __init__(self, server):
        self.server, self.plurals, self.namespaces, self.seen, self.applied = server, {}, set(), set(), set()

    def install_definitions(self):
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        files = sorted((PEERS / "crds").glob("*.yaml"))
        check("there are definitions", len(files) >= 9, files)
        names = []
        for file in files:
            answer = self.server.request("POST", path, file.read_bytes(), {"Content-Type": "application/yaml"})
            if check(f"definition {file.name}", answer.status == 201, answer.text):
                names.append(answer.at("metadata.name"))
        end = time.time() + 60
        for name in names:
            while time.time() < end and not any(c["type"] == "Established" and c["status"] == "True" for c in self.server.request("GET", f"{path}/{name}").at("status.conditions", []) or []):
                time.sleep(0.1)
            check(f"{name} is established", time.time() < end)

    def resource(self, api_version, kind):
        if api_version not in self.plurals:
            answer = self.server.request("GET", ("/apis/" if "/" in api_version else "/api/") + api_version)
            self.plurals[api_version] = {r["kind"]: r for r in answer.at("resources", []) if "/" not in r["name"]}
        return self.plurals[api_version].get(kind)

    def remove(self, path):
        """Sources are different accounts: what one applied must not stand in the way of another's object of the same name. So an object is
        judged as a new one, never as a change of one that stands."""
        self.server.request("DELETE", path, {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
        self.server.request("PATCH", path, {"metadata": {"finalizers": None}}, {"Content-Type": "application/merge-patch+json"})
        end = time.time() + 30
        while self.server.request("GET", path).status != 404 and time.time() < end:
            time.sleep(0.05)

    def judge(self, source, item):
        key = json.dumps(item, sort_keys=True)
        if key in self.seen:
            return
        self.seen.add(key)
        kind, api_version, meta = item.get("kind", ""), item.get("apiVersion", ""), item.get("metadata", {})
        label = f"{source}: {kind} {meta.get('namespace', '')}/{meta.get('name', '')}"
        if kind in UNPUBLISHED:
            print(f"skip  {label}: {UNPUBLISHED[kind]}")
            return
        resource = self.resource(api_version, kind)
        if not check(f"{label}: its kind is known", resource is not None, api_version):
            return
        namespace = meta.get("namespace", "default")
        if resource["namespaced"] and namespace not in self.namespaces:
            self.server.request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
            self.namespaces.add(namespace)
        path = ("/apis/" if "/" in api_version else "/api/") + api_version + (f"/namespaces/{namespace}" if resource["namespaced"] else "") + f"/{resource['name']}/{meta.get('name')}"
        if path in self.applied:
            self.remove(path)
        self.applied.add(path)
        query = "?fieldManager=instantstart&force=true&fieldValidation=Strict"
        first = self.server.request("PATCH", path + query, item, APPLY)
        if not check(f"{label}: accepted", first.status in (200, 201), first.text):
            return
        check(f"{label}: without a warning", not first.warnings, first.warnings)
        if kind == "CustomResourceDefinition":  # its status is still being written
            end = time.time() + 30
            while time.time() < end and not any(c["type"] == "Established" and c["status"] == "True" for c in self.server.request("GET", path).at("status.conditions", []) or []):
                time.sleep(0.1)
        # The first repetition may write what the server itself left open at the creation (it does so with claims); then nothing more.
        second, third = (self.server.request("PATCH", path + query, item, APPLY) for _ in range(2))
        check(f"{label}: the same again changes nothing", third.at("metadata.resourceVersion") == second.at("metadata.resourceVersion")
              and second.at("spec") == first.at("spec") and second.at("metadata.generation") == first.at("metadata.generation"), third.text)


def main():
    program, binary, folder = (*sys.argv[1:], None)[:3]
    items = of_components(program) + of_a_launch(binary) + of_folder(folder)
    server = RealServer()
    judge = Judge(server)
    judge.install_definitions()
    # A test that cannot fail proves nothing: the judge must refuse what is wrong.
    wrong = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "wrong", "namespace": "default"}, "dta": {}}
    refused = server.request("PATCH", "/api/v1/namespaces/default/configmaps/wrong?fieldManager=instantstart&fieldValidation=Strict", wrong, APPLY)
    check("an unknown field is refused", refused.status >= 400 and "dta" in refused.text, refused.text)
    for entry in items:
        judge.judge(entry["from"], entry["object"])
    print(f"{len(judge.seen)} different objects applied to kube-apiserver {server.version}, from {len({e['from'] for e in items})} sources")
    server.stop()
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
