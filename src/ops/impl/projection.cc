#include "ops/impl/projection.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace instantstart::ops::impl {

namespace {

double seconds_between(TimePoint from, TimePoint to) {
    return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

// Times of the graph: how long each step still needs, and when it ends if all goes on as expected.
class Outlook {
public:
    Outlook(const Record& record, const std::vector<Step>& steps, const Durations& durations, TimePoint now)
        : record_(record), steps_(steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            index_[steps[i].id] = i;
            const double expected = std::max(
                0.05, std::chrono::duration<double>(durations.expected(record.flow, steps[i])).count());
            expected_.push_back(expected);
            elapsed_.push_back(record.steps[i].started_at ? seconds_between(*record.steps[i].started_at, now)
                                                          : 0.0);
        }
        ends_.assign(steps.size(), -1.0);
    }

    double done_fraction(std::size_t i) const {
        const StepRow& row = record_.steps[i];
        if (is_done(row.state)) return 1.0;
        if (row.state != State::running && row.state != State::waiting) return 0.0;
        return std::clamp(std::max(row.fraction, elapsed_[i] / expected_[i]), 0.0, 0.95);
    }

    double remaining(std::size_t i) const {
        const StepRow& row = record_.steps[i];
        if (is_done(row.state)) return 0.0;
        if (row.state != State::running && row.state != State::waiting) return expected_[i];
        // Overdue: nobody knows; a tenth of the whole is a fair guess that never says "now".
        return std::max(expected_[i] - elapsed_[i], expected_[i] / 10);
    }

    double end_of(std::size_t i) {
        if (ends_[i] >= 0) return ends_[i];
        ends_[i] = 0;  // a ring in the graph would never end here
        double start = 0;
        for (const auto& need : steps_[i].needs) {
            auto found = index_.find(need);
            if (found != index_.end()) start = std::max(start, end_of(found->second));
        }
        ends_[i] = is_done(record_.steps[i].state) ? 0.0 : start + remaining(i);
        return ends_[i];
    }

    double whole_end() {
        double end = 0;
        for (std::size_t i = 0; i < steps_.size(); ++i) end = std::max(end, end_of(i));
        return end;
    }

    double progress() const {
        double all = 0, finished = 0;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            all += expected_[i];
            finished += expected_[i] * done_fraction(i);
        }
        return all > 0 ? finished / all : 0.0;
    }

    // The step that is now decisive: the working one at the head of the longest remaining path.
    std::string phase() {
        std::vector<double> tails(steps_.size(), -1.0);
        std::string best;
        double longest = -1;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const State state = record_.steps[i].state;
            if (state != State::running && state != State::waiting) continue;
            const double tail = tail_of(i, tails);
            if (tail > longest) {
                longest = tail;
                best = steps_[i].id;
            }
        }
        return best;
    }

private:
    double tail_of(std::size_t i, std::vector<double>& tails) {
        if (tails[i] >= 0) return tails[i];
        tails[i] = 0;
        double after = 0;
        for (std::size_t k = 0; k < steps_.size(); ++k) {
            const auto& needs = steps_[k].needs;
            if (std::find(needs.begin(), needs.end(), steps_[i].id) != needs.end())
                after = std::max(after, tail_of(k, tails));
        }
        tails[i] = remaining(i) + after;
        return tails[i];
    }

    const Record& record_;
    const std::vector<Step>& steps_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::vector<double> expected_, elapsed_, ends_;
};

JsonObject step_projection(const StepRow& row) {
    JsonObject out;
    out["id"] = row.id;
    out["title"] = row.title;
    out["state"] = to_string(row.state);
    out["attempt"] = row.attempt;
    if (row.started_at) out["started_at"] = base::format_time(*row.started_at);
    if (row.ended_at) out["ended_at"] = base::format_time(*row.ended_at);
    if (!row.detail.empty()) out["detail"] = row.detail;
    out["error"] = row.error;
    return out;
}

std::string failed_step(const Record& record) {
    for (const auto& row : record.steps) {
        if (row.state == State::failed) return row.id;
    }
    return {};
}

base::JsonArray conditions(const Record& record) {
    base::JsonArray out;
    for (const auto& row : record.steps) {
        if (row.condition.empty() || is_terminal(row.state)) continue;
        JsonObject condition = row.condition;
        condition["step"] = row.id;
        out.push_back(std::move(condition));
    }
    return out;
}

void put_outlook(JsonObject& out, const Record& record, const std::vector<Step>& steps,
                 const Durations& durations, TimePoint now) {
    if (record.state == State::succeeded) {
        out["progress"] = 1.0;
        return;
    }
    std::string phase = failed_step(record);
    double progress = 0;
    if (steps.size() == record.steps.size() && !steps.empty()) {
        Outlook outlook(record, steps, durations, now);
        progress = outlook.progress();
        if (phase.empty()) phase = outlook.phase();
        if (!record.terminal())
            out["eta_seconds"] = static_cast<std::int64_t>(std::ceil(outlook.whole_end()));
    } else if (!record.steps.empty()) {
        const auto finished = std::count_if(record.steps.begin(), record.steps.end(),
                                            [](const StepRow& row) { return is_done(row.state); });
        progress = static_cast<double>(finished) / static_cast<double>(record.steps.size());
    }
    if (!phase.empty()) out["phase"] = phase;
    out["progress"] = std::round(progress * 100) / 100;
}

}  // namespace

JsonObject project(const Record& record, const std::vector<Step>& steps, const Durations& durations,
                   TimePoint now) {
    JsonObject out;
    out["id"] = record.id;
    out["name"] = record.operation;
    out["resource"] = record.resource;
    out["state"] = to_string(record.state);
    put_outlook(out, record, steps, durations, now);
    out["no_change"] = record.no_change;
    if (record.cancel_requested && !record.terminal()) out["cancel_requested"] = true;
    base::JsonArray rows;
    for (const auto& row : record.steps) rows.push_back(step_projection(row));
    out["steps"] = std::move(rows);
    out["conditions"] = conditions(record);
    out["plan"] = record.plan;
    out["result"] = record.result;
    out["error"] = record.error;
    out["requested_by"] = JsonObject{{"principal", record.principal}, {"face", record.face}};
    out["created_at"] = base::format_time(record.created_at);
    out["updated_at"] = base::format_time(record.updated_at);
    if (record.ended_at) out["ended_at"] = base::format_time(*record.ended_at);
    base::drop_empty(out);
    return out;
}

}  // namespace instantstart::ops::impl
