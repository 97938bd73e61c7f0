// The control of the simulated account: /_twin/… on its AWS endpoint, for tests and people.
#pragma once

#include "http/message.h"
#include "twin/aws/world_impl.h"

namespace instantstart::twin {

// Answers one request to /_twin/…; Host and Origin are already checked.
http::Response control(WorldImpl& world, const http::Request& request);

}  // namespace instantstart::twin
