#!/usr/bin/env python3
"""Makes data/endpoints.json from an installed botocore: partitions, and for each service of operations.json where its
calls go and for which region they are signed, with and without FIPS and dual-stack.

botocore's rule sets are evaluated, not copied: for every partition once with a region that does not exist (that gives
the partition's rule), then with every region that does (what differs is an exception).

    endpoints.py           writes the file
    endpoints.py --check   fails where the file in the tree differs from what this tool makes"""

import argparse
import collections
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parent.parent / "data/endpoints.json"
# Name in the file -> parameters of the rule sets.
VARIANTS = {
    "plain": (False, False), "fips": (True, False), "dual_stack": (False, True), "fips_dual_stack": (True, True),
}
# A pattern of a partition: some words, then "-word-number".
PATTERN = re.compile(r"\^(?P<words>[()|a-z\\-]+)\\-\\w\+\\-\\d\+\$")


def prefixes_of(partition):
    found = PATTERN.fullmatch(partition["regionRegex"])
    if not found:
        sys.exit(f"the pattern of {partition['id']} has a new form: {partition['regionRegex']}")
    made = [""]
    for part in re.findall(r"\([a-z|]+\)|[a-z-]+", found["words"].replace("\\", "")):
        choices = part[1:-1].split("|") if part.startswith("(") else [part]
        made = [before + choice for before in made for choice in choices]
    return made


def resolver_of(loader, service):
    from botocore.endpoint_provider import EndpointProvider

    rules = loader.load_service_model(service, "endpoint-rule-set-1")
    return EndpointProvider(rules, loader.load_data("partitions"))


def place_of(provider, names, region, fips, dual_stack):
    """(scheme and host, signing region or None) or (None, why not)."""
    from botocore.exceptions import EndpointProviderError

    parameters = {"Region": region, "UseFIPS": fips, "UseDualStack": dual_stack}
    if "UseGlobalEndpoint" in names:
        parameters["UseGlobalEndpoint"] = False
    try:
        found = provider.resolve_endpoint(**parameters)
    except EndpointProviderError as error:
        return None, str(error)
    schemes = found.properties.get("authSchemes", [])
    region_signed = next((s["signingRegion"] for s in schemes if s["name"] == "sigv4" and "signingRegion" in s), region)
    if not found.url.startswith("https://") or "/" in found.url[8:]:
        sys.exit(f"an endpoint of a new form: {found.url}")
    return found.url[8:], region_signed


def entry_of(place, region, partition):
    host, signed = place
    if host is None:
        return {"error": signed.rstrip(".")}
    outputs = partition["outputs"]
    template = host.replace(region, "{region}")
    for word, suffix in (("{dual_suffix}", outputs["dualStackDnsSuffix"]), ("{suffix}", outputs["dnsSuffix"])):
        if template.endswith("." + suffix):
            template = template[: -len(suffix)] + word
            break
    return template if signed == region else {"host": template, "signed": signed}


def rules_of(provider, partitions, fips, dual_stack):
    names = provider.ruleset.parameters
    by_partition, by_region = {}, {}
    for partition in partitions:
        made_up = prefixes_of(partition)[0] + "-nowhere-9"
        usual = entry_of(place_of(provider, names, made_up, fips, dual_stack), made_up, partition)
        by_partition[partition["id"]] = usual
        for region in regions_of(partition):
            entry = entry_of(place_of(provider, names, region, fips, dual_stack), region, partition)
            if entry != usual:
                by_region[region] = entry
    counts = collections.Counter(json.dumps(entry, sort_keys=True) for entry in by_partition.values())
    most = json.loads(counts.most_common(1)[0][0])
    made = {"usual": most}
    special = {name: entry for name, entry in by_partition.items() if entry != most}
    if special:
        made["partitions"] = special
    if by_region:
        made["regions"] = by_region
    return made


def regions_of(partition):
    return sorted(name for name in partition["regions"] if not name.endswith("-global"))


def make():
    import botocore
    import botocore.loaders

    pinned = (HERE / "botocore.version").read_text().strip()
    if botocore.__version__ != pinned:
        sys.exit(f"botocore {botocore.__version__} is installed, but the endpoints are made from {pinned}")
    loader = botocore.loaders.Loader(include_default_search_paths=False)
    loader.search_paths.append(loader.BUILTIN_DATA_PATH)
    partitions = loader.load_data("partitions")["partitions"]
    services = sorted(json.loads((HERE / "operations.json").read_text()))
    return {
        "partitions": {
            partition["id"]: {
                "prefixes": prefixes_of(partition), "regions": regions_of(partition),
                "suffix": partition["outputs"]["dnsSuffix"],
                "dual_suffix": partition["outputs"]["dualStackDnsSuffix"],
            }
            for partition in partitions
        },
        "services": {
            service: {
                name: rules_of(resolver_of(loader, service), partitions, *switches)
                for name, switches in VARIANTS.items()
            }
            for service in services
        },
    }


def text_of(made):
    """A line per partition and per variant of a service, so that a change can be reviewed."""
    partitions = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in made["partitions"].items()]
    services = []
    for name, variants in made["services"].items():
        lines = [f"{json.dumps(variant)}: {json.dumps(rules)}" for variant, rules in variants.items()]
        services.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    return '{"partitions": {\n' + ",\n".join(partitions) + '\n},\n"services": {\n' + ",\n".join(services) + "\n}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    checking = parser.parse_args().check
    text = text_of(make())
    if checking and (not TARGET.exists() or TARGET.read_text() != text):
        sys.exit("data/endpoints.json differs from what tools/models/endpoints.py makes")
    if checking:
        print("data/endpoints.json is as the tool makes it")
    else:
        TARGET.write_text(text)
        print(f"{TARGET.name}: {len(text) // 1024} KiB")


if __name__ == "__main__":
    main()
