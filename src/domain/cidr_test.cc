#include "domain/cidr.h"

#include <gtest/gtest.h>

#include "domain/zones.h"

namespace instantstart::domain {
namespace {

TEST(cidr, bad_ranges_are_refused) {
    for (const char* bad : {"", "10.0.0.0", "10.0.0.0/33", "10.0.0.1/16", "256.0.0.0/8", "10.0.0/8",
                            "010.0.0.0/8", "10.0.0.0/x"}) {
        EXPECT_FALSE(parse_cidr(bad)) << bad;
    }
    EXPECT_EQ(parse_cidr("10.3.0.0/16")->text(), "10.3.0.0/16");
}

TEST(cidr, the_first_free_range_is_taken) {
    EXPECT_EQ(free_vpc_range({})->text(), "10.0.0.0/16");
    EXPECT_EQ(free_vpc_range({*parse_cidr("10.0.0.0/15"), *parse_cidr("172.31.0.0/16")})->text(),
              "10.2.0.0/16");
    EXPECT_FALSE(free_vpc_range({*parse_cidr("10.0.0.0/8")}));
}

TEST(cidr, compute_ranges_grow_from_the_bottom_and_leave_the_last_one) {
    const std::vector<Cidr> vpc{*parse_cidr("10.0.0.0/18")};
    EXPECT_EQ(free_compute_range(vpc, {})->text(), "10.0.0.0/20");
    EXPECT_EQ(free_compute_range(vpc, {vpc[0].subnet(20, 0)})->text(), "10.0.16.0/20");
    EXPECT_FALSE(free_compute_range(vpc, {vpc[0].subnet(20, 0), vpc[0].subnet(20, 1), vpc[0].subnet(20, 2)}));
    EXPECT_EQ(service_subnet(vpc[0], 0).text(), "10.0.48.0/24");
    EXPECT_EQ(service_subnet(vpc[0], 3).text(), "10.0.51.0/24");
}

TEST(zones, local_zones_and_refused_ones_hold_no_control_plane) {
    const base::JsonArray rows{
        base::JsonObject{
            {"ZoneName", "us-east-1b"}, {"ZoneId", "use1-az3"}, {"ZoneType", "availability-zone"}},
        base::JsonObject{
            {"ZoneName", "us-east-1-bos-1a"}, {"ZoneId", "use1-bos1-az1"}, {"ZoneType", "local-zone"}},
        base::JsonObject{
            {"ZoneName", "us-east-1a"}, {"ZoneId", "use1-az1"}, {"ZoneType", "availability-zone"}}};
    const auto zones = zones_from(rows);
    EXPECT_TRUE(find_zone(zones, "us-east-1a")->control_plane);
    EXPECT_TRUE(find_zone(zones, "us-east-1b")->usable);
    EXPECT_FALSE(find_zone(zones, "us-east-1b")->control_plane);
    EXPECT_FALSE(find_zone(zones, "us-east-1-bos-1a")->usable);
    EXPECT_EQ(find_zone(zones, "eu-west-1a"), nullptr);
}

TEST(cidr, a_full_vpc_gets_a_range_of_the_shared_address_space) {
    EXPECT_EQ(free_secondary_range({})->text(), "100.64.0.0/16");
    EXPECT_EQ(free_secondary_range({*parse_cidr("100.64.0.0/15")})->text(), "100.66.0.0/16");
    EXPECT_FALSE(free_secondary_range({*parse_cidr("100.64.0.0/10")}).has_value());
}

}  // namespace
}  // namespace instantstart::domain
