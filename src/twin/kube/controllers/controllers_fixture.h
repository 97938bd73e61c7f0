// The controllers on virtual time over the real object store. For tests only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rt/testing.h"
#include "rt/virtual_clock.h"
#include "twin/kube/controllers/index.h"
#include "twin/kube/controllers/object.h"
#include "twin/kube/metadata.h"
#include "twin/kube/object_store.h"

namespace instantstart::twin::kube::controllers {

using namespace std::chrono_literals;  // NOLINT(google-global-names-in-headers)

inline const Kind kEventsKind("", "events");

inline JsonObject parse(std::string_view text) {
    auto value = base::parse_json(text);
    EXPECT_TRUE(value) << text;
    return value ? value->as_object() : JsonObject();
}

class ControllersTest : public testing::Test {
protected:
    ControllersTest() : clock(io, 7, base::TimePoint(1'790'000'000s)), store(clock) {
        controllers = make_controllers(io.get_executor(), clock, store, 1.0);
        create(kNamespaces, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
    }
    ~ControllersTest() override { EXPECT_TRUE(rt::testing::run(io, clock, stop())); }
    ControllersTest(const ControllersTest&) = delete;
    ControllersTest& operator=(const ControllersTest&) = delete;

    rt::Task<void> stop() {
        co_await controllers->stop();
        co_return base::ok();
    }
    ObjectPtr create(const Kind& kind, std::string_view text) {
        auto made = store.create(kind, parse(text));
        EXPECT_TRUE(made) << made.error().chain();
        return made ? *made : nullptr;
    }
    void node(const std::string& name, const std::string& type = "ml.g5.12xlarge", int pods = 10) {
        JsonObject made = parse(R"({"apiVersion":"v1","kind":"Node","metadata":{"labels":{}},"spec":{},
            "status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.1.0.9"}]}})");
        metadata_of(made)["name"] = name;
        object_at(metadata_of(made), "labels")["node.kubernetes.io/instance-type"] = type;
        for (const char* place : {"capacity", "allocatable"}) {
            object_at(object_at(made, "status"), place) = {
                {"cpu", "8"}, {"memory", "32Gi"}, {"pods", std::to_string(pods)}};
        }
        ASSERT_TRUE(store.create(kNodes, std::move(made)));
    }
    void run(base::Duration time) {
        clock.run_until([] { return false; }, time);
    }
    ObjectPtr get(const Kind& kind, const std::string& name, const std::string& ns = "default") {
        return store.get(kind, ns, name);
    }
    std::vector<ObjectPtr> pods() { return store.list(kPods, "default"); }
    std::size_t ready_pods() {
        const auto all = pods();
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [](const ObjectPtr& pod) { return is_ready(*pod); }));
    }
    void edit(const Kind& kind, const std::string& name, const std::string& ns,
              const std::function<void(JsonObject&)>& change) {
        JsonObject object = *store.get(kind, ns, name);
        change(object);
        auto written = store.update(kind, std::move(object));
        ASSERT_TRUE(written) << written.error().chain();
    }
    std::string event_message(const std::string& reason) {
        for (const auto& event : store.list(kEventsKind)) {
            if (base::get_string(*event, "reason") == reason) return base::get_string(*event, "message");
        }
        return {};
    }

    // A pod that runs until it is told otherwise; `spec` are further members of its specification.
    ObjectPtr pod(const std::string& name, const std::string& spec = "", const std::string& meta = "") {
        const std::string comma = spec.empty() ? "" : ",", more = meta.empty() ? "" : ",";
        const bool own = spec.find("\"containers\"") != std::string::npos;
        return create(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                                 R"(","namespace":"default")" + more + meta + R"(},"spec":{)" +
                                 (own ? std::string() : R"("containers":[{"name":"main","image":"app:1"}])") +
                                 (own ? "" : comma) + spec + "}}");
    }
    void label_node(const std::string& name, const std::string& key, const std::string& value) {
        edit(kNodes, name, "",
             [&](JsonObject& node) { object_at(metadata_of(node), "labels")[key] = value; });
    }
    void taint_node(const std::string& name, const std::string& key, const std::string& value,
                    const std::string& effect) {
        edit(kNodes, name, "", [&](JsonObject& node) {
            list_at(object_at(node, "spec"), "taints")
                .push_back(JsonObject{{"key", key}, {"value", value}, {"effect", effect}});
        });
    }
    // Status of the node's condition Ready.
    void set_node_ready(const std::string& name, const std::string& status) {
        edit(kNodes, name, "", [&](JsonObject& node) {
            list_at(object_at(node, "status"), "conditions")[0].as_object()["status"] = status;
        });
    }
    std::string node_of(const std::string& pod) {
        const auto object = get(kPods, pod);
        return object ? base::get_string(*object, "spec.nodeName") : "(no pod)";
    }
    std::string text(const Kind& kind, const std::string& name, std::string_view path) {
        const auto object = get(kind, name);
        return object ? base::get_string(*object, path) : "(none)";
    }
    std::string phase(const std::string& pod) { return text(kPods, pod, "status.phase"); }
    // Every message of a reason about an object, oldest first.
    std::vector<std::string> events(const std::string& reason, const std::string& about = "") {
        std::vector<std::string> out;
        for (const auto& event : store.list(kEventsKind)) {
            const bool meant = about.empty() || base::get_string(*event, "involvedObject.name") == about;
            if (meant && base::get_string(*event, "reason") == reason)
                out.push_back(base::get_string(*event, "message"));
        }
        return out;
    }
    std::string why_pending(const std::string& pod) {
        const auto object = get(kPods, pod);
        if (!object) return "(no pod)";
        for (const auto& condition : base::get_array(*object, "status.conditions")) {
            if (base::get_string(condition, "type") == "PodScheduled")
                return base::get_string(condition, "message");
        }
        return {};
    }

    static constexpr const char* kDeployment =
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},
        "spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
        "spec":{"containers":[{"name":"main","image":"web:1","ports":[{"name":"http","containerPort":8080}]}]}}}})";
    static constexpr const char* kPlugin =
        R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"plugin","namespace":"default"},
        "spec":{"selector":{"matchLabels":{"app":"plugin"}},"template":{"metadata":{"labels":{"app":"plugin"}},
        "spec":{"containers":[{"name":"main","image":"nvcr.io/nvidia/k8s-device-plugin:v0.17"}]}}}})";

    boost::asio::io_context io;
    rt::VirtualClock clock;
    MemoryObjectStore store;
    std::unique_ptr<Controllers> controllers;
};

}  // namespace instantstart::twin::kube::controllers
