// A watch over a streamed answer: one JSON event a line.
#pragma once

#include <memory>

#include "http/message.h"
#include "kube/client.h"

namespace instantstart::kube::impl {

std::unique_ptr<Watch> make_watch(std::unique_ptr<http::BodyStream> stream);

}  // namespace instantstart::kube::impl
