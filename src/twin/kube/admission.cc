#include "twin/kube/admission.h"

#include <algorithm>

#include "base/text.h"
#include "twin/kube/controllers/object.h"
#include "twin/kube/metadata.h"
#include "twin/kube/quota.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

using controllers::Amounts;

const Kind kPods("", "pods"), kBudgets("policy", "poddisruptionbudgets");

std::string listed(const Amounts& amounts) {
    std::vector<std::string> parts;
    for (const auto& [name, amount] : amounts) parts.push_back(name + "=" + amount_text(name, amount));
    return base::join(parts, ",");
}

base::Error refused(const Kind& kind, const JsonObject& object, const std::string& why) {
    return forbidden(qualified(kind) + " \"" + name_of(object) + "\" is forbidden: " + why, kind,
                     name_of(object));
}

// A quota of compute resources asks every container to name them.
std::string unnamed(const JsonObject& quota, const JsonObject& pod) {
    std::vector<std::string> parts;
    for (const auto& hard : base::get_object(quota, "spec.hard")) {
        const std::string name(hard.key());
        const bool limit = name.starts_with("limits.");
        const auto plain = limit ? name.substr(7) : name.starts_with("requests.") ? name.substr(9) : name;
        if (plain != "cpu" && plain != "memory") continue;
        std::vector<std::string> containers;
        for (const auto& container : base::get_array(pod, "spec.containers")) {
            const auto& amounts =
                base::get_object(container, limit ? "resources.limits" : "resources.requests");
            if (!amounts.contains(plain)) containers.push_back(base::get_string(container, "name"));
        }
        if (!containers.empty()) parts.push_back(name + " for: " + base::join(containers, ","));
    }
    std::sort(parts.begin(), parts.end());
    return parts.empty() ? "" : "must specify " + base::join(parts, "; ");
}

std::int64_t taken_of(const JsonObject& used, std::string_view name) {
    const auto* value = used.if_contains(name);
    return value != nullptr && value->is_string() ? controllers::parse_milli(value->get_string()) : 0;
}

// "" where the quota has room.
std::string over_quota(const JsonObject& quota, const Amounts& asked) {
    Amounts requested, used, limited;
    const auto& now = base::get_object(quota, "status.used");
    for (const auto& [name, limit] : controllers::amounts_of(base::get_object(quota, "spec.hard"))) {
        const auto want = asked.find(name);
        if (want == asked.end() || want->second == 0) continue;
        const auto taken = taken_of(now, name);
        if (taken + want->second <= limit) continue;
        requested[name] = want->second;
        used[name] = taken;
        limited[name] = limit;
    }
    if (requested.empty()) return {};
    return "exceeded quota: " + name_of(quota) + ", requested: " + listed(requested) +
           ", used: " + listed(used) + ", limited: " + listed(limited);
}

void take(ObjectStore& objects, const JsonObject& quota, const Amounts& asked) {
    JsonObject next = quota;
    const JsonObject before = base::get_object(quota, "status.used");
    JsonObject& used = object_at(object_at(next, "status"), "used");
    for (const auto& hard : base::get_object(quota, "spec.hard")) {
        const auto want = asked.find(std::string_view(hard.key()));
        if (want == asked.end() || want->second == 0) continue;
        const std::string name(hard.key());
        used[name] = amount_text(name, taken_of(before, name) + want->second);
    }
    metadata_of(next).erase("resourceVersion");
    auto written = objects.update(kQuotas, std::move(next));
    static_cast<void>(written);
}

