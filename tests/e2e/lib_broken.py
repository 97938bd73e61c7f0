"""Broken requests made from the OpenAPI document: each operation with each field wrong in each way, by REST and as a tool's arguments."""
import json
import urllib.parse

HUGE = "x" * 100_000
WRONG = [None, True, 7, -1, 1.5, 1e308, 2 ** 63, -(2 ** 63), "", " ", "\x00", "x\ny", "../../etc", "ʻdémoʼ 💥‮\u2066", "A" * 300, HUGE, "${jndi:x}", "{c}",
         [], {}, [None], [[[]]], ["a"] * 2000, {"": 1}, {"a": {"b": {"c": 1}}}]
WRONG_TEXT = ["", " ", "null", "-1", "1e9", "99999999999999999999", "true", "%00", "a/b", "..", "💥", "x" * 5000, "[]", "{}"]


def example(schema, depth=0):
    """A value that fits the schema, as far as the schema says it."""
    if schema.get("examples"):
        return schema["examples"][0]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: example(schema["properties"][name], depth + 1) for name in schema.get("required", [])} if depth < 6 else {}
    if kind == "array":
        return [example(schema.get("items", {}), depth + 1)]
    return {"integer": schema.get("minimum", 1), "number": 1.5, "boolean": True}.get(kind, "x")


def places(schema, path=()):
    """The path of each member, at every depth."""
    for name, member in schema.get("properties", {}).items():
        yield (*path, name)
        yield from places(member, (*path, name))
        if member.get("type") == "array":
            yield (*path, name, 0)
            yield from places(member.get("items", {}), (*path, name, 0))


def put(body, schema, path, value):
    """A copy of the body with that value at the path, whatever must be made on the way."""
    body = json.loads(json.dumps(body))
    at, kind = body, schema
    for i, step in enumerate(path):
        kind = kind.get("items", {}) if step == 0 else kind.get("properties", {}).get(step, {})
        if i + 1 == len(path):
            break
        empty = example(kind)
        if step == 0:
            at[:] = at or [empty]
        elif not at.get(step):
            at[step] = empty
        at = at[step]
    if path[-1] == 0:
        at[:] = [value]
    else:
        at[path[-1]] = value
    return body


def without(body, name):
    return {key: value for key, value in body.items() if key != name}


def body_schema(operation):
    return operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})


def operations(document):
    """(method, path, operation) of the whole document."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def filled(path, value="nope"):
    while "{" in path:
        path = path[:path.index("{")] + urllib.parse.quote(value, safe="") + path[path.index("}") + 1:]
    return path


def bodies(operation):
    """Bodies with one field wrong. They may be right by chance, so they are sent as dry runs."""
    schema = body_schema(operation)
    good = example(schema) if schema else {}
    for path in places(schema):
        for value in WRONG:
            yield put(good, schema, path, value)
    for name in schema.get("required", []):
        yield without(good, name)


def never_right(operation):
    """Bodies that no operation may take: each has an unknown field beside what else is wrong."""
    schema = body_schema(operation)
    good = example(schema) if schema else {}
    names = [path for path in places(schema) if path not in (("dry_run",), ("confirm",), ("expected_plan",))]
    for i, value in enumerate(WRONG[:12]):
        body = put(good, schema, names[i % len(names)], value) if names else {}
        yield {**body, "no_such_field": value if value != HUGE else 1}
    for value in WRONG[:2] + WRONG[8:10] + [HUGE]:
        yield {path[0]: value for path in names} | {"no_such_field": 1}


def queries(operation):
    """Query strings with one parameter wrong, twice there, or unknown."""
    names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
    for name in names:
        for value in WRONG_TEXT:
            yield urllib.parse.urlencode({name: value})
        yield f"{name}=%FF%FE"
        yield f"{name}=1&{name}=2"
        yield name
    yield "no_such_parameter=1"
