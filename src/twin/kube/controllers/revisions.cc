#include "twin/kube/controllers/revisions.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

std::vector<ObjectPtr> history_of(const Env& env, const JsonObject& owner) {
    std::vector<ObjectPtr> out;
    const auto uid = base::get_string(owner, "metadata.uid");
    // Not by dependents: those of a large set are its pods.
    for (auto& revision : env.objects.list(kRevisions, namespace_of(owner))) {
        if (controller_uid(*revision) == uid) out.push_back(std::move(revision));
    }
    std::sort(out.begin(), out.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
        return base::get_int(*a, "revision") < base::get_int(*b, "revision");
    });
    return out;
}

}  // namespace

std::string revision_hash(const JsonObject& owner) {
    return short_hash(base::get_object(owner, "spec.template"));
}

ObjectPtr current_revision(Env& env, const JsonObject& owner, std::string_view owner_kind) {
    const auto hash = revision_hash(owner);
    const auto name = name_of(owner) + "-" + hash;
    const auto history = history_of(env, owner);
    const std::int64_t newest = history.empty() ? 0 : base::get_int(*history.back(), "revision");
    if (auto known = env.get(kRevisions, Key(namespace_of(owner), name))) {
        if (base::get_int(*known, "revision") == newest) return known;
        JsonObject next = *known;
        next["revision"] = newest + 1;
        auto written = env.objects.update(kRevisions, std::move(next));
        return written ? *written : known;
    }
    JsonObject made{{"apiVersion", "apps/v1"}, {"kind", "ControllerRevision"}, {"revision", newest + 1}};
    JsonObject labels = base::get_object(owner, "spec.template.metadata.labels");
    labels["controller-revision-hash"] = hash;
    made["metadata"] =
        JsonObject{{"name", name},
                   {"namespace", namespace_of(owner)},
                   {"labels", std::move(labels)},
                   {"ownerReferences", JsonArray{owner_reference("apps/v1", owner_kind, owner)}}};
    JsonObject pod_template = base::get_object(owner, "spec.template");
    pod_template["$patch"] = "replace";
    made["data"] = JsonObject{{"spec", JsonObject{{"template", std::move(pod_template)}}}};
    auto stored = env.objects.create(kRevisions, std::move(made));
    const auto keep = static_cast<std::size_t>(base::get_int(owner, "spec.revisionHistoryLimit", 10));
    for (std::size_t i = 0; i + keep < history.size(); ++i)
        env.remove(kRevisions, Key(namespace_of(owner), name_of(*history[i])));
    return stored ? *stored : nullptr;
}

}  // namespace instantstart::twin::kube::controllers
