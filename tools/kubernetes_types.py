#!/usr/bin/env python3
"""Makes data/kubernetes-types.json: the fields of Kubernetes' built-in kinds, as facts without prose.

Usage: tools/kubernetes_types.py [version of k8s.io/api, default v0.34.4]. Needs Go, whose module cache holds the sources.

Each type maps field names to [type, flags?]. A type is a scalar ("string", "int", "bool", "float", "bytes", "time",
"microtime", "quantity", "intorstring", "any", "fieldsv1") or a type's name; "[]" before it is a list, "{}" a map with
string keys. Flags: n protobuf field number, q required, k keys of an associative list, a atomic list or map, s set,
m merge key of strategic merge ("" for a merged list of scalars), r strategic retainKeys, i inlined in JSON, p a scalar whose zero value
is told apart from absence.
The entry "~" marks a struct that server-side apply takes as a whole."""

import json
import pathlib
import re
import subprocess
import sys

PACKAGES = [
    ("api", "core/v1"), ("api", "apps/v1"), ("api", "batch/v1"), ("api", "autoscaling/v1"), ("api", "autoscaling/v2"),
    ("api", "policy/v1"), ("api", "rbac/v1"), ("api", "storage/v1"), ("api", "networking/v1"),
    ("api", "coordination/v1"), ("api", "scheduling/v1"), ("api", "discovery/v1"), ("api", "admissionregistration/v1"),
    ("api", "authentication/v1"), ("api", "authorization/v1"), ("api", "events/v1"), ("api", "node/v1"),
    ("apimachinery", "pkg/apis/meta/v1"), ("apiextensions-apiserver", "pkg/apis/apiextensions/v1"),
]
SCALARS = {"string": "string", "int": "int", "int32": "int", "int64": "int", "uint32": "int", "bool": "bool",
           "float64": "float", "float32": "float", "[]byte": "bytes", "metav1.Time": "time", "Time": "time",
           "metav1.MicroTime": "microtime", "MicroTime": "microtime", "resource.Quantity": "quantity",
           "intstr.IntOrString": "intorstring", "runtime.RawExtension": "any", "FieldsV1": "fieldsv1",
           "types.UID": "string", "types.NodeName": "string", "byte": "int", "JSON": "any", "JSONSchemaProps": "any",
           "Verbs": "[]string", "metav1.Verbs": "[]string"}

ATOMIC = ("", "", "", [])  # stands in a struct that is owned as a whole


def module_dir(name, version):
    out = subprocess.run(["go", "mod", "download", "-json", f"k8s.io/{name}@{version}"], check=True,
                         capture_output=True, text=True, cwd="/").stdout
    return pathlib.Path(json.loads(out)["Dir"])


def short(package):
    return package.replace("pkg/apis/", "")


def parse(package, text, structs, aliases):
    """Collects structs as {name: [(go name, go type, tag, markers)]} and aliases as {name: type}."""
    for match in re.finditer(r"^type (\w+) (?:= )?([\[\]\w.]+)$", text, re.M):
        aliases[f"{short(package)}.{match[1]}"] = match[2]
    for match in re.finditer(r"((?:^//[^\n]*\n)*)^type (\w+) struct \{\n(.*?)^\}", text, re.M | re.S):
        fields, markers = [], []
        if "+structType=atomic" in match[1]:
            fields.append(ATOMIC)
        for line in match[3].splitlines():
            line = line.strip()
            if line.startswith("//"):
                marker = re.match(r"//\s*\+(\S+)", line)
                if marker:
                    markers.append(marker[1])
                continue
            field = re.match(r"(\w+\s+)?([*\[\]\w.]+)\s+`(.*)`", line)
            if field:
                fields.append(((field[1] or "").strip(), field[2], field[3], markers))
            if line:
                markers = []
        structs[f"{short(package)}.{match[2]}"] = fields


def resolve(package, go_type, structs, aliases):
    go_type = go_type.lstrip("*")
    if go_type in SCALARS:
        return SCALARS[go_type]
    if go_type.startswith("[]"):
        return "[]" + resolve(package, go_type[2:], structs, aliases)
    if go_type.startswith("map["):
        return "{}" + resolve(package, go_type.split("]", 1)[1], structs, aliases)
    home, name = (go_type.split(".") if "." in go_type else ("", go_type))
    where = {"metav1": "meta/v1", "v1": "core/v1", "apiv1": "core/v1", "corev1": "core/v1", "core": "core/v1",
             "apiextensionsv1": "apiextensions/v1"}.get(home, short(package))
    full = f"{where}.{name}"
    if full in structs:
        return full
    if full in aliases:
        return resolve(where, aliases[full], structs, aliases)
    return "any"


def describe(package, field, structs, aliases):
    """(JSON name, [type, flags]) of a field, or None."""
    if field is ATOMIC:
        return "~", ["any", {"a": 1}]
    _, go_type, tag, markers = field
    tags = dict(re.findall(r'(\w+):"([^"]*)"', tag))
    parts = tags.get("json", "").split(",")
    if parts[0] == "-":
        return None
    flags = {}
    proto = tags.get("protobuf", "").split(",")
    if len(proto) > 1 and proto[1].isdigit():
        flags["n"] = int(proto[1])
    kind = resolve(package, go_type, structs, aliases)
    name = parts[0]
    if "inline" in parts or (not name and "protobuf" in tags):
        flags["i"] = 1
        name = "~" + next((p[5:] for p in proto if p.startswith("name=")), kind)
    elif not name:
        return None
    optional = "omitempty" in parts or "optional" in markers or go_type.startswith(("*", "map[", "[]"))
    if (not optional and kind != "meta/v1.ObjectMeta") or "required" in markers:
        flags["q"] = 1
    if go_type.startswith("*") and kind in ("int", "bool", "string", "float"):
        flags["p"] = 1
    if "patchStrategy" in tags:
        if "retainKeys" in tags["patchStrategy"]:
            flags["r"] = 1
        if "merge" in tags["patchStrategy"]:
            flags["m"] = tags.get("patchMergeKey", "")
    keys = [m.split("=")[1] for m in markers if m.startswith("listMapKey=")]
    if keys:
        flags["k"] = keys
    if any(m in ("listType=atomic", "mapType=atomic", "structType=atomic") for m in markers):
        flags["a"] = 1
    if "listType=set" in markers:
        flags["s"] = 1
    return name, [kind, flags] if flags else [kind]


def main():
    version = sys.argv[1] if len(sys.argv) > 1 else "v0.34.4"
    structs, aliases, packages = {}, {}, {}
    for module, package in PACKAGES:
        folder = module_dir(module, version) / package
        for path in sorted(folder.glob("*types*.go")):
            before = set(structs)
            parse(package, path.read_text(), structs, aliases)
            packages.update({name: package for name in set(structs) - before})
    types = {}
    for name, fields in sorted(structs.items()):
        if name.split(".")[-1] in ("TypeMeta", "JSONSchemaProps", "JSON", "Time", "MicroTime", "FieldsV1"):
            continue
        rows = [describe(packages[name], field, structs, aliases) for field in fields]
        types[name] = {row[0]: row[1] for row in rows if row and row[1][0] != "meta/v1.TypeMeta"}
    target = pathlib.Path(__file__).resolve().parent.parent / "data" / "kubernetes-types.json"
    lines = ",\n".join(json.dumps(k) + ":" + json.dumps(v, separators=(",", ":")) for k, v in types.items())
    target.write_text('{"version":"%s","types":{\n%s\n}}\n' % (version, lines))
    print(f"{len(types)} types in {target}")


if __name__ == "__main__":
    main()
