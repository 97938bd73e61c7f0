// Pages of a list operation, by the model's paginator.
#pragma once

#include <optional>
#include <string>

#include "aws/model/model.h"
#include "base/json.h"

namespace instantstart::aws {

// Items of one page: of the paginator's first result key; without a paginator, the only list of the answer.
const base::JsonArray& items_of_page(const model::Operation& operation, const base::JsonObject& answer);

// Puts the tokens for the page after `answer` into `parameters`; false where `answer` is the last page.
bool advance(const model::Operation& operation, const base::JsonObject& answer, base::JsonObject& parameters);

}  // namespace instantstart::aws
