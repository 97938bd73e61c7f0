// Sight: how a cluster's features stand, looked at for real, and what switching one off would take away.
// One Sight is one look: parts that several features share are looked at once.
#pragma once

#include <map>

#include "flows/features/feature.h"

namespace instantstart::flows {

// What becomes of a part when its feature is switched off.
struct Fate {
    Fate() = default;
    enum class What : std::uint8_t { gone, stays, goes };
    What what = What::gone;
    std::string why;  // stays: because …
};

struct SeenPart {
    SeenPart() = default;
    Part part;  // filled in
    PartState state;
};

struct SeenFeature {
    SeenFeature() = default;
    const Feature* feature = nullptr;
    JsonObject settings;  // wanted: {"enabled": …, …}
    bool enabled = false;
    std::string status;  // off, on, drifted, working
    std::vector<SeenPart> parts;
    std::vector<std::string> reasons;  // why it is not as wanted
};

// The call of a step that is none: parts look with it outside of any flow. params as those of the flow
// feature_update, with "desired".
StepCall sight_call(Context context, JsonObject params, const JsonObject& eks);

class Sight {
public:
    Sight(Clusters& env, StepCall call) : env_(env), call_(std::move(call)) {}
    // As wanted by `settings`. A part that cannot be seen (the API server is away) is "unknown".
    Task<SeenFeature> look(const Feature& feature, JsonObject settings);
    // Whether the feature is on, in a cluster of which no wish is known.
    Task<bool> found_on(const Feature& feature);

private:
    Task<PartState> state_of(Part part);
    Clusters& env_;
    StepCall call_;
    std::map<std::string, PartState> seen_;  // by shared key or tag
};

// call.params.desired is what will be wanted.
Task<Fate> fate_of(Clusters& env, StepCall call, Part part, PartState state);

// What goes with a feature beside its parts, in words: objects of its kinds are counted.
Task<std::vector<std::string>> losses_of(Clusters& env, StepCall call, const Feature& feature);

}  // namespace instantstart::flows
