#!/usr/bin/env python3
"""Makes models/<service>.json from an installed botocore: the operations named in operations.json and the
shapes they reach, as facts without prose, one line per operation and shape so that a change can be reviewed.

    prune.py           writes the files
    prune.py --check   fails where the files in the tree differ from what this tool makes
"""

import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "models"
OURS = {"iam-actions.json"}  # written by hand, not made here

# What prose, generated SDKs and endpoint rules need; nothing that changes bytes on the wire or their checks.
DROPPED = {
    "documentation", "documentationUrl", "deprecated", "deprecatedMessage", "deprecatedSince", "contextParam",
    "staticContextParams", "operationContextParams", "synthetic", "box", "xmlOrder", "endpoint",
    "requestcompression", "auth", "endpointdiscovery",
}
METADATA = [
    "apiVersion", "awsQueryCompatible", "endpointPrefix", "globalEndpoint", "jsonVersion", "protocol",
    "serviceId", "serviceFullName", "signatureVersion", "signingName", "targetPrefix", "xmlNamespace",
]
# Spoken by every server of that service, but only listed second in its model.
PROTOCOLS = ["json", "rest-json", "query", "ec2", "rest-xml"]


def stripped(value):
    if isinstance(value, dict):
        return {key: stripped(inner) for key, inner in value.items() if key not in DROPPED}
    if isinstance(value, list):
        return [stripped(inner) for inner in value]
    return value


def stripped_shape(shape):
    """Keeps members whatever their names are: only the traits are filtered."""
    made = {key: stripped(value) for key, value in shape.items() if key not in DROPPED and key != "members"}
    if "members" in shape:
        made["members"] = {name: stripped(reference) for name, reference in shape["members"].items()}
    return made


def references(shape):
    yield from (reference["shape"] for reference in shape.get("members", {}).values())
    yield from (shape[key]["shape"] for key in ("member", "key", "value") if key in shape)


def reachable(shapes, roots):
    found, waiting = set(), list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(references(shapes[name]))
    return found


def operation_roots(operation):
    for key in ("input", "output"):
        if operation.get(key):
            yield operation[key]["shape"]
    yield from (error["shape"] for error in operation.get("errors", []))


def metadata_of(service, source):
    metadata = {key: source[key] for key in METADATA if key in source}
    if metadata["protocol"] not in PROTOCOLS:
        metadata["protocol"] = next(known for known in PROTOCOLS if known in source.get("protocols", []))
    metadata["service"] = service
    return metadata


def pruned(loader, service, wanted):
    model = loader.load_service_model(service, "service-2")
    names = sorted(model["operations"]) if wanted == "*" else wanted
    missing = [name for name in names if name not in model["operations"]]
    if missing:
        sys.exit(f"{service} has no operation {', '.join(missing)}")
    operations = {name: stripped(model["operations"][name]) for name in names}
    roots = [root for name in names for root in operation_roots(operations[name])]
    names_reached = sorted(reachable(model["shapes"], roots))
    shapes = {name: stripped_shape(model["shapes"][name]) for name in names_reached}
    paginators = loader.load_service_model(service, "paginators-1")["pagination"]
    pagination = {name: paginators[name] for name in names if name in paginators}
    return {
        "metadata": metadata_of(service, model["metadata"]),
        "operations": operations,
        "pagination": pagination,
        "shapes": shapes,
    }


def text_of(model):
    """Minified JSON with a line per entry of each section."""
    sections = []
    for section, entries in model.items():
        lines = [
            json.dumps(name) + ":" + json.dumps(entry, separators=(",", ":"), ensure_ascii=True)
            for name, entry in entries.items()
        ]
        sections.append(json.dumps(section) + ":{\n" + ",\n".join(lines) + "\n}")
    return "{" + ",\n".join(sections) + "}\n"


def make_all():
    import botocore
    import botocore.loaders

    pinned = (HERE / "botocore.version").read_text().strip()
    if botocore.__version__ != pinned:
        sys.exit(f"botocore {botocore.__version__} is installed, but the models are made from {pinned}")
    loader = botocore.loaders.Loader(include_default_search_paths=False)
    loader.search_paths.append(loader.BUILTIN_DATA_PATH)
    wanted = json.loads((HERE / "operations.json").read_text())
    return {f"{service}.json": text_of(pruned(loader, service, names)) for service, names in wanted.items()}


def check(made):
    present = {path.name: path.read_text() for path in MODELS.glob("*.json") if path.name not in OURS}
    stale = sorted(name for name in made.keys() | present.keys() if made.get(name) != present.get(name))
    if stale:
        sys.exit("models differ from what tools/models/prune.py makes: " + ", ".join(stale))
    print(f"{len(made)} models are as the tool makes them")


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    made = make_all()
    if parser.parse_args().check:
        check(made)
        return
    MODELS.mkdir(exist_ok=True)
    for name, text in made.items():
        (MODELS / name).write_text(text)
        print(f"{name}: {len(text) // 1024} KiB")


if __name__ == "__main__":
    main()
