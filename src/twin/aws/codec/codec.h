// The façade of the server codecs: what a request asks, and how an answer or an error stands on the wire.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "aws/model/model.h"
#include "http/message.h"
#include "twin/aws/world.h"

namespace instantstart::twin::codec {

struct ParsedCall {
    ParsedCall() = default;
    const aws::model::Operation* operation = nullptr;
    std::string operation_name;  // also where the model does not know it
    JsonObject params;
    std::vector<std::string> unknown;  // query and ec2: parameters the model does not know
};

// The operation and its parameters. The body is already free of aws-chunked framing.
std::variant<ParsedCall, ServiceError> parse_call(const aws::model::Service& service,
                                                  const http::Request& request);
http::Response answer(const aws::model::Service& service, const aws::model::Operation& operation,
                      const JsonObject& output, const std::string& request_id);
// `operation` may be null where the call never came to one.
http::Response failure(const aws::model::Service& service, const aws::model::Operation* operation,
                       const ServiceError& error, const std::string& request_id);
// What the service says to parameters that its model refuses; nullopt where all is well.
std::optional<ServiceError> validate_call(const aws::model::Service& service, const ParsedCall& call);

}  // namespace instantstart::twin::codec
