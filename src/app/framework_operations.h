// Makers of the operations on the product itself: one file each.
#pragma once

#include <memory>

#include "app/operation.h"

namespace instantstart::app {

std::unique_ptr<Operation> make_environment_get();
std::unique_ptr<Operation> make_operation_get();
std::unique_ptr<Operation> make_operation_list();
std::unique_ptr<Operation> make_operation_cancel();
std::unique_ptr<Operation> make_operation_retry();
std::unique_ptr<Operation> make_plan_preview();
std::unique_ptr<Operation> make_audit_list();

}  // namespace instantstart::app
