// IPv4 ranges and the address plan of a cluster's VPC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace instantstart::domain {

struct Cidr {
    Cidr() = default;
    Cidr(std::uint32_t base, int prefix) : base(base), prefix(prefix) {}
    std::uint32_t base = 0;
    int prefix = 0;

    std::string text() const;
    std::uint64_t size() const { return 1ULL << static_cast<unsigned>(32 - prefix); }
    bool overlaps(const Cidr& other) const;
    bool contains(const Cidr& other) const;
    // The `index`-th subnet of that prefix inside this range.
    Cidr subnet(int subnet_prefix, std::uint32_t index) const;
    std::uint32_t count_of(int subnet_prefix) const;
    bool operator==(const Cidr&) const = default;
};

// Empty where the text is no range, or has bits beyond its prefix.
std::optional<Cidr> parse_cidr(std::string_view text);

// The first 10.N.0.0/16 that overlaps none of `taken`.
std::optional<Cidr> free_vpc_range(const std::vector<Cidr>& taken);
// The first /20 from the bottom of `ranges` that overlaps none of `taken`; the last /20 of the first range is
// left to the /24s of gateways and control plane.
std::optional<Cidr> free_compute_range(const std::vector<Cidr>& ranges, const std::vector<Cidr>& taken);
// The first /16 of 100.64.0.0/10 that overlaps none of `taken`: a secondary range for a VPC that is full. AWS
// lets any VPC have one there, and companies route nothing else over it.
std::optional<Cidr> free_secondary_range(const std::vector<Cidr>& taken);
// The last /20 as /24s: `index` 0 and 1 public, 2 and 3 control plane.
Cidr service_subnet(const Cidr& vpc, std::uint32_t index);

}  // namespace instantstart::domain
