#include "domain/lustre.h"

#include <gtest/gtest.h>

namespace instantstart::domain {
namespace {

using base::JsonArray;
using base::JsonObject;

JsonObject permission(const char* protocol, std::int64_t from, std::int64_t to, const char* group,
                      const char* range) {
    JsonObject made{{"IpProtocol", protocol}};
    if (from != 0) made["FromPort"] = from;
    if (to != 0) made["ToPort"] = to;
    if (group[0] != 0) made["UserIdGroupPairs"] = JsonArray{JsonObject{{"GroupId", group}}};
    if (range[0] != 0) made["IpRanges"] = JsonArray{JsonObject{{"CidrIp", range}}};
    return made;
}

JsonObject group(const char* id, JsonArray permissions) {
    return {{"GroupId", id}, {"IpPermissions", std::move(permissions)}};
}

LustreSide side(std::vector<std::string> groups, std::string cidr) {
    LustreSide made;
    made.groups = std::move(groups);
    made.cidr = std::move(cidr);
    return made;
}

const LustreSide kFiles = side({"sg-f"}, "10.0.32.0/20");
const LustreSide kNodes = side({"sg-n"}, "10.0.0.0/20");

std::size_t missing(JsonArray of_files, JsonArray of_nodes) {
    const JsonArray all{group("sg-f", std::move(of_files)), group("sg-n", std::move(of_nodes))};
    return missing_lustre_rules(all, kFiles, kNodes).size();
}

TEST(Lustre, one_group_with_a_rule_for_itself_is_enough) {
    const JsonArray all{group("sg-n", {permission("-1", 0, 0, "sg-n", "")})};
    EXPECT_TRUE(missing_lustre_rules(all, side({"sg-n"}, ""), side({"sg-n"}, "")).empty());
    EXPECT_EQ(missing_lustre_rules({group("sg-n", {})}, side({"sg-n"}, ""), side({"sg-n"}, "")).size(), 4U);
}

TEST(Lustre, both_ranges_are_wanted_in_both_directions) {
    const auto both = [](const char* peer) {
        return JsonArray{permission("tcp", 988, 988, peer, ""), permission("tcp", 1018, 1023, peer, "")};
    };
    EXPECT_EQ(missing(both("sg-n"), both("sg-f")), 0U);
    EXPECT_EQ(missing(both("sg-n"), {}), 2U);
    EXPECT_EQ(missing({}, both("sg-f")), 2U);
    EXPECT_EQ(missing({}, {}), 4U);
    EXPECT_EQ(missing({permission("tcp", 988, 1023, "sg-n", "")}, both("sg-f")), 0U);
    EXPECT_EQ(missing({permission("tcp", 988, 1022, "sg-n", "")}, both("sg-f")), 1U);
    EXPECT_EQ(missing({permission("udp", 988, 1023, "sg-n", "")}, both("sg-f")), 2U);
    EXPECT_EQ(missing({permission("tcp", 988, 1023, "sg-x", "")}, both("sg-f")), 2U);
    EXPECT_EQ(missing(lustre_permissions("sg-n"), lustre_permissions("sg-f")), 0U);
}

TEST(Lustre, a_range_counts_where_it_holds_the_whole_subnet) {
    const JsonArray open{permission("-1", 0, 0, "", "10.0.0.0/8")};
    EXPECT_EQ(missing(open, open), 0U);
    EXPECT_EQ(missing({permission("-1", 0, 0, "", "10.0.0.0/21")}, open), 2U);
    // Ports may be opened by several rules together.
    EXPECT_EQ(
        missing({permission("tcp", 988, 1020, "sg-n", ""), permission("tcp", 1021, 2000, "", "10.0.0.0/20")},
                open),
        0U);
}

TEST(Lustre, says_which_group_lacks_what_from_whom) {
    const JsonArray all{group("sg-f", {}), group("sg-n", {permission("-1", 0, 0, "sg-f", "")})};
    const auto rules = missing_lustre_rules(all, kFiles, kNodes);
    ASSERT_EQ(rules.size(), 2U);
    EXPECT_EQ(rules[0].group, "sg-f");
    EXPECT_EQ(rules[0].peer, "sg-n");
    EXPECT_EQ(rules[0].from, 988);
    EXPECT_EQ(rules[1].from, 1018);
    EXPECT_EQ(rules[1].to, 1023);
}

}  // namespace
}  // namespace instantstart::domain
