#include "flows/lustre_storage.h"

#include "domain/lustre.h"
#include "flows/components.h"
#include "flows/ec2_kit.h"
#include "flows/eks_steps.h"
#include "flows/storage_steps.h"

namespace instantstart::flows {

namespace {

constexpr const char* kDriver = "fsx.csi.aws.com";
// On a rule of ours, so that the rules of one file system are found again.
constexpr const char* kDescription = "InstantStart: Lustre";

Task<Observation> observe_file_system(Clusters& env, StepCall call, JsonObject) {
    const auto id = base::get_string(call.params, "storage.file_system_id");
    JsonObject parameters{{"FileSystemIds", JsonArray{JsonValue(id)}}};
    auto answer = co_await env.aws().call(call.context, "fsx", "DescribeFileSystems", std::move(parameters),
                                          look(call));
    if (!answer) {
        if (!has_code(answer.error(), {"FileSystemNotFound"})) co_return std::move(answer).error();
        co_return ops::impossible(base::not_found_error("file system " + id));
    }
    const auto& list = base::get_array(*answer, "FileSystems");
    const auto state = list.empty() ? "" : base::get_string(list.front(), "Lifecycle");
    if (state == "AVAILABLE" || state == "UPDATING") co_return ops::done({{"id", id}});
    if (state == "CREATING") co_return ops::in_progress("FSx says CREATING");
    co_return ops::impossible(
        base::conflict_error("file_system_unusable", "file system " + id + " is " + state));
}

// --- rules of our own group

bool has_ports(const JsonObject& group, const std::string& peer) {
    domain::LustreSide receiver, sender;
    receiver.groups = {base::get_string(group, "GroupId")};
    sender.groups = {peer};
    for (const auto& rule : domain::missing_lustre_rules({group}, receiver, sender)) {
        if (rule.group == receiver.groups.front()) return false;
    }
    return true;
}

Task<Observation> observe_ports(Clusters& env, StepCall call, JsonObject args) {
    const auto group = base::get_string(args, "group");
    CO_TRY(auto found, co_await ec2_by_id(env, call.context, "security_group", group));
    if (found.empty()) co_return ops::impossible(base::not_found_error("security group " + group));
    if (has_ports(found.front().as_object(), base::get_string(args, "peer"))) co_return ops::done({});
    co_return ops::absent();
}

JsonArray described_permissions(const std::string& peer) {
    auto permissions = domain::lustre_permissions(peer);
    for (auto& permission : permissions) {
        for (auto& pair : permission.as_object()["UserIdGroupPairs"].as_array())
            pair.as_object()["Description"] = kDescription;
    }
    return permissions;
}

Task<JsonObject> act_ports(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters{{"GroupId", base::get_string(args, "group")},
                          {"IpPermissions", described_permissions(base::get_string(args, "peer"))}};
    co_return co_await settle(env, call, "ec2", "AuthorizeSecurityGroupIngress", std::move(parameters));
}

// --- removal

// Rules of ours for a peer: {group, peer} pairs, of all groups with this cluster's tag.
Task<JsonArray> ports_made(Clusters& env, StepCall call) {
    CO_TRY(auto groups,
           co_await ec2_list(env, call.context, "security_group", tag_filters(call, "security_group")));
    JsonArray made_rules;
    for (const auto& group : groups) {
        for (const auto& permission : base::get_array(group, "IpPermissions")) {
            if (base::get_int(permission, "FromPort") != 988) continue;
            for (const auto& pair : base::get_array(permission, "UserIdGroupPairs")) {
                if (base::get_string(pair, "Description") != kDescription) continue;
                made_rules.push_back(JsonObject{{"group", base::get_string(group, "GroupId")},
                                                {"peer", base::get_string(pair, "GroupId")}});
            }
        }
    }
    co_return made_rules;
}

Task<bool> other_lustre(Clusters& env, StepCall call) {
    CO_TRY(auto rows, co_await storage_rows(env, call.context, eks_of(call)));
    for (const auto& row : rows) {
        if (base::get_string(row, "kind") == "fsx_lustre") co_return true;
    }
    co_return false;
}

Task<Observation> observe_ports_removed(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto rules, co_await ports_made(env, call));
    if (rules.empty()) co_return ops::done({});
    CO_TRY(const bool used, co_await other_lustre(env, call));
    if (used) co_return ops::skipped("another storage uses the rules");
    co_return ops::absent();
}

Task<JsonObject> act_ports_removed(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto rules, co_await ports_made(env, call));
    for (const auto& rule : rules) {
        JsonObject parameters{{"GroupId", base::get_string(rule, "group")},
                              {"IpPermissions", domain::lustre_permissions(base::get_string(rule, "peer"))}};
        auto answer = co_await mutate(env, call, "ec2", "RevokeSecurityGroupIngress", std::move(parameters));
        if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    }
    co_return JsonObject{};
}

}  // namespace

void add_lustre_storage(Steps& steps, const JsonObject& params) {
    const auto& storage = base::get_object(params, "storage");
    const auto id = base::get_string(storage, "file_system_id");
    steps.add(Row("file_system", "Find file system " + id, {})
                  .does(&observe_file_system, nullptr)
                  .takes(minutes_of(0.1, 15))
                  .as("check"));
    std::vector<std::string> needs{"file_system", "kubernetes_access"};
    for (const auto& rule : base::get_array(storage, "rules")) {
        const auto group = base::get_string(rule, "group");
        auto row_id = "ports_" + group;
        if (steps.has(row_id)) continue;
        steps.add(Row(row_id, "Let Lustre's ports into " + group, {"file_system"})
                      .does(&observe_ports, &act_ports)
                      .with(rule.as_object())
                      .as("change"));
        needs.push_back(std::move(row_id));
    }
    const auto* component = find_component("fsx_csi");
    AddonPlan plan("fsx_csi", component->addon, {"kubernetes_access"});
    plan.configuration = component->configuration;
    plan.needs_nodes = true;
    add_addon(steps, plan);
    needs.emplace_back("fsx_csi");
    add_volume(steps, base::get_string(storage, "name"), std::move(needs));
}

void add_lustre_removal(Steps& steps, std::vector<std::string> needs) {
    steps.add(Row("ports_removed", "Take back the rules of Lustre's ports", std::move(needs))
                  .does(&observe_ports_removed, &act_ports_removed)
                  .as("delete"));
}

void put_lustre_volume(const JsonObject& storage, JsonObject& spec) {
    const auto id = base::get_string(storage, "file_system_id");
    // The driver mounts by DNS and mount name; the handle must only be another one for each volume.
    const auto handle =
        id + "-" + base::get_string(storage, "namespace") + "-" + base::get_string(storage, "name");
    spec["mountOptions"] = JsonArray{"flock"};
    spec["csi"] = JsonObject{{"driver", kDriver},
                             {"volumeHandle", handle},
                             {"volumeAttributes",
                              {{"dnsname", base::get_string(storage, "dns_name")},
                               {"mountname", base::get_string(storage, "mount_name")}}}};
}

JsonObject lustre_row(const JsonValue& volume) {
    if (base::get_string(volume, "spec.csi.driver") != kDriver) return {};
    const auto dns = base::get_string(volume, "spec.csi.volumeAttributes.dnsname");
    return {{"kind", "fsx_lustre"},
            {"file_system_id", dns.substr(0, dns.find('.'))},
            {"dns_name", dns},
            {"mount_name", base::get_string(volume, "spec.csi.volumeAttributes.mountname")}};
}

}  // namespace instantstart::flows
