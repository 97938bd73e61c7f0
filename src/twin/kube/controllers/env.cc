#include "twin/kube/controllers/env.h"

#include "base/digest.h"
#include "twin/kube/admission.h"
#include "twin/kube/defaults.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

const Kind kEvents("", "events");
constexpr std::size_t kEventsMost = 5000;

}  // namespace

void Events::write(const JsonObject& about, std::string_view type, std::string_view reason,
                   const std::string& message, std::string_view component) {
    const std::string ns = namespace_of(about).empty() ? "default" : namespace_of(about);
    const std::string hash =
        base::sha256_hex(base::get_string(about, "metadata.uid") + std::string(reason) + message)
            .substr(0, 16);
    const std::string name = name_of(about) + "." + hash;
    const std::string now = base::format_time(clock_.now());
    if (const auto known = objects_.get(kEvents, ns, name)) {
        JsonObject event = *known;
        event["count"] = base::get_int(event, "count", 1) + 1;
        event["lastTimestamp"] = now;
        auto written = objects_.update(kEvents, std::move(event));
        static_cast<void>(written);
        return;
    }
    JsonObject event;
    event["apiVersion"] = "v1";
    event["kind"] = "Event";
    event["metadata"] = JsonObject{{"name", name}, {"namespace", ns}};
    event["involvedObject"] = JsonObject{{"apiVersion", base::get_string(about, "apiVersion")},
                                         {"kind", base::get_string(about, "kind")},
                                         {"name", name_of(about)},
                                         {"namespace", namespace_of(about)},
                                         {"uid", base::get_string(about, "metadata.uid")}};
    event["type"] = type;
    event["reason"] = reason;
    event["message"] = message;
    event["source"] = JsonObject{{"component", component}};
    event["reportingComponent"] = component;
    event["reportingInstance"] = "";
    event["count"] = 1;
    event["firstTimestamp"] = now;
    event["lastTimestamp"] = now;
    event["eventTime"] = nullptr;
    if (!objects_.create(kEvents, std::move(event))) return;
    written_.emplace_back(ns, name);
    if (written_.size() <= kEventsMost) return;
    auto gone = objects_.remove(kEvents, written_.front().ns, written_.front().name);
    static_cast<void>(gone);
    written_.pop_front();
}

void Env::write(const Kind& kind, JsonObject object) {
    auto written = objects.update(kind, std::move(object));
    static_cast<void>(written);
}

bool Env::create(const Kind& kind, JsonObject object) {
    return objects.create(kind, std::move(object)).has_value();
}

base::Result<ObjectPtr> Env::admit_and_create(const Kind& kind, JsonObject object) {
    default_object(kind, object);
    CHECK_OK(admit_by_limits(objects, kind, object));
    CHECK_OK(admit_by_quotas(objects, kind, object, QuotaUse::taken));
    return objects.create(kind, std::move(object));
}

void Env::remove(const Kind& kind, const Key& key) {
    const auto object = get(kind, key);
    if (!object) return;
    const bool runs =
        kind == kPods && !base::get_string(*object, "spec.nodeName").empty() && !is_finished(*object);
    if (!runs) {
        auto removed = objects.remove(kind, key.ns, key.name);
        static_cast<void>(removed);
        return;
    }
    if (is_terminating(*object)) return;
    JsonObject pod = *object;
    const std::int64_t grace = base::get_int(pod, "spec.terminationGracePeriodSeconds", 30);
    metadata_of(pod)["deletionTimestamp"] = base::format_time(clock.now() + std::chrono::seconds(grace));
    metadata_of(pod)["deletionGracePeriodSeconds"] = std::max<std::int64_t>(grace, 1);
    write(kind, std::move(pod));
}

}  // namespace instantstart::twin::kube::controllers
