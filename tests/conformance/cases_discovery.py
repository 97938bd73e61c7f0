"""Discovery and OpenAPI. The real server has more groups than the twin; what the twin has must be the same, and the product's kinds
must be there. So these compare the two answers with each other, entry by entry."""
AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}
# Of what is written here the twin must have every kind.
WANTED = {"v1": ("pods", "nodes", "configmaps", "secrets", "services", "namespaces", "events", "persistentvolumes", "persistentvolumeclaims", "serviceaccounts"),
          "apps/v1": ("deployments", "daemonsets", "statefulsets", "replicasets"), "batch/v1": ("jobs", "cronjobs"), "rbac.authorization.k8s.io/v1": ("roles", "clusterroles"),
          "storage.k8s.io/v1": ("storageclasses", "csidrivers"), "apiextensions.k8s.io/v1": ("customresourcedefinitions",), "coordination.k8s.io/v1": ("leases",)}


def aggregated(server, path):
    answer = server.request("GET", path, headers=AGGREGATED)
    out = {}
    for group in answer.body["items"]:
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            key = f"{name}/{version['version']}" if name else version["version"]
            out[key] = {resource["resource"]: resource for resource in version["resources"]}
    return answer, out


def legacy(server, path):
    return {resource["name"]: resource for resource in server.request("GET", path).body.get("resources", [])}


def of_group(path):
    return ("/api/" if "/" not in path else "/apis/") + path


def normal(resource):
    """Order of verbs and subresources decides nothing; the hash of storage versions is the server's own."""
    out = {key: value for key, value in resource.items() if key != "storageVersionHash"}
    for key in ("verbs", "shortNames", "categories"):
        if key in out:
            out[key] = sorted(out[key])
    if "subresources" in out:
        out["subresources"] = {sub["subresource"]: {k: sorted(v) if k == "verbs" else v for k, v in sub.items() if k != "acceptedTypes"} for sub in out["subresources"]}
    return out


def compare_discovery(real, twin, compare):
    for path in ("/api", "/apis"):
        (a, reals), (b, twins) = aggregated(real, path), aggregated(twin, path)
        compare(f"{path}: form", {k: a.body[k] for k in ("kind", "apiVersion", "metadata")}, {k: b.body[k] for k in ("kind", "apiVersion", "metadata")})
        compare(f"{path}: content type", a.headers.get("content-type"), b.headers.get("content-type"))
        compare(f"{path}: group versions of the twin", sorted(set(twins) & set(reals)), sorted(twins))
        for key in sorted(set(twins) & set(reals)):
            for name in sorted(set(twins[key]) | set(WANTED.get(key, ()))):
                compare(f"{key} {name}", normal(reals[key].get(name, {})), normal(twins[key].get(name, {})))
        for key in sorted(set(twins) & set(reals)):
            one, two = legacy(real, of_group(key)), legacy(twin, of_group(key))
            for name in sorted(two):
                compare(f"list of {key}: {name}", normal(one.get(name, {})), normal(two[name]))
    for path in ("/api", "/apis"):
        one, two = real.request("GET", path).body, twin.request("GET", path).body
        compare(f"legacy {path}: form", sorted(one), sorted(two))
        groups = {g["name"]: g for g in one.get("groups", [])}
        for group in two.get("groups", []):
            if group["name"] in groups and len(groups[group["name"]]["versions"]) == len(group["versions"]):
                compare(f"legacy group {group['name']}", groups[group["name"]], group)
    one, two = real.request("GET", "/version").body, twin.request("GET", "/version").body
    compare("version: members", sorted(k for k in one if not k.startswith(("emulation", "minCompat"))), sorted(k for k in two if not k.startswith(("emulation", "minCompat"))))
    compare("version: minor", one["minor"].rstrip("+"), two["minor"].rstrip("+"))
    for path in ("/healthz", "/readyz", "/livez"):
        compare(path, [real.request("GET", path).status, real.request("GET", path).text], [twin.request("GET", path).status, twin.request("GET", path).text])


def document(server, group_version):
    index = server.request("GET", "/openapi/v3").body["paths"]
    key = "api/v1" if group_version == "v1" else "apis/" + group_version
    url = index[key]["serverRelativeURL"]
    return server.request("GET", url[len(server.prefix):] if server.prefix and url.startswith(server.prefix) else url).body


def shape(schema, schemas):
    """Type, members and their types, what is required: without prose, defaults and one-element allOf."""
    if "allOf" in schema and len(schema["allOf"]) == 1:
        schema = {**{k: v for k, v in schema.items() if k not in ("allOf", "default")}, **schema["allOf"][0]}
    out = {}
    if "$ref" in schema:
        target = schema["$ref"].rsplit("/", 1)[1]
        # Scalars with names of their own (Quantity, Time, IntOrString) are shown as what they are.
        inner = schemas.get(target, {})
        if "properties" not in inner and inner.get("type") != "object":
            return {key: inner[key] for key in ("type", "oneOf") if key in inner}
        return {"$ref": target}
    # Number formats and enumerations are left out: no client of ours or kubectl decides anything by them.
    for key in ("type", "oneOf"):
        if key in schema:
            out[key] = schema[key]
    if "items" in schema:
        out["items"] = shape(schema["items"], schemas)
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = shape(schema["additionalProperties"], schemas)
    if "properties" in schema:
        out["properties"] = {name: shape(inner, schemas) for name, inner in schema["properties"].items()}
    if schema.get("required"):
        out["required"] = sorted(schema["required"])
    for key in schema:
        if key.startswith("x-kubernetes") and key not in ("x-kubernetes-unions", "x-kubernetes-map-type"):
            out[key] = schema[key]
    return out


def compare_open_api(real, twin, compare):
    for group_version in ("v1", "apps/v1", "batch/v1", "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1", "networking.k8s.io/v1", "apiextensions.k8s.io/v1", "policy/v1", "autoscaling/v2"):
        one, two = document(real, group_version), document(twin, group_version)
        compare(f"{group_version}: form", sorted(set(one) - {"securityDefinitions", "security"}), sorted(two))
        reals, twins = one["components"]["schemas"], two["components"]["schemas"]
        for name in sorted(twins):
            if name in reals:
                compare(f"{group_version} {name}", shape(reals[name], reals), shape(twins[name], twins))
        compare(f"{group_version}: schemas of the twin are the server's", sorted(set(reals) & set(twins)), sorted(twins))
        for path, item in sorted(two["paths"].items()):
            for verb, operation in sorted(item.items()):
                if verb not in ("get", "put", "post", "patch", "delete"):
                    continue
                other = one["paths"].get(path, {}).get(verb, {})
                compare(f"{verb} {path}", {k: other.get(k) for k in ("x-kubernetes-group-version-kind", "x-kubernetes-action")},
                        {k: operation.get(k) for k in ("x-kubernetes-group-version-kind", "x-kubernetes-action")})