// The bounds of one LimitRange item, applied to what one container (or the pod, or a claim) asks for.
void check_bounds(const JsonValue& item, const std::string& type, const Amounts& requests,
                  const Amounts& limits, std::vector<std::string>& broken) {
    const auto amount = [](const Amounts& amounts, const std::string& name) {
        const auto found = amounts.find(name);
        return found == amounts.end() ? 0 : found->second;
    };
    for (const auto& [name, least] : controllers::amounts_of(base::get_object(item, "min"))) {
        const auto has = amount(requests, name);
        const auto head = "minimum " + name + " usage per " + type + " is " + amount_text(name, least);
        if (has == 0) {
            broken.push_back(head + ".  No request is specified");
        } else if (has < least) {
            broken.push_back(head + ", but request is " + amount_text(name, has));
        }
    }
    for (const auto& [name, most] : controllers::amounts_of(base::get_object(item, "max"))) {
        const auto has = amount(type == "PersistentVolumeClaim" ? requests : limits, name);
        const auto head = "maximum " + name + " usage per " + type + " is " + amount_text(name, most);
        if (has == 0) {
            broken.push_back(head + ".  No limit is specified");
        } else if (has > most) {
            broken.push_back(head + ", but " + (type == "PersistentVolumeClaim" ? "request" : "limit") +
                             " is " + amount_text(name, has));
        }
    }
    for (const auto& [name, ratio] :
         controllers::amounts_of(base::get_object(item, "maxLimitRequestRatio"))) {
        const auto request = amount(requests, name);
        const auto limit = amount(limits, name);
        if (request == 0 || limit == 0 || limit * 1000 <= request * ratio) continue;
        broken.push_back(name + " max limit to request ratio per " + type + " is " + amount_text("", ratio) +
                         ", but provided ratio is " +
                         std::to_string(static_cast<double>(limit) / static_cast<double>(request)));
    }
}

// What a container does not say is filled in; told by an annotation as LimitRanger does.
void fill_defaults(const JsonValue& item, JsonObject& pod, std::vector<std::string>& filled) {
    const auto& limits = base::get_object(item, "default");
    const auto& requests = base::get_object(item, "defaultRequest");
    for (const char* list : {"containers", "initContainers"}) {
        auto& spec = object_at(pod, "spec");
        if (!spec.contains(list)) continue;
        for (auto& value : controllers::list_at(spec, list)) {
            if (!value.is_object()) continue;
            const auto name = base::get_string(value, "name");
            const auto put = [&](const char* which, const JsonObject& defaults, const char* word) {
                std::vector<std::string> names;
                for (const auto& one : defaults) {
                    auto& amounts = object_at(object_at(value.get_object(), "resources"), which);
                    if (amounts.contains(one.key())) continue;
                    amounts[one.key()] = one.value();
                    names.emplace_back(one.key());
                }
                if (names.empty()) return;
                std::sort(names.begin(), names.end());
                filled.push_back(base::join(names, ", ") + " " + word + " for container " + name);
            };
            put("limits", limits, "limit");
            put("requests", requests.empty() ? limits : requests, "request");
        }
    }
}

Amounts amounts_at(const JsonValue& container, const char* path) {
    return controllers::amounts_of(base::get_object(container, path));
}

void check_item(const JsonValue& item, const Kind& kind, const JsonObject& object,
                std::vector<std::string>& broken) {
    const auto type = base::get_string(item, "type");
    if (kind == kPods && type == "Container") {
        for (const char* list : {"spec.containers", "spec.initContainers"}) {
            for (const auto& container : base::get_array(object, list)) {
                check_bounds(item, type, amounts_at(container, "resources.requests"),
                             amounts_at(container, "resources.limits"), broken);
            }
        }
    } else if (kind == kPods && type == "Pod") {
        Amounts requests, limits;
        for (const auto& container : base::get_array(object, "spec.containers")) {
            for (const auto& [name, amount] : amounts_at(container, "resources.requests"))
                requests[name] += amount;
            for (const auto& [name, amount] : amounts_at(container, "resources.limits"))
                limits[name] += amount;
        }
        check_bounds(item, type, requests, limits, broken);
    } else if (kind.plural == "persistentvolumeclaims" && type == "PersistentVolumeClaim") {
        check_bounds(item, type, controllers::amounts_of(base::get_object(object, "spec.resources.requests")),
                     {}, broken);
    }
}

}  // namespace

