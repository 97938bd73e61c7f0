#include "twin/aws/control.h"

#include <charconv>

#include "base/text.h"
#include "domain/instance_type.h"
#include "twin/aws/services.h"

namespace instantstart::twin {

namespace {

constexpr double kMaxSpeed = 1e6;
constexpr double kMaxAdvanceSeconds = 3650.0 * 86400;

http::Response json(int status, const JsonValue& value) {
    return {status, "application/json", base::to_text(value) + "\n"};
}

http::Response problem(int status, const base::Error& error) {
    JsonObject body{{"code", error.code}, {"message", error.message}};
    if (!error.fields.empty()) {
        body["field"] = error.fields.front().pointer;
        body["message"] = error.fields.front().message;
    }
    return json(status, body);
}

http::Response done() {
    return json(200, JsonObject{});
}

base::Result<JsonObject> body_of(const http::Request& request) {
    if (base::trim(request.body).empty()) return JsonObject{};
    TRY(JsonValue value, base::parse_json(request.body, 64));
    if (!value.is_object()) return base::invalid_error("invalid_body", "the body must be a JSON object");
    return std::move(value.as_object());
}

http::Response calls(WorldImpl& world, const http::Request& request) {
    std::int64_t since = 0;
    const std::string text = request.parameter("since").value_or("0");
    const auto read = std::from_chars(text.data(), text.data() + text.size(), since);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size())
        return problem(400, base::invalid_field("since", "a number"));
    return json(200, world.calls().page(since, request.parameter("mutating").value_or("") == "true"));
}

http::Response clock_state(WorldImpl& world) {
    return json(200, JsonObject{{"now", base::format_time_millis(world.now())}, {"speed", world.speed()}});
}

http::Response set_clock(WorldImpl& world, const JsonObject& body) {
    const JsonValue* speed = body.if_contains("speed");
    const JsonValue* advance = body.if_contains("advance_seconds");
    const auto number = [](const JsonValue* value) {
        return value->is_number() ? value->to_number<double>() : -1;
    };
    if (speed == nullptr && advance == nullptr)
        return problem(400, base::invalid_field("", "speed or advance_seconds is needed"));
    if (speed != nullptr && !(number(speed) > 0 && number(speed) <= kMaxSpeed))
        return problem(400, base::invalid_field("/speed", "a number above 0, at most 1000000"));
    if (advance != nullptr && !(number(advance) >= 0 && number(advance) <= kMaxAdvanceSeconds))
        return problem(400, base::invalid_field("/advance_seconds", "seconds, 0 or more"));
    if (speed != nullptr) world.set_speed(number(speed));
    if (advance != nullptr) world.advance(base::Duration(static_cast<std::int64_t>(number(advance) * 1e9)));
    return clock_state(world);
}

http::Response add_fault(WorldImpl& world, const JsonObject& body) {
    auto id = world.faults().add(body, world.clock());
    if (!id) return problem(400, id.error());
    return json(200, JsonObject{{"id", *id}});
}

http::Response fail_node(WorldImpl& world, const std::string& instance, const JsonObject& body) {
    static constexpr const char* kFaults[] = {"gpu_xid", "efa", "unreachable", "disk", "spot_interruption"};
    const std::string fault = base::get_string(body, "fault");
    bool known = false;
    for (const char* name : kFaults) known = known || fault == name;
    if (!known)
        return problem(
            400, base::invalid_field("/fault", "one of gpu_xid, efa, unreachable, disk, spot_interruption"));
    auto* nodes = dynamic_cast<NodeControl*>(world.service("sagemaker"));
    if (nodes == nullptr) return problem(404, base::not_found_error("the SageMaker service"));
    std::optional<std::int64_t> code;
    if (const JsonValue* given = body.if_contains("code"); given != nullptr && given->is_int64())
        code = given->as_int64();
    auto failed = nodes->fail_node(instance, fault, code);
    if (!failed)
        return problem(failed.error().kind == base::ErrorKind::not_found ? 404 : 400, failed.error());
    world.touched();
    return done();
}

http::Response publish_image(WorldImpl& world) {
    auto* nodes = dynamic_cast<NodeControl*>(world.service("sagemaker"));
    if (nodes == nullptr) return problem(404, base::not_found_error("the SageMaker service"));
    nodes->publish_image();
    return done();
}

http::Response put_plan(WorldImpl& world, const JsonObject& body) {
    static constexpr const char* kStatuses[] = {"Pending", "Scheduled", "Active", "Expired", "Failed"};
    auto* nodes = dynamic_cast<NodeControl*>(world.service("sagemaker"));
    if (nodes == nullptr) return problem(404, base::not_found_error("the SageMaker service"));
    PlanSpec spec;
    spec.name = base::get_string(body, "name");
    spec.instance_type = base::get_string(body, "instance_type");
    spec.zone = base::get_string(body, "zone");
    spec.status = base::get_string(body, "status", "Active");
    spec.count = base::get_int(body, "count", 1);
    spec.start_in_hours = base::get_int(body, "start_in_hours");
    spec.hours = base::get_int(body, "hours", 24);
    const domain::InstanceType* type = domain::find_instance_type(spec.instance_type);
    if (spec.name.empty()) return problem(400, base::invalid_field("/name", "a name is needed"));
    if (type == nullptr || !type->training_plan)
        return problem(400, base::invalid_field("/instance_type", "a type that training plans offer"));
    if (spec.zone.empty()) return problem(400, base::invalid_field("/zone", "a zone is needed"));
    if (spec.count < 1 || spec.count > 256) return problem(400, base::invalid_field("/count", "1 to 256"));
    if (spec.hours < 1 || spec.start_in_hours < 0)
        return problem(400, base::invalid_field("/hours", "1 or more, and start_in_hours 0 or more"));
    bool known = false;
    for (const char* status : kStatuses) known = known || spec.status == status;
    if (!known)
        return problem(400, base::invalid_field("/status", "Pending, Scheduled, Active, Expired or Failed"));
    nodes->put_plan(spec);
    return done();
}

http::Response set_capacity(WorldImpl& world, const JsonObject& body) {
    const std::string type = base::get_string(body, "instance_type");
    const std::string zone = base::get_string(body, "zone");
    const std::int64_t available = base::get_int(body, "available", -1);
    if (domain::find_instance_type(type) == nullptr)
        return problem(400, base::invalid_field("/instance_type", "unknown type"));
    if (zone.empty()) return problem(400, base::invalid_field("/zone", "a zone is needed"));
    if (available < 0) return problem(400, base::invalid_field("/available", "a number, 0 or more"));
    world.set_capacity(type, zone, available);
    return done();
}

http::Response set_quota(WorldImpl& world, const JsonObject& body) {
    const std::string name = base::get_string(body, "quota_name");
    const JsonValue* value = body.if_contains("value");
    if (name.empty()) return problem(400, base::invalid_field("/quota_name", "a name is needed"));
    if (value == nullptr || !value->is_number() || value->to_number<double>() < 0)
        return problem(400, base::invalid_field("/value", "a number, 0 or more"));
    if (world.quotas().find(name) == nullptr) return problem(404, base::not_found_error("the quota " + name));
    world.quotas().set(name, value->to_number<double>());
    world.touched();
    return done();
}

// POST clusters/{name}/pods/{namespace}/{pod}/log, handed to the Kubernetes side.
http::Response append_log(WorldImpl& world, const std::vector<std::string>& path, const JsonObject& body) {
    if (!world.options().append_log) return problem(404, base::not_found_error("the Kubernetes side"));
    PodOutput output;
    output.cluster = path[1];
    output.ns = path[3];
    output.pod = path[4];
    output.container = base::get_string(body, "container");
    for (const JsonValue& line : base::get_array(body, "lines")) {
        if (!line.is_string()) return problem(400, base::invalid_field("/lines", "a list of texts"));
        output.lines.emplace_back(line.as_string());
    }
    if (const JsonValue* code = body.if_contains("exit_code"); code != nullptr) {
        if (!code->is_int64() || code->as_int64() < 0 || code->as_int64() > 255)
            return problem(400, base::invalid_field("/exit_code", "a number from 0 to 255"));
        output.exit_code = static_cast<int>(code->as_int64());
    }
    auto appended = world.options().append_log(output);
    if (!appended)
        return problem(appended.error().kind == base::ErrorKind::not_found ? 404 : 400, appended.error());
    world.touched();
    return done();
}

// POST clusters/{name}/compact.
http::Response compact(WorldImpl& world, const std::string& cluster) {
    if (!world.options().compact) return problem(404, base::not_found_error("the Kubernetes side"));
    const auto compacted = world.options().compact(cluster);
    return compacted.has_value() ? done() : problem(404, compacted.error());
}

// GET clusters/{name}.
http::Response figures(WorldImpl& world, const std::string& cluster) {
    if (!world.options().figures) return problem(404, base::not_found_error("the Kubernetes side"));
    const auto found = world.options().figures(cluster);
    return found.has_value() ? json(200, *found) : problem(404, found.error());
}

// POST clusters/{name}/churn.
http::Response churn(WorldImpl& world, const std::string& cluster, const JsonObject& body) {
    constexpr double kMostPerSecond = 10'000, kMostSeconds = 86'400;
    const auto number = [&body](std::string_view key, double most) -> std::optional<double> {
        const JsonValue* given = body.if_contains(key);
        if (given == nullptr || !given->is_number()) return std::nullopt;
        const auto value = given->to_number<double>();
        return value >= 0 && value <= most ? std::optional(value) : std::nullopt;
    };
    const auto rate = number("changes_per_second", kMostPerSecond), seconds = number("seconds", kMostSeconds);
    if (!rate) return problem(400, base::invalid_field("/changes_per_second", "a number from 0 to 10000"));
    if (!seconds) return problem(400, base::invalid_field("/seconds", "a number from 0 to 86400"));
    if (!world.options().churn) return problem(404, base::not_found_error("the Kubernetes side"));
    const base::Duration length(static_cast<std::int64_t>(*seconds * 1e9));
    const auto begun = world.options().churn(cluster, *rate, length);
    return begun.has_value() ? done() : problem(404, begun.error());
}

// POST clusters/{name}/images: what cannot be pulled there from now on.
http::Response fail_images(WorldImpl& world, const std::string& cluster, const JsonObject& body) {
    if (!world.options().fail_images) return problem(404, base::not_found_error("the Kubernetes side"));
    const auto set = world.options().fail_images(cluster, base::get_string(body, "prefix"),
                                                 base::get_string(body, "failure"));
    if (!set.has_value())
        return problem(set.error().kind == base::ErrorKind::not_found ? 404 : 400, set.error());
    world.touched();
    return done();
}

http::Response restore(WorldImpl& world, const http::Request& request) {
    auto state = base::parse_json(request.body, 128);
    if (!state) return problem(400, state.error());
    if (!state->is_object() || base::get_int(*state, "format") != 1)
        return problem(400,
                       base::invalid_error("invalid_snapshot", "this is no snapshot of a simulated account"));
    world.restore(*state);
    return done();
}

http::Response get(WorldImpl& world, const http::Request& request, const std::vector<std::string>& path) {
    if (path[0] == "calls") return calls(world, request);
    if (path[0] == "clock") return clock_state(world);
    if (path[0] == "faults") return json(200, JsonObject{{"faults", world.faults().list()}});
    if (path[0] == "snapshot") return json(200, world.snapshot());
    if (path[0] == "clusters" && path.size() == 2) return figures(world, path[1]);
    return problem(404, base::not_found_error("the path"));
}

http::Response post(WorldImpl& world, const http::Request& request, const std::vector<std::string>& path) {
    if (path[0] == "snapshot" && path.size() == 1) return restore(world, request);
    auto body = body_of(request);
    if (!body) return problem(400, body.error());
    if (path.size() == 1) {
        if (path[0] == "clock") return set_clock(world, *body);
        if (path[0] == "faults") return add_fault(world, *body);
        if (path[0] == "capacity") return set_capacity(world, *body);
        if (path[0] == "quotas") return set_quota(world, *body);
        if (path[0] == "images") return publish_image(world);
        if (path[0] == "training-plans") return put_plan(world, *body);
        if (path[0] == "reset") {
            world.reset();
            return done();
        }
    }
    if (path.size() == 3 && path[0] == "nodes" && path[2] == "fail") return fail_node(world, path[1], *body);
    if (path.size() == 6 && path[0] == "clusters" && path[2] == "pods" && path[5] == "log")
        return append_log(world, path, *body);
    if (path.size() == 3 && path[0] == "clusters" && path[2] == "compact") return compact(world, path[1]);
    if (path.size() == 3 && path[0] == "clusters" && path[2] == "churn") return churn(world, path[1], *body);
    if (path.size() == 3 && path[0] == "clusters" && path[2] == "images")
        return fail_images(world, path[1], *body);
    return problem(404, base::not_found_error("the path"));
}

}  // namespace

http::Response control(WorldImpl& world, const http::Request& request) {
    std::vector<std::string> path;
    for (const std::string& part :
         base::split(request.path().substr(std::string_view("/_twin/").size()), '/'))
        path.push_back(base::percent_decode(part));
    if (path.empty()) path.emplace_back();
    if (request.method == "GET" && (path.size() == 1 || path[0] == "clusters"))
        return get(world, request, path);
    if (request.method == "POST") return post(world, request, path);
    if (request.method == "DELETE" && path.size() == 2 && path[0] == "faults") {
        if (world.faults().remove(path[1])) return done();
        return problem(404, base::not_found_error("the fault " + path[1]));
    }
    return problem(404, base::not_found_error("the path"));
}

}  // namespace instantstart::twin
