"""What it means that ours and botocore's agree, and where they need not: one list of reasons."""

import base64
import datetime
import hashlib
import json
import re
import urllib.parse
import zlib
from xml.etree import ElementTree

import answers

# Headers of the transport, of the signature and of botocore's own statistics: not the codecs'.
FOREIGN_HEADERS = {"host", "user-agent", "authorization", "x-amz-date", "x-amz-content-sha256", "content-length", "accept-encoding",
                   "amz-sdk-invocation-id", "amz-sdk-request", "x-amz-user-agent"}

# The operations for which botocore escapes line ends.
LINE_ENDS_KEPT = {"DeleteObjects", "PutBucketLifecycleConfiguration"}

# Where we differ from botocore on purpose. Each use is counted and printed at the end of a run.
REASONS = {
    "crash": "botocore raises a Python error on this answer; ours reads what can be read, or says unreadable_answer",
    "not_json": "botocore takes a body that is no JSON object for an empty answer; ours says unreadable_answer and reads again",
    "named_status": "botocore's code is the bare status; ours is named after it (NotFound) or found in another place of the answer",
    "no_error_element": "botocore takes any XML for an error without code; ours is named after the status",
    "html": "an HTML page is no message: ours says the status in words",
    "text_message": "botocore takes a body that is no JSON for the message; ours says the status in words",
    "lenient_xml": "our XML reader forgives character references that XML 1.0 forbids and cut documents in errors",
    "expect": "S3 uploads go without Expect: 100-continue, bodies being small",
    "s3_late": "botocore makes a failure of any S3 success that cannot be read; ours says unreadable_answer",
    "xml_type": "botocore sends S3's bodies without a Content-Type; ours says application/xml, or text/plain for a policy",
    "no_payload": "botocore makes an empty structure of a body that is absent; ours leaves it out",
    "line_ends": "botocore escapes line ends in XML for two operations only; ours does for all",
}


def parsed_time(text):
    """RFC 3339 text to microseconds since 1970, for any year."""
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z", text)
    if not found:
        return text
    parts = [int(part) for part in found.groups()[:6]]
    whole = datetime.datetime(*parts, tzinfo=datetime.timezone.utc)
    return answers.epoch(whole) + int((found.group(7) or "0").ljust(6, "0"))


def plain(shape, value, ours):
    """A value of an answer in a form that both sides share: times in microseconds, blobs as base64."""
    if value is None or shape is None:
        return value
    kind = shape.type_name
    if kind == "structure" and isinstance(value, dict):
        if getattr(shape, "is_document_type", False):
            return value
        made = {name: plain(shape.members[name], inner, ours) for name, inner in value.items() if name in shape.members}
        return {name: inner for name, inner in made.items() if inner is not None}
    if kind == "list" and isinstance(value, list):
        return [plain(shape.member, item, ours) for item in value]
    if kind == "map" and isinstance(value, dict):
        return {key: plain(shape.value, inner, ours) for key, inner in value.items()}
    if kind == "timestamp":
        return parsed_time(value) if isinstance(value, str) else answers.epoch(value) if hasattr(value, "year") else value
    if kind == "blob":
        if hasattr(value, "read"):
            value = value.read()
        return base64.b64encode(value).decode() if isinstance(value, bytes) else value
    if shape.name == "policyDocumentType" and ours and isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def canonical_xml(node):
    inner = sorted(canonical_xml(child) for child in node)
    return f"{node.tag}{sorted(node.attrib.items())}[{node.text or ''}]({','.join(inner)})"


def canonical_body(protocol, body):
    if protocol in ("query", "ec2"):
        return sorted(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body)))
    if not body:
        return ""
    try:
        return canonical_xml(ElementTree.fromstring(body)) if protocol == "rest-xml" else json.loads(body)
    except (ValueError, ElementTree.ParseError):
        return body


def as_text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def their_request(protocol, request):
    url = urllib.parse.urlsplit(request.url)
    headers = {name.lower(): as_text(value) for name, value in request.headers.items()}
    body = request.body or b""
    body = body.read() if hasattr(body, "read") else body.encode() if isinstance(body, str) else bytes(body)
    return {"method": request.method, "path": url.path, "query": sorted(urllib.parse.parse_qsl(url.query, keep_blank_values=True)),
            "headers": {name: value for name, value in headers.items() if name not in FOREIGN_HEADERS},
            "body": canonical_body(protocol, body)}


def our_request(protocol, call):
    return {"method": call["method"], "path": call["path"], "query": sorted(tuple(pair) for pair in call["query"]),
            "headers": call["headers"], "body": canonical_body(protocol, base64.b64decode(call["body"]))}


def request_differences(operation, call, request, used):
    """Names what differs between our call and the reference's request."""
    protocol = operation.service_model.resolved_protocol
    if "error" in call:
        return [f"ours refuses: {call['error']}"]
    ours, theirs = our_request(protocol, call), their_request(protocol, request)
    if theirs["headers"].pop("expect", None):
        used("expect")
    if protocol == "rest-xml" and ours["body"] != theirs["body"] and operation.name not in LINE_ENDS_KEPT:
        used("line_ends")
        body = base64.b64decode(call["body"]).replace(b"&#xD;&#xA;", b"\n").replace(b"&#xD;", b"\n")
        ours["body"] = canonical_body(protocol, body)
    own_type = ours["headers"].get("content-type") in ("application/xml", "text/plain")
    if protocol == "rest-xml" and "content-type" not in theirs["headers"] and own_type:
        used("xml_type")
        del ours["headers"]["content-type"]
    both_checksums_hold(call, ours["headers"], theirs["headers"])
    return list(unequal(ours, theirs, ""))


