#include "flows/step_kit.h"

#include <algorithm>

#include "base/text.h"
#include "base/time.h"
#include "flows/request_fields.h"
#include "ops/proof.h"

namespace instantstart::flows {

Schedule quick() {
    return {std::chrono::seconds(5), std::chrono::seconds(1)};
}

Schedule minutes_of(double typical_minutes, int cap_seconds) {
    const auto typical = std::chrono::milliseconds(static_cast<std::int64_t>(typical_minutes * 60'000));
    return {std::chrono::seconds(cap_seconds), typical};
}

Row&& Row::does(ObserveBody looks, ActBody acts) && {
    observe = looks;
    act = acts;
    return std::move(*this);
}
Row&& Row::with(JsonObject arguments) && {
    args = std::move(arguments);
    return std::move(*this);
}
Row&& Row::takes(Schedule duration) && {
    schedule = duration;
    return std::move(*this);
}
Row&& Row::looks_first() && {
    repeat = Repeat::look_first;
    return std::move(*this);
}
Row&& Row::iam() && {
    waits_for_iam = true;
    return std::move(*this);
}
Row&& Row::as(std::string plan_action) && {
    action = std::move(plan_action);
    return std::move(*this);
}
Row&& Row::alone(std::string lease_name) && {
    lease = std::move(lease_name);
    return std::move(*this);
}
Row&& Row::waits(base::Duration budget) && {
    wait_budget = budget;
    return std::move(*this);
}

namespace {

// Waiting heals these without anybody's doing: another change under way, a role or an access entry that
// spreads.
bool waits(const base::Error& error, bool waits_for_iam) {
    if (has_code(error, {"ConflictException", "DependencyViolation", "OperationAborted", "ResourceInUse",
                         "ConcurrentModification", "ConcurrentModificationException", "DeleteConflict"})) {
        return true;
    }
    if (has_code(error, {"ResourceInUseException"}))
        return error.message.find("in progress") != std::string::npos;
    if (has_code(error, {"Unauthorized"})) return true;
    // AWS answers before all its parts know what was made; the steps name only what was there before them.
    if (has_code(error, {"NoSuchBucket", "NoSuchEntity", "ResourceNotFoundException", "ResourceNotFound"}))
        return true;
    if (error.code.starts_with("Invalid") && error.code.ends_with(".NotFound")) return true;
    return waits_for_iam && names_a_new_role(error);
}

}  // namespace

Step make_step(Clusters& env, Row row) {
    Step step;
    step.id = row.id;
    step.title = row.title;
    step.needs = std::move(row.needs);
    step.schedule = row.schedule;
    step.repeat = row.repeat;
    step.action = row.action;
    step.wait_budget = row.wait_budget;
    step.lease = row.lease;
    step.observe = [&env, body = row.observe, args = row.args](StepCall call) {
        return body(env, std::move(call), args);
    };
    if (row.act != nullptr) {
        step.act = [&env, body = row.act, args = row.args](StepCall call) {
            return body(env, std::move(call), args);
        };
    }
    step.wait_on = [iam = row.waits_for_iam](const base::Error& error) { return waits(error, iam); };
    return step;
}

namespace {

Task<Observation> observe_known(Clusters&, StepCall, JsonObject args) {
    auto seen = ops::skipped(base::get_string(args, "why", "given"));
    seen.result = base::get_object(args, "result");
    co_return seen;
}

}  // namespace

void Steps::known(std::string id, std::string title, JsonObject result) {
    add(Row(std::move(id), std::move(title), {})
            .does(&observe_known, nullptr)
            .with({{"result", std::move(result)}})
            .as("check"));
}

bool Steps::has(std::string_view id) const {
    return std::any_of(list_.begin(), list_.end(), [id](const Step& step) { return step.id == id; });
}

std::vector<std::string> Steps::those_of(std::vector<std::string> wanted) const {
    std::erase_if(wanted, [this](const std::string& id) { return !has(id); });
    return wanted;
}

std::vector<std::string> Steps::all_ids() const {
    std::vector<std::string> ids;
    ids.reserve(list_.size());
    for (const auto& step : list_) ids.push_back(step.id);
    return ids;
}

JsonValue resolve(const JsonValue& value, const StepCall& call) {
    if (const auto* text = value.if_string()) {
        if (text->size() < 2 || ((*text)[0] != '@' && (*text)[0] != '$')) return value;
        const std::string path(text->begin() + 1, text->end());
        if ((*text)[0] == '$') {
            const auto* found = base::find_path(call.params, path);
            return found == nullptr ? JsonValue() : *found;
        }
        const auto dot = path.find('.');
        const auto& result = call.result_of(path.substr(0, dot));
        const auto* found = base::find_path(result, path.substr(dot + 1));
        return found == nullptr ? JsonValue() : *found;
    }
    if (const auto* list = value.if_array()) {
        JsonArray made_list;
        for (const auto& item : *list) {
            auto item_value = resolve(item, call);
            if (!item_value.is_null()) made_list.push_back(std::move(item_value));
        }
        return made_list;
    }
    if (const auto* object = value.if_object()) return resolved(*object, call);
    return value;
}

JsonObject resolved(const JsonObject& object, const StepCall& call) {
    JsonObject made_object;
    for (const auto& [key, value] : object) {
        auto member = resolve(value, call);
        if (!member.is_null()) made_object[key] = std::move(member);
    }
    return made_object;
}

domain::Owner owner_of(const StepCall& call, std::string_view role) {
    domain::Owner owner;
    owner.cluster = cluster_of(call);
    owner.region = base::get_string(call.params, "region");
    owner.operation = call.operation_id;
    owner.step = role.empty() ? call.step_id : std::string(role);
    for (const auto& [key, value] : base::get_object(call.params, "tags")) {
        if (value.is_string()) owner.user[key] = std::string(value.as_string());
    }
    return owner;
}

domain::PolicyScope scope_of(const StepCall& call) {
    domain::PolicyScope scope;
    scope.partition = base::get_string(call.params, "partition", "aws");
    scope.account = base::get_string(call.params, "account");
    scope.region = base::get_string(call.params, "region");
    scope.cluster = eks_of(call);
    return scope;
}

std::string cluster_of(const StepCall& call) {
    return base::get_string(call.params, "cluster");
}

std::string eks_of(const StepCall& call) {
    return base::get_string(call.params, "eks_cluster", cluster_of(call));
}

JsonObject filter(std::string_view name, std::string_view value) {
    return {{"Name", name}, {"Values", JsonArray{value}}};
}

JsonArray tag_filters(const StepCall& call, std::string_view role) {
    const auto tag = [](std::string_view key) { return "tag:" + std::string(key); };
    JsonArray filters{filter(tag(domain::kTagCluster), cluster_of(call)),
                      filter(tag(domain::kTagRegion), base::get_string(call.params, "region"))};
    if (!role.empty()) filters.push_back(filter(tag(domain::kTagStep), role));
    return filters;
}

bool has_code(const base::Error& error, std::initializer_list<std::string_view> codes) {
    return std::find(codes.begin(), codes.end(), error.code) != codes.end();
}

bool is_absent(const base::Error& error) {
    if (error.kind == base::ErrorKind::not_found) return true;
    return has_code(error, {"ResourceNotFound", "ResourceNotFoundException", "NoSuchEntity", "NoSuchBucket",
                            "NoSuchKey", "NotFound", "404", "NotFoundException", "NoSuchBucketPolicy",
                            "NoSuchTagSet", "NoSuchPublicAccessBlockConfiguration",
                            "ServerSideEncryptionConfigurationNotFoundError"}) ||
           error.code.ends_with(".NotFound") || error.code.ends_with("NotFound");
}

bool is_duplicate(const base::Error& error) {
    return has_code(error,
                    {"EntityAlreadyExists", "InvalidGroup.Duplicate", "InvalidPermission.Duplicate",
                     "RouteAlreadyExists", "Resource.AlreadyAssociated", "InvalidSubnet.Conflict",
                     "BucketAlreadyOwnedByYou", "ResourceInUseException", "ResourceInUse", "AlreadyExists",
                     "RouteTableAlreadyAssociated", "ResourceAlreadyExistsException"});
}

bool names_a_new_role(const base::Error& error) {
    const bool kind =
        has_code(error, {"InvalidParameterException", "InvalidRequestException", "ValidationException",
                         "InvalidParameterValue", "AccessDenied", "AccessDeniedException",
                         "MalformedPolicyDocument", "InvalidParameter"});
    if (!kind) return false;
    auto text = base::to_lower(error.message);
    // "user: arn:…:assumed-role/x" is the caller: what it may not do, waiting does not heal.
    if (const auto caller = text.find("user: arn:"); caller != std::string::npos) {
        const auto end = text.find(' ', caller + 6);
        text.erase(caller, end == std::string::npos ? end : end - caller);
    }
    return text.find("role") != std::string::npos || text.find("assume") != std::string::npos ||
           text.find("principal") != std::string::npos;
}

aws::CallOptions look(const StepCall& call) {
    aws::CallOptions options;
    if (call.polling) options.attempts = 1;
    return options;
}

Task<JsonObject> mutate(Clusters& env, StepCall call, std::string service, std::string operation,
                        JsonObject parameters) {
    aws::CallOptions options;
    options.client_token = call.client_token;
    const JsonObject request = parameters;
    auto answer = co_await env.aws().call(call.context, service, operation, std::move(parameters), options);
    env.forget(eks_of(call));
    if (!answer) {
        if (is_duplicate(answer.error())) co_return JsonObject{{"already", true}};
        const auto refused = in_field_words(answer.error(), service, operation, request);
        co_return refused.wrapped(service + ":" + operation);
    }
    co_return std::move(*answer);
}

Task<JsonObject> settle(Clusters& env, StepCall call, std::string service, std::string operation,
                        JsonObject parameters) {
    CO_TRY(auto answer, co_await mutate(env, std::move(call), service, operation, std::move(parameters)));
    if (base::get_bool(answer, "already")) co_return answer;  // perhaps not as we want it: look
    co_return ops::proven({}, {});
}

JsonObject made(Clusters& env, std::string id) {
    return {{"id", std::move(id)}, {"at", base::to_epoch(env.clock().now())}};
}

bool is_fresh(Clusters& env, const StepCall& call) {
    const auto* at = call.memory.if_contains("at");
    if (at == nullptr || !at->is_double()) return false;
    return base::to_epoch(env.clock().now()) - at->as_double() < 120.0;
}

}  // namespace instantstart::flows
