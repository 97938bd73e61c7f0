// Durations: how long our own steps took, per flow and kind of step, for the next ETA. Kept in the store at
// the pace of the real account (multiplied by the time scale), so that they hold at any speed of the twin.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ops/step.h"
#include "store/store.h"

namespace instantstart::ops::impl {

class Durations {
public:
    static constexpr const char* kTable = "operation_durations";
    explicit Durations(double time_scale) : time_scale_(time_scale) {}

    // The median of what was seen, or the step's typical duration; at our pace.
    base::Duration expected(const std::string& flow, const Step& step) const;
    // Remembers a sample and puts the new row into `batch`.
    void learn(const std::string& flow, const std::string& step_id, base::Duration took, store::Batch& batch);
    void load(const store::Entry& entry);

private:
    double time_scale_;
    std::map<std::string, std::vector<double>, std::less<>> seconds_;
};

}  // namespace instantstart::ops::impl
