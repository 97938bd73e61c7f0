// Offerings and plans: searched, bought, described, listed.
#include <algorithm>

#include "domain/instance_type.h"
#include "twin/aws/sagemaker/plan.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::int64_t kGapHours = 24;
// Instances of an UltraServer.
struct UltraServer {
    const char* type;
    const char* instance_type;
    std::int64_t instances;
};
constexpr UltraServer kUltraServers[] = {{"ml.u-p6e-gb200x36", "ml.p6e-gb200.36xlarge", 9},
                                         {"ml.u-p6e-gb200x72", "ml.p6e-gb200.36xlarge", 18},
                                         {"ml.u-trn2x64", "ml.trn2.48xlarge", 4}};

struct Wish {
    std::string type, ultra_server;
    std::int64_t count = 1, ultra_servers = 0, hours = 0;
    TimePoint after;
    std::optional<TimePoint> before;
    JsonArray targets;
};

std::optional<ServiceError> read_wish(State& state, const Call& call, Wish& wish) {
    wish.type = base::get_string(call.params, "InstanceType");
    wish.ultra_server = base::get_string(call.params, "UltraServerType");
    wish.hours = base::get_int(call.params, "DurationHours");
    wish.count = base::get_int(call.params, "InstanceCount", 1);
    wish.targets = base::get_array(call.params, "TargetResources");
    if (wish.hours < 1) return invalid("DurationHours must be given.");
    if (wish.type.empty() == wish.ultra_server.empty())
        return invalid("Exactly one of InstanceType and UltraServerType must be given.");
    if (wish.targets.empty()) wish.targets = {"training-job"};
    wish.after = state.world.now();
    if (const auto given = base::parse_time(base::get_string(call.params, "StartTimeAfter")))
        wish.after = std::max(wish.after, *given);
    wish.before = base::parse_time(base::get_string(call.params, "EndTimeBefore"));
    if (wish.before && *wish.before <= wish.after)
        return invalid("EndTimeBefore must lie after the start time.");
    if (wish.ultra_server.empty()) return std::nullopt;
    for (const UltraServer& known : kUltraServers) {
        if (wish.ultra_server != known.type) continue;
        wish.ultra_servers = base::get_int(call.params, "UltraServerCount", 1);
        wish.type = known.instance_type;
        wish.count = known.instances * wish.ultra_servers;
        return std::nullopt;
    }
    return invalid("Unknown UltraServerType " + wish.ultra_server + ".");
}

// Windows begin at 11:30 UTC.
TimePoint first_start(TimePoint after) {
    const auto day = std::chrono::floor<std::chrono::days>(after);
    TimePoint start = day + hours(11) + minutes(30);
    while (start <= after) start += hours(24);
    return start;
}

// The twin's own money, by accelerator and hour.
std::string fee(const Wish& wish) {
    const domain::InstanceType* type = domain::find_instance_type(wish.type);
    const std::int64_t each = type == nullptr ? 1 : std::max<std::int64_t>(1, type->accelerators);
    return std::to_string(each * wish.count * wish.hours * 2) + ".00";
}

JsonObject block_of(const Wish& wish, const std::string& zone, TimePoint start, std::int64_t length) {
    JsonObject block;
    block["ReservedCapacityType"] = wish.ultra_servers > 0 ? "UltraServer" : "Instance";
    if (wish.ultra_servers > 0) {
        block["UltraServerType"] = wish.ultra_server;
        block["UltraServerCount"] = wish.ultra_servers;
    }
    block["InstanceType"] = wish.type;
    block["InstanceCount"] = wish.count;
    block["AvailabilityZone"] = zone;
    block["DurationHours"] = length;
    block["DurationMinutes"] = 0;
    block["StartTime"] = base::format_time_millis(start);
    block["EndTime"] = base::format_time_millis(start + hours(length));
    return block;
}

