#include "domain/exclusions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace instantstart::domain {
namespace {

Properties of(std::string_view first, std::string_view second) {
    return {{std::string(first), ""}, {std::string(second), ""}};
}

TEST(exclusions, every_pair_is_refused_with_both_names_and_the_remedy) {
    for (const auto& row : exclusions()) {
        const auto faults = excluded(of(row.first, row.second), "/g");
        ASSERT_EQ(faults.size(), 1U) << row.first << " and " << row.second;
        EXPECT_EQ(faults[0].pointer, "/g" + std::string(row.pointer));
        ASSERT_FALSE(property_words(row.first).empty()) << row.first;
        ASSERT_FALSE(property_words(row.second).empty()) << row.second;
        EXPECT_THAT(faults[0].message, testing::HasSubstr(std::string(property_words(row.first))));
        EXPECT_THAT(faults[0].message, testing::HasSubstr(std::string(property_words(row.second))));
        EXPECT_FALSE(row.remedy.empty());
        EXPECT_THAT(faults[0].message, testing::EndsWith("; " + std::string(row.remedy)));
    }
}

TEST(exclusions, one_property_alone_is_fine_and_a_pair_stands_once) {
    std::set<std::set<std::string_view>> seen;
    for (const auto& row : exclusions()) {
        EXPECT_TRUE(excluded({{std::string(row.first), ""}}, "").empty()) << row.first;
        EXPECT_TRUE(excluded({{std::string(row.second), ""}}, "").empty()) << row.second;
        EXPECT_TRUE(seen.insert({row.first, row.second}).second) << row.first << " and " << row.second;
    }
}

TEST(exclusions, all_pairs_are_told_at_once) {
    const Properties both{{"deep_checks", ""}, {"custom_taints", ""}, {"autoscaled", ""}, {"minimum", ""}};
    EXPECT_EQ(excluded(both, "").size(), 3U);
}

TEST(exclusions, a_property_may_bring_its_own_words) {
    const auto faults = excluded({{"interface_mode", ""}, {"type_without_efa", "ml.g5.xlarge"}}, "");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_THAT(faults[0].message, testing::HasSubstr("ml.g5.xlarge"));
}

}  // namespace
}  // namespace instantstart::domain
