#include "flows/features/feature.h"

#include "base/text.h"

namespace instantstart::flows {

PartState of_state(std::string state, std::string detail) {
    PartState made(std::move(state));
    made.detail = std::move(detail);
    return made;
}

Part&& Part::anchors() && {
    anchor = true;
    return std::move(*this);
}
Part&& Part::configured(JsonObject (*values)(const StepCall&)) && {
    configuration = values;
    return std::move(*this);
}
Part&& Part::grants(std::string (*permissions)(const StepCall&)) && {
    document = permissions;
    return std::move(*this);
}
Part&& Part::applies(base::Result<std::vector<JsonObject>> (*made)(const StepCall&)) && {
    objects = made;
    return std::move(*this);
}

const Feature* find_feature(std::string_view id) {
    for (const auto& feature : features()) {
        if (feature.id == id) return &feature;
    }
    return nullptr;
}

std::vector<Part> parts_of(const Feature& feature, const JsonObject& settings) {
    auto parts = feature.parts(settings);
    for (auto& part : parts) {
        part.feature = feature.id;
        part.tag = feature.id + "." + part.id;
    }
    return parts;
}

namespace {

// Words that begin with "$" inside a sentence.
std::string filled_text(const std::string& text, const StepCall& call) {
    std::vector<std::string> words;
    for (const auto& word : base::split(text, ' ')) {
        const auto value = resolve(JsonValue(word), call);
        if (const auto* known = value.if_string()) {
            words.emplace_back(*known);
        } else {
            words.push_back(value.is_null() ? word.substr(1) : base::to_text(value));
        }
    }
    return base::join(words, " ");
}

}  // namespace

Part filled(Part part, const StepCall& call) {
    part.args = resolved(part.args, call);
    const bool named = !part.name.empty() || part.kind->name == nullptr;
    part.name = named ? filled_text(part.name, call) : part.kind->name(call, part);
    return part;
}

JsonObject settings_in(const JsonObject& desired, const Feature& feature) {
    JsonObject settings = feature.defaults;
    settings["enabled"] = false;
    for (const auto& [key, value] : base::get_object(desired, feature.id)) settings[key] = value;
    return settings;
}

JsonObject with_wish(JsonObject desired, const std::string& feature, JsonObject settings) {
    desired[feature] = std::move(settings);
    return desired;
}

}  // namespace instantstart::flows
