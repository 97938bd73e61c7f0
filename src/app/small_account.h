// For tests of plans: an account with one HyperPod cluster, "demo", that can be read and never changed, and
// its API server. What it holds is JSON that a test sets.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "app/testing.h"

namespace instantstart::app::testing {

inline JsonValue json(std::string_view text) {
    auto parsed = base::parse_json(text);
    CHECK(parsed.has_value());
    return std::move(*parsed);
}

class SmallAccount final : public aws::Client {
public:
    Task<JsonObject> call(Context, std::string service, std::string operation, JsonObject parameters,
                          aws::CallOptions) override {
        const bool reads = operation.starts_with("Describe") || operation.starts_with("Get") ||
                           operation.starts_with("List") || operation.starts_with("Head");
        EXPECT_TRUE(reads) << service << ":" << operation;
        if (operation == "GetCallerIdentity") {
            co_return JsonObject{{"Account", "111122223333"},
                                 {"Arn", "arn:aws:sts::111122223333:assumed-role/a/b"}};
        }
        if (operation == "GetRole")
            co_return json(R"({"Role": {"Arn": "arn:aws:iam::111122223333:role/a"}})").as_object();
        if (service == "eks" && operation == "DescribeCluster" &&
            base::get_string(parameters, "name") == "demo") {
            co_return JsonObject{{"cluster", eks()}};
        }
        if (service == "sagemaker" && operation == "DescribeCluster") co_return hyperpod();
        if (operation == "DescribeAvailabilityZones") co_return zones();
        co_return base::Error(base::ErrorKind::not_found, "ResourceNotFoundException", "there is none");
    }
    Task<JsonArray> collect(Context, std::string service, std::string operation, JsonObject,
                            std::size_t) override {
        const auto name = service + ":" + operation;
        if (const auto refused = refusals.find(name); refused != refusals.end()) co_return refused->second;
        if (const auto list = lists.find(name); list != lists.end()) co_return list->second;
        if (operation == "DescribeSubnets") {
            co_return JsonArray{json(R"({"SubnetId": "subnet-1", "AvailabilityZone": "us-west-2a",
                "AvailableIpAddressCount": 4000, "CidrBlock": "10.0.0.0/20"})")};
        }
        if (operation == "DescribeInstanceTypeOfferings")
            co_return JsonArray{json(R"({"Location": "us-west-2a"})")};
        if (service == "sagemaker" && operation == "ListClusters")
            co_return JsonArray{json(R"({"ClusterName": "demo"})")};
        if (operation == "ListServiceQuotas") co_return quotas;
        co_return JsonArray();
    }
    Task<std::string> eks_token(Context, std::string) override { co_return std::string("token"); }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }

    // What the HyperPod cluster's description says beside, or instead of, what is usual.
    JsonObject described;
    JsonArray groups;
    JsonArray quotas;  // rows of SageMaker: {"QuotaName", "Value"}
    // Other lists, and those that fail, by "service:Operation".
    std::map<std::string, JsonArray> lists;
    std::map<std::string, base::Error> refusals;

private:
    static JsonObject eks() {
        return {{"name", "demo"},
                {"arn", "arn:aws:eks:us-west-2:111122223333:cluster/demo"},
                {"status", "ACTIVE"},
                {"version", "1.33"},
                {"endpoint", "https://kube"},
                {"tags", {{"instantstart:cluster", "demo"}}}};
    }
    JsonObject hyperpod() const {
        JsonObject cluster{{"ClusterName", "demo"},
                           {"ClusterArn", "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"},
                           {"ClusterStatus", "InService"},
                           {"NodeProvisioningMode", "Continuous"},
                           {"NodeRecovery", "Automatic"},
                           {"Orchestrator", {{"Eks", {{"ClusterArn", base::get_string(eks(), "arn")}}}}},
                           {"InstanceGroups", groups}};
        for (const auto& [key, value] : described) cluster[key] = value;
        return cluster;
    }
    static JsonObject zones() {
        JsonArray list;
        for (const char* name : {"a", "b"}) {
            list.push_back(JsonObject{{"ZoneName", std::string("us-west-2") + name},
                                      {"ZoneId", name == std::string("a") ? "usw2-az1" : "usw2-az2"},
                                      {"ZoneType", "availability-zone"},
                                      {"State", "available"},
                                      {"OptInStatus", "opt-in-not-required"}});
        }
        return {{"AvailabilityZones", std::move(list)}};
    }
};

class SmallAccountPlans : public ::testing::Test {
protected:
    SmallAccountPlans() {
        network_.listen("kube:443", [this](Context, http::Request request) {
            return answer(objects_, std::string(request.path()));
        });
        CHECK(run(engine_->start({})).has_value());
    }
    ~SmallAccountPlans() override { EXPECT_TRUE(run(stop()).has_value()); }

    template <class T>
    base::Result<T> run(Task<T> task) {
        return rt::testing::run(io_, clock_, std::move(task));
    }
    base::Result<Plan> plan(const Operation& operation, JsonObject arguments) {
        Caller caller;
        caller.principal = "ada";
        clusters_.forget("demo");
        auto normalized = operation.normalize(arguments);
        if (!normalized) return std::move(normalized).error();
        return run(operation.plan(Call(Context(), services_, caller), std::move(*normalized)));
    }
    Call call() { return Call(Context(), services_, Caller()); }

    // The API server's objects, by path; lists that every cluster has.
    std::map<std::string, std::string> objects_ = empty_lists();
    static std::map<std::string, std::string> empty_lists() {
        const std::string none = R"({"kind": "List", "metadata": {"resourceVersion": "5"}, "items": []})";
        return {{"/api/v1/nodes", none}, {"/api/v1/pods", none}, {"/apis/apps/v1/deployments", none}};
    }

    boost::asio::io_context io_{1};
    rt::VirtualClock clock_{io_, 1, base::from_epoch(1'800'000'000)};
    http::MemoryNetwork network_{clock_};
    std::unique_ptr<http::Transport> transport_ = network_.make_transport();
    std::unique_ptr<store::Store> store_ =
        store::open_memory(io_.get_executor(), store::make_memory_disk(), nullptr);
    SmallAccount account_;
    flows::Clusters clusters_{clock_, account_, *store_, *transport_};
    std::unique_ptr<ops::Engine> engine_ = ops::make_engine(io_.get_executor(), clock_, *store_, {});
    Services services_{clock_, account_, *store_, *engine_, clusters_, World::settings()};

private:
    static boost::asio::awaitable<http::Response> answer(std::map<std::string, std::string> objects,
                                                         std::string path) {
        const auto found = objects.find(path);
        if (found != objects.end()) co_return http::Response(200, "application/json", found->second);
        co_return http::Response(404, "application/json",
                                 R"({"kind":"Status","code":404,"reason":"NotFound","message":"none"})");
    }
    Task<void> stop() {
        co_await engine_->stop();
        co_return base::ok();
    }
};

}  // namespace instantstart::app::testing
