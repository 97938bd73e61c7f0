#include "ops/step.h"

#include <utility>

namespace instantstart::ops {

Observation absent() {
    return Observation(Presence::absent);
}

Observation in_progress(std::string detail, double fraction) {
    Observation made(Presence::in_progress);
    made.detail = std::move(detail);
    made.fraction = fraction;
    return made;
}

Observation done(JsonObject result) {
    Observation made(Presence::done);
    made.result = std::move(result);
    return made;
}

Observation skipped(std::string why) {
    Observation made(Presence::done);
    made.detail = std::move(why);
    made.skipped = true;
    return made;
}

Observation impossible(base::Error why) {
    Observation made(Presence::impossible);
    made.error = std::move(why);
    return made;
}

const JsonObject& StepCall::result_of(std::string_view step) const {
    static const JsonObject none;
    const auto* found = results.if_contains(step);
    return found != nullptr && found->is_object() ? found->get_object() : none;
}

}  // namespace instantstart::ops
