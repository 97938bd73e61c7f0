#include "ops/engine.h"

#include "ops/impl/engine_impl.h"
#include "ops/impl/projection.h"

namespace instantstart::ops {

namespace impl {

EngineImpl::EngineImpl(boost::asio::any_io_executor executor, rt::Clock& clock, store::Store& store,
                       EngineSettings settings)
    : executor_(executor),
      clock_(clock),
      store_(store),
      settings_(std::move(settings)),
      durations_(settings_.time_scale),
      leases_changed_(executor),
      slots_changed_(executor),
      acts_changed_(executor),
      tasks_(executor, "operations", 1'000'000) {}

EngineImpl::~EngineImpl() = default;

void EngineImpl::add_flow(Flow flow) {
    const std::string name = flow.name;
    flows_[name] = std::move(flow);
}

Task<void> EngineImpl::load(Context context, std::string table,
                            std::function<void(const store::Entry&)> each) {
    store::Scan scan;
    scan.table = table;
    while (true) {
        CO_TRY(const auto entries, co_await store_.scan(context, scan));
        for (const auto& entry : entries) each(entry);
        if (entries.size() < scan.limit) co_return base::ok();
        scan.after = entries.back().key;
    }
}

void EngineImpl::recover(const store::Entry& entry) {
    if (!entry.value.is_object()) return;
    auto live = std::make_shared<Live>(executor_);
    live->record = record_from(entry.value.get_object());
    live->saved = true;
    for (auto& row : live->record.steps) {
        if (row.state == State::running || row.state == State::waiting) row.state = State::pending;
    }
    live_[live->record.id] = std::move(live);
}

Task<void> EngineImpl::start(Context context) {
    std::function<void(const store::Entry&)> operation = [this](const store::Entry& entry) {
        recover(entry);
    };
    std::function<void(const store::Entry&)> duration = [this](const store::Entry& entry) {
        durations_.load(entry);
    };
    std::function<void(const store::Entry&)> key = [this](const store::Entry& entry) {
        KeyRow row;
        row.operation_id = base::get_string(entry.value, "operation_id");
        row.body_hash = base::get_string(entry.value, "body_hash");
        row.body = base::get_object(entry.value, "body");
        row.created_at = TimePoint(std::chrono::milliseconds(base::get_int(entry.value, "created_at")));
        keys_[entry.key] = std::move(row);
    };
    CO_CHECK_OK(co_await load(context, kOperations, operation));
    CO_CHECK_OK(co_await load(context, Durations::kTable, duration));
    CO_CHECK_OK(co_await load(context, kKeys, key));
    std::vector<LivePtr> unfinished;
    for (const auto& [id, live] : live_) {
        if (!live->record.terminal()) unfinished.push_back(live);
    }
    for (const auto& live : unfinished) launch(live);
    co_return base::ok();
}

boost::asio::awaitable<void> EngineImpl::stop() {
    stopping_ = true;
    for (const auto& [id, live] : live_) live->changed.notify_all();
    leases_changed_.notify_all();
    slots_changed_.notify_all();
    const base::Duration end = clock_.monotonic() + std::chrono::seconds(5);
    while (acting_ > 0 && clock_.monotonic() < end) {
        auto waited = co_await acts_changed_.wait_for(clock_, end - clock_.monotonic());
        static_cast<void>(waited);
    }
    tasks_.cancel();
    co_await tasks_.join();
}

base::Result<LivePtr> EngineImpl::find(const std::string& operation_id) const {
    auto found = live_.find(operation_id);
    if (found == live_.end() || !found->second->saved) {
        return base::not_found_error("operation " + operation_id)
            .with_hint(
                "Finished operations are kept for a week at least; audit_list shows what was done before.");
    }
    return found->second;
}

JsonObject EngineImpl::projection(const Live& live) const {
    return project(live.record, live.steps, durations_, clock_.now());
}

void EngineImpl::publish(Live& live) {
    live.record.updated_at = clock_.now();
    if (settings_.on_change && live.saved) settings_.on_change(projection(live));
    live.changed.notify_all();
}

void EngineImpl::tell(const Live& live, const StepRow* row) {
    if (!settings_.on_event) return;
    JsonObject fields;
    fields["operation"] = live.record.id;
    fields["name"] = live.record.operation;
    fields["resource"] = live.record.resource;
    fields["principal"] = live.record.principal;
    fields["face"] = live.record.face;
    fields["state"] = to_string(row == nullptr ? live.record.state : row->state);
    const JsonObject& error = row == nullptr ? live.record.error : row->error;
    if (!error.empty())
        fields["error"] = base::get_string(error, "code") + ": " + base::get_string(error, "detail");
    if (row != nullptr) {
        fields["step"] = row->id;
        fields["attempt"] = row->attempt;
    }
    settings_.on_event(row == nullptr ? "operation_state" : "step_state", fields);
}

// Writes the operation's row, and goes on trying: what happened must be written before anything follows from
// it.
Task<void> EngineImpl::persist(LivePtr live, store::Batch batch) {
    rt::Backoff backoff(std::chrono::milliseconds(200), std::chrono::seconds(10));
    while (true) {
        store::Batch now = batch;
        now.put(kOperations, live->record.id, to_json(live->record));
        auto written = co_await store_.commit(Context(), std::move(now));
        if (written || written.error().kind == base::ErrorKind::cancelled) co_return written;
        base::log(base::LogLevel::error, "journal_write_failed",
                  {{"operation", live->record.id}, {"error", written.error().chain()}});
        if (stopping_) co_return written;
        CO_CHECK_OK(co_await clock_.sleep(backoff.next(clock_)));
    }
}

Task<JsonObject> EngineImpl::get(Context, std::string operation_id) {
    CO_TRY(const LivePtr live, find(operation_id));
    co_return projection(*live);
}

namespace {

bool needs_person(const Record& record) {
    for (const auto& row : record.steps) {
        if (base::get_string(row.condition, "type") == "CredentialsExpired" && row.state == State::waiting)
            return true;
    }
    return false;
}

}  // namespace

Task<void> EngineImpl::wait_for_change_of_need(LivePtr live) {
    const bool before = needs_person(live->record);
    while (!stopping_ && !live->record.terminal() && needs_person(live->record) == before)
        CO_CHECK_OK(co_await live->changed.wait());
    co_return base::ok();
}

Task<JsonObject> EngineImpl::wait(Context, std::string operation_id, base::Duration limit) {
    CO_TRY(const LivePtr live, find(operation_id));
    if (!live->record.terminal() && limit > base::Duration::zero()) {
        auto waited = co_await rt::with_limit(clock_, limit, wait_for_change_of_need(live));
        if (!waited && waited.error().kind == base::ErrorKind::cancelled) co_return waited.error();
    }
    co_return projection(*live);
}

namespace {

bool lies_under(const std::string& resource, const std::string& root) {
    return resource.starts_with(root) && (resource.size() == root.size() || resource[root.size()] == '/');
}

}  // namespace

JsonObject EngineImpl::newest(const std::string& resource) const {
    for (auto row = live_.rbegin(); row != live_.rend(); ++row) {
        const Record& record = row->second->record;
        if (!row->second->saved || !lies_under(record.resource, resource)) continue;
        return {{"id", record.id},
                {"state", to_string(record.state)},
                {"updated_at", base::format_time(record.updated_at)}};
    }
    return {};
}

Task<Engine::ListPage> EngineImpl::list(Context, ListQuery query) {
    ListPage page;
    for (auto row = live_.rbegin(); row != live_.rend(); ++row) {
        const Record& record = row->second->record;
        if (!row->second->saved) continue;
        if (!query.resource_prefix.empty() && !lies_under(record.resource, query.resource_prefix)) continue;
        if (!query.state.empty() && query.state != to_string(record.state)) continue;
        ++page.total;
        if (!query.after.empty() && row->first >= query.after) continue;
        if (page.operations.size() < query.limit) {
            page.operations.push_back(projection(*row->second));
        } else if (page.next.empty() && !page.operations.empty()) {
            page.next = base::get_string(page.operations.back(), "id");
        }
    }
    co_return page;
}

Task<JsonObject> EngineImpl::cancel(Context, std::string operation_id) {
    CO_TRY(const LivePtr live, find(operation_id));
    if (live->record.terminal()) co_return projection(*live);
    live->record.cancel_requested = true;
    publish(*live);
    leases_changed_.notify_all();
    slots_changed_.notify_all();
    CO_CHECK_OK(co_await persist(live));
    // Usually only sleeping polls are cut, and it is over at once; a running act is let finish.
    auto waited = co_await rt::with_limit(clock_, std::chrono::seconds(2), wait_for_change_of_need(live));
    if (!waited && waited.error().kind == base::ErrorKind::cancelled) co_return waited.error();
    co_return projection(*live);
}

}  // namespace impl

std::unique_ptr<Engine> make_engine(boost::asio::any_io_executor executor, rt::Clock& clock,
                                    store::Store& store, EngineSettings settings) {
    return std::make_unique<impl::EngineImpl>(std::move(executor), clock, store, std::move(settings));
}

}  // namespace instantstart::ops
