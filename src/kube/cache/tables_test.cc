// The tables against a plain model: whatever comes in whatever order, the indexes say what a full scan says.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "kube/cache/events.h"
#include "kube/cache/nodes.h"
#include "kube/cache/pods.h"
#include "kube/impl/feed.h"

namespace instantstart::kube {
namespace {

using Random = std::mt19937_64;

std::string event(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

struct ModelPod {
    std::string node, job, app, phase;
    int accelerators = 0;
};

std::string text_of(const std::string& name, const ModelPod& pod) {
    std::string text = R"({"kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"ns","labels":{)";
    if (!pod.app.empty()) text += R"("app":")" + pod.app + R"(",)";
    text +=
        R"("other":"x"},"ownerReferences":[{"kind":"Node","name":"no"}, {"kind":"Job","name":")" + pod.job +
        R"(","controller":true}]},"spec":{"containers":[{"resources":{"limits":{"cpu":"4","nvidia.com/gpu":")" +
        std::to_string(pod.accelerators) + R"("}}},{"name":"side"}])";
    if (!pod.node.empty()) text += R"(,"nodeName":")" + pod.node + "\"";
    return text + R"(},"status":{"phase":")" + pod.phase + R"("}})";
}

class PodTableTest : public ::testing::Test {
protected:
    using Names = std::set<std::string>;
    using Model = std::map<std::string, ModelPod>;

    ModelPod some_pod() {
        ModelPod pod;
        pod.node = pick({"", "n1", "n2", "n3"});
        pod.job = pick({"j1", "j2"});
        pod.app = pick({"", "a1", "a2"});
        pod.phase = pick({"Pending", "Running", "Succeeded", "Failed"});
        pod.accelerators = static_cast<int>(random_() % 9);
        return pod;
    }
    std::string pick(std::vector<std::string> from) { return from[random_() % from.size()]; }
    void take(const std::string& bytes) { ASSERT_TRUE(feed_.write(bytes).has_value()); }

    static Names names(const std::function<void(const PodTable::Visit&)>& among) {
        Names found;
        among([&](const Pod& pod) { found.insert(pod.name); });
        return found;
    }
    Names expected(const std::function<bool(const ModelPod&)>& matches) const {
        Names found;
        for (const auto& [name, pod] : model_) {
            if (matches(pod)) found.insert(name);
        }
        return found;
    }
    void check() {
        ASSERT_EQ(table_.size(), model_.size());
        for (const std::string node : {"n1", "n2", "n3"}) {
            EXPECT_EQ(names([&](const auto& visit) { table_.on_node(node, visit); }),
                      expected([&](const ModelPod& pod) { return pod.node == node; }));
            NodeUse use;
            for (const auto& [name, pod] : model_) {
                if (pod.node != node || pod.phase == "Succeeded" || pod.phase == "Failed") continue;
                use.accelerators += pod.accelerators;
                ++use.pods;
            }
            const auto kept = table_.use_of(symbols_.find(node));
            EXPECT_EQ(kept.accelerators, symbols_.find(node) == 0 ? 0 : use.accelerators);
            EXPECT_EQ(kept.pods, symbols_.find(node) == 0 ? 0 : use.pods);
        }
        for (const std::string job : {"j1", "j2"}) {
            EXPECT_EQ(names([&](const auto& visit) { table_.of_job("ns", "Job/" + job, visit); }),
                      expected([&](const ModelPod& pod) { return pod.job == job; }));
        }
        for (const std::string app : {"a1", "a2"}) {
            EXPECT_EQ(names([&](const auto& visit) { table_.with_label("app", app, visit); }),
                      expected([&](const ModelPod& pod) { return pod.app == app; }));
        }
        EXPECT_EQ(names([&](const auto& visit) { table_.in_namespace("ns", visit); }).size(), model_.size());
    }

    Random random_{7};
    Symbols symbols_;
    PodTable table_{symbols_, {"app"}};
    impl::WatchFeed feed_{table_, {}};
    Model model_;
};

TEST_F(PodTableTest, indexes_agree_with_a_scan_after_any_changes) {
    for (int round = 0; round < 3000; ++round) {
        const auto name = "p" + std::to_string(random_() % 60);
        if (random_() % 3 == 0) {
            take(event("DELETED", text_of(name, some_pod())));
            model_.erase(name);
        } else {
            model_[name] = some_pod();
            take(event("MODIFIED", text_of(name, model_[name])));
        }
        if (round % 50 == 0) check();
    }
    check();
}

