#include "domain/exclusions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace instantstart::domain {
namespace {

Properties of(std::string_view first, std::string_view second) {
    return {{std::string(first), ""}, {std::string(second), ""}};
}

// Written down from AWS's guide and API model a second time: a row that is lost, or that nobody asked for,
// fails.
const std::set<std::pair<std::string_view, std::string_view>>& documented() {
    static const std::set<std::pair<std::string_view, std::string_view>> kPairs = {
        {"spot", "plan_arn"},
        {"on_demand", "plan_arn"},
        {"plan_type", "no_plan_arn"},
        {"plan_type", "flexible"},
        {"plan_type", "type_without_plan"},
        {"deep_checks", "custom_taints"},
        {"deep_checks", "type_without_checks"},
        {"interface_mode", "type_without_efa"},
        {"two_threads", "one_thread_type"},
        {"minimum", "smaller_count"},
        {"autoscaled", "plan_type"},
        {"autoscaled", "deep_checks"},
        {"autoscaled", "own_count"},
        {"autoscaled", "minimum"},
        {"autoscaled", "arm64_type"},
        {"classic", "spot"},
        {"classic", "minimum"},
        {"classic", "flexible"},
        {"classic", "autoscaled"},
        {"classic", "autoscaling"},
        {"autoscaling", "no_node_recovery"},
        {"autoscaling", "no_system_group"},
        {"unfit_wait", "spot"},
        {"elastic_training", "spot"},
        {"elastic_training", "tiered_checkpointing"},
        {"elastic_training", "checkpointless_training"},
        {"checkpointless_training", "tiered_checkpointing"}};
    return kPairs;
}

TEST(exclusions, the_table_is_what_is_documented) {
    std::set<std::pair<std::string_view, std::string_view>> rows;
    for (const auto& row : exclusions()) rows.emplace(row.first, row.second);
    EXPECT_THAT(rows, testing::ContainerEq(documented()));
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

TEST(exclusions, of_one_property_only_its_own_pairs_are_told) {
    const Properties both{{"deep_checks", ""}, {"custom_taints", ""}, {"autoscaled", ""}};
    const auto faults = excluded_by("autoscaled", both, "/g");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].pointer, "/g/autoscaled");
    EXPECT_THAT(faults[0].message, testing::HasSubstr("deep health checks"));
}

TEST(exclusions, a_property_may_bring_its_own_words) {
    const auto faults = excluded({{"interface_mode", ""}, {"type_without_efa", "ml.g5.xlarge"}}, "");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_THAT(faults[0].message, testing::HasSubstr("ml.g5.xlarge"));
}

}  // namespace
}  // namespace instantstart::domain
