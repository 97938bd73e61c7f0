// Following an operation to its end on a terminal, for watch and call --wait.
#pragma once

#include <string>

#include "server/api_client.h"

namespace instantstart::server {

// Prints progress to standard error; the operation as it ended.
rt::Task<base::JsonObject> follow_operation(ApiClient& client, std::string operation_id);
// 0 for succeeded, 1 otherwise; says so on standard error.
int report_end(const base::JsonObject& operation);

}  // namespace instantstart::server
