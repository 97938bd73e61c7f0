// Cells that are more than one member of the object.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "twin/kube/metadata.h"
#include "twin/kube/table.h"

namespace instantstart::twin::kube {

namespace {

using base::TimePoint;

JsonValue text(const std::string& value) {
    return JsonValue(value.c_str());
}

std::string or_none(const std::string& value) {
    return value.empty() ? "<none>" : value;
}

std::string age(const JsonObject& object, std::string_view path, TimePoint now) {
    const auto time = base::parse_time(base::get_string(object, path));
    return time ? human_age(now - *time) : "<unknown>";
}

std::string labels_text(const JsonObject& labels) {
    std::string out;
    for (const auto& label : labels) {
        if (!out.empty()) out += ",";
        out += std::string(label.key()) + "=" +
               (label.value().is_string() ? std::string(label.value().get_string()) : "");
    }
    return out;
}

std::string ratio(std::int64_t part, std::int64_t whole) {
    return std::to_string(part) + "/" + std::to_string(whole);
}

JsonValue pod_ready(const JsonObject& object, TimePoint) {
    std::int64_t ready = 0;
    for (const auto& status : base::get_array(object, "status.containerStatuses"))
        ready += base::get_bool(status, "ready") ? 1 : 0;
    return text(ratio(ready, static_cast<std::int64_t>(base::get_array(object, "spec.containers").size())));
}

std::string terminated_reason(const JsonValue& status) {
    auto reason = base::get_string(status, "state.terminated.reason");
    if (!reason.empty()) return reason;
    return "ExitCode:" + std::to_string(base::get_int(status, "state.terminated.exitCode"));
}

// "Init:1/2", "Init:Error", … while init containers run; "" afterwards.
std::string init_status(const JsonObject& object) {
    const auto& statuses = base::get_array(object, "status.initContainerStatuses");
    const auto total = base::get_array(object, "spec.initContainers").size();
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        const auto& status = statuses[i];
        if (base::find_path(status, "state.terminated") != nullptr) {
            if (base::get_int(status, "state.terminated.exitCode") == 0) continue;
            return "Init:" + terminated_reason(status);
        }
        const auto waiting = base::get_string(status, "state.waiting.reason");
        if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
        return "Init:" + ratio(static_cast<std::int64_t>(i), static_cast<std::int64_t>(total));
    }
    return "";
}

JsonValue pod_status(const JsonObject& object, TimePoint) {
    auto reason = base::get_string(object, "status.reason", base::get_string(object, "status.phase"));
    for (const auto& condition : base::get_array(object, "status.conditions")) {
        if (base::get_string(condition, "reason") == "SchedulingGated") reason = "SchedulingGated";
    }
    const auto initial = init_status(object);
    if (!initial.empty()) {
        reason = initial;
    } else {
        bool running = false;
        const auto& statuses = base::get_array(object, "status.containerStatuses");
        for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
            const auto waiting = base::get_string(*status, "state.waiting.reason");
            if (!waiting.empty()) reason = waiting;
            if (base::find_path(*status, "state.terminated") != nullptr) reason = terminated_reason(*status);
            running = running || (base::get_bool(*status, "ready") &&
                                  base::find_path(*status, "state.running") != nullptr);
        }
        if (reason == "Completed" && running) reason = "Running";
    }
    if (is_terminating(object))
        reason = base::get_string(object, "status.reason") == "NodeLost" ? "Unknown" : "Terminating";
    return text(reason);
}

JsonValue pod_restarts(const JsonObject& object, TimePoint now) {
    std::int64_t restarts = 0;
    std::optional<TimePoint> last;
    for (const auto& status : base::get_array(object, "status.containerStatuses")) {
        restarts += base::get_int(status, "restartCount");
        const auto ended = base::parse_time(base::get_string(status, "lastState.terminated.finishedAt"));
        if (ended && (!last || *ended > *last)) last = ended;
    }
    if (restarts == 0 || !last) return text(std::to_string(restarts));
    return text(std::to_string(restarts) + " (" + human_age(now - *last) + " ago)");
}

JsonValue node_status(const JsonObject& object, TimePoint) {
    std::string out = "Unknown";
    for (const auto& condition : base::get_array(object, "status.conditions")) {
        if (base::get_string(condition, "type") == "Ready")
            out = base::get_string(condition, "status") == "True" ? "Ready" : "NotReady";
    }
    if (base::get_bool(object, "spec.unschedulable")) out += ",SchedulingDisabled";
    return text(out);
}

