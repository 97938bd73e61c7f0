#include "twin/kube/controllers/quotas.h"

#include "twin/kube/metadata.h"
#include "twin/kube/quota.h"

namespace instantstart::twin::kube::controllers {

void Quotas::changed(const Change& change) {
    const JsonObject& object = *change.object;
    const auto ns = namespace_of(object);
    if (change.kind == kQuotas) {
        if (change.type != Change::Type::deleted) env_.queue.add(this, Key(ns, name_of(object)));
        return;
    }
    // A pod counts until it ends; what runs inside it is no matter.
    const bool same = change.kind == kPods && change.type == Change::Type::modified && change.previous &&
                      is_finished(*change.previous) == is_finished(object);
    if (ns.empty() || same) return;
    for (const auto& quota : env_.objects.list(kQuotas, ns)) {
        if (quota_kinds(*quota).contains(change.kind)) env_.queue.add(this, Key(ns, name_of(*quota)));
    }
}

void Quotas::sync(const Key& key) {
    const auto quota = env_.get(kQuotas, key);
    if (!quota || is_terminating(*quota)) return;
    JsonObject used;
    for (const auto& [name, amount] : quota_total(env_.objects, *quota))
        used[name] = amount_text(name, amount);
    const JsonObject status{{"hard", base::get_object(*quota, "spec.hard")}, {"used", std::move(used)}};
    if (base::get_object(*quota, "status") == status) return;
    JsonObject next = *quota;
    metadata_of(next).erase("resourceVersion");
    next["status"] = status;
    env_.write(kQuotas, std::move(next));
}

}  // namespace instantstart::twin::kube::controllers
