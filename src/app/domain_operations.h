// The operations on clusters and what lies in them, one file each in this folder.
#pragma once

#include <memory>
#include <vector>

#include "app/operation.h"

namespace instantstart::app {

std::vector<std::unique_ptr<Operation>> make_domain_operations();

}  // namespace instantstart::app
