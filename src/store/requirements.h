// What both stores answer where a batch's requirement does not hold, and how both see a prefix.
#pragma once

#include <string>

#include "base/error.h"

namespace instantstart::store {

base::Error exists_error(const std::string& table, const std::string& key);
base::Error changed_error(const std::string& table, const std::string& key);
// The smallest key beyond all that start with `prefix`; "" where there is none (no bound).
std::string key_after_prefix(std::string prefix);

}  // namespace instantstart::store
