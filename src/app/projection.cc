#include "app/projection.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/denial.h"
#include "base/digest.h"

namespace instantstart::app {

namespace {

JsonArray strings(const std::vector<std::string>& values) {
    JsonArray made;
    for (const auto& value : values) made.emplace_back(value);
    return made;
}

JsonArray project_steps(const Plan& plan, const Services& services) {
    JsonArray made;
    const auto add = [&made](const std::string& id, const std::string& title, const std::string& action) {
        JsonObject step;
        step["id"] = id;
        step["title"] = title;
        step["action"] = action;
        made.push_back(std::move(step));
    };
    for (const auto& step : plan.steps) add(step.id, step.title, step.action);
    if (plan.steps.empty() && !plan.flow.empty() && !plan.no_change && services.flow_steps) {
        for (const auto& step : services.flow_steps(plan.flow, plan.flow_params))
            add(step.id, step.title, step.action);
    }
    return made;
}

// AWS's own codes are in PascalCase ("AccessDeniedException", "InvalidVpcID.NotFound"), ours in snake_case.
bool is_foreign(const base::Error& error) {
    return !error.aws_request_id.empty() ||
           (!error.code.empty() && std::isupper(static_cast<unsigned char>(error.code[0])) != 0);
}

bool may_pass(base::ErrorKind kind) {
    using base::ErrorKind;
    return kind == ErrorKind::unavailable || kind == ErrorKind::throttled || kind == ErrorKind::deadline ||
           kind == ErrorKind::unknown_outcome;
}

// With the AWS operation that failed before its words, and what to do about faults that pass.
base::Error named(base::Error error) {
    const auto operation = base::get_string(error.extra, "aws_operation");
    if (!operation.empty() && error.message.find(operation) == std::string::npos)
        error.message = operation + ": " + error.message;
    if (!error.hint.empty() || !may_pass(error.kind)) return error;
    error.hint = operation.empty() ? "This is likely to pass: try again in some seconds."
                                   : "A fault on the side of AWS that is likely to pass: try again in some "
                                     "seconds. Where it lasts, look at the AWS Health Dashboard.";
    return error;
}

base::Error renamed(base::Error error, base::ErrorKind kind, const char* code) {
    error.extra["upstream_code"] = error.code;
    error.kind = kind;
    error.code = code;
    return error;
}

}  // namespace

std::string plan_digest(const Meta& meta, const Plan& plan) {
    JsonObject content;
    content["operation"] = meta.id;
    content["resource"] = plan.resource;
    content["no_change"] = plan.no_change;
    content["creates"] = strings(plan.creates);
    content["changes"] = strings(plan.changes);
    content["removes"] = strings(plan.removes);
    JsonArray steps;
    for (const auto& step : plan.steps) steps.emplace_back(step.id + " " + step.action);
    content["steps"] = std::move(steps);
    constexpr std::size_t kDigits = 16;
    return base::sha256_hex(base::canonical_text(JsonValue(std::move(content)))).substr(0, kDigits);
}

JsonObject project_plan(const Meta& meta, const Plan& plan, const Services& services) {
    JsonObject made;
    made["operation"] = meta.id;
    made["resource"] = plan.resource;
    made["steps"] = project_steps(plan, services);
    made["creates"] = strings(plan.creates);
    made["changes"] = strings(plan.changes);
    made["removes"] = strings(plan.removes);
    made["quota"] = plan.quota;
    made["addresses"] = plan.addresses;
    made["cost"] = plan.cost;
    made["warnings"] = strings(plan.warnings);
    if (plan.no_change) made["no_change"] = true;
    const bool asks = !plan.no_change && (meta.removes == Removes::always || !plan.removes.empty());
    if (asks && !plan.confirm_value.empty()) made["confirm"] = plan.confirm_value;
    made["plan_digest"] = plan_digest(meta, plan);
    base::drop_empty(made);
    return made;
}

bool is_terminal(const JsonObject& operation) {
    const std::string state = base::get_string(operation, "state");
    return state == "succeeded" || state == "failed" || state == "cancelled";
}

std::int64_t poll_after_seconds(const JsonObject& operation) {
    constexpr std::int64_t kUnknown = 5;
    constexpr double kShare = 8;  // of the time that is left
    constexpr double kLongest = 60;
    const JsonValue* eta = operation.if_contains("eta_seconds");
    if (eta == nullptr || !eta->is_number()) return kUnknown;
    const double left =
        eta->is_double() ? eta->get_double() : static_cast<double>(base::get_int(operation, "eta_seconds"));
    return static_cast<std::int64_t>(std::clamp(std::ceil(left / kShare), 1.0, kLongest));
}

JsonObject operation_envelope(JsonObject operation, bool replayed) {
    JsonObject made;
    const bool ended = is_terminal(operation);
    const std::int64_t poll = poll_after_seconds(operation);
    made["operation"] = std::move(operation);
    made["status_tool"] = "operation_get";
    if (!ended) made["poll_after_seconds"] = poll;
    if (replayed) made["replayed"] = true;
    return made;
}

void tidy_answer(JsonObject& body) {
    std::vector<std::string> own_lists;
    for (const auto& entry : body) {
        if (entry.value().is_array()) own_lists.emplace_back(entry.key());
    }
    base::drop_empty(body);
    for (const auto& name : own_lists) {
        if (!body.contains(name)) body[name] = JsonArray();
    }
}

JsonObject resolved(const std::string& cluster, const std::string& account, const std::string& region) {
    JsonObject made;
    if (!cluster.empty()) made["cluster"] = cluster;
    if (!account.empty()) made["account"] = account;
    made["region"] = region;
    return made;
}

base::Error public_error(base::Error error) {
    using base::ErrorKind;
    if (error.kind == ErrorKind::unknown_outcome ||
        (error.kind == ErrorKind::deadline && error.code != "deadline")) {
        return renamed(named(std::move(error)), ErrorKind::deadline, "upstream_timeout");
    }
    if (!is_foreign(error)) return error;
    if (error.code == "CredentialsUnavailable" || error.code == "CredentialsExpired") {
        if (error.hint.empty())
            error.hint =
                "Give the process usable AWS credentials; `instantstart doctor` says what is missing.";
        const char* code =
            error.code == "CredentialsExpired" ? "credentials_expired" : "credentials_unavailable";
        return renamed(std::move(error), ErrorKind::unavailable, code);
    }
    if (read_denial(error)) return explain_denial(std::move(error));
    if (error.kind == ErrorKind::denied) {
        if (error.hint.empty()) {
            error.hint =
                "The account's policies refuse this. `instantstart iam-policy` prints what the product "
                "needs.";
        }
        return renamed(std::move(error), ErrorKind::denied, "aws_access_denied");
    }
    if (error.kind == ErrorKind::not_found || error.kind == ErrorKind::cancelled) return error;
    return renamed(named(std::move(error)), ErrorKind::unavailable, "upstream_error");
}

}  // namespace instantstart::app