JsonValue node_roles(const JsonObject& object, TimePoint) {
    std::vector<std::string> roles;
    constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
    for (const auto& label : base::get_object(object, "metadata.labels")) {
        const std::string_view key = label.key();
        if (key.starts_with(kPrefix)) roles.emplace_back(key.substr(kPrefix.size()));
    }
    std::sort(roles.begin(), roles.end());
    return text(or_none(base::join(roles, ",")));
}

std::string node_address(const JsonObject& object, std::string_view type) {
    for (const auto& address : base::get_array(object, "status.addresses")) {
        if (base::get_string(address, "type") == type) return base::get_string(address, "address");
    }
    return "<none>";
}

JsonValue ready_of_replicas(const JsonObject& object, TimePoint) {
    return text(ratio(base::get_int(object, "status.readyReplicas"), base::get_int(object, "spec.replicas")));
}

std::string of_containers(const JsonObject& object, std::string_view member) {
    std::vector<std::string> out;
    for (const auto& container : base::get_array(object, "spec.template.spec.containers"))
        out.push_back(base::get_string(container, member));
    return base::join(out, ",");
}

std::string selector_text(const JsonObject& selector) {
    auto out = labels_text(base::get_object(selector, "matchLabels"));
    for (const auto& row : base::get_array(selector, "matchExpressions")) {
        if (!out.empty()) out += ",";
        const auto op = base::get_string(row, "operator");
        std::vector<std::string> values;
        for (const auto& value : base::get_array(row, "values"))
            values.emplace_back(value.is_string() ? std::string(value.get_string()) : "");
        const auto key = base::get_string(row, "key");
        if (op == "Exists")
            out += key;
        else if (op == "DoesNotExist")
            out += "!" + key;
        else
            out += key + (op == "In" ? " in (" : " notin (") + base::join(values, ",") + ")";
    }
    return or_none(out);
}

JsonValue job_status(const JsonObject& object, TimePoint) {
    std::string out = "Running";
    for (const auto& condition : base::get_array(object, "status.conditions")) {
        const auto type = base::get_string(condition, "type");
        if (base::get_string(condition, "status") != "True") continue;
        if (type == "Complete" || type == "Failed" || type == "Suspended") out = type;
        if (type == "FailureTarget") out = "FailureTarget";
        if (type == "SuccessCriteriaMet" && out == "Running") out = "SuccessCriteriaMet";
    }
    if (is_terminating(object)) out = "Terminating";
    return text(out);
}

JsonValue job_completions(const JsonObject& object, TimePoint) {
    const auto done = base::get_int(object, "status.succeeded");
    if (base::find_path(object, "spec.completions") != nullptr)
        return text(ratio(done, base::get_int(object, "spec.completions")));
    const auto parallel = base::get_int(object, "spec.parallelism", 1);
    return text(std::to_string(done) + (parallel > 1 ? "/1 of " + std::to_string(parallel) : "/1"));
}

JsonValue job_duration(const JsonObject& object, TimePoint now) {
    const auto start = base::parse_time(base::get_string(object, "status.startTime"));
    if (!start) return text("");
    const auto end = base::parse_time(base::get_string(object, "status.completionTime"));
    return text(human_age((end ? *end : now) - *start));
}

JsonValue service_external(const JsonObject& object, TimePoint) {
    const auto type = base::get_string(object, "spec.type");
    std::vector<std::string> names;
    for (const auto& entry : base::get_array(object, "status.loadBalancer.ingress")) {
        names.push_back(base::get_string(entry, "hostname", base::get_string(entry, "ip")));
    }
    if (type == "ExternalName") return text(base::get_string(object, "spec.externalName"));
    if (type == "LoadBalancer") return text(names.empty() ? "<pending>" : base::join(names, ","));
    return text("<none>");
}

JsonValue service_ports(const JsonObject& object, TimePoint) {
    std::vector<std::string> ports;
    for (const auto& port : base::get_array(object, "spec.ports")) {
        auto one = std::to_string(base::get_int(port, "port"));
        if (const auto node = base::get_int(port, "nodePort"); node != 0) one += ":" + std::to_string(node);
        ports.push_back(one + "/" + base::get_string(port, "protocol", "TCP"));
    }
    return text(or_none(base::join(ports, ",")));
}

JsonValue endpoint_addresses(const JsonObject& object, TimePoint) {
    std::vector<std::string> out;
    for (const auto& subset : base::get_array(object, "subsets")) {
        for (const auto& port : base::get_array(subset, "ports")) {
            for (const auto& address : base::get_array(subset, "addresses")) {
                out.push_back(base::get_string(address, "ip") + ":" +
                              std::to_string(base::get_int(port, "port")));
            }
        }
    }
    const auto total = out.size();
    if (total <= 3) return text(or_none(base::join(out, ",")));
    out.resize(3);
    return text(base::join(out, ",") + " + " + std::to_string(total - 3) + " more...");
}

