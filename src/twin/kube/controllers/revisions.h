// Revisions: the history of templates of a StatefulSet or DaemonSet (kubectl rollout history and undo).
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

inline const Kind kRevisions("apps", "controllerrevisions");

// The revision of the present template, made where it is new; earlier ones beyond the limit are removed.
// The name is "<owner>-<hash>"; its label controller-revision-hash is the hash alone.
ObjectPtr current_revision(Env& env, const JsonObject& owner, std::string_view owner_kind);
std::string revision_hash(const JsonObject& owner);

}  // namespace instantstart::twin::kube::controllers
