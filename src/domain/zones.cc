#include "domain/zones.h"

#include <algorithm>
#include <array>

namespace instantstart::domain {

std::vector<Zone> zones_from(const base::JsonArray& availability_zones) {
    // EKS refuses control-plane subnets in these zones.
    static constexpr std::array<std::string_view, 3> kNoControlPlane = {"use1-az3", "usw1-az2", "cac1-az3"};
    std::vector<Zone> zones;
    for (const auto& row : availability_zones) {
        Zone zone;
        zone.name = base::get_string(row, "ZoneName");
        zone.id = base::get_string(row, "ZoneId");
        const auto opted = base::get_string(row, "OptInStatus", "opt-in-not-required");
        zone.usable = base::get_string(row, "ZoneType", "availability-zone") == "availability-zone" &&
                      opted != "not-opted-in" && base::get_string(row, "State", "available") == "available";
        zone.control_plane = zone.usable && std::find(kNoControlPlane.begin(), kNoControlPlane.end(),
                                                      zone.id) == kNoControlPlane.end();
        zones.push_back(std::move(zone));
    }
    std::sort(zones.begin(), zones.end(), [](const Zone& a, const Zone& b) { return a.name < b.name; });
    return zones;
}

const Zone* find_zone(const std::vector<Zone>& zones, std::string_view name) {
    const auto at =
        std::find_if(zones.begin(), zones.end(), [name](const Zone& zone) { return zone.name == name; });
    return at == zones.end() ? nullptr : &*at;
}

std::vector<std::string> names_of(const std::vector<Zone>& zones) {
    std::vector<std::string> names;
    for (const auto& zone : zones) {
        if (zone.usable) names.push_back(zone.name);
    }
    return names;
}

}  // namespace instantstart::domain
