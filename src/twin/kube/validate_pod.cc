#include <algorithm>
#include <set>

#include "twin/kube/controllers/quantity.h"
#include "twin/kube/metadata.h"
#include "twin/kube/validate_parts.h"

namespace instantstart::twin::kube {

namespace {

// A resource of a vendor ("nvidia.com/gpu"): whole, and never asked for without a limit.
bool is_extended(std::string_view name) {
    return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
}

std::int64_t amount(const JsonValue& quantity) {
    return quantity.is_string() ? controllers::parse_milli(quantity.get_string()) : 0;
}

void check_resources(const JsonValue& container, const std::string& path, Causes& causes) {
    const auto& limits = base::get_object(container, "resources.limits");
    for (const auto& request : base::get_object(container, "resources.requests")) {
        const std::string name(request.key());
        const auto* limit = limits.if_contains(name);
        if (limit == nullptr) {
            if (is_extended(name))
                required(causes, path + ".resources.limits",
                         "Limit must be set for non overcommitable resources");
            continue;
        }
        const bool extended = is_extended(name);
        const auto asked = amount(request.value());
        const auto most = amount(*limit);
        if (extended ? asked != most : asked > most) {
            invalid(causes, path + ".resources.requests", request.value(),
                    std::string("must be ") + (extended ? "equal to " : "less than or equal to ") + name +
                        " limit of " + (limit->is_string() ? std::string(limit->get_string()) : ""));
        }
    }
}

void check_mounts(const JsonObject& spec, const JsonValue& container, const std::string& path,
                  Causes& causes) {
    const auto& volumes = base::get_array(spec, "volumes");
    const auto& mounts = base::get_array(container, "volumeMounts");
    for (std::size_t i = 0; i < mounts.size(); ++i) {
        const auto volume = base::get_string(mounts[i], "name");
        const bool known = std::any_of(volumes.begin(), volumes.end(), [&](const JsonValue& v) {
            return base::get_string(v, "name") == volume;
        });
        if (!known)
            causes.emplace_back("FieldValueNotFound", "Not found: \"" + volume + "\"",
                                path + ".volumeMounts[" + std::to_string(i) + "].name");
    }
}

void check_containers(const JsonObject& spec, const std::string& path, Causes& causes) {
    if (base::get_array(spec, "containers").empty()) required(causes, path + ".containers");
    std::set<std::string> names;
    for (auto list_name : {"containers", "initContainers"}) {
        const auto& list = base::get_array(spec, list_name);
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto at = path + "." + list_name + "[" + std::to_string(i) + "]";
            const auto name = base::get_string(list[i], "name");
            if (!name.empty() && !is_dns_label(name))
                invalid(causes, at + ".name", name.c_str(), "a lowercase RFC 1123 label is required");
            if (!name.empty() && !names.insert(name).second)
                causes.emplace_back("FieldValueDuplicate", "Duplicate value: \"" + name + "\"", at + ".name");
            if (base::get_string(list[i], "image").empty()) required(causes, at + ".image");
            check_mounts(spec, list[i], at, causes);
            check_resources(list[i], at, causes);
        }
    }
}

}  // namespace

void check_pod_spec(const JsonObject& spec, const std::string& path, Causes& causes) {
    check_containers(spec, path, causes);
    const auto policy = base::get_string(spec, "restartPolicy", "Always");
    if (policy != "Always" && policy != "OnFailure" && policy != "Never")
        not_supported(causes, path + ".restartPolicy", policy, "\"Always\", \"OnFailure\", \"Never\"");
}

void check_pod_change(const JsonObject& before, const JsonObject& after, Causes& causes) {
    // Who schedules writes the node's name once, through the binding; what is compared is the rest.
    const auto fixed = [](const JsonObject& pod) {
        auto spec = base::get_object(pod, "spec");
        for (auto member : {"tolerations", "activeDeadlineSeconds", "terminationGracePeriodSeconds",
                            "schedulingGates", "ephemeralContainers"})
            spec.erase(member);
        for (auto list_name : {"containers", "initContainers"}) {
            auto* list = spec.if_contains(list_name);
            if (list == nullptr || !list->is_array()) continue;
            for (auto& container : list->get_array()) {
                if (!container.is_object()) continue;
                container.get_object().erase("image");
                container.get_object().erase("imagePullPolicy");
            }
        }
        return spec;
    };
    if (fixed(before) == fixed(after)) return;
    causes.emplace_back(
        "FieldValueForbidden",
        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
        "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
        "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
        "previously negative)",
        "spec");
}

}  // namespace instantstart::twin::kube
