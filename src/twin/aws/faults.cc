#include "twin/aws/faults.h"

#include <algorithm>

namespace instantstart::twin {

namespace {

constexpr const char* kKinds[] = {"throttle", "error", "timeout", "reset", "slow", "stale"};
constexpr double kDefaultDelay = 5;

base::Duration seconds_of(double seconds) {
    return base::Duration(static_cast<std::int64_t>(std::min(seconds, 86400.0 * 365) * 1e9));
}

bool matches(std::string_view pattern, std::string_view value) {
    return pattern == "*" || pattern == value;
}

base::Result<void> read_numbers(const base::JsonObject& description, Fault& fault) {
    if (const auto* status = description.if_contains("status")) {
        if (!status->is_int64() || status->as_int64() < 400 || status->as_int64() > 599)
            return base::invalid_field("/status", "a number from 400 to 599");
        fault.status = static_cast<int>(status->as_int64());
    }
    if (const auto* count = description.if_contains("count")) {
        if (!count->is_int64() || count->as_int64() < 1)
            return base::invalid_field("/count", "a number from 1");
        fault.count = count->as_int64();
    }
    if (const auto* probability = description.if_contains("probability")) {
        const double value = probability->is_number() ? probability->to_number<double>() : -1;
        if (!(value >= 0 && value <= 1)) return base::invalid_field("/probability", "a number from 0 to 1");
        fault.probability = value;
    }
    if (const auto* delay = description.if_contains("delay_seconds")) {
        const double value = delay->is_number() ? delay->to_number<double>() : -1;
        if (!(value >= 0)) return base::invalid_field("/delay_seconds", "seconds, 0 or more");
        fault.delay_seconds = value;
    }
    return base::ok();
}

}  // namespace

const char* to_string(FaultKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

base::JsonObject Fault::to_json() const {
    base::JsonObject out{
        {"id", id}, {"service", service}, {"operation", operation}, {"kind", to_string(kind)}};
    if (!code.empty()) out["code"] = code;
    if (status != 0) out["status"] = status;
    if (count) out["count"] = *count;
    out["probability"] = probability;
    if (delay_seconds) out["delay_seconds"] = *delay_seconds;
    if (!members.empty()) out["members"] = members;
    return out;
}

base::Result<std::string> FaultPlan::add(const base::JsonObject& description, rt::Clock& clock) {
    static const std::vector<std::string_view> known = {
        "service", "operation", "kind", "code", "status", "count", "probability", "delay_seconds", "members"};
    for (const auto& item : description) {
        if (std::find(known.begin(), known.end(), std::string_view(item.key())) == known.end())
            return base::invalid_field("/" + std::string(item.key()), "unknown field");
    }
    Fault fault;
    const std::string kind = base::get_string(description, "kind");
    const auto* found =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&kind](const char* k) { return kind == k; });
    if (found == std::end(kKinds))
        return base::invalid_field("/kind", "one of throttle, error, timeout, reset, slow, stale");
    fault.kind = static_cast<FaultKind>(found - std::begin(kKinds));
    fault.service = base::get_string(description, "service", "*");
    fault.operation = base::get_string(description, "operation", "*");
    fault.code = base::get_string(description, "code");
    fault.members = base::get_object(description, "members");
    CHECK_OK(read_numbers(description, fault));
    fault.id = "fault-" + clock.random_id(10);
    faults_.push_back(fault);
    return fault.id;
}

bool FaultPlan::remove(std::string_view id) {
    return std::erase_if(faults_, [id](const Fault& fault) { return fault.id == id; }) > 0;
}

base::JsonArray FaultPlan::list() const {
    base::JsonArray out;
    for (const Fault& fault : faults_) out.emplace_back(fault.to_json());
    return out;
}

Strike FaultPlan::strike(std::string_view service, std::string_view operation, rt::Clock& clock) {
    Strike strike;
    for (Fault& fault : faults_) {
        if (!matches(fault.service, service) || !matches(fault.operation, operation)) continue;
        const bool passive = fault.kind == FaultKind::slow || fault.kind == FaultKind::stale;
        if (!passive && strike.fault) continue;
        if (fault.probability < 1 && clock.random_between(0, 1) >= fault.probability) continue;
        if (fault.count) --*fault.count;
        const base::Duration delay = seconds_of(fault.delay_seconds.value_or(kDefaultDelay));
        if (fault.kind == FaultKind::slow) strike.slow += delay;
        if (fault.kind == FaultKind::stale) strike.stale = std::max(strike.stale, delay);
        if (!passive) strike.fault = fault;
    }
    std::erase_if(faults_, [](const Fault& fault) { return fault.count && *fault.count <= 0; });
    const bool lost =
        strike.fault && (strike.fault->kind == FaultKind::reset || strike.fault->kind == FaultKind::timeout);
    if (lost) strike.after_act = clock.random_between(0, 1) < 0.5;
    return strike;
}

}  // namespace instantstart::twin
