// price.list: what an instance of a type costs by the hour in a HyperPod cluster of this region.
#include "app/domain_makers.h"
#include "app/prices.h"
#include "app/typed_operation.h"
#include "domain/instance_type.h"

namespace instantstart::app {

namespace {

struct PriceList {
    std::string instance_type;
};
BOOST_DESCRIBE_STRUCT(PriceList, (), (instance_type))

Task<Answer> run(Call call, PriceList input) {
    if (domain::find_instance_type(input.instance_type) == nullptr) {
        co_return base::not_found_error("instance type \"" + input.instance_type + "\"")
            .with_hint("instance_type.list names the types.");
    }
    CO_TRY(auto price, co_await hourly_price(call, input.instance_type));
    Answer answer;
    answer.summary = input.instance_type + " is listed at " + base::to_text(JsonValue(price.hourly_usd)) +
                     " USD an hour on demand (read " + price.as_of + ").";
    answer.body["prices"] = JsonArray{JsonObject{
        {"instance_type", input.instance_type}, {"hourly_usd", price.hourly_usd}, {"as_of", price.as_of}}};
    answer.body["total"] = 1;
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_price_list() {
    Meta meta;
    meta.id = "price.list";
    meta.method = "GET";
    meta.path = "/prices";
    meta.summary =
        "AWS's list price on demand, by the hour, of an instance type in HyperPod clusters of this region.";
    meta.area = "quotas";
    meta.default_tool = false;
    meta.uses = {"pricing:GetProducts"};
    return make_query<PriceList>(
        std::move(meta),
        {Field("instance_type", "The type, with its ml. prefix.").length(1, 64).like("ml.g5.12xlarge")},
        &run);
}

}  // namespace instantstart::app
