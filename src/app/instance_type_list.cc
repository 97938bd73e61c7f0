// instance_type.list: the instance types of HyperPod with their hardware.
#include <set>

#include "app/domain_makers.h"
#include "app/preflight.h"
#include "app/typed_operation.h"
#include "domain/instance_type.h"

namespace instantstart::app {

namespace {

struct InstanceTypeList {
    std::optional<std::string> zone;
    std::optional<std::string> accelerator;
};
BOOST_DESCRIBE_STRUCT(InstanceTypeList, (), (zone, accelerator))

bool matches(const domain::InstanceType& type, const std::string& accelerator) {
    if (accelerator == "gpu") return type.is_gpu();
    if (accelerator == "trainium") return type.is_neuron();
    return accelerator != "none" || type.accelerators == 0;
}

JsonObject row_of(const domain::InstanceType& type) {
    JsonObject row{{"name", type.name},
                   {"vcpus", type.vcpus},
                   {"memory_gib", type.memory_gib},
                   {"max_pods", type.max_pods},
                   {"efa_interfaces", type.efa_interfaces},
                   {"local_nvme_gb", type.local_nvme_gb},
                   {"training_plan", type.training_plan},
                   {"arch", type.arch}};
    if (type.accelerators > 0) {
        row["accelerators"] = JsonObject{{"count", type.accelerators},
                                         {"name", type.accelerator_name},
                                         {"resource", type.accelerator_resource},
                                         {"memory_mib", type.accelerator_memory_mib}};
    }
    return row;
}

Task<std::set<std::string>> offered_in(Call call, std::string zone) {
    CO_TRY(auto zones, co_await list_zones(call));
    if (domain::find_zone(zones, zone) == nullptr) {
        co_return faults_error({fault("/zone", "is no zone of this region", domain::names_of(zones), zone)});
    }
    JsonObject parameters{
        {"LocationType", "availability-zone"},
        {"Filters", JsonArray{JsonObject{{"Name", "location"}, {"Values", JsonArray{JsonValue(zone)}}}}}};
    CO_TRY(auto rows, co_await call.services->aws.collect(
                          call.context, "ec2", "DescribeInstanceTypeOfferings", std::move(parameters)));
    std::set<std::string> types;
    for (const auto& row : rows) types.insert("ml." + base::get_string(row, "InstanceType"));
    co_return types;
}

Task<Answer> run(Call call, InstanceTypeList input) {
    std::set<std::string> offered;
    if (input.zone) {
        CO_TRY(offered, co_await offered_in(call, *input.zone));
    }
    JsonArray rows;
    for (const auto& type : domain::instance_types()) {
        if (!matches(type, input.accelerator.value_or(""))) continue;
        if (input.zone && !offered.contains(type.name)) continue;
        rows.push_back(row_of(type));
    }
    Answer answer;
    answer.summary = std::to_string(rows.size()) + " instance types.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["instance_types"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_instance_type_list() {
    Meta meta;
    meta.id = "instance_type.list";
    meta.method = "GET";
    meta.path = "/instance-types";
    meta.summary = "The instance types of HyperPod with accelerators, memory, network and pods per node.";
    meta.area = "start";
    meta.uses = {"ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTypeOfferings"};
    return make_query<InstanceTypeList>(
        std::move(meta),
        {Field("zone", "Only types offered in this zone.").length(1, 32).like("us-west-2a"),
         Field("accelerator", "Only types with this kind of accelerator.")
             .one_of({"gpu", "trainium", "none"})
             .like("gpu")},
        &run);
}

}  // namespace instantstart::app
