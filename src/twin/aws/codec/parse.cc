// Requests to parameters, protocol by protocol.
#include "base/text.h"
#include "twin/aws/codec/codec.h"
#include "twin/aws/codec/json_codec.h"
#include "twin/aws/codec/query_codec.h"
#include "twin/aws/codec/route.h"
#include "twin/aws/codec/xml_codec.h"

namespace instantstart::twin::codec {

namespace {

using aws::model::Member;
using aws::model::Operation;
using aws::model::Shape;
using aws::model::ShapeType;
using Parsed = std::variant<ParsedCall, ServiceError>;

// A member that stands for a whole structure, so that the codecs see one kind of thing.
Member whole(const Shape* shape) {
    Member member;
    member.shape = shape;
    return member;
}

Parsed parse_json_body(const aws::model::Service& service, const http::Request& request) {
    ParsedCall call;
    const std::string target = request.headers.get("x-amz-target");
    const auto dot = target.rfind('.');
    call.operation_name = dot == std::string::npos ? target : target.substr(dot + 1);
    call.operation = service.operation(call.operation_name);
    if (call.operation == nullptr) return ServiceError(400, "UnknownOperationException", "");
    if (request.body.empty()) return call;
    auto wire = base::parse_json(request.body);
    if (!wire || !wire->is_object())
        return ServiceError(400, "SerializationException", "The request body is not a JSON object.");
    if (call.operation->input == nullptr) return call;
    JsonValue params = from_json(whole(call.operation->input), *wire);
    if (params.is_object()) call.params = std::move(params.as_object());
    return call;
}

Parsed parse_form_body(const aws::model::Service& service, const http::Request& request) {
    FormFields fields = parse_form(request.query());
    for (auto& field : parse_form(request.body)) fields.push_back(std::move(field));
    ParsedCall call;
    for (const auto& [name, value] : fields) {
        if (name == "Action") call.operation_name = value;
    }
    call.operation = service.operation(call.operation_name);
    if (call.operation == nullptr) {
        if (call.operation_name.empty())
            return ServiceError(400, "MissingAction",
                                "The request is missing an action or a required parameter.");
        return ServiceError(400, "InvalidAction",
                            "The action " + call.operation_name + " is not valid for this web service.");
    }
    if (call.operation->input == nullptr) return call;
    const FormStyle style = service.protocol == "ec2" ? FormStyle::ec2 : FormStyle::query;
    call.params = from_form(*call.operation->input, fields, style, call.unknown);
    return call;
}

// The members of a REST body: one payload member, or all that stand nowhere else.
std::optional<ServiceError> read_rest_body(const aws::model::Service& service, const Operation& operation,
                                           const http::Request& request, JsonObject& params) {
    const Shape& input = *operation.input;
    const bool xml = service.protocol == "rest-xml";
    ServiceError broken(
        400, xml ? "MalformedXML" : "SerializationException",
        xml ? "The XML you provided was not well-formed or did not validate against our published schema"
            : "The request body is not a JSON object.");
    if (!input.payload.empty()) {
        const Member* payload = input.member(input.payload);
        if (payload->shape->type == ShapeType::blob || payload->shape->type == ShapeType::string) {
            if (!request.body.empty()) params[payload->name] = request.body;
            return std::nullopt;
        }
        if (request.body.empty()) return std::nullopt;
        if (xml) {
            auto value = read_xml(*payload, request.body);
            if (!value) return broken;
            params[payload->name] = std::move(*value);
            return std::nullopt;
        }
        auto wire = base::parse_json(request.body);
        if (!wire) return broken;
        params[payload->name] = from_json(*payload, *wire);
        return std::nullopt;
    }
    if (request.body.empty()) return std::nullopt;
    if (xml) {
        auto value = read_xml(whole(&input), request.body);
        if (!value) return broken;
        for (auto& item : value->as_object()) params[item.key()] = item.value();
        return std::nullopt;
    }
    auto wire = base::parse_json(request.body);
    if (!wire || !wire->is_object()) return broken;
    const JsonValue value = from_json(whole(&input), *wire);
    for (const auto& item : value.as_object()) params[item.key()] = item.value();
    return std::nullopt;
}

Parsed parse_rest(const aws::model::Service& service, const http::Request& request) {
    ParsedCall call;
    call.operation = route(service, request);
    if (call.operation == nullptr) {
        if (service.protocol == "rest-xml")
            return ServiceError(405, "MethodNotAllowed",
                                "The specified method is not allowed against this resource.");
        return ServiceError(404, "UnknownOperationException", "");
    }
    call.operation_name = call.operation->name;
    if (call.operation->input == nullptr) return call;
    call.params = located_parameters(*call.operation, request);
    if (auto broken = read_rest_body(service, *call.operation, request, call.params)) return *broken;
    return call;
}

struct Refusal {
    const char* service;
    const char* code;
};

// The code that a service gives to parameters its model refuses.
constexpr Refusal kRefusals[] = {
    {"eks", "InvalidParameterException"},
    {"logs", "InvalidParameterException"},
    {"pricing", "InvalidParameterException"},
    {"fsx", "BadRequest"},
    {"iam", "ValidationError"},
    {"sts", "ValidationError"},
    {"elbv2", "ValidationError"},
    {"service-quotas", "IllegalArgumentException"},
    {"s3", "InvalidArgument"},
    {"ec2", "InvalidParameterValue"},
};

// Some operations of EKS do not know its usual code: then the nearest that their model lists.
constexpr const char* kOfEks[] = {"InvalidParameterException", "InvalidRequestException", "ClientException"};

std::string refusal_code(const aws::model::Service& service, const Operation& operation) {
    if (service.name == "eks") {
        for (const char* code : kOfEks) {
            for (const Shape* error : operation.errors) {
                if (error->name == code) return code;
            }
        }
    }
    for (const Refusal& refusal : kRefusals) {
        if (service.name == refusal.service) return refusal.code;
    }
    return "ValidationException";
}

std::string lower_first(std::string text) {
    if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
    return text;
}

std::string describe(const std::vector<aws::model::Fault>& faults) {
    std::string out =
        std::to_string(faults.size()) + " validation error" + (faults.size() == 1 ? "" : "s") + " detected: ";
    for (std::size_t i = 0; i < faults.size(); ++i) {
        if (i > 0) out += "; ";
        const std::string rule = faults[i].rule == "required" ? "Member must not be null" : faults[i].message;
        out += "Value at '" + lower_first(faults[i].path) + "' failed to satisfy constraint: " + rule;
    }
    return out;
}

}  // namespace

std::variant<ParsedCall, ServiceError> parse_call(const aws::model::Service& service,
                                                  const http::Request& request) {
    if (service.protocol == "json") return parse_json_body(service, request);
    if (service.protocol == "query" || service.protocol == "ec2") return parse_form_body(service, request);
    return parse_rest(service, request);
}

std::optional<ServiceError> validate_call(const aws::model::Service& service, const ParsedCall& call) {
    if (service.protocol == "ec2" && !call.unknown.empty())
        return ServiceError(400, "UnknownParameter",
                            "The parameter " + call.unknown.front() + " is not recognized");
    if (call.operation->input == nullptr) return std::nullopt;
    const auto faults = aws::model::validate(*call.operation->input, JsonValue(call.params));
    if (faults.empty()) return std::nullopt;
    const aws::model::Fault& first = faults.front();
    if (service.name == "ec2" && first.rule == "required")
        return ServiceError(400, "MissingParameter", "The request must contain the parameter " + first.path);
    if (service.name == "ec2")
        return ServiceError(400, "InvalidParameterValue",
                            "Invalid value for parameter " + first.path + ": " + first.message);
    if (service.name == "s3" && call.operation->input->payload == first.path.substr(0, first.path.find('.')))
        return ServiceError(
            400, "MalformedXML",
            "The XML you provided was not well-formed or did not validate against our published schema");
    return ServiceError(400, refusal_code(service, *call.operation), describe(faults));
}

}  // namespace instantstart::twin::codec