base::Result<void> admit_by_limits(const ObjectStore& objects, const Kind& kind, JsonObject& object) {
    const bool concerned = kind == kPods || kind == Kind("", "persistentvolumeclaims");
    if (!concerned) return base::ok();
    const auto ranges = objects.list(Kind("", "limitranges"), namespace_of(object));
    if (ranges.empty()) return base::ok();
    std::vector<std::string> filled;
    for (const auto& range : ranges) {
        for (const auto& item : base::get_array(*range, "spec.limits")) {
            if (kind == kPods && base::get_string(item, "type") == "Container")
                fill_defaults(item, object, filled);
        }
    }
    if (!filled.empty()) {
        object_at(metadata_of(object), "annotations")["kubernetes.io/limit-ranger"] =
            "LimitRanger plugin set: " + base::join(filled, "; ");
    }
    std::vector<std::string> broken;
    for (const auto& range : ranges) {
        for (const auto& item : base::get_array(*range, "spec.limits"))
            check_item(item, kind, object, broken);
    }
    if (broken.empty()) return base::ok();
    const auto text = base::join(broken, ", ");
    return refused(kind, object, broken.size() > 1 ? "[" + text + "]" : text);
}

base::Result<void> admit_by_quotas(ObjectStore& objects, const Kind& kind, const JsonObject& object,
                                   QuotaUse use) {
    const auto ns = namespace_of(object);
    if (ns.empty()) return base::ok();
    const auto quotas = objects.list(kQuotas, ns);
    if (quotas.empty()) return base::ok();
    const auto asked = quota_use(kind, object);
    std::vector<ObjectPtr> concerned;
    for (const auto& quota : quotas) {
        if (!quota_kinds(*quota).contains(kind) || !quota_concerns(*quota, kind, object)) continue;
        if (const auto missing = kind == kPods ? unnamed(*quota, object) : ""; !missing.empty())
            return refused(kind, object, "failed quota: " + name_of(*quota) + ": " + missing);
        if (const auto over = over_quota(*quota, asked); !over.empty()) return refused(kind, object, over);
        concerned.push_back(quota);
    }
    if (use == QuotaUse::checked) return base::ok();
    for (const auto& quota : concerned) take(objects, *quota, asked);
    return base::ok();
}

base::Result<void> admit_eviction(ObjectStore& objects, const JsonObject& pod, QuotaUse use) {
    const auto phase = base::get_string(pod, "status.phase");
    if (phase != "Running" || is_terminating(pod)) return base::ok();
    std::vector<ObjectPtr> budgets;
    for (const auto& budget : objects.list(kBudgets, namespace_of(pod))) {
        const auto* selector = base::find_path(*budget, "spec.selector");
        if (selector != nullptr && selector->is_object() &&
            controllers::selector_matches(selector->get_object(), base::get_object(pod, "metadata.labels")))
            budgets.push_back(budget);
    }
    if (budgets.empty()) return base::ok();
    if (budgets.size() > 1) {
        return server_error(500, "InternalError",
                            "This pod has more than one PodDisruptionBudget, which the eviction "
                            "subresource does not support.");
    }
    const JsonObject& budget = *budgets[0];
    const auto healthy = base::get_int(budget, "status.currentHealthy");
    const auto wanted = base::get_int(budget, "status.desiredHealthy");
    const bool always = base::get_string(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow";
    if (!controllers::is_ready(pod) && (always || (healthy >= wanted && wanted > 0))) return base::ok();
    const auto allowed = base::get_int(budget, "status.disruptionsAllowed");
    if (allowed <= 0) {
        base::Error error(base::ErrorKind::throttled, "TooManyRequests",
                          "Cannot evict pod as it would violate the pod's disruption budget.");
        error.extra["status"] = 429;
        error.extra["details"] = JsonObject{
            {"causes",
             JsonArray{JsonObject{
                 {"reason", "DisruptionBudget"},
                 {"message", "The disruption budget " + name_of(budget) + " needs " + std::to_string(wanted) +
                                 " healthy pods and has " + std::to_string(healthy) + " currently"}}}}};
        return error;
    }
    if (use == QuotaUse::checked) return base::ok();
    JsonObject next = budget;
    object_at(next, "status")["disruptionsAllowed"] = allowed - 1;
    metadata_of(next).erase("resourceVersion");
    auto written = objects.update(kBudgets, std::move(next));
    static_cast<void>(written);
    return base::ok();
}

}  // namespace instantstart::twin::kube
