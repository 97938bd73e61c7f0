// What needs the whole cluster to know when an object is made.
#include "twin/kube/bootstrap.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rt/virtual_clock.h"

namespace instantstart::twin::kube {
namespace {

using namespace std::chrono_literals;

TEST(ClusterDefaults, a_pod_gets_what_its_priority_class_or_the_global_default_says) {
    boost::asio::io_context io;
    rt::VirtualClock clock(io, 7, base::TimePoint(1'790'000'000s));
    ClusterState state(io.get_executor(), clock, ClusterConfig());
    const Kind classes("scheduling.k8s.io", "priorityclasses"), pods("", "pods");
    JsonObject pod{{"spec", JsonObject()}};
    fill_cluster_defaults(state, pods, pod);
    EXPECT_FALSE(base::get_object(pod, "spec").contains("priorityClassName"));
    const JsonObject polite{
        {"metadata", JsonObject{{"name", "polite"}}}, {"value", 900}, {"preemptionPolicy", "Never"}};
    const JsonObject low{{"metadata", JsonObject{{"name", "low"}}}, {"value", -10}, {"globalDefault", true}};
    ASSERT_TRUE(state.store.create(classes, polite));
    ASSERT_TRUE(state.store.create(classes, low));
    fill_cluster_defaults(state, pods, pod);
    EXPECT_EQ(base::get_string(pod, "spec.priorityClassName"), "low");
    EXPECT_EQ(base::get_int(pod, "spec.priority"), -10);
    pod["spec"] = JsonObject{{"priorityClassName", "polite"}};
    fill_cluster_defaults(state, pods, pod);
    EXPECT_EQ(base::get_int(pod, "spec.priority"), 900);
    EXPECT_EQ(base::get_string(pod, "spec.preemptionPolicy"), "Never");
}

}  // namespace
}  // namespace instantstart::twin::kube