TEST_F(PodTableTest, nothing_is_held_once_all_pods_are_gone) {
    for (int i = 0; i < 200; ++i) {
        const auto name = "p" + std::to_string(i);
        take(event("ADDED", text_of(name, some_pod())));
        take(event("MODIFIED", text_of(name, some_pod())));
        take(event("DELETED", text_of(name, some_pod())));
    }
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_EQ(symbols_.size(), 0U);
    take(event("ADDED", text_of("x", some_pod())));
    table_.clear();
    EXPECT_EQ(symbols_.size(), 0U);
}

TEST_F(PodTableTest, unchanged_object_is_no_change) {
    const auto pod = some_pod();
    take(event("ADDED", text_of("p", pod)));
    const auto revision = table_.revision();
    take(event("MODIFIED", text_of("p", pod)));
    EXPECT_EQ(table_.revision(), revision);
}

TEST_F(PodTableTest, pages_are_stable_while_pods_come_and_go) {
    for (int i = 100; i < 200; ++i) take(event("ADDED", text_of("p" + std::to_string(i), some_pod())));
    const auto all = [this](const PodTable::Visit& visit) { table_.each(visit); };
    std::vector<std::string> seen;
    std::string after;
    while (true) {
        const auto page = table_.page(all, "ns", after, 7);
        if (page.empty()) break;
        for (const auto* pod : page) seen.push_back(pod->name);
        after = seen.back();
        take(event("DELETED", text_of(after, some_pod())));      // the cursor's own pod goes
        take(event("ADDED", text_of("a" + after, some_pod())));  // one that sorts before it comes
    }
    ASSERT_EQ(seen.size(), 100U);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_TRUE(table_.page(all, "ns", "", 0).empty());
}

TEST(NodeTableTest, heartbeats_change_nothing_and_the_rest_does) {
    Symbols symbols;
    NodeTable table(symbols);
    impl::WatchFeed feed(table, {});
    const auto node = [](const std::string& beat, const std::string& ready) {
        return event("MODIFIED", R"({"metadata":{"name":"n1","resourceVersion":"5","labels":{
            "node.kubernetes.io/instance-type":"ml.p5.48xlarge","sagemaker.amazonaws.com/instance-group-name":"g",
            "sagemaker.amazonaws.com/node-health-status":"Schedulable","topology.kubernetes.io/zone":"z"}},
            "spec":{"unschedulable":true},"status":{"allocatable":{"nvidia.com/gpu":"8","pods":"110","cpu":"190"},
            "conditions":[{"type":"DiskPressure","status":"False"},{"status":")" +
                                     ready + R"(","lastHeartbeatTime":")" + beat +
                                     R"(","type":"Ready"}],"nodeInfo":{"kubeletVersion":"v1.33.1"}}})");
    };
    ASSERT_TRUE(feed.write(node("1", "True")).has_value());
    const auto* kept = table.find("n1");
    ASSERT_NE(kept, nullptr);
    EXPECT_EQ(symbols.text(kept->instance_type), "ml.p5.48xlarge");
    EXPECT_EQ(symbols.text(kept->version), "v1.33.1");
    EXPECT_EQ(kept->gpus, 8);
    EXPECT_EQ(kept->pods, 110);
    EXPECT_TRUE(kept->ready);
    EXPECT_TRUE(kept->cordoned);
    const auto revision = table.revision();
    ASSERT_TRUE(feed.write(node("2", "True")).has_value());
    EXPECT_EQ(table.revision(), revision);
    ASSERT_TRUE(feed.write(node("3", "Unknown")).has_value());
    EXPECT_GT(table.revision(), revision);
    EXPECT_FALSE(table.find("n1")->ready);
    table.start_list();
    EXPECT_TRUE(table.finish_list());
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(symbols.size(), 0U);
}

