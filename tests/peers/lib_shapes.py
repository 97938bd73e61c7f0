"""Whether a raw answer is what its model says: no member that the output shape does not have, none missing that it requires, every scalar of its type, every
enumeration's value a known one, and every error one that the model lists for the operation. boto3 itself is lenient: it drops what it does not know."""
import base64
import json
import re
import xml.etree.ElementTree as ElementTree

from botocore import utils

# Errors that any operation may answer, whatever its model lists.
COMMON = {
    "json": {"ValidationException", "AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException", "ThrottlingException", "SerializationException",
             "UnknownOperationException", "MissingAuthenticationTokenException", "ExpiredTokenException"},
    "query": {"ValidationError", "AccessDenied", "InvalidClientTokenId", "SignatureDoesNotMatch", "Throttling", "InvalidAction", "MissingAction", "ExpiredToken"},
}

# Values that EC2's reference gives and its model's enumerations do not have: VPC endpoints write their states small, an internet gateway is "available".
OUTSIDE = {"State": ("available", "pending", "deleting", "deleted"), "AttachmentStatus": ("available",)}


class Walk:
    def __init__(self):
        self.faults = []

    def fault(self, path, text):
        self.faults.append(f"{path or 'the answer'} {text}")

    def scalar(self, shape, text, path):
        """A value as text: XML's and headers'."""
        kind = shape.type_name
        if kind in ("integer", "long") and not re.fullmatch(r"-?\d+", text):
            self.fault(path, f"is no whole number: {text!r}")
        elif kind in ("double", "float") and not re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text):
            self.fault(path, f"is no number: {text!r}")
        elif kind == "boolean" and text not in ("true", "false"):
            self.fault(path, f"is neither true nor false: {text!r}")
        elif kind == "timestamp":
            self.time(text, path)
        elif kind == "string":
            self.text(shape, text, path)

    def time(self, value, path):
        try:
            utils.parse_timestamp(value)
        except (ValueError, RuntimeError):
            self.fault(path, f"is no time: {value!r}")

    def text(self, shape, text, path):
        known = shape.metadata.get("enum")
        if known and text not in known and text not in OUTSIDE.get(shape.name, ()):
            self.fault(path, f"is {text!r}, none of {shape.name}'s values")

    def required(self, shape, seen, path):
        for name in shape.required_members:
            if name not in seen:
                self.fault(f"{path}.{name}", "is required and not there")

    # JSON

    def json(self, shape, value, path):
        kind = shape.type_name
        if kind == "structure":
            return self.json_structure(shape, value, path)
        if kind == "list":
            if not isinstance(value, list):
                return self.fault(path, f"is no list: {value!r}")
            return [self.json(shape.member, each, f"{path}[]") for each in value]
        if kind == "map":
            if not isinstance(value, dict):
                return self.fault(path, f"is no map: {value!r}")
            return [self.json(shape.value, each, f"{path}.{key}") for key, each in value.items()]
        if kind == "timestamp":
            wanted = shape.serialization.get("timestampFormat", "unixTimestamp")
            if (wanted == "unixTimestamp") != (isinstance(value, (int, float)) and not isinstance(value, bool)):
                self.fault(path, f"is not a time as {wanted}: {value!r}")
            return self.time(value, path)
        python = {"integer": int, "long": int, "double": (int, float), "float": (int, float), "boolean": bool, "string": str, "blob": str}[kind]
        if not isinstance(value, python) or (kind != "boolean" and isinstance(value, bool)):
            return self.fault(path, f"is no {kind}: {value!r}")
        if kind == "string":
            self.text(shape, value, path)
        if kind == "blob":
            base64.b64decode(value, validate=True)

    def json_structure(self, shape, value, path):
        if not isinstance(value, dict):
            return self.fault(path, f"is no object: {value!r}")
        members = {member.serialization.get("name", name): (name, member) for name, member in shape.members.items() if "location" not in member.serialization}
        seen = {name for name, member in shape.members.items() if "location" in member.serialization}
        for name, each in value.items():
            if name not in members:
                self.fault(f"{path}.{name}", f"is no member of {shape.name}")
                continue
            seen.add(members[name][0])
            self.json(members[name][1], each, f"{path}.{name}")
        self.required(shape, seen, path)

    # XML

    def xml(self, shape, element, path, extra=()):
        kind = shape.type_name
        if kind == "structure":
            return self.xml_structure(shape, element, path, extra)
        if kind == "list":
            wanted = shape.member.serialization.get("name", "member")
            for child in element:
                if plain(child) != wanted:
                    self.fault(f"{path}.{plain(child)}", f"is no item of {shape.name}")
                self.xml(shape.member, child, f"{path}[]")
            return None
        if kind == "map":
            for entry in element:
                self.xml(shape.value, entry[1], f"{path}.{entry[0].text}")
            return None
        return self.scalar(shape, element.text or "", path)

    def xml_structure(self, shape, element, path, extra):
        members = {}
        for name, member in shape.members.items():
            place = member.serialization
            if place.get("location") in ("header", "headers", "statusCode"):
                continue
            wire = place.get("name", name)
            if member.type_name == "list" and place.get("flattened"):
                wire = member.member.serialization.get("name") or wire
            members[wire] = (name, member)
        seen = {name for name, member in shape.members.items() if "location" in member.serialization or member.serialization.get("xmlAttribute")}
        for child in element:
            wire = plain(child)
            if wire in extra:
                continue
            if wire not in members:
                self.fault(f"{path}.{wire}", f"is no member of {shape.name}")
                continue
            name, member = members[wire]
            seen.add(name)
            flattened = member.type_name == "list" and member.serialization.get("flattened")
            self.xml(member.member if flattened else member, child, f"{path}.{wire}")
        self.required(shape, seen, path)


