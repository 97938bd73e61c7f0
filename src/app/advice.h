// Advice: the summary line and the next calls for an operation, made from its state alone, never from free
// text.
#pragma once

#include <string>

#include "app/catalogue.h"

namespace instantstart::app {

// "hyperpod.create on cluster/demo/hyperpod is running: phase instance_groups, 42 %, about 310 s left."
std::string operation_summary(const JsonObject& operation);
// Wait for it, look at what it made, or retry it: at most 3 of {tool, arguments, why}.
JsonArray operation_next(const Catalogue* catalogue, const JsonObject& operation);
JsonObject next_call(const std::string& tool, JsonObject arguments, const std::string& why);

}  // namespace instantstart::app
