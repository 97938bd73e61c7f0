"""kubectl of five versions does the same on both servers: what it prints and how it ends."""
import json
import re

from cases_objects import config_map, deployment
from lib_cases import case

VERSIONS = ("1.29", "1.30", "1.31", "1.32", "1.33")
AGE = re.compile(r"\b(\d+[smhd])+\b")


def shown(value):
    """Columns are padded to the widest value, and ages differ."""
    return {"exit": value["exit"], "out": [re.sub(r"\s{2,}", "  ", AGE.sub("<age>", line)).rstrip() for line in value["out"].splitlines()],
            "err": [line for line in value["err"].splitlines() if "deprecated" not in line]}


def script(run, version):
    """What a person does with kubectl in a day; the same for every version."""
    def k(label, *words, stdin=None, show=shown):
        return run.kubectl(f"{version} {label}", *words, "-n", run.namespace, stdin=None if stdin is None else json.dumps(stdin), version=version, show=show)

    k("create configmap", "create", "configmap", "words", "--from-literal=a=1")
    k("create it again", "create", "configmap", "words", "--from-literal=a=1")
    k("create secret", "create", "secret", "generic", "hidden", "--from-literal=k=v")
    k("create deployment", "create", "deployment", "web", "--image=nginx", "--replicas=0")
    k("create job", "create", "job", "once", "--image=busybox", "--dry-run=server", "--", "echo")
    k("create serviceaccount", "create", "serviceaccount", "robot")
    k("create role", "create", "role", "reader", "--verb=get,list", "--resource=pods")
    k("create rolebinding", "create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={run.namespace}:robot")
    k("create token", "create", "token", "robot", show=lambda v: {"exit": v["exit"], "parts": len(v["out"].split("."))})
    k("create -f, unknown member", "create", "-f", "-", stdin={**config_map("odd"), "extra": 1})
    k("apply", "apply", "-f", "-", stdin=config_map("applied", a="1"))
    k("apply unchanged", "apply", "-f", "-", stdin=config_map("applied", a="1"))
    k("apply changed", "apply", "-f", "-", stdin=config_map("applied", b="2"))
    k("diff", "diff", "-f", "-", stdin=config_map("applied", b="3"), show=lambda v: {"exit": v["exit"], "lines": [line for line in v["out"].splitlines() if re.match(r"[+-]  b", line)]})
    k("apply --server-side", "apply", "--server-side", "-f", "-", stdin=config_map("served", a="1"))
    k("apply --server-side conflict", "apply", "--server-side", "--field-manager=other", "-f", "-", stdin=config_map("served", a="2"))
    k("apply --server-side forced", "apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-", stdin=config_map("served", a="2"))
    k("apply deployment", "apply", "-f", "-", stdin=deployment("applied"))
    changed = deployment("applied")
    changed["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2"
    k("apply deployment changed", "apply", "-f", "-", stdin=changed)
    k("replace", "replace", "-f", "-", stdin=config_map("applied", c="1"))
    k("replace of none", "replace", "-f", "-", stdin=config_map("none"))
    k("get", "get", "configmap", "applied")
    k("get -o yaml", "get", "configmap", "applied", "-o", "jsonpath={.data}")
    k("get -o wide", "get", "deployment", "applied", "-o", "wide", show=lambda v: {"exit": v["exit"], "head": v["out"].splitlines()[0].split() if v["out"] else v})
    k("get none", "get", "configmap", "none")
    k("get two kinds", "get", "configmap/applied,secret/hidden")
    k("get by label", "get", "secret", "-l", "a=b")
    k("get unknown kind", "get", "gizmos")
    k("get in pages", "get", "configmaps", "--chunk-size=2", "-o", "name")
    k("sorted", "get", "configmaps", "--sort-by=.metadata.name", "-o", "name")
    k("label", "label", "configmap", "applied", "x=y")
    k("label again", "label", "configmap", "applied", "x=z")
    k("label overwrite", "label", "configmap", "applied", "x=z", "--overwrite")
    k("annotate", "annotate", "configmap", "applied", "note=a b")
    k("patch merge", "patch", "configmap", "applied", "--type=merge", "-p", '{"data":{"m":"1"}}')
    k("patch json", "patch", "configmap", "applied", "--type=json", "-p", '[{"op":"remove","path":"/data/m"}]')
    k("patch json fails", "patch", "configmap", "applied", "--type=json", "-p", '[{"op":"remove","path":"/data/none"}]')
    k("patch strategic", "patch", "deployment", "applied", "-p", '{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"nginx:3"}]}}}}')
    k("patch no change", "patch", "configmap", "applied", "--type=merge", "-p", '{"data":{"c":"1"}}')
    k("set image", "set", "image", "deployment/applied", "web=nginx:4")
    k("set env", "set", "env", "deployment/applied", "A=2")
    k("scale", "scale", "deployment/applied", "--replicas=0")
    k("expose", "expose", "deployment", "applied", "--port=80")
    k("autoscale", "autoscale", "deployment", "applied", "--max=3")
    k("explain", "explain", "deployment.spec.replicas", show=lambda v: {"exit": v["exit"], "out": [line.strip() for line in v["out"].splitlines() if line.startswith(("GROUP", "KIND", "VERSION", "FIELD"))]})
    k("can-i", "auth", "can-i", "create", "pods")
    k("can-i as", "auth", "can-i", "list", "pods", f"--as=system:serviceaccount:{run.namespace}:robot")
    k("can-i not", "auth", "can-i", "delete", "pods", f"--as=system:serviceaccount:{run.namespace}:robot")
    k("wait", "wait", "--for=jsonpath={.data.c}=1", "configmap/applied", "--timeout=5s")
    k("delete", "delete", "configmap", "applied")
    k("delete none", "delete", "configmap", "applied")
    k("delete --ignore-not-found", "delete", "configmap", "applied", "--ignore-not-found")
    k("delete orphan", "delete", "deployment", "web", "--cascade=orphan")
    k("delete by label", "delete", "secret", "-l", "none=none")


def register(version):
    def kubectl(run):
        run.make_namespace()
        script(run, version)
    kubectl.__name__ = "kubectl_" + version.replace(".", "_")
    case(kubectl)


for one in VERSIONS:
    register(one)
