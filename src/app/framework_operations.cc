#include "app/framework_operations.h"

#include "app/catalogue.h"

namespace instantstart::app {

std::vector<std::unique_ptr<Operation>> make_framework_operations() {
    std::vector<std::unique_ptr<Operation>> made;
    made.push_back(make_environment_get());
    made.push_back(make_operation_get());
    made.push_back(make_operation_list());
    made.push_back(make_operation_cancel());
    made.push_back(make_operation_retry());
    made.push_back(make_plan_preview());
    made.push_back(make_audit_list());
    return made;
}

}  // namespace instantstart::app
