// EngineImpl: the engine. One loop, no locks; every operation is a coroutine, and every step that runs is one
// too. Owned by the composition root; stop() ends it.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "ops/engine.h"
#include "ops/impl/durations.h"
#include "ops/impl/record.h"
#include "ops/impl/replay.h"
#include "rt/backoff.h"
#include "rt/event.h"
#include "rt/task_group.h"

namespace instantstart::ops::impl {

// An operation in memory. Coroutines hold it by shared pointer.
struct Live {
    explicit Live(boost::asio::any_io_executor executor) : changed(std::move(executor)) {}
    Record record;
    std::vector<Step> steps;             // in the order of record.steps; empty once terminal
    std::size_t running = 0;             // step coroutines
    bool saved = false;                  // durable: may be shown
    bool retrying = false;               // a retry is being stored
    std::optional<base::Error> refused;  // could not be stored: never existed
    rt::Event changed;
};
using LivePtr = std::shared_ptr<Live>;

// How often a kind of call of one step failed in a row.
struct Trouble {
    std::optional<base::Duration> since;
    rt::Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(30)};
    void over() { *this = Trouble(); }
};

// What a running step coroutine remembers; void after a crash.
struct StepRun {
    explicit StepRun(const Schedule& schedule) : poll(schedule.first, schedule.cap) {}
    Trouble observing, acting, pausing;
    rt::Backoff poll;
    rt::Backoff look{std::chrono::seconds(4), std::chrono::seconds(32)};  // waits are half to all of it
    std::optional<base::Duration> in_progress_since;
    bool overdue = false;  // the expected end has passed
    bool worked = false;   // acted or waited: its time is worth learning
    int acts_without_effect = 0;
};

enum class Next : std::uint8_t { again, ended };
// Why a step is looked at: to know whether to act, or because its schedule says so (StepCall::polling).
enum class Look : std::uint8_t { before_act, of_schedule };

class EngineImpl final : public Engine {
public:
    EngineImpl(boost::asio::any_io_executor executor, rt::Clock& clock, store::Store& store,
               EngineSettings settings);
    ~EngineImpl() override;

    void add_flow(Flow flow) override;
    Task<void> start(Context context) override;
    boost::asio::awaitable<void> stop() override;
    Task<std::optional<Submitted>> find_replay(Context context, const Submission& submission) override;
    Task<Submitted> submit(Context context, Submission submission) override;
    Task<JsonObject> get(Context context, std::string operation_id) override;
    Task<JsonObject> wait(Context context, std::string operation_id, base::Duration limit) override;
    Task<ListPage> list(Context context, ListQuery query) override;
    JsonObject newest(const std::string& resource) const override;
    Task<JsonObject> cancel(Context context, std::string operation_id) override;
    Task<Submitted> retry(Context context, std::string operation_id, std::string principal, std::string face,
                          std::string idempotency_key) override;

private:
    // engine.cc
    Task<void> load(Context context, std::string table, std::function<void(const store::Entry&)> each);
    void recover(const store::Entry& entry);
    base::Result<LivePtr> find(const std::string& operation_id) const;
    JsonObject projection(const Live& live) const;
    void publish(Live& live);
    void tell(const Live& live, const StepRow* row);
    Task<void> persist(LivePtr live, store::Batch batch = store::Batch());
    Task<void> wait_for_change_of_need(LivePtr live);

    // submit.cc
    std::string new_id();
    LivePtr make_live(const Submission& submission);
    base::Result<std::optional<Match>> decide(const Submission& submission) const;
    Task<std::optional<Submitted>> settle_match(Submission submission, Match match);
    Task<void> store_new(LivePtr live, std::string scope, KeyRow key);
    Task<void> store_retry(LivePtr live, std::string scope, KeyRow key);
    base::Result<std::optional<Submitted>> replayed_retry(Live& live, const std::string& scope,
                                                          bool has_key) const;
    Submitted replay_of(const Live& live, const std::string& hint) const;
    void put_key(store::Batch& batch, const std::string& scope, const KeyRow& key);
    void reset_for_retry(Live& live);

    // run.cc
    bool build_steps(Live& live);
    void launch(LivePtr live);
    Task<void> run_operation(LivePtr live);
    bool start_ready_steps(const LivePtr& live);
    Task<void> finish(LivePtr live);
    void conclude(Live& live);
    Task<void> run_step(LivePtr live, std::size_t index);
    Task<void> step_loop(LivePtr live, std::size_t index);
    Task<bool> rest(LivePtr live, base::Duration duration);
    Task<void> wait_for_interrupt(LivePtr live);
    bool interrupted(const Live& live) const { return stopping_ || live.record.cancel_requested; }
    static void refresh_state(Live& live);
    void set_state(Live& live, StepRow& row, State state, std::string detail);

    // turn.cc
    Task<Next> turn(LivePtr live, std::size_t index, StepRun& run);
    Task<Next> look_again(LivePtr live, std::size_t index, StepRun& run, Observation seen);
    Task<Next> absent_turn(LivePtr live, std::size_t index, StepRun& run);
    Task<Next> act_turn(LivePtr live, std::size_t index, StepRun& run);
    Task<Next> act_now(LivePtr live, std::size_t index, StepRun& run);
    Task<Next> act_answered(LivePtr live, std::size_t index, StepRun& run, JsonObject memory);
    Task<Next> call_failed(LivePtr live, std::size_t index, StepRun& run, Trouble& trouble,
                           base::Error error);
    Task<Next> step_done(LivePtr live, std::size_t index, StepRun& run, Observation seen);
    Task<Next> step_failed(LivePtr live, std::size_t index, base::Error error);
    base::Duration poll_pause(const Live& live, std::size_t index, StepRun& run);
    std::optional<base::Duration> look_time_left(const Live& live, std::size_t index) const;
    StepCall make_call(const Live& live, std::size_t index) const;
    Task<Observation> observe(LivePtr live, std::size_t index, Look look);
    Task<JsonObject> act(LivePtr live, std::size_t index);
    Task<void> take_slot();
    void give_slot();

    boost::asio::any_io_executor executor_;
    rt::Clock& clock_;
    store::Store& store_;
    EngineSettings settings_;
    Durations durations_;
    std::map<std::string, Flow, std::less<>> flows_;
    std::map<std::string, LivePtr, std::less<>> live_;  // all operations by id: ids sort by time
    std::map<std::string, KeyRow, std::less<>> keys_;   // by scope
    std::set<std::string, std::less<>> leases_;         // held
    rt::Event leases_changed_, slots_changed_, acts_changed_;
    std::size_t slots_used_ = 0;
    std::size_t acting_ = 0;  // acts in flight, up to their journal entry
    std::int64_t last_id_millis_ = 0;
    bool stopping_ = false;
    rt::TaskGroup tasks_;
};

inline constexpr const char* kOperations = "operations";
inline constexpr const char* kKeys = "operation_keys";

}  // namespace instantstart::ops::impl