JsonValue slice_ports(const JsonObject& object, TimePoint) {
    std::vector<std::string> out;
    for (const auto& port : base::get_array(object, "ports"))
        out.push_back(std::to_string(base::get_int(port, "port")));
    return text(out.empty() ? "<unset>" : base::join(out, ","));
}

JsonValue slice_endpoints(const JsonObject& object, TimePoint) {
    std::vector<std::string> out;
    for (const auto& endpoint : base::get_array(object, "endpoints")) {
        for (const auto& address : base::get_array(endpoint, "addresses"))
            out.emplace_back(address.is_string() ? std::string(address.get_string()) : "");
    }
    return text(out.empty() ? "<unset>" : base::join(out, ","));
}

JsonValue data_count(const JsonObject& object, TimePoint) {
    return base::get_object(object, "data").size() + base::get_object(object, "binaryData").size();
}

JsonValue claim_status(const JsonObject& object, TimePoint) {
    return text(is_terminating(object) ? "Terminating" : base::get_string(object, "status.phase"));
}

std::string modes_text(const JsonArray& modes) {
    static const std::map<std::string, std::string> kShort = {{"ReadWriteOnce", "RWO"},
                                                              {"ReadOnlyMany", "ROX"},
                                                              {"ReadWriteMany", "RWX"},
                                                              {"ReadWriteOncePod", "RWOP"}};
    std::vector<std::string> out;
    for (const auto& mode : modes) {
        const auto found = mode.is_string() ? kShort.find(std::string(mode.get_string())) : kShort.end();
        if (found != kShort.end()) out.push_back(found->second);
    }
    return base::join(out, ",");
}

JsonValue volume_claim(const JsonObject& object, TimePoint) {
    const auto name = base::get_string(object, "spec.claimRef.name");
    return text(name.empty() ? "" : base::get_string(object, "spec.claimRef.namespace") + "/" + name);
}

JsonValue class_name(const JsonObject& object, TimePoint) {
    const auto& notes = base::get_object(object, "metadata.annotations");
    const auto* mark = notes.if_contains("storageclass.kubernetes.io/is-default-class");
    return text(name_of(object) + (mark != nullptr && *mark == JsonValue("true") ? " (default)" : ""));
}

std::string event_time(const JsonObject& object, std::initializer_list<std::string_view> paths,
                       TimePoint now) {
    for (auto path : paths) {
        if (!base::get_string(object, path).empty()) return age(object, path, now);
    }
    return "<unknown>";
}

std::string binding_subjects(const JsonObject& object, std::string_view kind) {
    std::vector<std::string> out;
    for (const auto& subject : base::get_array(object, "subjects")) {
        if (base::get_string(subject, "kind") != kind) continue;
        const auto ns = base::get_string(subject, "namespace");
        out.push_back((ns.empty() ? "" : ns + "/") + base::get_string(subject, "name"));
    }
    return base::join(out, ", ");
}

JsonValue ingress_hosts(const JsonObject& object, TimePoint) {
    std::vector<std::string> out;
    for (const auto& rule : base::get_array(object, "spec.rules"))
        out.push_back(base::get_string(rule, "host", "*"));
    return text(out.empty() ? "*" : base::join(out, ","));
}

JsonValue ingress_address(const JsonObject& object, TimePoint) {
    std::vector<std::string> out;
    for (const auto& entry : base::get_array(object, "status.loadBalancer.ingress"))
        out.push_back(base::get_string(entry, "hostname", base::get_string(entry, "ip")));
    return text(base::join(out, ","));
}

JsonValue scale_targets(const JsonObject& object, TimePoint) {
    const auto count = base::get_array(object, "spec.metrics").size();
    return text(count == 0 ? "<none>" : "<unknown>");
}

template <const char* Member>
JsonValue containers_cell(const JsonObject& object, TimePoint) {
    return text(of_containers(object, Member));
}
template <const char* Type>
JsonValue address_cell(const JsonObject& object, TimePoint) {
    return text(node_address(object, Type));
}
template <const char* Type>
JsonValue subjects_cell(const JsonObject& object, TimePoint) {
    return text(binding_subjects(object, Type));
}
constexpr char kName[] = "name", kImage[] = "image", kInternal[] = "InternalIP", kExternal[] = "ExternalIP",
               kUser[] = "User", kGroup[] = "Group", kAccount[] = "ServiceAccount";

}  // namespace

