// aws-chunked bodies: chunks with optional signatures, then trailers.
#pragma once

#include "base/result.h"
#include "http/message.h"

namespace instantstart::twin::codec {

bool is_aws_chunked(const http::Request& request);
// Puts the decoded body in place and the trailers among the headers. Error "IncompleteBody".
base::Result<void> decode_aws_chunked(http::Request& request);

}  // namespace instantstart::twin::codec
