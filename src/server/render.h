// Answers as text for people: tables for lists, indented names and values for objects.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace instantstart::server {

// One line that cannot steer the terminal: texts come from workloads, too.
std::string plain_line(std::string_view text);

std::string render(const base::JsonObject& answer);

}  // namespace instantstart::server