void offer(State& state, const Wish& wish, JsonArray blocks, JsonArray& all) {
    const auto end = base::parse_time(base::get_string(blocks.back(), "EndTime"));
    if (wish.before && end && *end > *wish.before) return;
    const std::string id = state.world.hex_id("tpo-", 32);
    JsonObject offering;
    offering["TrainingPlanOfferingId"] = id;
    offering["TargetResources"] = wish.targets;
    offering["RequestedStartTimeAfter"] = base::format_time_millis(wish.after);
    if (wish.before) offering["RequestedEndTimeBefore"] = base::format_time_millis(*wish.before);
    offering["DurationHours"] = wish.hours;
    offering["DurationMinutes"] = 0;
    offering["UpfrontFee"] = fee(wish);
    offering["CurrencyCode"] = "USD";
    offering["ReservedCapacityOfferings"] = std::move(blocks);
    all.push_back(offering);
    state.offerings.add(id, std::move(offering), state.world.now());
    state.world.after(minutes(10), "sagemaker", "plan_offering_gone", {{"offering", id}});
}

Reply search(State& state, const Call& call) {
    Wish wish;
    if (auto bad = read_wish(state, call, wish)) return *bad;
    JsonArray all;
    const domain::InstanceType* type = domain::find_instance_type(wish.type);
    for (const ec2::Zone& zone : state.ec2().zones()) {
        if (type == nullptr || !type->training_plan || wish.count < 1) break;
        if (!ec2::Ec2::offered(type->ec2_name(), zone.name)) continue;
        const TimePoint start = first_start(wish.after);
        offer(state, wish, JsonArray{block_of(wish, zone.name, start, wish.hours)}, all);
        // Longer ones also in two parts, with a day between them.
        if (wish.hours < 48) continue;
        const std::int64_t first = wish.hours / 2 / 24 * 24;
        const TimePoint second = start + hours(first + kGapHours);
        offer(state, wish,
              JsonArray{block_of(wish, zone.name, start, first),
                        block_of(wish, zone.name, second, wish.hours - first)},
              all);
    }
    JsonObject answer;
    answer["TrainingPlanOfferings"] = std::move(all);
    return answer;
}

std::string arn_of(State& state, const std::string& resource) {
    return "arn:aws:sagemaker:" + state.world.region() + ":" + state.world.account() + ":" + resource;
}

JsonArray summaries(State& state, const JsonArray& offered, const char* status) {
    JsonArray blocks;
    for (const JsonValue& each : offered) {
        JsonObject block = each.get_object();
        block["ReservedCapacityArn"] = arn_of(state, "reserved-capacity/" + state.world.hex_id("rc-", 17));
        block["TotalInstanceCount"] = base::get_int(block, "InstanceCount");
        block["Status"] = status;
        block.erase("InstanceCount");
        blocks.push_back(std::move(block));
    }
    return blocks;
}

// Hours between one block's end and the next one's start.
JsonArray gaps_of(const JsonArray& blocks) {
    JsonArray gaps;
    for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
        const auto end = base::parse_time(base::get_string(blocks[i], "EndTime"));
        const auto start = base::parse_time(base::get_string(blocks[i + 1], "StartTime"));
        gaps.emplace_back(end && start ? std::chrono::duration_cast<hours>(*start - *end).count() : 0);
    }
    return gaps;
}

Record& add_plan(State& state, const std::string& name, const JsonObject& offering, const char* status) {
    const JsonArray blocks = summaries(state, base::get_array(offering, "ReservedCapacityOfferings"), status);
    JsonObject data;
    data["TrainingPlanArn"] = arn_of(state, "training-plan/" + name);
    data["TrainingPlanName"] = name;
    data["Status"] = status;
    for (const char* member :
         {"DurationHours", "DurationMinutes", "UpfrontFee", "CurrencyCode", "TargetResources"}) {
        if (const JsonValue* value = offering.if_contains(member)) data[member] = *value;
    }
    data["StartTime"] = base::get_string(blocks.front(), "StartTime");
    data["EndTime"] = base::get_string(blocks.back(), "EndTime");
    data["TotalInstanceCount"] = base::get_int(blocks.front(), "TotalInstanceCount");
    if (const std::int64_t servers = base::get_int(blocks.front(), "UltraServerCount"); servers > 0)
        data["TotalUltraServerCount"] = servers;
    data["ReservedCapacitySummaries"] = blocks;
    Record& plan = state.plans.add(name, std::move(data), state.world.now());
    plan.hidden["gaps"] = gaps_of(blocks);
    plan.hidden["run"] = state.world.uuid();
    return plan;
}

