#include "twin/kube/table.h"

#include <map>

#include "base/text.h"
#include "twin/kube/json_path.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

// Columns as "Title=expression;…"; a title that begins with '+' shows with -o wide only. An expression is a
// path, "#path" (how many), "@path" (how long ago), "!name" (a function of columns.cc) and may end in
// "|fallback".
const std::map<std::string, const char*, std::less<>>& formats() {
    static const std::map<std::string, const char*, std::less<>> kFormats = {
        {"pods",
         "Name=metadata.name;Ready=!pod_ready;Status=!pod_status;Restarts=!pod_restarts;Age=@metadata."
         "creationTimestamp;"
         "+IP=status.podIP|<none>;+Node=spec.nodeName|<none>;+Nominated Node=status.nominatedNodeName|<none>;"
         "+Readiness Gates=!none"},
        {"nodes",
         "Name=metadata.name;Status=!node_status;Roles=!node_roles;Age=@metadata.creationTimestamp;"
         "Version=status.nodeInfo.kubeletVersion;+Internal-IP=!node_internal_ip;+External-IP=!node_external_"
         "ip;"
         "+OS-Image=status.nodeInfo.osImage|<unknown>;+Kernel-Version=status.nodeInfo.kernelVersion|<unknown>"
         ";"
         "+Container-Runtime=status.nodeInfo.containerRuntimeVersion|<unknown>"},
        {"deployments.apps",
         "Name=metadata.name;Ready=!ready_of_replicas;Up-to-date=status.updatedReplicas|0;Available=status."
         "availableReplicas|0;"
         "Age=@metadata.creationTimestamp;+Containers=!containers;+Images=!images;+Selector=!selector"},
        {"daemonsets.apps",
         "Name=metadata.name;Desired=status.desiredNumberScheduled|0;Current=status.currentNumberScheduled|0;"
         "Ready=status.numberReady|0;Up-to-date=status.updatedNumberScheduled|0;Available=status."
         "numberAvailable|0;"
         "Node "
         "Selector=!node_selector;Age=@metadata.creationTimestamp;+Containers=!containers;+Images=!images;"
         "+Selector=!selector"},
        {"replicasets.apps",
         "Name=metadata.name;Desired=spec.replicas|0;Current=status.replicas|0;Ready=status.readyReplicas|0;"
         "Age=@metadata.creationTimestamp;+Containers=!containers;+Images=!images;+Selector=!selector"},
        {"statefulsets.apps",
         "Name=metadata.name;Ready=!ready_of_replicas;Age=@metadata.creationTimestamp;+Containers=!"
         "containers;+Images=!images"},
        {"replicationcontrollers",
         "Name=metadata.name;Desired=spec.replicas|0;Current=status.replicas|0;Ready=status.readyReplicas|0;"
         "Age=@metadata.creationTimestamp"},
        {"jobs.batch",
         "Name=metadata.name;Status=!job_status;Completions=!job_completions;Duration=!job_duration;"
         "Age=@metadata.creationTimestamp;+Containers=!containers;+Images=!images;+Selector=!selector"},
        {"cronjobs.batch",
         "Name=metadata.name;Schedule=spec.schedule;Timezone=spec.timeZone|<none>;Suspend=!suspend;Active=#"
         "status.active;"
         "Last Schedule=@status.lastScheduleTime|<none>;Age=@metadata.creationTimestamp"},
        {"services",
         "Name=metadata.name;Type=spec.type;Cluster-IP=spec.clusterIP|<none>;External-IP=!service_external;"
         "Port(s)=!service_ports;Age=@metadata.creationTimestamp;+Selector=!service_selector"},
        {"endpoints", "Name=metadata.name;Endpoints=!endpoint_addresses;Age=@metadata.creationTimestamp"},
        {"endpointslices.discovery.k8s.io",
         "Name=metadata.name;AddressType=addressType;Ports=!slice_ports;Endpoints=!slice_endpoints;Age=@"
         "metadata.creationTimestamp"},
        {"namespaces", "Name=metadata.name;Status=status.phase;Age=@metadata.creationTimestamp"},
        {"configmaps", "Name=metadata.name;Data=!data_count;Age=@metadata.creationTimestamp"},
        {"secrets", "Name=metadata.name;Type=type;Data=!data_count;Age=@metadata.creationTimestamp"},
        {"serviceaccounts", "Name=metadata.name;Secrets=#secrets;Age=@metadata.creationTimestamp"},
        {"persistentvolumeclaims",
         "Name=metadata.name;Status=!claim_status;Volume=spec.volumeName|;Capacity=status.capacity.storage|;"
         "Access Modes=!claim_modes;StorageClass=spec.storageClassName|;"
         "VolumeAttributesClass=spec.volumeAttributesClassName|<unset>;Age=@metadata.creationTimestamp;+"
         "VolumeMode=spec.volumeMode"},
        {"persistentvolumes",
         "Name=metadata.name;Capacity=spec.capacity.storage|;Access Modes=!volume_modes;"
         "Reclaim Policy=spec.persistentVolumeReclaimPolicy;Status=!claim_status;Claim=!volume_claim;"
         "StorageClass=spec.storageClassName|;VolumeAttributesClass=spec.volumeAttributesClassName|<unset>;"
         "Reason=status.reason|;Age=@metadata.creationTimestamp;+VolumeMode=spec.volumeMode"},
        {"storageclasses.storage.k8s.io",
         "Name=!class_name;Provisioner=provisioner;ReclaimPolicy=reclaimPolicy;VolumeBindingMode="
         "volumeBindingMode;"
         "AllowVolumeExpansion=allowVolumeExpansion|false;Age=@metadata.creationTimestamp"},
        {"csidrivers.storage.k8s.io",
         "Name=metadata.name;AttachRequired=spec.attachRequired|true;PodInfoOnMount=spec.podInfoOnMount|"
         "false;"
         "StorageCapacity=spec.storageCapacity|false;TokenRequests=!none_unset;RequiresRepublish=spec."
         "requiresRepublish|false;"
         "Modes=!driver_modes;Age=@metadata.creationTimestamp"},
        {"csinodes.storage.k8s.io",
         "Name=metadata.name;Drivers=#spec.drivers;Age=@metadata.creationTimestamp"},
        {"events",
         "Last "
         "Seen=!event_last;Type=type;Reason=reason;Object=!event_object;+Subobject=involvedObject.fieldPath|;"
         "+Source=!event_source;Message=message;+First "
         "Seen=!event_first;+Count=!event_count;+Name=metadata.name"},
        {"customresourcedefinitions.apiextensions.k8s.io",
         "Name=metadata.name;Created At=metadata.creationTimestamp"},
        {"clusterroles.rbac.authorization.k8s.io",
         "Name=metadata.name;Created At=metadata.creationTimestamp"},
        {"roles.rbac.authorization.k8s.io", "Name=metadata.name;Created At=metadata.creationTimestamp"},
        {"clusterrolebindings.rbac.authorization.k8s.io",
         "Name=metadata.name;Role=!binding_role;Age=@metadata.creationTimestamp;+Users=!binding_users;+"
         "Groups=!binding_groups;"
         "+ServiceAccounts=!binding_accounts"},
        {"rolebindings.rbac.authorization.k8s.io",
         "Name=metadata.name;Role=!binding_role;Age=@metadata.creationTimestamp;+Users=!binding_users;+"
         "Groups=!binding_groups;"
         "+ServiceAccounts=!binding_accounts"},
        {"ingresses.networking.k8s.io",
         "Name=metadata.name;Class=spec.ingressClassName|<none>;Hosts=!ingress_hosts;Address=!ingress_"
         "address;Ports=!ingress_ports;"
         "Age=@metadata.creationTimestamp"},
        {"ingressclasses.networking.k8s.io",
         "Name=metadata.name;Controller=spec.controller;Parameters=!none;Age=@metadata.creationTimestamp"},
        {"networkpolicies.networking.k8s.io",
         "Name=metadata.name;Pod-Selector=!policy_selector;Age=@metadata.creationTimestamp"},
        {"horizontalpodautoscalers.autoscaling",
         "Name=metadata.name;Reference=!scale_reference;Targets=!scale_targets;MinPods=spec.minReplicas|<"
         "unset>;"
         "MaxPods=spec.maxReplicas;Replicas=status.currentReplicas|0;Age=@metadata.creationTimestamp"},
        {"poddisruptionbudgets.policy",
         "Name=metadata.name;Min Available=spec.minAvailable|N/A;Max Unavailable=spec.maxUnavailable|N/A;"
         "Allowed Disruptions=status.disruptionsAllowed|0;Age=@metadata.creationTimestamp"},
        {"leases.coordination.k8s.io",
         "Name=metadata.name;Holder=spec.holderIdentity|;Age=@metadata.creationTimestamp"},
        {"priorityclasses.scheduling.k8s.io",
         "Name=metadata.name;Value=value;Global-Default=globalDefault|false;Age=@metadata.creationTimestamp;"
         "PreemptionPolicy=preemptionPolicy|PreemptLowerPriority"},
        {"runtimeclasses.node.k8s.io", "Name=metadata.name;Handler=handler;Age=@metadata.creationTimestamp"},
        {"mutatingwebhookconfigurations.admissionregistration.k8s.io",
         "Name=metadata.name;Webhooks=#webhooks;Age=@metadata.creationTimestamp"},
        {"validatingwebhookconfigurations.admissionregistration.k8s.io",
         "Name=metadata.name;Webhooks=#webhooks;Age=@metadata.creationTimestamp"},
        {"controllerrevisions.apps", "Name=metadata.name;Revision=revision;Age=@metadata.creationTimestamp"},
    };
    return kFormats;
}

