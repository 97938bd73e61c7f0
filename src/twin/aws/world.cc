#include "twin/aws/world_impl.h"

#include <cmath>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"

namespace instantstart::twin {

namespace {

constexpr base::Duration kSaveDelay = std::chrono::milliseconds(300);
constexpr base::Duration kSaveInterval = std::chrono::seconds(2);
constexpr int kPauseFactor = 20;  // after a save, times what it took
constexpr base::Duration kIdle = std::chrono::hours(1);

void log_unsaved(const base::Error& error) {
    base::log(base::LogLevel::error, "twin_state_not_saved", {{"error", error.chain()}});
}

base::Duration scaled(base::Duration duration, double factor) {
    return base::Duration(static_cast<std::int64_t>(static_cast<double>(duration.count()) * factor));
}

}  // namespace

std::string tag_value(const JsonArray& tags, std::string_view key) {
    for (const JsonValue& tag : tags) {
        std::string name = base::get_string(tag, "Key");
        if (name.empty()) name = base::get_string(tag, "key");
        if (name != key) continue;
        std::string value = base::get_string(tag, "Value");
        return value.empty() ? base::get_string(tag, "value") : value;
    }
    return "";
}

WorldImpl::WorldImpl(boost::asio::any_io_executor executor, rt::Clock& clock, WorldOptions options)
    : clock_(clock),
      options_(std::move(options)),
      aws_url_("http://127.0.0.1:3097"),
      kube_url_("https://127.0.0.1:3098"),
      speed_(options_.speed > 0 ? options_.speed : 1),
      base_monotonic_(clock.monotonic()),
      quotas_(options_.zero_quotas),
      timer_changed_(executor),
      save_wanted_(executor),
      tasks_(executor, "twin-world") {}

WorldImpl::~WorldImpl() = default;

void WorldImpl::add(std::unique_ptr<Service> service) {
    services_.push_back(std::move(service));
}

void WorldImpl::start() {
    tasks_.spawn("timers", run_timers());
    if (options_.write) tasks_.spawn("saver", run_saver());
}

boost::asio::awaitable<void> WorldImpl::stop() {
    tasks_.cancel();
    co_await tasks_.join();
    save_now();
}

IamView& WorldImpl::iam() {
    return get<IamView>("iam");
}

Service* WorldImpl::service(std::string_view name) {
    for (const auto& service : services_) {
        if (service->name() == name) return service.get();
    }
    return nullptr;
}

base::Duration WorldImpl::virtual_now() const {
    return base_virtual_ + scaled(clock_.monotonic() - base_monotonic_, speed_);
}

void WorldImpl::after(base::Duration aws_duration, std::string_view service, std::string kind,
                      JsonObject payload) {
    Timer timer;
    timer.service = service;
    timer.kind = std::move(kind);
    timer.payload = std::move(payload);
    timers_.emplace(TimerKey(virtual_now() + aws_duration, ++timer_sequence_), std::move(timer));
    touched();
    timer_changed_.notify_all();
}

base::Duration WorldImpl::about(base::Duration typical) {
    return scaled(typical, clock_.random_between(0.85, 1.15));
}

std::string WorldImpl::hex_id(std::string_view prefix, std::size_t digits) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out(prefix);
    while (digits > 0) {
        std::uint64_t bits = clock_.random();
        for (int i = 0; i < 16 && digits > 0; ++i, --digits, bits >>= 4U) out += kDigits[bits & 15U];
    }
    return out;
}

std::string WorldImpl::uuid() {
    std::string digits = hex_id("", 32);
    digits[12] = '4';
    digits[16] = "89ab"[static_cast<std::size_t>(digits[16]) & 3U];
    return digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" + digits.substr(12, 4) + "-" +
           digits.substr(16, 4) + "-" + digits.substr(20);
}

std::optional<std::int64_t> WorldImpl::capacity(std::string_view instance_type, std::string_view zone) const {
    const auto found = capacity_.find(std::pair(std::string(instance_type), std::string(zone)));
    if (found == capacity_.end()) return std::nullopt;
    return found->second;
}

