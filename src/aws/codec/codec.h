// Parameters to the bytes of a request, and the bytes of an answer back to values, in the five protocols of
// AWS. Plain values on both sides: no endpoint, no signature, no network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aws/model/model.h"
#include "base/json.h"
#include "base/result.h"
#include "http/message.h"

namespace instantstart::aws::codec {

struct Call {
    Call() = default;
    std::string method = "POST";
    std::string path = "/";                                  // percent-encoded
    std::vector<std::pair<std::string, std::string>> query;  // decoded
    http::Headers headers;
    std::string body;
};

struct Answer {
    Answer() = default;
    int status = 200;
    http::Headers headers;
    std::string body;
};

// Errors (Error{invalid}) only for parameters that cannot be written at all: a path label that is absent or
// empty.
base::Result<Call> serialise(const model::Service& service, const model::Operation& operation,
                             const base::JsonObject& parameters);

// Puts `token` into the idempotency-token member where the parameters leave it out. False where the model has
// none.
bool fill_idempotency_token(const model::Operation& operation, base::JsonObject& parameters,
                            const std::string& token);

// Adds the checksum that the operation demands (CRC32, or the algorithm the parameters name; Content-MD5
// where the model knows no algorithms) unless the parameters carry one.
void add_checksum(const model::Operation& operation, const base::JsonObject& parameters, Call& call);

// The answer of a success. An answer that cannot be read is Error{internal}, code "unreadable_answer".
base::Result<base::JsonObject> parse(const model::Service& service, const model::Operation& operation,
                                     const Answer& answer);

// What an error answer says, before it is classed. `code` is never empty: without one it is named after the
// status.
struct WireError {
    WireError() = default;
    std::string code, message, request_id;
    base::JsonObject members;  // of the modelled exception, `message` left out
};
WireError parse_error(const model::Service& service, const model::Operation& operation, const Answer& answer);

std::string request_id_of(const Answer& answer);

}  // namespace instantstart::aws::codec
