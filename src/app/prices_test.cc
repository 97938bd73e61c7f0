#include "app/prices.h"

#include <gtest/gtest.h>

#include "app/testing.h"

namespace instantstart::app {
namespace {

using namespace std::chrono_literals;

std::string product(const std::string& usage, const char* unit, const char* usd) {
    const JsonObject dimension{{"unit", unit}, {"pricePerUnit", {{"USD", usd}}}};
    return base::to_text(
        JsonValue(JsonObject{{"product", {{"attributes", {{"usagetype", usage}}}}},
                             {"terms", {{"OnDemand", {{"t", {{"priceDimensions", {{"d", dimension}}}}}}}}}}));
}

// A price list with one price in clusters, among others; it can be away.
class ListAws final : public aws::Client {
public:
    Task<JsonObject> call(Context, std::string, std::string operation, JsonObject,
                          aws::CallOptions) override {
        co_return base::internal_error("unexpected call " + operation);
    }
    Task<JsonArray> collect(Context, std::string service, std::string operation, JsonObject parameters,
                            std::size_t) override {
        ++asked;
        EXPECT_EQ(service + ":" + operation, "pricing:GetProducts");
        if (failing) co_return *failing;
        filters = base::to_text(parameters);
        co_return items;
    }
    Task<std::string> eks_token(Context, std::string) override { co_return std::string(); }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }

    int asked = 0;
    std::string filters;
    std::optional<base::Error> failing;
    JsonArray items{JsonValue(product("USW2-Host:ml.a.large", "Hrs", "9.9")), JsonValue("no JSON"),
                    JsonValue(product("USW2-Cluster:ml.a.large", "Quantity", "7.7")),
                    JsonValue(product("USW2-Cluster:ml.a.large", "Hrs", "1.2500000000"))};
};

JsonObject group(const char* type, std::int64_t count, const char* capacity) {
    return {
        {"name", "workers"}, {"instance_type", type}, {"count", count}, {"capacity", {{"type", capacity}}}};
}

class PricesTest : public ::testing::Test {
protected:
    template <class T>
    base::Result<T> run(Task<T> task) {
        return rt::testing::run(io, clock, std::move(task));
    }
    Call call() { return {Context(), services, Caller()}; }
    base::Result<Price> price(const std::string& type) { return run(hourly_price(call(), type)); }
    Task<bool> cost(JsonArray groups, Plan& plan) {
        CO_CHECK_OK(co_await put_cost(call(), std::move(groups), plan));
        co_return true;
    }
    Plan plan(JsonArray groups) {
        Plan made;
        EXPECT_TRUE(run(cost(std::move(groups), made)).has_value());
        return made;
    }
    Task<bool> slept(base::Duration duration) {
        CO_CHECK_OK(co_await clock.sleep(duration));
        co_return true;
    }
    void pass(base::Duration duration) {
        EXPECT_TRUE(rt::testing::run(io, clock, slept(duration), duration + 1s).has_value());
    }

    boost::asio::io_context io{1};
    rt::VirtualClock clock{io, 1, base::from_epoch(1'800'000'000)};
    http::MemoryNetwork network{clock};
    std::unique_ptr<http::Transport> transport = network.make_transport();
    std::unique_ptr<store::Store> store =
        store::open_memory(io.get_executor(), store::make_memory_disk(), nullptr);
    ListAws aws;
    flows::Clusters clusters{clock, aws, *store, *transport};
    std::unique_ptr<ops::Engine> engine = ops::make_engine(io.get_executor(), clock, *store, {});
    Services services{clock, aws, *store, *engine, clusters, Settings()};
};

TEST_F(PricesTest, price_of_cluster_usage_by_the_hour_is_taken) {
    const auto found = price("ml.a.large");
    ASSERT_TRUE(found.has_value());
    EXPECT_DOUBLE_EQ(found->hourly_usd, 1.25);
    EXPECT_EQ(found->as_of, "2027-01-15");
    EXPECT_NE(aws.filters.find("ml.a.large"), std::string::npos);
    EXPECT_NE(aws.filters.find("us-west-2"), std::string::npos);
}

TEST_F(PricesTest, other_types_are_ec2s_with_linux_on_demand) {
    aws.items = {JsonValue(product("USW2-UnusedBox:a.large", "Hrs", "9.9")),
                 JsonValue(product("USW2-BoxUsage:a.large", "Hrs", "0.5"))};
    const auto found = price("a.large");
    ASSERT_TRUE(found.has_value());
    EXPECT_DOUBLE_EQ(found->hourly_usd, 0.5);
    EXPECT_NE(aws.filters.find("AmazonEC2"), std::string::npos);
    EXPECT_NE(aws.filters.find("Linux"), std::string::npos);
}

TEST_F(PricesTest, type_that_is_not_listed_has_no_price) {
    const auto found = price("ml.b.large");
    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code, "no_price");
}

TEST_F(PricesTest, price_is_asked_once_a_day_and_serves_for_a_month) {
    EXPECT_TRUE(price("ml.a.large").has_value());
    EXPECT_TRUE(price("ml.a.large").has_value());
    EXPECT_EQ(aws.asked, 1);
    pass(std::chrono::hours(25));
    aws.failing = base::Error(base::ErrorKind::unavailable, "down", "the list is away");
    const auto kept = price("ml.a.large");
    ASSERT_TRUE(kept.has_value());
    EXPECT_EQ(kept->as_of, "2027-01-15");
    EXPECT_EQ(aws.asked, 2);
    pass(std::chrono::hours(24 * 30));
    const auto gone = price("ml.a.large");
    ASSERT_FALSE(gone.has_value());
    EXPECT_EQ(gone.error().code, "down");
}

TEST_F(PricesTest, groups_are_summed_and_what_is_less_is_said) {
    const auto made = plan({group("ml.a.large", 4, "on_demand"), group("ml.a.large", 2, "spot"),
                            group("ml.a.large", 8, "training_plan")});
    EXPECT_DOUBLE_EQ(made.cost.at("hourly_usd").to_number<double>(), 7.5);
    const auto& rows = base::get_array(made.cost, "groups");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_FALSE(rows[0].as_object().contains("note"));
    EXPECT_EQ(base::get_string(rows[1], "note"), "at most: Spot costs less");
    EXPECT_EQ(base::get_string(rows[2], "note"), "paid for with the training plan");
    EXPECT_EQ(base::get_string(made.cost, "as_of"), "2027-01-15");
    EXPECT_TRUE(made.warnings.empty());
}

TEST_F(PricesTest, plan_whose_price_cannot_be_had_has_no_cost_and_says_so) {
    const auto made = plan({group("ml.a.large", 4, "on_demand"), group("ml.b.large", 1, "on_demand")});
    EXPECT_TRUE(made.cost.empty());
    ASSERT_EQ(made.warnings.size(), 1U);
    EXPECT_TRUE(made.warnings[0].starts_with("cost is left out: ")) << made.warnings[0];
    EXPECT_TRUE(plan({}).cost.empty());
    EXPECT_TRUE(plan({}).warnings.empty());
}

}  // namespace
}  // namespace instantstart::app
