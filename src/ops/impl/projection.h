// Projection: what every face shows of an operation.
#pragma once

#include "ops/impl/durations.h"
#include "ops/impl/record.h"

namespace instantstart::ops::impl {

// `steps` are the flow's, in the order of the record's rows; empty where it is not known (ended long ago):
// then without ETA.
JsonObject project(const Record& record, const std::vector<Step>& steps, const Durations& durations,
                   TimePoint now);

}  // namespace instantstart::ops::impl