SUMS = {"x-amz-checksum-crc32": lambda body: zlib.crc32(body).to_bytes(4, "big"), "x-amz-checksum-sha1": lambda body: hashlib.sha1(body).digest(),
        "x-amz-checksum-sha256": lambda body: hashlib.sha256(body).digest(), "content-md5": lambda body: hashlib.md5(body).digest()}


def both_checksums_hold(call, ours, theirs):
    """Bodies may agree in another order: then each side's checksum is that of its own bytes."""
    for name, make in SUMS.items():
        if name in ours and name in theirs and ours[name] == base64.b64encode(make(base64.b64decode(call["body"]))).decode():
            ours[name] = theirs[name]


def is_html(body):
    return body.strip()[:9].lower().startswith((b"<html", b"<!doctype"))


def answer_differences(operation, answer, ours, theirs, used):
    kind, value = theirs
    if kind == "unreadable":
        return unreadable_differences(answer, ours, value, used)
    if kind == "values":
        if "error" in ours:
            return [f"ours says error: {ours['error']}"]
        if "unreadable" in ours:
            if operation.service_model.service_name == "s3" and answer[2].startswith(b"<Error"):
                used("s3_late")
                return []
            if is_html(answer[2]) or excused_body(operation, answer):
                used("html" if is_html(answer[2]) else "not_json")
                return []
            return [f"ours cannot read: {ours['unreadable']}"]
        payload = operation.output_shape.serialization.get("payload") if operation.output_shape else None
        if payload and not answer[2].strip() and value.get(payload) == {} and payload not in ours["values"]:
            used("no_payload")
            del value[payload]
        return value_differences(operation.output_shape, ours["values"], value)
    late = answer[0] < 300 and operation.service_model.service_name == "s3" and "error" not in ours
    if late and ("unreadable" in ours or not answer[2].strip()):
        used("s3_late")
        return []
    if "error" not in ours:
        return [f"theirs is an error: {value}, ours {ours}"]
    return error_differences(operation, answer, ours["error"], value, used)


def unreadable_differences(answer, ours, why, used):
    if "unreadable" in ours:
        return []
    if "error" in ours:
        used("crash")
        return [] if ours["error"]["code"] else ["ours has an error without a code"]
    used("lenient_xml" if "invalid XML" in why else "crash")
    return []


def excused_body(operation, answer):
    """JSON protocols only: a body that is no JSON object."""
    if "json" not in operation.service_model.resolved_protocol:
        return False
    try:
        return not isinstance(json.loads(answer[2]), dict)
    except ValueError:
        return True


def value_differences(shape, ours, theirs):
    left, right = plain(shape, ours, True), plain(shape, theirs, False)
    left, right = left or {}, right or {}
    if left == right:
        return []
    return list(unequal(left, right, ""))


def unequal(left, right, path):
    """The places where two values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(set(left) | set(right)):
            if key not in left or key not in right:
                yield f"{path}.{key}: only {'ours' if key in left else 'theirs'}: {left.get(key, right.get(key))!r}"
            else:
                yield from unequal(left[key], right[key], f"{path}.{key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, pair in enumerate(zip(left, right)):
            yield from unequal(*pair, f"{path}.{index}")
    elif left != right:
        yield f"{path}: ours {left!r} theirs {right!r}"


def error_differences(operation, answer, ours, theirs, used):
    found = []
    error = theirs.get("Error", {})
    code, message = error.get("Code", ""), error.get("Message", error.get("message", ""))
    if is_html(answer[2]):
        used("html")
        return [] if ours["code"] and ours["message"] else ["an HTML page left no code or message"]
    if str(code).isdigit():
        used("named_status")
        if not ours["code"] or ours["code"].isdigit():
            found.append(f"code: ours {ours['code']!r} is not named")
    elif not code:
        used("no_error_element")
        if not ours["code"]:
            found.append("ours has no code")
    elif code != ours["code"]:
        found.append(f"code: ours {ours['code']!r} theirs {code!r}")
    if message and str(message).strip() != ours["message"].strip():
        if excused_body(operation, answer):
            used("text_message")
        elif not (str(code).isdigit() and "HTTP" in ours["message"]):
            found.append(f"message: ours {ours['message']!r} theirs {message!r}")
    if not found and str(code) == ours["code"]:
        shape = operation.service_model.shape_for_error_code(code)
        known = {name: value for name, value in theirs.items() if shape and name in shape.members and name.lower() != "message"}
        if shape in operation.error_shapes or any(each.name == shape.name for each in operation.error_shapes if shape):
            found += value_differences(shape, ours["members"], known)
    request_id = theirs.get("ResponseMetadata", {}).get("RequestId")
    if request_id and request_id != ours["request_id"]:
        found.append(f"request id: ours {ours['request_id']!r} theirs {request_id!r}")
    return found
