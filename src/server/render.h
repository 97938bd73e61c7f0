// Answers as text for people: tables for lists, indented names and values for objects.
#pragma once

#include <string>

#include "base/json.h"

namespace instantstart::server {

std::string render(const base::JsonObject& answer);

}  // namespace instantstart::server
