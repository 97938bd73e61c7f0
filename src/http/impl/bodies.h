// Bodies: from text to stream and back, with limits.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/message.h"
#include "rt/clock.h"

namespace instantstart::http::impl {

// One piece, then the end.
std::unique_ptr<BodyStream> stream_of(std::string text);
// All pieces together; more than `most` bytes is Error{invalid, "body_too_large"}.
Task<std::string> collect(std::unique_ptr<BodyStream> stream, std::size_t most);
// Each read within `limit`; beyond it Error{unknown_outcome, "timeout"}.
std::unique_ptr<BodyStream> limited(std::unique_ptr<BodyStream> stream, rt::Clock& clock,
                                    base::Duration limit);

base::Error body_too_large(std::size_t most);
base::Error unknown_outcome(std::string code, std::string message);

}  // namespace instantstart::http::impl
