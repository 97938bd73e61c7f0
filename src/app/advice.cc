#include "app/advice.h"

#include <cmath>

#include "app/projection.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

double number_at(const JsonObject& object, std::string_view name) {
    const JsonValue* found = object.if_contains(name);
    if (found == nullptr || !found->is_number()) return -1;
    return found->to_number<double>();
}

// "cluster/demo/instance-group/a" -> "demo".
std::string cluster_in(const std::string& resource) {
    const auto parts = base::split(resource, '/');
    return parts.size() >= 2 && parts[0] == "cluster" ? parts[1] : "";
}

}  // namespace

JsonObject next_call(const std::string& tool, JsonObject arguments, const std::string& why) {
    JsonObject made;
    made["tool"] = tool;
    made["arguments"] = std::move(arguments);
    made["why"] = why;
    return made;
}

std::string operation_summary(const JsonObject& operation) {
    const std::string state = base::get_string(operation, "state");
    std::string text = base::get_string(operation, "name") + " on " + base::get_string(operation, "resource");
    if (state == "succeeded")
        return text + (base::get_bool(operation, "no_change") ? ": nothing to do, it already is as asked."
                                                              : " has succeeded.");
    if (state == "cancelled") return text + " was cancelled; what had been made is still there.";
    if (state == "failed") {
        const std::string why =
            base::get_string(operation, "error.detail", base::get_string(operation, "error.message"));
        return text + " has failed" + (why.empty() ? "." : ": " + why);
    }
    text += " is " + state;
    const std::string phase = base::get_string(operation, "phase");
    if (!phase.empty()) text += ": phase " + phase;
    constexpr double kPercent = 100;
    const double progress = number_at(operation, "progress");
    if (progress >= 0)
        text += ", " + std::to_string(static_cast<int>(std::lround(progress * kPercent))) + " %";
    const double eta = number_at(operation, "eta_seconds");
    if (eta >= 0) text += ", about " + std::to_string(std::lround(eta)) + " s left";
    return text + ". It is not done until operation_get says succeeded.";
}

JsonArray operation_next(const Catalogue* catalogue, const JsonObject& operation) {
    const std::string id = base::get_string(operation, "id");
    const std::string state = base::get_string(operation, "state");
    JsonArray next;
    JsonObject by_id;
    by_id["operation_id"] = id;
    if (!is_terminal(operation)) {
        by_id["wait_seconds"] = 50;
        next.push_back(next_call("operation_get", std::move(by_id), "waits until it ends, or 50 s"));
        return next;
    }
    if (state != "succeeded") {
        next.push_back(
            next_call("operation_retry", std::move(by_id), "goes on from the steps that are not done"));
        return next;
    }
    const Operation* made_by =
        catalogue == nullptr ? nullptr : catalogue->find(base::get_string(operation, "name"));
    const Operation* shows = made_by == nullptr ? nullptr : catalogue->find(made_by->meta().shows_result);
    if (shows == nullptr) return next;
    JsonObject arguments;
    const auto parameters = path_parameters(shows->meta());
    if (parameters.size() > 1) return next;
    const std::string cluster = cluster_in(base::get_string(operation, "resource"));
    if (!parameters.empty()) {
        if (cluster.empty()) return next;
        arguments[parameters[0]] = cluster;
    }
    next.push_back(next_call(tool_name(shows->meta()), std::move(arguments), "shows the result"));
    return next;
}

}  // namespace instantstart::app
