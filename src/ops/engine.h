// Engine: durable operations. Journals, runs, recovers; knows nothing of AWS or Kubernetes. One loop, no
// locks. An operation is stored before submit() answers. After a restart start() goes on with all that is not
// terminal.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/step.h"
#include "store/store.h"

namespace instantstart::ops {

struct Submission {
    Submission() = default;
    std::string operation;  // catalogue id, "hyperpod.create"
    std::string resource;   // "cluster/demo/hyperpod": conflicts are judged on it
    bool covers_children =
        false;  // conflicts with everything under the resource, too (create and delete of a parent)
    std::string flow;
    JsonObject params;
    std::string principal, face;  // who asked, and by which face ("rest", "mcp", "web", "cli")
    std::string account;          // part of the key's scope
    std::string idempotency_key;  // "" = none
    JsonObject body;  // canonical request: parsed, defaulted, without dry_run, idempotency_key, confirm
    bool naturally_idempotent = true;  // false: the 15-minute rule (node.reboot, operation.retry, …)
    bool no_change = false;            // nothing to do: stored as already succeeded, no step runs
    JsonObject no_change_result;
    JsonObject plan;  // shown as the operation's plan
};

struct Submitted {
    Submitted() = default;
    JsonObject operation;  // the projection of all faces (CATALOGUE: operation)
    bool replayed = false;
};

// Answer to "does this key (or an equal request in flight) already stand for an operation?", asked before
// planning so that a replay makes no calls.
struct EngineSettings {
    EngineSettings() = default;
    double time_scale = 1.0;  // typical durations are divided by it (the twin's speed when embedded, else 1)
    std::size_t max_parallel_steps = 32;
    base::Duration key_retention = std::chrono::hours(24 * 7);
    base::Duration look_first_window = std::chrono::seconds(60);
    // Called after every change of an operation's projection (for /stream and waits). May be empty.
    std::function<void(const JsonObject& operation)> on_change;
    // Called when a step or an operation changes state, for the log and audit. May be empty.
    std::function<void(const std::string& event, const JsonObject& fields)> on_event;
    // True for errors that pause instead of failing (expired credentials): the operation waits with that
    // condition.
    std::function<bool(const base::Error&)> pauses;
    // The error of a step that failed, in the words that users of the operation see.
    std::function<base::Error(base::Error)> explain;
};

class Engine {
public:
    virtual ~Engine() = default;
    virtual void add_flow(Flow flow) = 0;  // before start()
    // Loads the journal and goes on with what is unfinished.
    virtual Task<void> start(Context context) = 0;
    // Stops running steps (at their next await; what they did is journalled or looked for later). Nothing is
    // lost.
    virtual boost::asio::awaitable<void> stop() = 0;

    // Facts/rules of replay and conflict: docs/architecture.md "A retry never repeats a mutation". nullopt:
    // nothing stands in the way and nothing is replayed. Errors: idempotency_key_reused,
    // operation_in_progress, idempotency_key_expired.
    virtual Task<std::optional<Submitted>> find_replay(Context context, const Submission& submission) = 0;
    // find_replay and store in one step, then run.
    virtual Task<Submitted> submit(Context context, Submission submission) = 0;

    virtual Task<JsonObject> get(Context context, std::string operation_id) = 0;
    // Waits until the operation is terminal, or `limit`; then its projection.
    virtual Task<JsonObject> wait(Context context, std::string operation_id, base::Duration limit) = 0;
    struct ListQuery {
        ListQuery() = default;
        std::string resource_prefix;  // the resource and what lies under it
        std::string state;
        std::size_t limit = 50;
        std::string after;  // operation id from `next`
    };
    struct ListPage {
        ListPage() = default;
        std::vector<JsonObject> operations;  // newest first
        std::string next;                    // "" at the end
        std::size_t total = 0;
    };
    virtual Task<ListPage> list(Context context, ListQuery query) = 0;
    // {id, state, updated_at} of the newest operation on the resource or on what lies under it; {} where
    // there is none. Cheap enough for every answer about the resource.
    virtual JsonObject newest(const std::string& resource) const = 0;
    // Stops at the next safe point; terminal operations answer as they are.
    virtual Task<JsonObject> cancel(Context context, std::string operation_id) = 0;
    // Failed or cancelled: goes on from the steps not done, same id. conflict "not_retryable" otherwise.
    virtual Task<Submitted> retry(Context context, std::string operation_id, std::string principal,
                                  std::string face, std::string idempotency_key) = 0;
};

std::unique_ptr<Engine> make_engine(boost::asio::any_io_executor executor, rt::Clock& clock,
                                    store::Store& store, EngineSettings settings);

}  // namespace instantstart::ops
