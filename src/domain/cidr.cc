#include "domain/cidr.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace instantstart::domain {

namespace {

std::uint32_t mask(int prefix) {
    return prefix == 0 ? 0U : ~0U << static_cast<unsigned>(32 - prefix);
}

std::optional<std::uint32_t> number(std::string_view text, std::uint32_t limit) {
    std::uint32_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = fault == std::errc() && end == text.data() + text.size() && !text.empty();
    if (!whole || value > limit || (text.size() > 1 && text[0] == '0')) return std::nullopt;
    return value;
}

}  // namespace

std::string Cidr::text() const {
    std::string text;
    for (unsigned shift = 24;; shift -= 8) {
        text += std::to_string((base >> shift) & 0xFFU);
        if (shift == 0) break;
        text += '.';
    }
    return text + "/" + std::to_string(prefix);
}

bool Cidr::overlaps(const Cidr& other) const {
    const auto wider = mask(std::min(prefix, other.prefix));
    return (base & wider) == (other.base & wider);
}

bool Cidr::contains(const Cidr& other) const {
    return prefix <= other.prefix && overlaps(other);
}

Cidr Cidr::subnet(int subnet_prefix, std::uint32_t index) const {
    return {base + (index << static_cast<unsigned>(32 - subnet_prefix)), subnet_prefix};
}

std::uint32_t Cidr::count_of(int subnet_prefix) const {
    return subnet_prefix < prefix ? 0U : 1U << static_cast<unsigned>(subnet_prefix - prefix);
}

std::optional<Cidr> parse_cidr(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto prefix = number(text.substr(slash + 1), 32);
    const auto octets = base::split(text.substr(0, slash), '.');
    if (!prefix || octets.size() != 4) return std::nullopt;
    std::uint32_t base = 0;
    for (const auto& octet : octets) {
        const auto value = number(octet, 255);
        if (!value) return std::nullopt;
        base = (base << 8U) | *value;
    }
    const Cidr range(base, static_cast<int>(*prefix));
    if ((base & ~mask(range.prefix)) != 0) return std::nullopt;
    return range;
}

namespace {

bool is_free(const Cidr& range, const std::vector<Cidr>& taken) {
    return std::none_of(taken.begin(), taken.end(),
                        [&range](const Cidr& other) { return other.overlaps(range); });
}

std::optional<Cidr> first_free_16(const Cidr& whole, const std::vector<Cidr>& taken) {
    for (std::uint32_t index = 0; index < whole.count_of(16); ++index) {
        const auto range = whole.subnet(16, index);
        if (is_free(range, taken)) return range;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Cidr> free_vpc_range(const std::vector<Cidr>& taken) {
    return first_free_16(Cidr(10U << 24U, 8), taken);
}

std::optional<Cidr> free_secondary_range(const std::vector<Cidr>& taken) {
    return first_free_16(Cidr((100U << 24U) | (64U << 16U), 10), taken);
}

std::optional<Cidr> free_compute_range(const std::vector<Cidr>& ranges, const std::vector<Cidr>& taken) {
    for (std::size_t which = 0; which < ranges.size(); ++which) {
        const auto count = ranges[which].count_of(20);
        const auto usable = which == 0 && count > 0 ? count - 1 : count;
        for (std::uint32_t index = 0; index < usable; ++index) {
            const auto range = ranges[which].subnet(20, index);
            if (is_free(range, taken)) return range;
        }
    }
    return std::nullopt;
}

Cidr service_subnet(const Cidr& vpc, std::uint32_t index) {
    return vpc.subnet(20, vpc.count_of(20) - 1).subnet(24, index);
}

}  // namespace instantstart::domain
