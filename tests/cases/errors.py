"""Bytes of error answers: each protocol's forms, and what stands between us and a service: proxies, balancers, cut lines."""

import json
from xml.sax.saxutils import escape

import answers
import values

UNMODELLED = ["ThrottlingException", "AccessDenied", "UnrecognizedClientException", "InternalFailure", "InvalidInstanceID.NotFound",
              "RequestLimitExceeded", "Client.InvalidPermission.Duplicate"]
MESSAGES = ["no", "", "Rate exceeded", "ü <b> & \"quoted\" 'x'", "line one\nline two", "User: arn:aws:sts::1:x is not authorized", "🚀 e\u0301"]
NAMESPACES = ["", "com.amazonaws.sagemaker#", "aws.protocoltests.json#", "com.amazon.coral.service#"]
URIS = ["", "", ":http://internal.amazon.com/coral/com.amazon.coral.service/", ":"]
HTML = [b"<html><body><b>Http/1.1 Service Unavailable</b></body></html>", b"<!DOCTYPE html>\n<html lang=en><title>407</title></html>",
        b"\n <html>\n<head><title>502 Bad Gateway</title></head>\r\n<hr>nginx</html>", b"<HTML><BODY>Forbidden</BODY></HTML>"]
STRANGE = HTML + [b"", b"  \n", b"upstream connect error", b"null", b"[]", b"\"text\"", b"\xff\xfe\x00", b"<a/>", b"{}", b"<Error/>", b"<ErrorResponse>"]


def members_of(shape, chance, xml):
    """Members of a modelled exception but for its message."""
    if shape is None:
        return {}
    made = values.Values(chance, xml=xml, answer=True).of(shape)
    return {name: value for name, value in made.items() if name.lower() != "message"}


def message_name(shape, chance):
    for name in shape.members if shape else []:
        if name.lower() == "message":
            return answers.wire_name(shape.members[name], name)
    return chance.choice(["message", "Message"])


def json_error(operation, code, shape, chance):
    protocol = operation.service_model.resolved_protocol
    fields = answers.request_id(protocol, chance) + [("Content-Type", "application/json")]
    writer = answers.JsonWriter(chance)
    body = writer.structure(shape, members_of(shape, chance, False)) if shape else {}
    if chance.random() < 0.9:
        body[message_name(shape, chance)] = chance.choice(MESSAGES)
    full = chance.choice(NAMESPACES) + code + chance.choice(URIS)
    places = ["__type"] if protocol == "json" else ["__type", "code", "Code", "header", "header"]
    place = chance.choice(places)
    if place == "header":
        fields.append((answers.cased("x-amzn-ErrorType", chance), full))
        if chance.random() < 0.3:
            body[chance.choice(["__type", "code"])] = "SomethingElse"
    else:
        body[place] = full
    if operation.service_model.is_query_compatible and chance.random() < 0.7:
        fields.append(("x-amzn-query-error", chance.choice([f"Query.{code};Sender", "Other;Receiver", ";Sender", "Alone", "a;b;c"])))
    return fields, writer.text(body)


def xml_error(operation, code, shape, chance):
    protocol = operation.service_model.resolved_protocol
    writer = answers.XmlWriter(chance, "http://webservices.amazon.com/AWSFault/2005-15-09")
    if protocol == "rest-xml":
        writer.prefix = ""
    parts = [writer.element("Code", code)]
    if chance.random() < 0.9:
        name = message_name(shape, chance) if shape else "Message"
        parts.append(writer.element(name, escape(chance.choice(MESSAGES))))
    if chance.random() < 0.6:
        parts.append(writer.element("Type", "Sender"))
    if shape is not None:
        inner, _ = writer.members(shape, members_of(shape, chance, True))
        parts.append(inner)
    chance.shuffle(parts)
    inner = writer.space().join(parts)
    fields = answers.request_id(protocol, chance)
    if protocol == "ec2":
        text = writer.element("Errors", writer.element("Error", inner)) + writer.element("RequestID", "ea966190")
        return fields, writer.document("Response", text)
    if protocol == "rest-xml":
        if shape is None:
            inner += writer.element("RequestId", "4442587FB7D0A2F9") + writer.element("HostId", "host/id==")
        document = writer.document("Error", inner)
        return fields, document.replace(f' xmlns="{writer.namespace}"'.encode(), b"")
    parts = [writer.element("Error", inner), writer.element("RequestId", "c6104cbe")]
    chance.shuffle(parts)
    return fields, writer.document("ErrorResponse", "".join(parts))


def cut(body, chance):
    return body[:chance.randrange(len(body))] if body else body


def failure(operation, chance):
    """(status, headers, body) of an answer that says no."""
    service = operation.service_model
    shape = chance.choice(operation.error_shapes) if operation.error_shapes and chance.random() < 0.7 else None
    code = (shape.metadata.get("error", {}).get("code") or shape.name) if shape else chance.choice(UNMODELLED)
    status = chance.choice([400, 400, 400, 403, 404, 409, 429, 500, 503])
    made = json_error if "json" in service.resolved_protocol else xml_error
    fields, body = made(operation, code, shape, chance)
    draw = chance.random()
    if draw < 0.12:
        return chance.choice([400, 403, 404, 407, 502, 503]), [("Content-Type", "text/html")], chance.choice(STRANGE)
    if draw < 0.17:
        return status, fields, cut(body, chance)
    if draw < 0.25:
        fields = [field for field in fields if field[0].lower() != "content-type"] + [("Content-Type", "text/plain")]
    return status, fields, body


def spoiled(answer, chance):
    """An answer of success whose body was cut or replaced on the way."""
    status, fields, body = answer
    return status, fields, chance.choice([cut(body, chance), cut(body, chance), chance.choice(STRANGE), json.dumps([1]).encode()])
