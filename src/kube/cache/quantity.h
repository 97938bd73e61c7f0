// Whole numbers of things (accelerators, pods, interfaces) as Kubernetes writes quantities.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace instantstart::kube {

// More of one thing than any node has; what claims more counts as this.
inline constexpr std::int64_t kMostUnits = 1'000'000;

// "8" is 8, "2k" is 2000; 0 for what is no whole number.
inline std::int64_t whole_quantity(std::string_view text) {
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [at, code] = std::from_chars(text.data(), end, value);
    if (code != std::errc() || value < 0) return 0;
    value = std::min(value, kMostUnits);
    if (at != end && *at == 'k' && at + 1 == end) value *= 1000;
    return std::min(value, kMostUnits);
}

}  // namespace instantstart::kube
