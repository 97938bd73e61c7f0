// zone.list: the availability zones of the region, all or those that offer a type.
#include <set>

#include "app/domain_makers.h"
#include "app/preflight.h"
#include "app/typed_operation.h"
#include "domain/instance_type.h"

namespace instantstart::app {

namespace {

struct ZoneList {
    std::optional<std::string> instance_type;
};
BOOST_DESCRIBE_STRUCT(ZoneList, (), (instance_type))

Task<std::set<std::string>> offering(Call call, std::string type) {
    JsonObject parameters{{"LocationType", "availability-zone"},
                          {"Filters", JsonArray{JsonObject{{"Name", "instance-type"},
                                                           {"Values", JsonArray{JsonValue(type)}}}}}};
    CO_TRY(auto rows, co_await call.services->aws.collect(
                          call.context, "ec2", "DescribeInstanceTypeOfferings", std::move(parameters)));
    std::set<std::string> zones;
    for (const auto& row : rows) zones.insert(base::get_string(row, "Location"));
    co_return zones;
}

std::vector<std::string> type_names() {
    std::vector<std::string> names;
    for (const auto& type : domain::instance_types()) names.push_back(type.name);
    return names;
}

Task<Answer> run(Call call, ZoneList input) {
    std::set<std::string> with_type;
    if (input.instance_type) {
        const auto* type = domain::find_instance_type(*input.instance_type);
        if (type == nullptr) {
            auto unknown = fault("/instance_type", "is no instance type of HyperPod", type_names(),
                                 *input.instance_type);
            unknown.allowed.clear();  // too many to list; the nearest is named
            co_return faults_error({std::move(unknown)});
        }
        CO_TRY(with_type, co_await offering(call, type->ec2_name()));
    }
    CO_TRY(auto zones, co_await list_zones(call));
    JsonArray rows;
    for (const auto& zone : zones) {
        if (!zone.usable || (input.instance_type && !with_type.contains(zone.name))) continue;
        rows.push_back(
            JsonObject{{"name", zone.name}, {"zone_id", zone.id}, {"control_plane", zone.control_plane}});
    }
    Answer answer;
    answer.summary = std::to_string(rows.size()) + " zones" +
                     (input.instance_type ? " offer " + *input.instance_type : std::string()) + ".";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["zones"] = std::move(rows);
    if (input.instance_type) answer.body["source"] = "EC2 offerings of the type without ml.";
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_zone_list() {
    Meta meta;
    meta.id = "zone.list";
    meta.method = "GET";
    meta.path = "/zones";
    meta.summary = "The availability zones of the region, or only those that offer an instance type.";
    meta.area = "start";
    meta.uses = {"ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTypeOfferings"};
    return make_query<ZoneList>(
        std::move(meta),
        {Field("instance_type", "Only zones that offer this type, such as ml.g5.12xlarge.")
             .length(1, 64)
             .like("ml.g5.12xlarge")},
        &run);
}

}  // namespace instantstart::app
