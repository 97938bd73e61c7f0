// REST paths to operations, by the models' method and URI, and the parameters that stand in path, query and
// headers.
#pragma once

#include "http/message.h"
#include "twin/aws/codec/scalar.h"

namespace instantstart::twin::codec {

// The most specific operation that the request fits; null where none does.
const aws::model::Operation* route(const aws::model::Service& service, const http::Request& request);
// Members located in uri, querystring, header and headers.
JsonObject located_parameters(const aws::model::Operation& operation, const http::Request& request);

}  // namespace instantstart::twin::codec
