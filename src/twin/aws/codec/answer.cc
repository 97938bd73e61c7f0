// Answers and errors to the wire, protocol by protocol.
#include "base/text.h"
#include "twin/aws/codec/codec.h"
#include "twin/aws/codec/json_codec.h"
#include "twin/aws/codec/xml_codec.h"

namespace instantstart::twin::codec {

namespace {

using aws::model::Member;
using aws::model::Operation;
using aws::model::Service;
using aws::model::Shape;
using aws::model::ShapeType;

Member whole(const Shape* shape) {
    Member member;
    member.shape = shape;
    return member;
}

std::string json_type(const Service& service) {
    return service.protocol == "json" ? "application/x-amz-json-" + service.json_version : "application/json";
}

http::Response xml_response(int status, std::string body) {
    return {status, "text/xml;charset=UTF-8", std::move(body)};
}

http::Response json_answer(const Service& service, const Operation& operation, const JsonObject& output) {
    const JsonValue body =
        operation.output != nullptr ? to_json(whole(operation.output), output) : JsonValue(JsonObject{});
    // An operation without an output shape answers an empty body.
    return {200, json_type(service), operation.output == nullptr ? std::string() : base::to_text(body)};
}

http::Response query_answer(const Service& service, const Operation& operation, const JsonObject& output,
                            const std::string& request_id) {
    std::string body = "<" + operation.name + "Response xmlns=\"" + service.xml_namespace + "\">";
    if (operation.output != nullptr) {
        const std::string wrapper =
            operation.result_wrapper.empty() ? operation.name + "Result" : operation.result_wrapper;
        body += "<" + wrapper + ">" + write_xml_members(*operation.output, output) + "</" + wrapper + ">";
    }
    body += "<ResponseMetadata><RequestId>" + request_id + "</RequestId></ResponseMetadata></" +
            operation.name + "Response>";
    return xml_response(200, std::move(body));
}

http::Response ec2_answer(const Service& service, const Operation& operation, const JsonObject& output,
                          const std::string& request_id) {
    const std::string xml_namespace = service.xml_namespace.empty()
                                          ? "http://ec2.amazonaws.com/doc/" + service.api_version + "/"
                                          : service.xml_namespace;
    std::string body = R"(<?xml version="1.0" encoding="UTF-8"?>)";
    body += "\n<" + operation.name + "Response xmlns=\"" + xml_namespace + "\"><requestId>" + request_id +
            "</requestId>";
    if (operation.output != nullptr) body += write_xml_members(*operation.output, output);
    body += "</" + operation.name + "Response>";
    return xml_response(200, std::move(body));
}

// The root that S3 gives to answers without a payload; SDKs do not look at it, people do.
std::string root_name(const Operation& operation) {
    if (operation.name == "ListObjectsV2" || operation.name == "ListObjects") return "ListBucketResult";
    if (operation.name == "ListBuckets") return "ListAllMyBucketsResult";
    if (operation.name == "CreateMultipartUpload") return "InitiateMultipartUploadResult";
    if (operation.name == "DeleteObjects") return "DeleteResult";
    if (operation.name == "GetBucketLocation") return "LocationConstraint";
    return operation.name + "Result";
}

constexpr const char* kS3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

bool has_body_members(const Shape& output) {
    for (const Member& member : output.members) {
        if (member.location.empty()) return true;
    }
    return false;
}

std::string rest_xml_body(const Operation& operation, const JsonObject& output) {
    const Shape& shape = *operation.output;
    if (operation.name == "GetBucketLocation") {  // the constraint itself is the root's text
        return "<LocationConstraint xmlns=\"" + std::string(kS3Namespace) + "\">" +
               xml_escape(base::get_string(output, "LocationConstraint")) + "</LocationConstraint>";
    }
    if (shape.payload.empty())
        return has_body_members(shape) ? write_xml(shape, output, root_name(operation), kS3Namespace) : "";
    const Member* payload = shape.member(shape.payload);
    const JsonValue* value = output.if_contains(payload->name);
    if (value == nullptr) return "";
    if (value->is_string()) return std::string(value->as_string());
    const std::string root = payload->location_name.empty() ? payload->name : payload->location_name;
    return write_xml(*payload->shape, value->as_object(), root, kS3Namespace);
}

std::string rest_json_body(const Operation& operation, const JsonObject& output) {
    const Shape& shape = *operation.output;
    if (shape.payload.empty()) return base::to_text(to_json(whole(&shape), output));
    const Member* payload = shape.member(shape.payload);
    const JsonValue* value = output.if_contains(payload->name);
    if (value == nullptr) return "";
    const bool raw = payload->shape->type == ShapeType::blob || payload->shape->type == ShapeType::string;
    return raw && value->is_string() ? std::string(value->as_string())
                                     : base::to_text(to_json(*payload, *value));
}

void write_headers(const Shape& shape, const JsonObject& output, http::Response& response) {
    for (const Member& member : shape.members) {
        const JsonValue* value = output.if_contains(member.name);
        if (value == nullptr || value->is_null()) continue;
        if (member.location == "header") {
            const std::string& name = member.location_name.empty() ? member.name : member.location_name;
            response.headers.set(name, scalar_to_text(member, *value, TimeForm::rfc822));
        } else if (member.location == "headers" && value->is_object()) {
            for (const auto& item : value->as_object()) {
                response.headers.set(member.location_name + std::string(item.key()),
                                     scalar_to_text(member.shape->element, item.value(), TimeForm::rfc822));
            }
        } else if (member.location == "statusCode" && value->is_int64()) {
            response.status = static_cast<int>(value->as_int64());
        }
    }
}

// The status of a success: the model's, but for those that S3 answers with 204 without its model saying so.
int success_status(const Service& service, const Operation& operation) {
    const bool silent = operation.name == "PutBucketTagging" || operation.name == "PutBucketPolicy";
    if (service.name == "s3" && silent) return 204;
    return operation.response_code == 0 ? 200 : operation.response_code;
}

http::Response rest_answer(const Service& service, const Operation& operation, const JsonObject& output) {
    http::Response response(success_status(service, operation));
    if (operation.output == nullptr) return response;
    const bool xml = service.protocol == "rest-xml";
    response.body = xml ? rest_xml_body(operation, output) : rest_json_body(operation, output);
    if (!response.body.empty())
        response.headers.set("content-type", xml ? "application/xml" : "application/json");
    write_headers(*operation.output, output, response);
    if (output.contains("ContentRange")) response.status = 206;
    // The server counts what it sends; only a HEAD says a length without a body.
    if (operation.http_method != "HEAD") response.headers.remove("content-length");
    return response;
}

const Shape* error_shape(const Service& service, const ServiceError& error) {
    for (const auto& [name, shape] : service.shapes) {
        if (shape->exception && (name == error.code || shape->error_code == error.code)) return shape.get();
    }
    return nullptr;
}

http::Response json_failure(const Service& service, const ServiceError& error) {
    JsonObject body;
    const Shape* shape = error_shape(service, error);
    if (shape != nullptr) {
        const JsonValue members = to_json(whole(shape), error.members);
        if (members.is_object()) body = members.as_object();
    }
    const Member* upper = shape != nullptr ? shape->member("Message") : nullptr;
    if (service.protocol == "json") body["__type"] = error.code;
    body[upper != nullptr ? "Message" : "message"] = error.message;
    http::Response response(error.status, json_type(service), base::to_text(body));
    response.headers.set("x-amzn-errortype", error.code);
    return response;
}

http::Response s3_failure(const ServiceError& error, const std::string& request_id) {
    std::string body = R"(<?xml version="1.0" encoding="UTF-8"?>)";
    body += "\n<Error><Code>" + xml_escape(error.code) + "</Code><Message>" + xml_escape(error.message) +
            "</Message>";
    for (const auto& item : error.members) {
        if (!item.value().is_string()) continue;
        const std::string name(item.key());
        body += "<" + name + ">" + xml_escape(item.value().as_string()) + "</" + name + ">";
    }
    body += "<RequestId>" + request_id + "</RequestId><HostId>" + base::base64_encode(request_id) +
            "</HostId></Error>";
    return {error.status, "application/xml", std::move(body)};
}

http::Response xml_failure(const Service& service, const ServiceError& error, const std::string& request_id) {
    const std::string text =
        "<Code>" + xml_escape(error.code) + "</Code><Message>" + xml_escape(error.message) + "</Message>";
    if (service.protocol == "ec2") {
        std::string body = R"(<?xml version="1.0" encoding="UTF-8"?>)";
        body += "\n<Response><Errors><Error>" + text + "</Error></Errors><RequestID>" + request_id +
                "</RequestID></Response>";
        return xml_response(error.status, std::move(body));
    }
    const std::string type = error.status < 500 ? "Sender" : "Receiver";
    return xml_response(error.status, "<ErrorResponse xmlns=\"" + service.xml_namespace + "\"><Error><Type>" +
                                          type + "</Type>" + text + "</Error><RequestId>" + request_id +
                                          "</RequestId></ErrorResponse>");
}

void name_request(const Service& service, const std::string& request_id, http::Response& response) {
    if (service.protocol == "rest-xml") {
        response.headers.set("x-amz-request-id", request_id);
        response.headers.set("x-amz-id-2", base::base64_encode(request_id));
    } else {
        response.headers.set("x-amzn-requestid", request_id);
    }
}

}  // namespace

http::Response answer(const Service& service, const Operation& operation, const JsonObject& output,
                      const std::string& request_id) {
    http::Response response;
    if (service.protocol == "json")
        response = json_answer(service, operation, output);
    else if (service.protocol == "query")
        response = query_answer(service, operation, output, request_id);
    else if (service.protocol == "ec2")
        response = ec2_answer(service, operation, output, request_id);
    else
        response = rest_answer(service, operation, output);
    name_request(service, request_id, response);
    return response;
}

http::Response failure(const Service& service, const Operation* operation, const ServiceError& error,
                       const std::string& request_id) {
    http::Response response;
    if (service.protocol == "rest-xml")
        response = s3_failure(error, request_id);
    else if (service.protocol == "json" || service.protocol == "rest-json")
        response = json_failure(service, error);
    else
        response = xml_failure(service, error, request_id);
    // A HEAD has no body: the status must speak for itself.
    if (operation != nullptr && operation->http_method == "HEAD") response.body.clear();
    name_request(service, request_id, response);
    return response;
}

}  // namespace instantstart::twin::codec