TEST(NodeTableTest, tallies_agree_with_a_count_after_any_changes) {
    Symbols symbols;
    NodeTable table(symbols);
    impl::WatchFeed feed(table, {});
    std::mt19937 random(7);
    const auto check = [&] {
        NodeTable::Tallies counted;
        for (const auto& [name, node] : table.nodes()) {
            auto& tally = counted[node.instance_type];
            ++tally.nodes;
            if (!node.ready) continue;
            ++tally.ready;
            tally.gpus += node.gpus;
            tally.neuron_devices += node.neuron_devices;
        }
        ASSERT_EQ(table.tallies().size(), counted.size());
        for (const auto& [type, tally] : counted) {
            const auto& kept = table.tallies().at(type);
            EXPECT_EQ(kept.nodes, tally.nodes);
            EXPECT_EQ(kept.ready, tally.ready);
            EXPECT_EQ(kept.gpus, tally.gpus);
            EXPECT_EQ(kept.neuron_devices, tally.neuron_devices);
        }
    };
    for (int round = 0; round < 2000; ++round) {
        const auto pick = [&random](unsigned count) { return std::to_string(random() % count); };
        const std::string type = random() % 4 == 0 ? "DELETED" : "MODIFIED";
        const std::string ready = random() % 2 == 0 ? "True" : "False";
        const auto members = table.membership(), size = std::uint64_t{table.size()};
        ASSERT_TRUE(
            feed.write(event(type, R"({"metadata":{"name":"n)" + pick(40) +
                                       R"(","labels":{"node.kubernetes.io/instance-type":"t)" + pick(3) +
                                       R"("}},"status":{"allocatable":{"nvidia.com/gpu":")" + pick(9) +
                                       R"(","aws.amazon.com/neurondevice":")" + pick(3) +
                                       R"("},"conditions":[{"type":"Ready","status":")" + ready + R"("}]}})"))
                .has_value());
        EXPECT_EQ(table.membership() != members, table.size() != size);
        if (round % 40 == 0) check();
    }
    table.start_list();
    table.finish_list();
    check();
    EXPECT_EQ(symbols.size(), 0U);
}

TEST(NodeTableTest, what_hyperpod_says_of_a_node_is_kept) {
    Symbols symbols;
    NodeTable table(symbols);
    impl::WatchFeed feed(table, {});
    const std::string labels = R"("sagemaker.amazonaws.com/deep-health-check-status":"Failed",)"
                               R"("sagemaker.amazonaws.com/fault-types":"NvidiaErrorXid",)"
                               R"("sagemaker.amazonaws.com/fault-reasons":"Xid79")";
    ASSERT_TRUE(
        feed.write(event("ADDED", R"({"metadata":{"name":"n","labels":{)" + labels + "}}}")).has_value());
    const auto* node = table.find("n");
    ASSERT_NE(node, nullptr);
    EXPECT_EQ(symbols.text(node->deep_check), "Failed");
    EXPECT_EQ(symbols.text(node->fault_types), "NvidiaErrorXid");
    EXPECT_EQ(symbols.text(node->fault_reasons), "Xid79");
    ASSERT_TRUE(feed.write(event("DELETED", R"({"metadata":{"name":"n"}})")).has_value());
    EXPECT_EQ(symbols.size(), 0U);
}

TEST(EventTableTest, keeps_the_newest_and_each_text_once) {
    Symbols symbols;
    EventTable table(symbols, 100);
    impl::WatchFeed feed(table, {});
    for (int i = 1000; i < 1500; ++i) {
        const auto number = std::to_string(i);
        ASSERT_TRUE(feed.write(event("ADDED", R"({"metadata":{"namespace":"ns","name":"e)" + number +
                                                  R"("},"type":"Warning","reason":"FailedScheduling",
            "message":"0/8 nodes are available","involvedObject":{"kind":"Pod","name":"p"},"lastTimestamp":"2026-01-01T00:)" +
                                                  number.substr(0, 2) + ":" + number.substr(2) + R"(Z"})"))
                        .has_value());
    }
    EXPECT_EQ(table.size(), 100U);
    EXPECT_EQ(symbols.size(), 4U);
    const auto newest = table.newest(2);
    ASSERT_EQ(newest.size(), 2U);
    EXPECT_EQ(newest[0].key, "ns/e1499");
    EXPECT_EQ(newest[1].key, "ns/e1498");
    EXPECT_TRUE(newest[0].event->warning);
    // An event that happens again moves up.
    ASSERT_TRUE(feed.write(event("MODIFIED", R"({"metadata":{"namespace":"ns","name":"e1450"},
        "lastTimestamp":"2026-01-01T01:00:00Z"})"))
                    .has_value());
    EXPECT_EQ(table.newest(1).front().key, "ns/e1450");
    EXPECT_EQ(table.size(), 100U);
}

}  // namespace
}  // namespace instantstart::kube
