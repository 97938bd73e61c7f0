// Server-side apply, and the bookkeeping of who owns which field.
#pragma once

#include <string>

#include "base/result.h"
#include "twin/kube/schema.h"

namespace instantstart::twin::kube {

struct ApplyOptions {
    ApplyOptions() = default;
    std::string manager;
    std::string subresource;
    std::string time;  // RFC 3339
    bool force = false;
    // An object without any managers belongs to "before-first-apply" until someone applies.
    bool adopts_unmanaged = false;
    SchemaPtr schema;  // null: the built-in one of the object's kind
};

// The object after `applied` is laid over `current` (null: there is none): fields of an earlier apply by the
// same manager that are no longer applied go, unless others own them. 409 with a cause per field that another
// manager has set otherwise.
base::Result<JsonObject> apply_object(const JsonObject* current, const JsonObject& applied,
                                      const ApplyOptions& options);

// After a create, update or patch: the manager owns what it changed, others lose it. `before` null for a
// create.
void track_update(const JsonObject* before, JsonObject& after, const ApplyOptions& options);

}  // namespace instantstart::twin::kube
