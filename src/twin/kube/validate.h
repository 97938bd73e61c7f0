// Refuses bad objects as an API server does: by the schema, then by the rules that matter for the main kinds.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "twin/kube/kinds.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

// Takes out members that the schema does not know and names them ("spec.replicsa"), and takes out nulls. 400
// where a built-in kind's member has a wrong type. Defaults of a custom schema are filled.
// An applied object is only what its manager says, so there they are left out.
enum class SchemaDefaults : std::uint8_t { filled, left_out };
base::Result<void> prune_object(const KindInfo& kind, JsonObject& object, std::vector<std::string>& unknown,
                                SchemaDefaults defaults = SchemaDefaults::filled);
// 422 with a cause per fault.
base::Result<void> validate_object(const KindInfo& kind, const JsonObject& object);
// What may not change: 422 where it did.
base::Result<void> validate_change(const KindInfo& kind, const JsonObject& before, const JsonObject& after);

bool is_dns_label(std::string_view text);
bool is_dns_subdomain(std::string_view text);

}  // namespace instantstart::twin::kube
