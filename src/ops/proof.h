// Proof: an act whose answer already shows that its step is done need not be followed by a look. What `act`
// returns says so; the engine then ends the step with that result, in one commit.
//
// For writes that AWS answers once they are in force (a tag, a route, a policy, a bucket's setting) and for
// objects that are whole from the start. Not where a state is still to be reached. What comes after must be
// ready to wait a while until other parts of AWS know of it too.
#pragma once

#include "base/json.h"

namespace instantstart::ops {

inline constexpr const char* kProof = "proof";

// `memory` is kept as always; `result` becomes the step's.
inline base::JsonObject proven(base::JsonObject memory, base::JsonObject result) {
    memory[kProof] = std::move(result);
    return memory;
}

}  // namespace instantstart::ops
