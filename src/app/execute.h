// Executor: the one path of every face, from a request to its answer.
//
//   arguments -> validate -> role -> read-only -> the active cluster -> replay -> plan -> dry run, no change,
//   confirmation
//   -> rate -> engine or run -> audit -> answer
//
// A face only translates: it finds the operation, gathers the arguments, and renders Outcome or Error.
#pragma once

#include <optional>
#include <string>

#include "app/audit.h"
#include "app/catalogue.h"
#include "app/identity.h"
#include "app/operation.h"
#include "app/rate_limit.h"
#include "app/services.h"

namespace instantstart::app {

struct Invocation {
    Invocation() = default;
    const Operation* operation = nullptr;
    JsonObject arguments;  // path, query and body together; for writes also confirm, dry_run, expected_plan,
                           // idempotency_key
    std::string idempotency_key;  // from a header; "" where it may be an argument
    Caller caller;
    bool read_only = false;                // a face that refuses every write, whatever the role
    bool must_name_cluster = false;        // writes may not say "active" (MCP)
    bool cluster_may_be_left_out = false;  // queries default to the active cluster (MCP, command line)
};

struct Outcome {
    Outcome() = default;
    JsonObject body;       // the answer with `resolved`
    bool started = false;  // a long operation is under way (REST: 202)
    std::string summary;   // for agents
    JsonArray next;
    std::vector<std::string> warnings;
};

// What a write takes beside its own fields.
struct WriteOptions {
    WriteOptions() = default;
    std::string confirm, expected_plan, idempotency_key;
    bool dry_run = false;
};
// Takes them out of `arguments`; faults are added to `faults`.
WriteOptions take_write_options(JsonObject& arguments, std::vector<base::FieldError>& faults);

class Executor {
public:
    Executor(Services& services, const Catalogue& catalogue, Identity& identity, Audit& audit,
             RateSettings rates);

    Task<Outcome> execute(Context context, Invocation invocation);
    const Catalogue& catalogue() const { return catalogue_; }
    Services& services() { return services_; }

    // Counted for /metrics: answers by operation, face and outcome code ("" = well).
    std::function<void(const std::string& operation, const std::string& face, const std::string& code)>
        on_answer;

private:
    struct Request;
    Task<Outcome> answer(Context context, Request& request);
    Task<void> carry_out(Context context, Request& request, Outcome& outcome);
    Task<Outcome> query(Context context, Request& request);
    Task<Outcome> write(Context context, Request& request);
    Task<Outcome> run_plan(Context context, Request& request);
    Task<Outcome> submit(Context context, Request& request);
    Task<Outcome> run(Context context, Request& request);
    Task<void> prepare(Context context, Request& request);
    base::Result<void> authorise(const Request& request) const;
    boost::asio::awaitable<void> record(Context context, Request& request, std::string outcome);
    Outcome finish(Request& request, JsonObject body) const;

    Services& services_;
    const Catalogue& catalogue_;
    Identity& identity_;
    Audit& audit_;
    RateLimiter rates_;
};

// The plan of a write as a query: what its dry run would answer. Faults point below `/arguments`.
Task<JsonObject> preview(Call call, const Operation& operation, JsonObject arguments);
// Replaces the name "active" by the principal's active cluster, or fails saying that none is chosen.
Task<void> resolve_cluster(Context context, store::Store& store, std::string principal,
                           JsonObject& normalized);

}  // namespace instantstart::app
