#include "app/group_planning.h"

#include <set>

#include "app/schema.h"
#include "flows/bucket_steps.h"
#include "flows/components.h"

namespace instantstart::app {

std::vector<std::string> hyperpod_roles() {
    return {"AWSServiceRoleForSageMakerHyperPod"};
}

void put_groups(JsonObject& params, const std::vector<domain::InstanceGroup>& groups,
                const JsonObject& hyperpod) {
    JsonArray rows;
    std::set<std::string> types;
    for (const auto& group : groups) {
        rows.push_back(to_json(group));
        for (const auto& type : group.types()) types.insert(type);
    }
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        if (const auto type = base::get_string(group, "InstanceType"); !type.empty()) types.insert(type);
        for (const auto& type : base::get_array(group, "InstanceRequirements.DesiredInstanceTypes"))
            types.emplace(type.as_string());
    }
    JsonArray components;
    for (const auto& id : flows::components_for(types)) components.emplace_back(id);
    params["groups"] = std::move(rows);
    params["components"] = std::move(components);
}

std::vector<std::string> group_sentences(const std::vector<domain::InstanceGroup>& groups) {
    std::vector<std::string> list;
    for (const auto& group : groups) {
        const auto types = group.types();
        list.push_back("instance group " + group.name + ": " + std::to_string(group.count) + " × " +
                       (types.empty() ? std::string("?") : types.front()) + " in " + group.zone);
    }
    return list;
}

Task<void> put_storage(Call call, StorageInput input, std::string at, JsonObject& params, Findings& found) {
    if (input.kind != "s3") {
        // Its ports and zone are those of groups that stand.
        found.faults.push_back(fault(at + "/kind",
                                     "fsx_lustre is mounted once the cluster stands: leave it out here, then "
                                     "storage.create",
                                     {"s3"}));
        co_return base::ok();
    }
    if (input.file_system_id)
        found.faults.push_back(fault(at + "/file_system_id", "goes with kind fsx_lustre"));
    const auto own = base::get_string(params, "bucket");
    const auto bucket = input.bucket.value_or(own);
    if (bucket != own) {
        auto there = co_await flows::check_bucket(call.services->clusters, call.context, bucket,
                                                  base::get_string(params, "account"));
        if (!there && there.error().kind == base::ErrorKind::cancelled) co_return std::move(there).error();
        const bool refused = !there && (there.error().code == "bucket_taken" ||
                                        there.error().kind == base::ErrorKind::not_found);
        if (refused) found.faults.push_back(fault(at + "/bucket", there.error().message));
        if (!there && !refused)
            found.warnings.push_back("could not look at the bucket: " + there.error().message);
    }
    params["storage"] = JsonObject{{"name", input.name},
                                   {"kind", input.kind},
                                   {"bucket", bucket},
                                   {"namespace", input.namespace_},
                                   {"own_bucket", bucket == own}};
    co_return base::ok();
}

}  // namespace instantstart::app
