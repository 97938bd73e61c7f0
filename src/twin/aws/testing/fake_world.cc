#include "twin/aws/testing/fake_world.h"

#include "twin/aws/resources/record.h"

namespace instantstart::twin::testing {

namespace {

TimePoint start() {
    return base::from_epoch(1'780'000'000) + base::Duration::zero();
}

}  // namespace

FakeWorld::FakeWorld() : clock_(io_, 1, start()), now_(start()) {
    caller.arn = "arn:aws:sts::111122223333:assumed-role/instantstart-admin/twin";
    caller.account = "111122223333";
    caller.role_arn = "arn:aws:iam::111122223333:role/platform/instantstart-admin";
    iam_.roles[caller.role_arn] = FakeIam::Role();
}

Service* FakeWorld::service(std::string_view name) {
    const auto found = services_.find(name);
    return found == services_.end() ? nullptr : found->second.get();
}

void FakeWorld::after(base::Duration aws_duration, std::string_view service, std::string kind,
                      JsonObject payload) {
    timers_.emplace(now_ + aws_duration, Timer{std::string(service), std::move(kind), std::move(payload)});
}

std::string FakeWorld::hex_id(std::string_view prefix, std::size_t digits) {
    std::string text;
    while (text.size() < digits) {
        std::uint64_t bits = stable_hash(std::to_string(++ids_));
        for (int i = 0; i < 16 && text.size() < digits; ++i, bits >>= 4)
            text += "0123456789abcdef"[bits & 15U];
    }
    return std::string(prefix) + text;
}

std::string FakeWorld::uuid() {
    std::string digits = hex_id("", 32);
    for (std::size_t at : {8U, 13U, 18U, 23U}) digits.insert(at, "-");
    return digits;
}

std::optional<double> FakeWorld::quota(std::string_view name) const {
    const auto found = quotas.find(name);
    return found == quotas.end() ? std::nullopt : std::optional<double>(found->second);
}

std::optional<std::int64_t> FakeWorld::capacity(std::string_view instance_type, std::string_view zone) const {
    const auto found = capacities.find(std::string(instance_type) + " " + std::string(zone));
    return found == capacities.end() ? std::nullopt : std::optional<std::int64_t>(found->second);
}

void FakeWorld::take_capacity(std::string_view instance_type, std::string_view zone, std::int64_t count) {
    const auto found = capacities.find(std::string(instance_type) + " " + std::string(zone));
    if (found != capacities.end()) found->second -= count;
}

void FakeWorld::advance(base::Duration duration) {
    const TimePoint end = now_ + duration;
    while (!timers_.empty() && timers_.begin()->first <= end) {
        const auto node = timers_.extract(timers_.begin());
        now_ = std::max(now_, node.key());
        const Timer& timer = node.mapped();
        service(timer.service)->on_timer(timer.kind, timer.payload);
    }
    now_ = end;
}

void FakeWorld::add(std::unique_ptr<Service> service) {
    const std::string name(service->name());
    services_[name] = std::move(service);
}

JsonObject FakeWorld::call(std::string_view service_name, std::string_view operation, JsonObject params) {
    Call made;
    made.service = service_name;
    made.operation = operation;
    made.region = region();
    made.params = std::move(params);
    made.caller = caller;
    made.stale = stale;
    made.now = now_;
    const Reply reply = service(service_name)->handle(made);
    if (const JsonObject* answer = std::get_if<JsonObject>(&reply)) return *answer;
    const ServiceError& error = std::get<ServiceError>(reply);
    JsonObject shown = error.members;
    shown["Error"] = error.code;
    shown["Message"] = error.message;
    shown["Status"] = error.status;
    return shown;
}

}  // namespace instantstart::twin::testing
