// The Table form of answers, which kubectl prints as it stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "twin/kube/kinds.h"

namespace instantstart::twin::kube {

struct TableOptions {
    TableOptions() = default;
    std::string api_version = "meta.k8s.io/v1";
    std::string include_object = "Metadata";  // None, Metadata, Object
    bool headers = true;                      // later tables of a watch leave the columns out
};

JsonObject make_table(const KindInfo& kind, const std::vector<ObjectPtr>& objects, base::TimePoint now,
                      const TableOptions& options, JsonObject list_metadata);
// "5m12s", "3h", "12d": how long ago.
std::string human_age(base::Duration age);

// The cell of a computed column (columns.cc); null where there is no such column.
using CellFunction = JsonValue (*)(const JsonObject& object, base::TimePoint now);
CellFunction cell_function(std::string_view name);

}  // namespace instantstart::twin::kube