void WorldImpl::take_capacity(std::string_view instance_type, std::string_view zone, std::int64_t count) {
    const auto found = capacity_.find(std::pair(std::string(instance_type), std::string(zone)));
    if (found != capacity_.end()) found->second -= count;
}

void WorldImpl::set_capacity(std::string_view instance_type, std::string_view zone, std::int64_t available) {
    capacity_[std::pair(std::string(instance_type), std::string(zone))] = available;
    touched();
}

void WorldImpl::journal(std::string_view service, std::string_view operation, std::string_view principal,
                        JsonObject parameters, int status, std::string_view error_code) {
    JournalEntry entry;
    entry.time = now();
    entry.service = service;
    entry.operation = operation;
    entry.principal = principal;
    entry.parameters = std::move(parameters);
    entry.status = status;
    entry.error_code = error_code;
    entry.request_id = uuid();
    entry.mutating = true;
    journal_.add(std::move(entry));
    touched();
}

void WorldImpl::touched() {
    if (dirty_) return;
    dirty_ = true;
    save_wanted_.notify_all();
}

void WorldImpl::set_urls(std::string aws, std::string kube) {
    aws_url_ = std::move(aws);
    kube_url_ = std::move(kube);
}

void WorldImpl::set_speed(double speed) {
    base_virtual_ = virtual_now();
    base_monotonic_ = clock_.monotonic();
    speed_ = speed;
    if (options_.on_speed) options_.on_speed(speed);
    touched();
    timer_changed_.notify_all();
}

void WorldImpl::fire_first() {
    const auto first = timers_.begin();
    Timer timer = std::move(first->second);
    timers_.erase(first);
    touched();
    if (Service* owner = service(timer.service)) owner->on_timer(timer.kind, timer.payload);
}

void WorldImpl::advance(base::Duration aws_duration) {
    const base::Duration target = virtual_now() + aws_duration;
    while (!timers_.empty() && timers_.begin()->first.first <= target) {
        // The account's time stands at the timer's own moment while it fires, so that what it sets next
        // follows from there.
        const base::Duration behind = timers_.begin()->first.first - virtual_now();
        if (behind.count() > 0) base_virtual_ += behind;
        fire_first();
    }
    const base::Duration rest = target - virtual_now();
    if (rest.count() > 0) base_virtual_ += rest;
    touched();
    timer_changed_.notify_all();
}

rt::Task<void> WorldImpl::run_timers() {
    for (;;) {
        while (!timers_.empty() && timers_.begin()->first.first <= virtual_now()) fire_first();
        base::Duration wait = kIdle;
        if (!timers_.empty()) {
            // A little more than the rest, so that rounding never leaves a timer a nanosecond short.
            wait = scaled(timers_.begin()->first.first - virtual_now(), 1 / speed_) +
                   std::chrono::microseconds(1);
        }
        auto waited = co_await timer_changed_.wait_for(clock_, wait);
        if (!waited && waited.error().kind == base::ErrorKind::cancelled) co_return waited.error();
    }
}

rt::Task<void> WorldImpl::run_saver() {
    for (;;) {
        if (!dirty_) {
            auto woken = co_await save_wanted_.wait_for(clock_, kSaveInterval);
            if (!woken && woken.error().kind == base::ErrorKind::cancelled) co_return woken.error();
        }
        CO_CHECK_OK(co_await clock_.sleep(kSaveDelay));
        const std::int64_t revision = options_.more_revision ? options_.more_revision() : 0;
        const base::Duration began = clock_.monotonic();
        if (dirty_ || revision != saved_revision_) CO_CHECK_OK(co_await save_apart());
        saved_revision_ = revision;
        // The account of a large fleet is written seldom: its size must not keep the machine busy.
        CO_CHECK_OK(co_await clock_.sleep(kPauseFactor * (clock_.monotonic() - began)));
    }
}

