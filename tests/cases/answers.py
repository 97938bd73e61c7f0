"""Bytes of answers, as services write them and as they may be written: a server's side of every protocol, made from
the output shapes alone."""

import base64
import datetime
import email.utils
import json
from xml.sax.saxutils import escape, quoteattr

SUCCESS = [200, 200, 200, 201, 202, 204]


def epoch(value):
    """Microseconds since 1970."""
    return (value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def iso_text(value, chance):
    text = f"{value.year:04d}" + value.strftime("-%m-%dT%H:%M:%S")
    if value.microsecond:
        text += f".{value.microsecond:06d}".rstrip("0") if chance.random() < 0.7 else f".{value.microsecond:06d}"
    elif chance.random() < 0.3:
        text += ".000"
    return text + chance.choice(["Z", "Z", "+00:00"])


def time_text(value, form, chance):
    if form == "rfc822":
        return email.utils.format_datetime(value.replace(microsecond=0), usegmt=True)
    if form == "unixtimestamp":
        return repr(epoch(value) / 1e6) if value.microsecond else str(epoch(value) // 1000000)
    return iso_text(value, chance)


def scalar_text(shape, value, form, chance):
    kind = shape.type_name
    if kind == "timestamp":
        return time_text(value, shape.serialization.get("timestampFormat", form).lower(), chance)
    if kind == "boolean":
        return "true" if value else "false"
    if kind == "blob":
        return base64.b64encode(value).decode()
    return repr(value) if kind in ("float", "double") else str(value)


def wire_name(member, name):
    return member.serialization.get("name", name)


class JsonWriter:
    def __init__(self, chance):
        self.chance = chance

    def structure(self, shape, values):
        made = {}
        for name, value in values.items():
            member = shape.members[name]
            if "location" in member.serialization:
                continue
            made[wire_name(member, name)] = self.value(member, value)
        if shape.is_tagged_union:
            return made
        for name, member in shape.members.items():
            if name not in values and "location" not in member.serialization and self.chance.random() < 0.1:
                made[wire_name(member, name)] = None
        if self.chance.random() < 0.2:
            made["aMemberOfTomorrow"] = self.chance.choice([1, None, "x", {"a": [1, {}]}, [[]], True])
        return made

    def value(self, shape, value):
        kind = shape.type_name
        if kind == "structure":
            return value if getattr(shape, "is_document_type", False) else self.structure(shape, value)
        if kind == "list":
            return [self.value(shape.member, item) for item in value]
        if kind == "map":
            return {key: self.value(shape.value, item) for key, item in value.items()}
        if kind == "blob":
            return base64.b64encode(value).decode()
        if kind == "timestamp":
            form = shape.serialization.get("timestampFormat", self.chance.choice(["unixtimestamp"] * 4 + ["iso8601"])).lower()
            text = time_text(value, form, self.chance)
            return json.loads(text) if form == "unixtimestamp" else text
        if kind in ("float", "double") and value == int(value) and abs(value) < 1e15 and self.chance.random() < 0.5:
            return int(value)
        if kind in ("integer", "long") and abs(value) < 2**53 and self.chance.random() < 0.1:
            return float(value)
        return value

    def text(self, made):
        style = self.chance.choice([{}, {"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}])
        text = json.dumps(made, **style).encode()
        return self.chance.choice([b"", b"", b"\n", b" \r\n\t"]) + text + self.chance.choice([b"", b"\n"])


class XmlWriter:
    def __init__(self, chance, namespace):
        self.chance = chance
        self.namespace = namespace or "http://example.com/doc/2020-01-01/"
        self.prefix = chance.choice(["", "", "", "ns1:"])
        self.pretty = chance.random() < 0.4

    def space(self):
        return self.chance.choice(["\n", "\n  ", " ", "\n\t"]) if self.pretty else ""

    def element(self, name, inner, attributes="", container=False):
        if inner == "" and self.chance.random() < 0.5:
            return f"<{self.prefix}{name}{attributes}/>"
        if container and inner == "":
            inner = self.space()
        return f"<{self.prefix}{name}{attributes}>{inner}</{self.prefix}{name}>"

    def escaped(self, text):
        style = self.chance.random()
        if style < 0.15 and "]]>" not in text and "\r" not in text and text:
            return f"<![CDATA[{text}]]>"
        text = escape(text).replace("\r", "&#13;")
        if style < 0.25:
            return "".join(f"&#x{ord(c):X};" if c not in "&;#<>" and not c.isalnum() else c for c in text) if "&" not in text else text
        return text

    def members(self, shape, values):
        parts, attributes = [], ""
        for name, value in values.items():
            member = shape.members[name]
            if member.serialization.get("location"):
                continue
            if member.serialization.get("xmlAttribute"):
                prefix = self.chance.choice(["xsi", "xsi", "i"])
                name = prefix + ":" + member.serialization["name"].split(":")[1]
                attributes += f' xmlns:{prefix}="http://www.w3.org/2001/XMLSchema-instance" {name}={quoteattr(value)}'
                continue
            parts += self.member(member, wire_name(member, name), value)
        if not shape.is_tagged_union and self.chance.random() < 0.15:
            parts.append(self.element("AMemberOfTomorrow", self.chance.choice(["", "x", "<a><b>1</b></a>", "<member>1</member>"])))
        if self.chance.random() < 0.1:
            parts.append("<!-- a remark -->")
        self.chance.shuffle(parts)
        inner = "".join(self.space() + part for part in parts)
        return inner + (self.space() if parts else ""), attributes

    def member(self, shape, name, value):
        """The elements of one member: more than one where a list or map is flattened."""
        kind, flat = shape.type_name, shape.serialization.get("flattened")
        if kind == "list":
            inner_name = shape.member.serialization.get("name")
            if flat:
                return [part for item in value for part in self.member(shape.member, inner_name or name, item)]
            parts = [part for item in value for part in self.member(shape.member, inner_name or "member", item)]
            return [self.element(name, "".join(self.space() + part for part in parts), container=True)]
        if kind == "map":
            entries = [self.entry(shape, key, item) for key, item in value.items()]
            if flat:
                return [self.element(name, entry) for entry in entries]
            return [self.element(name, "".join(self.space() + self.element("entry", entry) for entry in entries), container=True)]
        if kind == "structure":
            inner, attributes = self.members(shape, value)
            return [self.element(name, inner, attributes)]
        text = scalar_text(shape, value, "iso8601", self.chance)
        return [self.element(name, self.escaped(text) if kind == "string" else text)]

    def entry(self, shape, key, value):
        parts = self.member(shape.key, shape.key.serialization.get("name", "key"), key)
        parts += self.member(shape.value, shape.value.serialization.get("name", "value"), value)
        self.chance.shuffle(parts)
        return "".join(parts)

    def document(self, name, inner, attributes=""):
        head = self.chance.choice(["", '<?xml version="1.0" encoding="UTF-8"?>', '<?xml version="1.0"?>\n'])
        space = f' xmlns:{self.prefix[:-1]}="{self.namespace}"' if self.prefix else self.chance.choice([f' xmlns="{self.namespace}"', ""])
        text = head + f"<{self.prefix}{name}{space}{attributes}>{inner}</{self.prefix}{name}>" + self.chance.choice(["", "\n"])
        return text.encode()


def cased(name, chance):
    return chance.choice([name, name, name.lower(), name.upper()])


def header_text(member, value, chance):
    if member.type_name == "list":
        return ", ".join(scalar_text(member.member, item, "rfc822", chance) for item in value)
    return scalar_text(member, value, "rfc822", chance)


def header_fields(shape, values, chance):
    fields = []
    for name, value in values.items():
        member = shape.members[name]
        location = member.serialization.get("location")
        if location == "header" and not (member.type_name == "list" and not value):
            fields.append((cased(wire_name(member, name), chance), header_text(member, value, chance)))
        if location == "headers":
            prefix = member.serialization.get("name", "")
            fields += [(prefix + key, text) for key, text in value.items()]
    return fields


def request_id(protocol, chance):
    if protocol == "rest-xml":
        return [("x-amz-request-id", "4442587FB7D0A2F9"), ("x-amz-id-2", "host/id==")]
    return [(cased("x-amzn-RequestId", chance), "b25f48e8-84fd-11e6-80d9-574e0c4664cb")] if chance.random() < 0.9 else []


def xml_success(operation, values, chance, protocol):
    shape = operation.output_shape
    writer = XmlWriter(chance, operation.service_model.metadata.get("xmlNamespace"))
    if operation.name == "GetBucketLocation":  # the root is the value
        return f'<LocationConstraint xmlns="{writer.namespace}">{values.get("LocationConstraint", "")}</LocationConstraint>'.encode()
    inner, attributes = writer.members(shape, values) if shape else ("", "")
    wrapper = shape.serialization.get("resultWrapper") if shape else None
    if protocol == "query":
        metadata = writer.element("ResponseMetadata", writer.element("RequestId", "4442587F"))
        parts = [writer.element(wrapper, inner, attributes)] if wrapper else [inner]
        return writer.document(operation.name + "Response", "".join(parts + [writer.space(), metadata]))
    if protocol == "ec2":
        return writer.document(operation.name + "Response", writer.element("requestId", "4442587F") + inner, attributes)
    return writer.document(wire_name(shape, operation.name + "Result"), inner, attributes)


def rest_body(operation, values, chance, protocol):
    shape = operation.output_shape
    payload = shape.serialization.get("payload")
    if payload is None:
        if any("location" not in member.serialization for member in shape.members.values()):
            if protocol == "rest-xml":
                return xml_success(operation, values, chance, protocol)
            writer = JsonWriter(chance)
            return writer.text(writer.structure(shape, values))
        return b""
    member = shape.members[payload]
    value = values.get(payload)
    if member.type_name in ("blob", "string"):
        return value.encode() if isinstance(value, str) else value or b""
    if protocol == "rest-xml":
        writer = XmlWriter(chance, "http://s3.amazonaws.com/doc/2006-03-01/")
        inner, attributes = writer.members(member, value or {})
        return writer.document(wire_name(member, payload), inner, attributes)
    writer = JsonWriter(chance)
    return writer.text(writer.value(member, value or {}))


def success(operation, values, chance):
    """(status, headers, body) of an answer that holds `values`."""
    protocol = operation.service_model.resolved_protocol
    shape = operation.output_shape
    fields = request_id(protocol, chance)
    if protocol in ("query", "ec2"):
        return 200, fields + [("Content-Type", "text/xml")], xml_success(operation, values, chance, protocol)
    if protocol.startswith("rest"):
        if shape is None:
            return chance.choice([200, 204]), fields, b""
        fields += header_fields(shape, values, chance)
        body = rest_body(operation, values, chance, protocol)
        return chance.choice(SUCCESS) if body else 200, fields, body
    writer = JsonWriter(chance)
    body = writer.text(writer.structure(shape, values)) if shape else chance.choice([b"", b"{}", b"{ }\n"])
    return 200, fields + [("Content-Type", "application/x-amz-json-1.1")], body