constexpr const char* kPlain = "Name=metadata.name;Age=@metadata.creationTimestamp";

struct Column {
    std::string title, expression, fallback, type = "string";
    bool wide = false;
    bool custom = false;
};

std::vector<Column> columns_of(const KindInfo& kind) {
    std::vector<Column> out;
    const auto group = kind.kind.group.empty() ? "" : "." + kind.kind.group;
    const auto found = formats().find(kind.kind.plural + group);
    if (!kind.custom || kind.printer_columns.empty()) {
        for (const auto& text : base::split(found == formats().end() ? kPlain : found->second, ';')) {
            Column column;
            const auto equals = text.find('=');
            const auto bar = text.find('|', equals);
            column.wide = text[0] == '+';
            column.title = text.substr(column.wide ? 1 : 0, equals - (column.wide ? 1 : 0));
            column.expression = text.substr(equals + 1, bar == std::string::npos ? bar : bar - equals - 1);
            column.fallback = bar == std::string::npos ? "<none>" : text.substr(bar + 1);
            out.push_back(std::move(column));
        }
        return out;
    }
    Column name;
    name.title = "Name";
    name.expression = "metadata.name";
    out.push_back(name);
    for (const auto& row : kind.printer_columns) {
        Column column;
        column.title = base::get_string(row, "name");
        column.expression = base::get_string(row, "jsonPath");
        column.type = base::get_string(row, "type");
        column.wide = base::get_int(row, "priority") > 0;
        column.custom = true;
        out.push_back(std::move(column));
    }
    return out;
}

