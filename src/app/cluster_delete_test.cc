// Plans of cluster.delete: what they name beside the cluster, and a region without Prometheus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/domain_makers.h"
#include "app/small_account.h"
#include "flows/features/desired.h"

namespace instantstart::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kList = "amp:ListWorkspaces";

class ClusterDeletion : public testing::SmallAccountPlans {
protected:
    base::Result<Plan> plan_of_demo() { return plan(*make_cluster_delete(), {{"cluster", "demo"}}); }
};

TEST_F(ClusterDeletion, names_workspaces_with_its_own_tags_alone) {
    account_.lists[kList] = testing::json(R"([
        {"workspaceId": "ws-1", "arn": "arn:ws-1", "status": {"statusCode": "ACTIVE"},
         "tags": {"instantstart:cluster": "demo", "instantstart:region": "us-west-2"}},
        {"workspaceId": "ws-2", "arn": "arn:ws-2", "alias": "instantstart-demo",
         "status": {"statusCode": "ACTIVE"}, "tags": {"instantstart:cluster": "demo2"}}])")
                                .as_array();
    const auto made = plan_of_demo();
    ASSERT_TRUE(made.has_value()) << made.error().chain();
    EXPECT_THAT(made->removes, Contains(HasSubstr("Prometheus workspace ws-1")));
    EXPECT_THAT(made->removes, Not(Contains(HasSubstr("ws-2"))));
}

TEST_F(ClusterDeletion, tells_that_a_given_workspace_is_kept) {
    const std::string arn = "arn:aws:aps:us-west-2:111122223333:workspace/ws-3";
    const JsonObject wanted{{"observability", {{"enabled", true}, {"workspace_arn", arn}}}};
    ASSERT_TRUE(run(flows::remember_features(clusters_, Context(), "demo", wanted)).has_value());
    const auto made = plan_of_demo();
    ASSERT_TRUE(made.has_value()) << made.error().chain();
    EXPECT_THAT(made->warnings, Contains(HasSubstr(arn)));
    EXPECT_EQ(base::get_string(made->flow_params, "kept_workspace"), arn);
}

TEST_F(ClusterDeletion, goes_on_in_a_region_without_prometheus_and_says_so) {
    account_.refusals[kList] =
        base::Error(base::ErrorKind::unavailable, "dns", "the name aps-workspaces… cannot be resolved");
    const auto made = plan_of_demo();
    ASSERT_TRUE(made.has_value()) << made.error().chain();
    EXPECT_THAT(made->warnings, Contains(HasSubstr("Prometheus workspaces could not be looked up")));
    EXPECT_THAT(base::get_string(made->flow_params, "prometheus_unseen"), HasSubstr("cannot be resolved"));
}

TEST_F(ClusterDeletion, is_not_planned_while_workspaces_cannot_be_listed) {
    account_.refusals[kList] = base::Error(base::ErrorKind::denied, "AccessDeniedException", "not allowed");
    EXPECT_FALSE(plan_of_demo().has_value());
}

}  // namespace
}  // namespace instantstart::app