def plain(element):
    return element.tag.rsplit("}", 1)[-1]


def success_faults(operation, http):
    """Faults of the raw answer of a call that went well."""
    walk, shape, protocol = Walk(), operation.output_shape, operation.service_model.metadata["protocol"]
    body = http.content if not (shape and operation.has_streaming_output) else b""
    if shape is None:
        return []
    for name, member in shape.members.items():
        if member.serialization.get("location") == "header":
            text = http.headers.get(member.serialization.get("name", name))
            if text is not None:
                walk.scalar(member, text, name)
    payload = shape.serialization.get("payload")
    if payload:
        shape = shape.members[payload]
    if not body or shape.type_name in ("blob", "string"):
        return walk.faults
    if protocol in ("json", "rest-json"):
        walk.json(shape, json.loads(body), "")
        return walk.faults
    root = ElementTree.fromstring(body)
    if protocol == "query":
        wrapper = operation.output_shape.serialization.get("resultWrapper")
        names = [plain(child) for child in root]
        if plain(root) != operation.name + "Response" or (wrapper and wrapper not in names) or "ResponseMetadata" not in names:
            walk.fault("", f"has {plain(root)} of {names}")
        root = next((child for child in root if plain(child) == wrapper), root)
        walk.xml(shape, root, "", ("ResponseMetadata",))
    elif protocol == "ec2":
        if plain(root) != operation.name + "Response" or "requestId" not in [plain(child) for child in root]:
            walk.fault("", f"has the root {plain(root)}, or no requestId")
        walk.xml(shape, root, "", ("requestId",))
    elif operation.name != "GetBucketLocation":  # whose answer is the root's own text
        walk.xml(shape, root, "")
    return walk.faults


def error_faults(operation, parsed):
    """Faults of a refusal: a code outside the model, or a refusal that says nothing."""
    service, protocol = operation.service_model, operation.service_model.metadata["protocol"]
    code, message = parsed["Error"].get("Code", ""), parsed["Error"].get("Message", "")
    faults = []
    if operation.http["method"] != "HEAD" and not message:
        faults.append(f"{code} comes without a message")
    if service.service_name in ("ec2", "s3"):
        return faults  # their errors stand in the documentation, not in the model
    modelled = {shape.metadata.get("error", {}).get("code", shape.name) for shape in operation.error_shapes} | {shape.name for shape in operation.error_shapes}
    common = COMMON["json" if "json" in protocol else "query"]
    if code not in modelled and code not in common:
        faults.append(f"{code} is no error of {operation.name}: {sorted(modelled)}")
    return faults


class Recorder:
    """Hooks of a client: what each operation answered, with the faults of every raw answer."""

    def __init__(self):
        self.successes, self.refusals, self.faults = {}, {}, {}

    def watch(self, client):
        client.meta.events.register("after-call", self.seen)

    def seen(self, http_response, parsed, model, **_):
        name = f"{model.service_model.service_name}:{model.name}"
        if http_response.status_code < 300:
            self.successes[name] = self.successes.get(name, 0) + 1
            faults = success_faults(model, http_response)
        else:
            self.refusals.setdefault(name, {}).setdefault(parsed["Error"].get("Code"), parsed["Error"].get("Message"))
            faults = error_faults(model, parsed)
        for fault in faults:
            self.faults.setdefault(name, {})[fault] = http_response.content[:600] if not model.has_streaming_output else b""
