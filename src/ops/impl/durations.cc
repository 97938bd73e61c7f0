#include "ops/impl/durations.h"

#include <algorithm>

namespace instantstart::ops::impl {

namespace {

constexpr std::size_t kSamples = 9;

// "workers.nodes" and "trainers.nodes" are the same kind of step.
std::string kind_of(const std::string& flow, const std::string& step_id) {
    const auto dot = step_id.rfind('.');
    return flow + "/" + (dot == std::string::npos ? step_id : step_id.substr(dot + 1));
}

}  // namespace

base::Duration Durations::expected(const std::string& flow, const Step& step) const {
    double seconds = std::chrono::duration<double>(step.schedule.typical).count();
    auto seen = seconds_.find(kind_of(flow, step.id));
    if (seen != seconds_.end() && !seen->second.empty()) {
        std::vector<double> sorted = seen->second;
        std::sort(sorted.begin(), sorted.end());
        seconds = sorted[sorted.size() / 2];
    }
    return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(seconds / time_scale_));
}

void Durations::learn(const std::string& flow, const std::string& step_id, base::Duration took,
                      store::Batch& batch) {
    const std::string kind = kind_of(flow, step_id);
    auto& samples = seconds_[kind];
    samples.push_back(std::chrono::duration<double>(took).count() * time_scale_);
    if (samples.size() > kSamples) samples.erase(samples.begin());
    base::JsonArray row(samples.begin(), samples.end());
    batch.put(kTable, kind, std::move(row));
}

void Durations::load(const store::Entry& entry) {
    if (!entry.value.is_array()) return;
    auto& samples = seconds_[entry.key];
    for (const auto& sample : entry.value.get_array()) {
        if (sample.is_number()) samples.push_back(sample.to_number<double>());
    }
}

}  // namespace instantstart::ops::impl
