"""Parameters with one thing wrong, and what botocore's validator says of them."""

import copy
import re

import botocore.validate

WRONG = {"string": 5, "character": 5, "integer": "x", "long": "x", "float": "x", "double": "x", "boolean": "yes", "list": "x", "structure": "x", "map": []}
RULES = {"missing required field": "required", "unknown field": "unknown", "invalid type": "type", "invalid range": "range",
         "invalid length": "length", "more than one input": "union", "empty input": "union"}


def places(shape, value, found):
    """Every (shape, container, key) of a value, but for what stands below documents."""
    if shape.type_name == "structure" and isinstance(value, dict) and not getattr(shape, "is_document_type", False):
        for name in value:
            found.append((shape.members[name], value, name))
            places(shape.members[name], value[name], found)
    elif shape.type_name == "list":
        for index, item in enumerate(value):
            found.append((shape.member, value, index))
            places(shape.member, item, found)
    elif shape.type_name == "map":
        for key, item in value.items():
            found.append((shape.value, value, key))
            places(shape.value, item, found)


def structures(shape, value):
    found = []
    places(shape, value, found)
    rows = [(shape, value)] + [(each, container[key]) for each, container, key in found]
    return [(each, inner) for each, inner in rows if each.type_name == "structure" and not getattr(each, "is_document_type", False)]


def spoil(shape, parameters, chance):
    """A copy with one fault, or with none."""
    made = copy.deepcopy(parameters)
    found = []
    places(shape, made, found)
    kind = chance.choice(["required", "unknown", "type", "minimum", "union", "none"])
    if kind in ("required", "unknown", "union"):
        each, inner = chance.choice(structures(shape, made))
        present = [name for name in each.required_members if name in inner]
        if kind == "required" and present:
            del inner[chance.choice(present)]
        elif kind == "unknown":
            inner["NoSuchMember"] = "x"
        elif kind == "union" and each.is_tagged_union:
            inner.clear()
        return made
    if kind == "none" or not found:
        return made
    each, container, key = chance.choice(found)
    least = each.metadata.get("min")
    if kind == "type" and each.type_name in WRONG:
        container[key] = WRONG[each.type_name]
    elif kind == "minimum" and least is not None:
        short = {"string": "", "list": [], "map": {}}
        if each.type_name in short:
            container[key] = short[each.type_name] if least > 0 else container[key]
        elif each.type_name in ("integer", "long", "float", "double"):
            container[key] = int(least) - 1
    return made


def theirs(shape, parameters):
    """The faults that botocore sees, as (path, rule)."""
    found = set()
    for reason, name, more in botocore.validate.ParamValidator().validate(parameters, shape)._errors:
        path = re.sub(r"\[(\d+)\]", r".\1", name)
        path = re.sub(r" \(key: (.*?)\)", r".\1", path, flags=re.S)
        last = more.get("required_name") or more.get("unknown_param")
        found.add(((path + "." + last if last else path).removeprefix("."), RULES[reason]))
    # botocore counts an unknown member of a union as one that is set; to us it is unknown, and that is all.
    unknown = {path.rpartition(".")[0] for path, rule in found if rule == "unknown"}
    return {(path, rule) for path, rule in found if rule != "union" or path not in unknown}


def ours(faults):
    """Ours, without what botocore does not look at: largest sizes, sizes of maps, patterns, known words and 32 bits."""
    checked = {"required", "unknown", "type", "union"}
    return {(path, rule) for path, rule, message in faults if rule in checked or "at least" in message and "entries" not in message}


def disagreements(shape, parameters, faults):
    left, right = ours(faults), theirs(shape, parameters)
    return [] if left == right else [f"faults: only ours {sorted(left - right)} only theirs {sorted(right - left)}"]