std::string age_of(const JsonValue* value, std::string_view fallback, base::TimePoint now) {
    if (value == nullptr || !value->is_string()) return std::string(fallback);
    const auto time = base::parse_time(value->get_string());
    return time ? human_age(now - *time) : "<invalid>";
}

JsonValue custom_cell(const Column& column, const JsonValue& object, base::TimePoint now) {
    const auto found = json_path(object, column.expression);
    if (found.empty() || found.front()->is_null()) return nullptr;
    if (column.type == "date") return JsonValue(age_of(found.front(), "<unknown>", now).c_str());
    const auto& first = *found.front();
    if (column.type != "string" || first.is_string()) return first;
    return JsonValue(base::to_text(first).c_str());
}

JsonValue cell(const Column& column, const JsonObject& object, const JsonValue& whole, base::TimePoint now) {
    if (column.custom) return custom_cell(column, whole, now);
    const std::string_view expression = column.expression;
    if (expression[0] == '!') {
        const auto function = cell_function(expression.substr(1));
        return function == nullptr ? JsonValue("<unknown>") : function(object, now);
    }
    if (expression[0] == '#') return base::get_array(object, expression.substr(1)).size();
    if (expression[0] == '@') {
        const auto text = age_of(base::find_path(object, expression.substr(1)),
                                 column.fallback == "<none>" ? "<unknown>" : column.fallback, now);
        return JsonValue(text.c_str());
    }
    const auto* value = base::find_path(object, expression);
    if (value != nullptr && !value->is_null() && *value != JsonValue("")) {
        return value->is_bool() ? JsonValue(value->get_bool() ? "true" : "false") : *value;
    }
    if (column.fallback == "0") return 0;
    return JsonValue(column.fallback.c_str());
}

