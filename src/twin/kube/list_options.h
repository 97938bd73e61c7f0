// What the resourceVersion, resourceVersionMatch, limit and continue of a list or watch ask for.
#pragma once

#include <optional>
#include <string>

#include "twin/kube/api_server.h"

namespace instantstart::twin::kube {

// Where a list begins and as of when.
struct ListPosition {
    ListPosition() = default;
    std::int64_t revision = 0;             // the state at this revision; 0 is the present one
    std::string after_ns, after_name;      // the last object that an earlier page told; "" from the beginning
    std::optional<std::int64_t> told = 0;  // how many earlier pages told; nothing where a token does not say
};

// 400, 410 (a revision or token that is no longer known), 422, 504 (a revision of the future).
base::Result<ListPosition> list_position(const ClusterState& state, const ApiCall& call);
// The options of a watch: 422 where they exclude each other.
base::Result<void> check_watch_options(const ApiCall& call);
// A resourceVersion of a request; 0 for none. 400 where it is no number, 504 where it is of the future.
base::Result<std::int64_t> asked_revision(const ClusterState& state, const ApiCall& call);

// A continue token names the revision of its list, the last object told and how many were told.
std::string make_continue(const ListPosition& position);
// 410: a list's revision is no longer known.
base::Error list_expired();

}  // namespace instantstart::twin::kube
