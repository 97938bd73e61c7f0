// API servers that go and come back while the product works on and looks at their clusters.
#include <gtest/gtest.h>

#include "account.h"
#include "simulation.h"

namespace instantstart::sim {
namespace {

using namespace std::chrono_literals;
using base::JsonObject;

JsonObject body() {
    return base::parse_json(R"({"name": "phoenix", "storage": {"kind": "s3"},
        "instance_groups": [{"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2,
                             "zone": "us-west-2a"}],
        "features": {"kuberay": {"enabled": true}, "keda": {"enabled": true},
                     "load_balancer_controller": {"enabled": true}}})")
        ->as_object();
}

bool has_ended(Simulation& simulation, const std::string& id) {
    const auto answer = simulation.ask("GET", "/operations/" + id, {});
    const auto state = base::get_string(answer.body, "operation.state");
    return state == "succeeded" || state == "failed" || state == "cancelled";
}

// What a cluster holds, by kind and name; things whose names are made up are counted for each kind of owner.
// Two runs that made the same objects agree.
Census objects_of(Simulation& simulation) {
    Census found;
    for (const char* kind : {"namespaces",
                             "nodes",
                             "pods",
                             "services",
                             "configmaps",
                             "secrets",
                             "serviceaccounts",
                             "persistentvolumes",
                             "persistentvolumeclaims",
                             "deployments.apps",
                             "daemonsets.apps",
                             "statefulsets.apps",
                             "replicasets.apps",
                             "jobs.batch",
                             "roles.rbac.authorization.k8s.io",
                             "rolebindings.rbac.authorization.k8s.io",
                             "clusterroles.rbac.authorization.k8s.io",
                             "clusterrolebindings.rbac.authorization.k8s.io",
                             "storageclasses.storage.k8s.io",
                             "csidrivers.storage.k8s.io",
                             "customresourcedefinitions.apiextensions.k8s.io",
                             "mutatingwebhookconfigurations.admissionregistration.k8s.io",
                             "validatingwebhookconfigurations.admissionregistration.k8s.io"}) {
        for (const auto& object : simulation.objects("phoenix", kind)) {
            const auto owner = base::get_string(object, "metadata.ownerReferences.0.kind");
            const bool is_made_up = !owner.empty() || std::string_view(kind) == "nodes";
            const auto name = is_made_up ? "of " + owner : base::get_string(object, "metadata.name");
            ++found[std::string(kind) + " " + base::get_string(object, "metadata.namespace") + "/" + name];
        }
    }
    return found;
}

// After a launch and a minute of rest, without a restart.
const Census& calm_objects() {
    static const Census kObjects = [] {
        Simulation simulation(1, {}, {});
        const auto answer = simulation.ask("POST", "/clusters/launch", body());
        const auto operation = simulation.wait(base::get_string(answer.body, "operation.id"));
        EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
        simulation.pass(1min);
        return objects_of(simulation);
    }();
    return kObjects;
}

// Times come from the seed, so each run restarts the server at other moments of the launch.
class Restarts : public ::testing::TestWithParam<int> {};

TEST_P(Restarts, of_the_api_server_end_well_and_make_nothing_twice) {
    Simulation simulation(static_cast<std::uint64_t>(GetParam()), {}, {});
    const auto answer = simulation.ask("POST", "/clusters/launch", body());
    const auto id = base::get_string(answer.body, "operation.id");
    ASSERT_FALSE(id.empty()) << base::to_text(answer.body);
    int restarts = 0, seen_active = 0, in_writes = 0;
    while (!has_ended(simulation, id) && restarts < 2000) {
        // Where it is written to meanwhile, it dies with the answer on its way.
        simulation.kill_kubernetes_in_a_write();
        simulation.pass(3s + 1s * (restarts * GetParam() % 5));
        if (!simulation.has_kubernetes()) ++in_writes;
        simulation.set_kubernetes(false);
        simulation.pass(2s + 1s * (restarts % 9));
        // Looks at it while it is away must neither fail nor wait for long.
        const auto looked = simulation.ask("GET", "/clusters/phoenix", {});
        EXPECT_TRUE(looked.status == 200 || looked.status == 404) << base::to_text(looked.body);
        if (base::get_string(looked.body, "cluster.status") == "ACTIVE") ++seen_active;
        simulation.set_kubernetes(true);
        ++restarts;
    }
    const auto operation = simulation.wait(id);
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
    EXPECT_GE(seen_active, 10);  // restarts that the launch could notice
    EXPECT_GE(in_writes, 3);
    RecordProperty("restarts_in_writes", in_writes);
    EXPECT_EQ(made_twice(simulation.mutations()), std::vector<std::string>());
    simulation.pass(1min);
    const auto cluster = simulation.ask("GET", "/clusters/phoenix", {});
    EXPECT_EQ(base::get_int(cluster.body, "cluster.nodes.ready"), 2) << base::to_text(cluster.body);
    EXPECT_TRUE(base::get_array(cluster.body, "cluster.conditions").empty()) << base::to_text(cluster.body);
    EXPECT_GT(calm_objects().size(), 50U);
    EXPECT_EQ(objects_of(simulation), calm_objects());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Restarts, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace instantstart::sim
