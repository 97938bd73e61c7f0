// The fault plan: what goes wrong with calls, set by the control.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rt/clock.h"

namespace instantstart::twin {

enum class FaultKind : std::uint8_t { throttle, error, timeout, reset, slow, stale };

struct Fault {
    Fault() = default;
    std::string id;
    std::string service = "*", operation = "*";
    FaultKind kind = FaultKind::error;
    std::string code;
    int status = 0;
    std::optional<std::int64_t> count;  // how often it still strikes; nullopt never ends
    double probability = 1;
    std::optional<double> delay_seconds;  // wall-clock
    base::JsonObject members;             // of an error: further members of the modelled exception
    base::JsonObject to_json() const;
};

// What strikes one call.
struct Strike {
    Strike() = default;
    std::optional<Fault> fault;  // the first of throttle, error, timeout, reset that struck
    bool after_act = false;      // timeout, reset: whether the act runs first
    base::Duration slow{};       // to wait before the act
    base::Duration stale{};      // Call::stale
};

class FaultPlan {
public:
    base::Result<std::string> add(const base::JsonObject& description, rt::Clock& clock);
    bool remove(std::string_view id);
    base::JsonArray list() const;
    void clear() { faults_.clear(); }
    Strike strike(std::string_view service, std::string_view operation, rt::Clock& clock);

private:
    std::vector<Fault> faults_;
};

const char* to_string(FaultKind kind);

}  // namespace instantstart::twin
