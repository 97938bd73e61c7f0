#include "api/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <sstream>

#include "rt/virtual_clock.h"

namespace instantstart::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct World {
    boost::asio::io_context io;
    rt::VirtualClock clock{io, 7, *base::parse_time("2026-11-30T12:00:00Z")};
    Metrics metrics{clock};
};

aws::CallReport call_of(const char* operation, double seconds, int attempts, int throttles) {
    aws::CallReport report;
    report.service = "ec2";
    report.operation = operation;
    report.seconds = seconds;
    report.attempts = attempts;
    report.throttles = throttles;
    return report;
}

TEST(Metrics, calls_of_aws_are_series_by_service_and_operation) {
    World world;
    world.metrics.count_aws_call(call_of("DescribeVpcs", 0.03, 1, 0));
    world.metrics.count_aws_call(call_of("DescribeVpcs", 0.3, 3, 2));
    auto refused = call_of("DescribeVpcs", 70, 5, 5);
    refused.code = "Throttling";
    refused.kind = base::ErrorKind::throttled;
    world.metrics.count_aws_call(refused);
    const std::string text = world.metrics.text();
    const std::string call = "service=\"ec2\",operation=\"DescribeVpcs\"";
    for (const std::string& line : {
             std::string("# TYPE instantstart_aws_calls_total counter\n"),
             "instantstart_aws_calls_total{" + call + ",outcome=\"ok\"} 2\n",
             "instantstart_aws_calls_total{" + call + ",outcome=\"throttled\"} 1\n",
             "instantstart_aws_attempts_total{" + call + "} 9\n",
             "instantstart_aws_throttles_total{" + call + "} 7\n",
             std::string("# TYPE instantstart_aws_call_duration_seconds histogram\n"),
             "instantstart_aws_call_duration_seconds_bucket{" + call + ",le=\"0.025\"} 0\n",
             "instantstart_aws_call_duration_seconds_bucket{" + call + ",le=\"0.05\"} 1\n",
             "instantstart_aws_call_duration_seconds_bucket{" + call + ",le=\"0.5\"} 2\n",
             "instantstart_aws_call_duration_seconds_bucket{" + call + ",le=\"60\"} 2\n",
             "instantstart_aws_call_duration_seconds_bucket{" + call + ",le=\"+Inf\"} 3\n",
             "instantstart_aws_call_duration_seconds_sum{" + call + "} 70.33\n",
             "instantstart_aws_call_duration_seconds_count{" + call + "} 3\n",
         }) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

TEST(Metrics, spared_calls_are_told_apart_by_how) {
    World world;
    world.metrics.count_spared("eks", "DescribeCluster", aws::Spared::joined);
    world.metrics.count_spared("eks", "DescribeCluster", aws::Spared::kept);
    world.metrics.count_spared("eks", "DescribeCluster", aws::Spared::kept);
    const std::string text = world.metrics.text();
    const std::string name =
        "instantstart_aws_spared_calls_total{service=\"eks\",operation=\"DescribeCluster\"";
    EXPECT_THAT(text, HasSubstr(name + ",how=\"joined\"} 1\n"));
    EXPECT_THAT(text, HasSubstr(name + ",how=\"kept\"} 2\n"));
}

// What AWS calls an error comes from outside; the kinds are ours.
TEST(Metrics, codes_of_errors_make_no_series) {
    World world;
    for (int i = 0; i < 100; ++i) {
        auto refused = call_of("DescribeVpcs", 0.1, 1, 0);
        refused.code = "Code" + std::to_string(i);
        refused.kind = base::ErrorKind::invalid;
        world.metrics.count_aws_call(refused);
    }
    EXPECT_THAT(world.metrics.text(), HasSubstr("outcome=\"invalid\"} 100\n"));
    EXPECT_THAT(world.metrics.text(), Not(HasSubstr("Code1")));
}

TEST(Metrics, every_name_has_its_help_before_its_type) {
    World world;
    world.metrics.count_request("rest", 200, 0.1);
    world.metrics.count_event("started");
    world.metrics.count_aws_call(call_of("DescribeVpcs", 0.1, 1, 0));
    std::istringstream lines(world.metrics.text());
    std::string line, before;
    int types = 0;
    for (; std::getline(lines, line); before = line) {
        if (!line.starts_with("# TYPE ")) continue;
        ++types;
        const std::string name = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(before.starts_with("# HELP " + name + " ")) << line;
    }
    EXPECT_GE(types, 8);
}

TEST(Metrics, series_of_one_name_are_bounded) {
    World world;
    for (int i = 0; i < 5000; ++i)
        world.metrics.count_aws_call(call_of(("Op" + std::to_string(i)).c_str(), 0.1, 1, 0));
    const std::string text = world.metrics.text();
    EXPECT_THAT(text, HasSubstr("operation=\"Op1999\""));
    EXPECT_THAT(text, Not(HasSubstr("operation=\"Op2000\"")));
    world.metrics.count_aws_call(call_of("Op7", 0.1, 1, 0));
    EXPECT_THAT(
        world.metrics.text(),
        HasSubstr("instantstart_aws_calls_total{service=\"ec2\",operation=\"Op7\",outcome=\"ok\"} 2\n"));
}

TEST(Metrics, caches_of_clusters_tell_how_far_they_are) {
    World world;
    EXPECT_THAT(world.metrics.text(), Not(HasSubstr("kube_cache")));
    world.metrics.set_caches([] {
        kube::CacheFigures pods;
        pods.cluster = "demo";
        pods.kind = "pods";
        pods.objects = 3;
        pods.changes = 12;
        pods.lists = 1;
        pods.resource_version = "4711";
        pods.fresh = true;
        kube::CacheFigures nodes;
        nodes.cluster = "demo";
        nodes.kind = "nodes";
        nodes.resource_version = "no-number";
        return std::vector<kube::CacheFigures>{pods, nodes};
    });
    const std::string text = world.metrics.text();
    const std::string pods = "{cluster=\"demo\",kind=\"pods\"}", nodes = "{cluster=\"demo\",kind=\"nodes\"}";
    for (const std::string& line : {
             "# TYPE instantstart_kube_cache_objects gauge\ninstantstart_kube_cache_objects" + pods + " 3\n",
             "instantstart_kube_cache_fresh" + pods + " 1\n",
             "instantstart_kube_cache_fresh" + nodes + " 0\n",
             "instantstart_kube_cache_resource_version" + pods + " 4711\n",
             "instantstart_kube_cache_changes_total" + pods + " 12\n",
             "instantstart_kube_cache_lists_total" + pods + " 1\n",
         }) {
        EXPECT_THAT(text, HasSubstr(line));
    }
    EXPECT_THAT(text, Not(HasSubstr("no-number")));
}

}  // namespace
}  // namespace instantstart::api