// Text and file are made beside the loop, which goes on answering.
rt::Task<void> WorldImpl::save_apart() {
    dirty_ = false;
    auto own = own_snapshot();
    auto more = options_.more_saver ? options_.more_saver() : std::function<std::string()>();
    std::function<base::Result<bool>()> work = [own = std::move(own), more = std::move(more),
                                                write = options_.write]() -> base::Result<bool> {
        auto text = base::to_text(own);
        if (more) {
            text.back() = ',';
            text += "\"more\":" + more() + "}";
        }
        CHECK_OK(write(text));
        return true;
    };
    auto written = co_await writer_.run<bool>(std::move(work));
    if (written) co_return base::ok();
    if (written.error().kind == base::ErrorKind::cancelled) co_return std::move(written).error();
    log_unsaved(written.error());
    co_return base::ok();
}

void WorldImpl::save_now() {
    dirty_ = false;
    if (!options_.write) return;
    const std::string text = base::to_text(snapshot());
    auto written = options_.write(text);
    if (!written) log_unsaved(written.error());
}

JsonArray WorldImpl::save_timers() const {
    JsonArray out;
    const base::Duration at = virtual_now();
    for (const auto& [key, timer] : timers_) {
        out.emplace_back(JsonObject{{"left_ns", (key.first - at).count()},
                                    {"service", timer.service},
                                    {"kind", timer.kind},
                                    {"payload", timer.payload}});
    }
    return out;
}

void WorldImpl::load_timers(const JsonArray& timers) {
    timers_.clear();
    const base::Duration at = virtual_now();
    for (const JsonValue& value : timers) {
        Timer timer;
        timer.service = base::get_string(value, "service");
        timer.kind = base::get_string(value, "kind");
        timer.payload = base::get_object(value, "payload");
        const base::Duration due = at + base::Duration(base::get_int(value, "left_ns"));
        timers_.emplace(TimerKey(due, ++timer_sequence_), std::move(timer));
    }
}

JsonValue WorldImpl::snapshot() const {
    JsonObject out = own_snapshot();
    if (options_.save_more) out["more"] = options_.save_more();
    return out;
}

JsonObject WorldImpl::own_snapshot() const {
    JsonObject services;
    for (const auto& service : services_) services[service->name()] = service->save();
    JsonArray capacity;
    for (const auto& [key, count] : capacity_) {
        capacity.emplace_back(
            JsonObject{{"instance_type", key.first}, {"zone", key.second}, {"available", count}});
    }
    JsonObject out;
    out["format"] = 1;
    out["region"] = options_.region;
    out["services"] = std::move(services);
    out["timers"] = save_timers();
    out["capacity"] = std::move(capacity);
    out["quotas"] = quotas_.save();
    out["journal"] = journal_.save();
    return out;
}

void WorldImpl::restore(const JsonValue& state) {
    for (const auto& service : services_) {
        const JsonValue* own = base::find_path(state, "services." + std::string(service->name()));
        service->load(own != nullptr ? *own : JsonValue(JsonObject{}));
    }
    if (options_.load_more) {
        const JsonValue* more = base::find_path(state, "more");
        options_.load_more(more != nullptr ? *more : JsonValue(JsonObject{}));
    }
    // After the services: load() of a service may set timers for a new account, which a saved one already
    // holds.
    if (base::find_path(state, "timers") != nullptr) load_timers(base::get_array(state, "timers"));
    capacity_.clear();
    for (const JsonValue& row : base::get_array(state, "capacity")) {
        capacity_[std::pair(base::get_string(row, "instance_type"), base::get_string(row, "zone"))] =
            base::get_int(row, "available");
    }
    const JsonValue* quotas = base::find_path(state, "quotas");
    quotas_.load(quotas != nullptr ? *quotas : JsonValue(JsonObject{}));
    const JsonValue* journal = base::find_path(state, "journal");
    journal_.load(journal != nullptr ? *journal : JsonValue(JsonObject{}));
    touched();
    timer_changed_.notify_all();
}

void WorldImpl::reset() {
    timers_.clear();
    faults_.clear();
    restore(JsonObject{});
}

}  // namespace instantstart::twin