Reply create(State& state, const Call& call) {
    const std::string name = base::get_string(call.params, "TrainingPlanName"),
                      id = base::get_string(call.params, "TrainingPlanOfferingId");
    if (state.plans.find(name) != nullptr)
        return failure("ResourceInUse", "A training plan with the name " + name + " already exists.");
    const Record* offering = state.offerings.find(id);
    if (offering == nullptr) {
        return failure("ResourceNotFound",
                       "Training plan offering " + id +
                           " was not found. Offerings last for some minutes: search again.");
    }
    Record& plan = add_plan(state, name, offering->data, "Pending");
    plan.hidden["tags"] = base::get_array(call.params, "Tags");
    const JsonObject payload{{"plan", name}, {"run", base::get_string(plan.hidden, "run")}};
    state.world.after(state.world.about(minutes(1)), "sagemaker", "plan_paid", payload);
    const auto start = base::parse_time(base::get_string(plan.data, "StartTime"));
    set_plan_timers(state, plan, std::max<base::Duration>(minutes(2), *start - state.world.now()));
    JsonObject answer;
    answer["TrainingPlanArn"] = base::get_string(plan.data, "TrainingPlanArn");
    return answer;
}

Reply describe(State& state, const Call& call) {
    const std::string name = base::get_string(call.params, "TrainingPlanName");
    const Record* plan = state.plans.find(name);
    if (plan == nullptr || !call.shows(plan->created))
        return failure("ResourceNotFound", "Training plan " + name + " was not found.");
    return plan_answer(state, *plan);
}

bool chosen(const Record& plan, const Call& call) {
    for (const JsonValue& filter : base::get_array(call.params, "Filters")) {
        if (base::get_string(filter, "Value") != base::get_string(plan.data, "Status")) return false;
    }
    const auto start = base::parse_time(base::get_string(plan.data, "StartTime"));
    const auto after = base::parse_time(base::get_string(call.params, "StartTimeAfter"));
    const auto before = base::parse_time(base::get_string(call.params, "StartTimeBefore"));
    return call.shows(plan.created) && (!after || *start > *after) && (!before || *start < *before);
}

Reply list(State& state, const Call& call) {
    std::vector<const Record*> plans;
    for (const auto& [name, plan] : state.plans) {
        if (chosen(plan, call)) plans.push_back(&plan);
    }
    const std::string by = base::get_string(call.params, "SortBy", "TrainingPlanName");
    std::sort(plans.begin(), plans.end(), [&by](const Record* a, const Record* b) {
        return std::pair(base::get_string(a->data, by), a->id) <
               std::pair(base::get_string(b->data, by), b->id);
    });
    if (base::get_string(call.params, "SortOrder") == "Descending") std::reverse(plans.begin(), plans.end());
    JsonArray all;
    for (const Record* plan : plans) {
        JsonObject shown = plan_answer(state, *plan);
        shown.erase("UnhealthyInstanceCount");  // only DescribeTrainingPlan tells of it
        all.push_back(std::move(shown));
    }
    Page page = paginate(all, base::get_int(call.params, "MaxResults", 100),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer["TrainingPlanSummaries"] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

}  // namespace

void put_plan(State& state, const PlanSpec& spec) {
    Wish wish;
    wish.type = spec.instance_type;
    wish.count = spec.count;
    wish.hours = spec.hours;
    wish.targets = {"hyperpod-cluster"};
    const TimePoint start = state.world.now() + hours(spec.start_in_hours);
    JsonObject offering;
    offering["TargetResources"] = wish.targets;
    offering["DurationHours"] = wish.hours;
    offering["DurationMinutes"] = 0;
    offering["UpfrontFee"] = fee(wish);
    offering["CurrencyCode"] = "USD";
    offering["ReservedCapacityOfferings"] = JsonArray{block_of(wish, spec.zone, start, wish.hours)};
    const Record& plan = add_plan(state, spec.name, offering, spec.status.c_str());
    if (spec.status == "Pending" || spec.status == "Scheduled" || spec.status == "Active")
        set_plan_timers(state, plan,
                        spec.status == "Active" ? base::Duration(0) : hours(spec.start_in_hours));
}

void add_plan_operations(Operations& operations) {
    operations["SearchTrainingPlanOfferings"] = search;
    operations["CreateTrainingPlan"] = create;
    operations["DescribeTrainingPlan"] = describe;
    operations["ListTrainingPlans"] = list;
}

}  // namespace instantstart::twin::sagemaker
