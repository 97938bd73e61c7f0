// environment.get: whose account this is, where, and what is chosen. Answers without credentials, too, and
// says what is wrong.
#include "app/active.h"
#include "app/framework_operations.h"
#include "app/identity.h"
#include "app/projection.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct EnvironmentGet {};
BOOST_DESCRIBE_STRUCT(EnvironmentGet, (), ())

JsonObject problem_of(const base::Error& error) {
    JsonObject made;
    made["code"] = error.code;
    made["detail"] = error.message;
    if (!error.hint.empty()) made["hint"] = error.hint;
    return made;
}

Task<Answer> run(Call call, EnvironmentGet /*input*/) {
    Services& services = *call.services;
    JsonObject environment;
    environment["backend"] = services.settings.backend;
    environment["region"] = services.settings.region;
    environment["version"] = services.settings.version;
    environment["read_only"] = services.settings.read_only;
    auto identity = co_await services.identity->get(call.context);
    if (identity) {
        environment["account"] = identity->account;
        environment["caller_arn"] = identity->caller_arn;
    } else {
        if (identity.error().kind == base::ErrorKind::cancelled) co_return std::move(identity).error();
        environment["problem"] = problem_of(public_error(identity.error()));
    }
    auto chosen = co_await active_cluster(call.context, services.store, call.caller.principal);
    CO_TRY(std::string active, std::move(chosen));
    if (!active.empty()) environment["active_cluster"] = active;
    JsonObject faces;
    faces["console"] = "/";
    faces["rest"] = "/api/v1";
    faces["stream"] = "/api/v1/stream";
    faces["mcp"] = "/mcp";
    environment["faces"] = std::move(faces);
    environment["principal"] = call.caller.principal;
    Answer answer;
    answer.summary = (services.settings.backend == "twin" ? "The simulated account " : "Account ") +
                     base::get_string(environment, "account", "unknown") + " in " + services.settings.region +
                     (active.empty() ? ", no active cluster." : ", active cluster " + active + ".");
    answer.body["environment"] = std::move(environment);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_environment_get() {
    Meta meta;
    meta.id = "environment.get";
    meta.method = "GET";
    meta.path = "/environment";
    meta.summary =
        "Whose account, region and backend (aws or the simulated twin) this is, and which cluster is active. "
        "Start here.";
    meta.area = "start";
    meta.uses = {"sts:GetCallerIdentity"};
    return make_query<EnvironmentGet>(std::move(meta), {}, run);
}

}  // namespace instantstart::app
