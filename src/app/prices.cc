#include "app/prices.h"

#include <cmath>
#include <cstdlib>

#include "base/time.h"

namespace instantstart::app {

namespace {

constexpr const char* kTable = "prices";
constexpr base::Duration kFresh = std::chrono::hours(24);
constexpr base::Duration kServes = std::chrono::hours(24 * 30);
constexpr base::Duration kPatience = std::chrono::seconds(10);  // a plan does not wait longer for prices
constexpr std::size_t kMostProducts = 500;

JsonObject equal_to(std::string_view field, std::string_view value) {
    return {{"Type", "TERM_MATCH"}, {"Field", field}, {"Value", value}};
}

// The hourly rate on demand of one product of the price list; 0 where it has none.
double rate_of(const JsonValue& product) {
    for (const auto& term : base::get_object(product, "terms.OnDemand")) {
        for (const auto& dimension : base::get_object(term.value(), "priceDimensions")) {
            if (base::get_string(dimension.value(), "unit") != "Hrs") continue;
            const auto text = base::get_string(dimension.value(), "pricePerUnit.USD");
            const double rate = std::strtod(text.c_str(), nullptr);
            if (rate > 0) return rate;
        }
    }
    return 0;
}

bool is_hyperpod(const std::string& type) {
    return type.starts_with("ml.");
}

// EC2 sells an instance by system, tenancy and reservation: what a node group starts is plain Linux.
JsonArray filters_of(const std::string& type, const std::string& region) {
    if (is_hyperpod(type)) return {equal_to("regionCode", region), equal_to("instanceName", type)};
    return {equal_to("regionCode", region),       equal_to("instanceType", type),
            equal_to("operatingSystem", "Linux"), equal_to("tenancy", "Shared"),
            equal_to("preInstalledSw", "NA"),     equal_to("capacitystatus", "Used")};
}

// The list sells the same instance for training, hosting and more: HyperPod's usage is "…Cluster:<type>",
// EC2's on demand "…BoxUsage:<type>".
Task<double> ask(Call call, std::string type) {
    auto context = call.context.with_deadline(call.services->clock.monotonic() + kPatience);
    const auto sold_as = (is_hyperpod(type) ? "Cluster:" : "BoxUsage:") + type;
    JsonObject parameters{{"ServiceCode", is_hyperpod(type) ? "AmazonSageMaker" : "AmazonEC2"},
                          {"FormatVersion", "aws_v1"},
                          {"Filters", filters_of(type, call.services->aws.region())}};
    CO_TRY(auto items, co_await call.services->aws.collect(context, "pricing", "GetProducts",
                                                           std::move(parameters), kMostProducts));
    for (const auto& item : items) {
        if (!item.is_string()) continue;
        const auto product = base::parse_json(item.as_string());
        if (!product) continue;
        const auto usage = base::get_string(*product, "product.attributes.usagetype");
        const double rate = usage.ends_with(sold_as) ? rate_of(*product) : 0;
        if (rate > 0) co_return rate;
    }
    co_return base::Error(base::ErrorKind::not_found, "no_price",
                          "AWS's price list has no price of " + type + " in " +
                              (is_hyperpod(type) ? "HyperPod clusters of " : "EC2 of ") +
                              call.services->aws.region());
}

struct Known {
    Price price;
    base::Duration age{};
};

Task<std::optional<Known>> known_price(Call call, std::string key) {
    CO_TRY(auto entry, co_await call.services->store.get(call.context, kTable, key));
    if (!entry) co_return std::optional<Known>();
    const auto read = base::parse_time(base::get_string(entry->value, "read_at"));
    const auto* rate = base::find_path(entry->value, "hourly_usd");
    if (!read || rate == nullptr || !rate->is_number()) co_return std::optional<Known>();
    Known known;
    known.price.hourly_usd = rate->to_number<double>();
    known.price.as_of = base::format_time(*read).substr(0, 10);
    known.age = call.services->clock.now() - *read;
    co_return std::optional<Known>(std::move(known));
}

Task<void> keep(Call call, std::string key, double rate) {
    store::Batch batch;
    batch.put(kTable, std::move(key),
              JsonObject{{"hourly_usd", rate}, {"read_at", base::format_time(call.services->clock.now())}});
    co_return co_await call.services->store.commit(call.context, std::move(batch));
}

double to_cents(double value) {
    constexpr double kParts = 10'000;
    return std::round(value * kParts) / kParts;
}

std::vector<std::string> types_of(const JsonValue& group) {
    std::vector<std::string> types;
    for (const auto& type : base::get_array(group, "instance_types")) types.emplace_back(type.as_string());
    if (types.empty()) types.push_back(base::get_string(group, "instance_type"));
    return types;
}

// What the figure leaves out, said once.
constexpr const char* kScope =
    "On-demand list prices of the instances; volumes, traffic, NAT gateways and the EKS control plane come "
    "on top.";

// One row of the cost: {group, instance_type, count, hourly_usd_each, hourly_usd, note?}.
Task<JsonObject> group_cost(Call call, JsonValue group, std::string& as_of) {
    const auto count = base::get_int(group, "count");
    const auto capacity = base::get_string(group, "capacity.type", "on_demand");
    JsonObject row{{"group", base::get_string(group, "name")}, {"count", count}};
    if (capacity == "training_plan") {
        row["hourly_usd"] = 0.0;
        row["note"] = "paid for with the training plan";
        co_return row;
    }
    Price dearest;
    std::string type;
    for (const auto& each : types_of(group)) {
        CO_TRY(auto price, co_await hourly_price(call, each));
        if (as_of.empty() || price.as_of < as_of) as_of = price.as_of;
        if (!type.empty() && price.hourly_usd <= dearest.hourly_usd) continue;
        type = each;
        dearest = std::move(price);
    }
    row["instance_type"] = type;
    row["hourly_usd_each"] = to_cents(dearest.hourly_usd);
    row["hourly_usd"] = to_cents(dearest.hourly_usd * static_cast<double>(count));
    const bool spot = capacity == "spot", several = types_of(group).size() > 1;
    if (spot && several) {
        row["note"] = "at most: the dearest of its types, and Spot costs less";
    } else if (spot || several) {
        row["note"] = spot ? "at most: Spot costs less" : "at most: the dearest of its types";
    }
    co_return row;
}

}  // namespace

Task<Price> hourly_price(Call call, std::string instance_type) {
    const auto key = call.services->aws.region() + "/" + instance_type;
    CO_TRY(auto known, co_await known_price(call, key));
    if (known && known->age < kFresh) co_return std::move(known->price);
    auto rate = co_await ask(call, instance_type);
    if (!rate) {
        if (rate.error().kind == base::ErrorKind::cancelled) co_return std::move(rate).error();
        if (known && known->age < kServes) co_return std::move(known->price);
        co_return std::move(rate).error();
    }
    CO_CHECK_OK(co_await keep(call, key, *rate));
    Price price;
    price.hourly_usd = *rate;
    price.as_of = base::format_time(call.services->clock.now()).substr(0, 10);
    co_return price;
}

Task<void> put_cost(Call call, JsonArray groups, Plan& plan) {
    JsonArray rows;
    std::string as_of;
    double total = 0;
    for (const auto& group : groups) {
        auto row = co_await group_cost(call, group, as_of);
        if (!row) {
            if (row.error().kind == base::ErrorKind::cancelled) co_return std::move(row).error();
            plan.warnings.push_back("cost is left out: " + row.error().message);
            co_return base::ok();
        }
        total += row->at("hourly_usd").to_number<double>();
        rows.push_back(std::move(*row));
    }
    if (rows.empty()) co_return base::ok();
    plan.cost = {{"hourly_usd", to_cents(total)}, {"groups", std::move(rows)}, {"scope", kScope}};
    if (!as_of.empty()) plan.cost["as_of"] = as_of;
    co_return base::ok();
}

}  // namespace instantstart::app
