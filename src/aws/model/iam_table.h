// models/iam-actions.json as embedded: {"operations", "statements"}. Read once, for iam_actions and
// iam_statements only.
#pragma once

#include "base/json.h"

namespace instantstart::aws::model {

const base::JsonObject& iam_table();

}  // namespace instantstart::aws::model
