#include "twin/kube/controllers/quantity.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace instantstart::twin::kube::controllers {

namespace {

struct Suffix {
    std::string_view text;
    double factor;
};
constexpr Suffix kSuffixes[] = {
    {"", 1},
    {"n", 1e-9},
    {"u", 1e-6},
    {"m", 1e-3},
    {"k", 1e3},
    {"M", 1e6},
    {"G", 1e9},
    {"T", 1e12},
    {"P", 1e15},
    {"E", 1e18},
    {"Ki", 1024.0},
    {"Mi", 1048576.0},
    {"Gi", 1073741824.0},
    {"Ti", 1099511627776.0},
    {"Pi", 1125899906842624.0},
    {"Ei", 1152921504606846976.0},
};

std::int64_t amount_of(const base::JsonValue& value) {
    if (value.is_string()) return parse_milli(value.get_string());
    return value.is_number() ? static_cast<std::int64_t>(value.to_number<double>() * 1000) : 0;
}

}  // namespace

std::int64_t parse_milli(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    const double number = std::strtod(copy.c_str(), &end);
    if (end == copy.c_str()) return 0;
    const std::string_view suffix(end);
    for (const auto& known : kSuffixes) {
        if (suffix != known.text) continue;
        const double milli = std::ceil(number * known.factor * 1000 - 1e-9);
        return milli > 9e18 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(milli);
    }
    return 0;
}

Amounts amounts_of(const base::JsonObject& quantities) {
    Amounts out;
    for (const auto& member : quantities) out[std::string(member.key())] = amount_of(member.value());
    return out;
}

namespace {

bool is_sidecar(const base::JsonValue& init_container) {
    return base::get_string(init_container, "restartPolicy") == "Always";
}

}  // namespace

// As kube-scheduler counts: an init container runs beside the sidecars that were started before it; all
// containers run beside all sidecars.
Amounts pod_requests(const base::JsonObject& pod) {
    Amounts sum, sidecars, most;
    for (const auto& container : base::get_array(pod, "spec.containers")) {
        for (const auto& [name, amount] : amounts_of(base::get_object(container, "resources.requests")))
            sum[name] += amount;
    }
    for (const auto& container : base::get_array(pod, "spec.initContainers")) {
        const bool stays = is_sidecar(container);
        for (const auto& [name, amount] : amounts_of(base::get_object(container, "resources.requests"))) {
            if (stays) sum[name] += amount, sidecars[name] += amount;
            most[name] = std::max(most[name], sidecars[name] + (stays ? 0 : amount));
        }
    }
    for (const auto& [name, amount] : most) sum[name] = std::max(sum[name], amount);
    for (const auto& [name, amount] : amounts_of(base::get_object(pod, "spec.overhead"))) sum[name] += amount;
    sum["pods"] = 1000;
    return sum;
}

}  // namespace instantstart::twin::kube::controllers