CellFunction cell_function(std::string_view name) {
    static const std::map<std::string, CellFunction, std::less<>> kCells = {
        {"none", [](const JsonObject&, TimePoint) { return text("<none>"); }},
        {"none_unset", [](const JsonObject&, TimePoint) { return text("<unset>"); }},
        {"pod_ready", pod_ready},
        {"pod_status", pod_status},
        {"pod_restarts", pod_restarts},
        {"node_status", node_status},
        {"node_roles", node_roles},
        {"node_internal_ip", address_cell<kInternal>},
        {"node_external_ip", address_cell<kExternal>},
        {"ready_of_replicas", ready_of_replicas},
        {"containers", containers_cell<kName>},
        {"images", containers_cell<kImage>},
        {"selector", [](const JsonObject& o,
                        TimePoint) { return text(selector_text(base::get_object(o, "spec.selector"))); }},
        {"policy_selector",
         [](const JsonObject& o, TimePoint) {
             return text(selector_text(base::get_object(o, "spec.podSelector")));
         }},
        {"service_selector",
         [](const JsonObject& o, TimePoint) {
             return text(or_none(labels_text(base::get_object(o, "spec.selector"))));
         }},
        {"node_selector",
         [](const JsonObject& o, TimePoint) {
             return text(or_none(labels_text(base::get_object(o, "spec.template.spec.nodeSelector"))));
         }},
        {"job_status", job_status},
        {"job_completions", job_completions},
        {"job_duration", job_duration},
        {"suspend", [](const JsonObject& o,
                       TimePoint) { return text(base::get_bool(o, "spec.suspend") ? "True" : "False"); }},
        {"service_external", service_external},
        {"service_ports", service_ports},
        {"endpoint_addresses", endpoint_addresses},
        {"slice_ports", slice_ports},
        {"slice_endpoints", slice_endpoints},
        {"data_count", data_count},
        {"claim_status", claim_status},
        {"claim_modes", [](const JsonObject& o,
                           TimePoint) { return text(modes_text(base::get_array(o, "status.accessModes"))); }},
        {"volume_modes", [](const JsonObject& o,
                            TimePoint) { return text(modes_text(base::get_array(o, "spec.accessModes"))); }},
        {"volume_claim", volume_claim},
        {"class_name", class_name},
        {"driver_modes", [](const JsonObject&, TimePoint) { return text("Persistent"); }},
        {"event_last",
         [](const JsonObject& o, TimePoint now) {
             return text(event_time(
                 o, {"series.lastObservedTime", "lastTimestamp", "eventTime", "metadata.creationTimestamp"},
                 now));
         }},
        {"event_first",
         [](const JsonObject& o, TimePoint now) {
             return text(event_time(o, {"firstTimestamp", "eventTime", "metadata.creationTimestamp"}, now));
         }},
        {"event_object",
         [](const JsonObject& o, TimePoint) {
             return text(base::to_lower(base::get_string(o, "involvedObject.kind")) + "/" +
                         base::get_string(o, "involvedObject.name"));
         }},
        {"event_source",
         [](const JsonObject& o, TimePoint) {
             return text(base::get_string(o, "source.component", base::get_string(o, "reportingComponent")));
         }},
        {"event_count",
         [](const JsonObject& o, TimePoint) { return JsonValue(base::get_int(o, "count", 1)); }},
        {"binding_role",
         [](const JsonObject& o, TimePoint) {
             return text(base::get_string(o, "roleRef.kind") + "/" + base::get_string(o, "roleRef.name"));
         }},
        {"binding_users", subjects_cell<kUser>},
        {"binding_groups", subjects_cell<kGroup>},
        {"binding_accounts", subjects_cell<kAccount>},
        {"ingress_hosts", ingress_hosts},
        {"ingress_address", ingress_address},
        {"ingress_ports",
         [](const JsonObject& o, TimePoint) {
             return text(base::get_array(o, "spec.tls").empty() ? "80" : "80, 443");
         }},
        {"scale_reference",
         [](const JsonObject& o, TimePoint) {
             return text(base::get_string(o, "spec.scaleTargetRef.kind") + "/" +
                         base::get_string(o, "spec.scaleTargetRef.name"));
         }},
        {"scale_targets", scale_targets},
    };
    const auto found = kCells.find(name);
    return found == kCells.end() ? nullptr : found->second;
}

}  // namespace instantstart::twin::kube