JsonArray definitions(const std::vector<Column>& columns) {
    JsonArray out;
    for (const auto& column : columns) {
        out.emplace_back(JsonObject{{"name", column.title},
                                    {"type", column.type},
                                    {"format", column.title == "Name" ? "name" : ""},
                                    {"description", ""},
                                    {"priority", column.wide ? 1 : 0}});
    }
    return out;
}

}  // namespace

std::string human_age(base::Duration age) {
    const auto total = std::chrono::duration_cast<std::chrono::seconds>(age).count();
    if (total < -1) return "<invalid>";
    if (total < 0) return "0s";
    const auto pair = [](long long big, const char* unit, long long small, const char* rest) {
        return std::to_string(big) + unit + (small == 0 ? "" : std::to_string(small) + rest);
    };
    const auto minutes = total / 60;
    const auto hours = total / 3600;
    const auto days = hours / 24;
    if (total < 120) return std::to_string(total) + "s";
    if (minutes < 10) return pair(minutes, "m", total % 60, "s");
    if (minutes < 180) return std::to_string(minutes) + "m";
    if (hours < 8) return pair(hours, "h", minutes % 60, "m");
    if (hours < 48) return std::to_string(hours) + "h";
    if (days < 8) return pair(days, "d", hours % 24, "h");
    if (days < 730) return std::to_string(days) + "d";
    return pair(days / 365, "y", days % 365, "d");
}

JsonObject make_table(const KindInfo& kind, const std::vector<ObjectPtr>& objects, base::TimePoint now,
                      const TableOptions& options, JsonObject list_metadata) {
    const auto columns = columns_of(kind);
    JsonObject table;
    table["kind"] = "Table";
    table["apiVersion"] = options.api_version;
    table["metadata"] = std::move(list_metadata);
    table["columnDefinitions"] = options.headers ? JsonValue(definitions(columns)) : JsonValue(nullptr);
    JsonArray rows;
    for (const auto& object : objects) {
        JsonArray cells;
        const JsonValue whole = kind.custom ? JsonValue(*object) : JsonValue();
        for (const auto& column : columns) cells.push_back(cell(column, *object, whole, now));
        JsonObject row;
        row["cells"] = std::move(cells);
        if (options.include_object == "Object") {
            row["object"] = *object;
        } else if (options.include_object != "None") {
            row["object"] = JsonObject{{"kind", "PartialObjectMetadata"},
                                       {"apiVersion", "meta.k8s.io/v1"},
                                       {"metadata", base::get_object(*object, "metadata")}};
        } else {
            row["object"] = nullptr;
        }
        rows.emplace_back(std::move(row));
    }
    table["rows"] = std::move(rows);
    return table;
}

}  // namespace instantstart::twin::kube
