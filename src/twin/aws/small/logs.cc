// CloudWatch Logs: groups, streams, events.
#include <algorithm>
#include <functional>
#include <map>

#include "twin/aws/services.h"
#include "twin/aws/small/paging.h"

namespace instantstart::twin {

namespace {

constexpr std::size_t kMostEvents = 20'000;  // a stream; the oldest go
constexpr std::int64_t kPage = 50;

std::int64_t millis(TimePoint time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

ServiceError no_group() {
    return {400, "ResourceNotFoundException", "The specified log group does not exist."};
}
ServiceError no_stream() {
    return {400, "ResourceNotFoundException", "The specified log stream does not exist."};
}

// Words of a filter pattern, quoted or not; an event fits when it holds all of them. JSON patterns match
// everything.
bool fits(const std::string& pattern, const std::string& message) {
    if (pattern.empty() || pattern.starts_with('{') || pattern.starts_with('[')) return true;
    std::string word;
    bool quoted = false;
    for (std::size_t i = 0; i <= pattern.size(); ++i) {
        const char c = i < pattern.size() ? pattern[i] : ' ';
        if (c == '"')
            quoted = !quoted;
        else if (c == ' ' && !quoted) {
            if (!word.empty() && message.find(word) == std::string::npos) return false;
            word.clear();
        } else {
            word += c;
        }
    }
    return true;
}

class Logs final : public Service {
public:
    explicit Logs(World& world) : world_(world) {}
    std::string_view name() const override { return "logs"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string&, const JsonObject&) override {}
    JsonValue save() const override;
    void load(const JsonValue& state) override;

private:
    struct Stream {
        JsonObject about;
        JsonArray events;
    };
    struct Group {
        JsonObject about, tags;
        std::map<std::string, Stream> streams;
    };
    Group* group(const Call& call);
    Group* group_of_arn(std::string arn);
    Reply create_group(const Call& call);
    Reply describe_groups(const Call& call);
    Reply create_stream(const Call& call);
    Reply delete_stream(const Call& call);
    Reply describe_streams(const Call& call);
    Reply put_events(const Call& call);
    Reply get_events(const Call& call);
    Reply filter_events(const Call& call);
    Reply retention(const Call& call);
    Reply tags(const Call& call);

    World& world_;
    std::map<std::string, Group> groups_;
};

JsonValue Logs::save() const {
    JsonObject groups;
    for (const auto& [name, group] : groups_) {
        JsonObject streams;
        for (const auto& [stream_name, stream] : group.streams)
            streams[stream_name] = JsonObject{{"about", stream.about}, {"events", stream.events}};
        groups[name] =
            JsonObject{{"about", group.about}, {"tags", group.tags}, {"streams", std::move(streams)}};
    }
    return JsonObject{{"groups", std::move(groups)}};
}

void Logs::load(const JsonValue& state) {
    groups_.clear();
    for (const auto& item : base::get_object(state, "groups")) {
        Group& group = groups_[std::string(item.key())];
        group.about = base::get_object(item.value(), "about");
        group.tags = base::get_object(item.value(), "tags");
        for (const auto& stream : base::get_object(item.value(), "streams")) {
            group.streams[std::string(stream.key())] = {base::get_object(stream.value(), "about"),
                                                        base::get_array(stream.value(), "events")};
        }
    }
}

Logs::Group* Logs::group_of_arn(std::string arn) {
    if (arn.ends_with(":*")) arn.erase(arn.size() - 2);
    if (const auto at = arn.find(":log-group:"); at != std::string::npos) arn.erase(0, at + 11);
    const auto found = groups_.find(arn);
    return found == groups_.end() ? nullptr : &found->second;
}

Logs::Group* Logs::group(const Call& call) {
    const std::string name = base::get_string(call.params, "logGroupName");
    return group_of_arn(name.empty() ? base::get_string(call.params, "logGroupIdentifier") : name);
}

Reply Logs::create_group(const Call& call) {
    const std::string name = base::get_string(call.params, "logGroupName");
    if (groups_.contains(name))
        return ServiceError(400, "ResourceAlreadyExistsException", "The specified log group already exists");
    Group& made = groups_[name];
    made.about["logGroupName"] = name;
    made.about["creationTime"] = millis(call.now);
    made.about["metricFilterCount"] = 0;
    made.about["arn"] =
        "arn:aws:logs:" + world_.region() + ":" + world_.account() + ":log-group:" + name + ":*";
    made.about["storedBytes"] = 0;
    if (call.params.contains("kmsKeyId")) made.about["kmsKeyId"] = base::get_string(call.params, "kmsKeyId");
    made.tags = base::get_object(call.params, "tags");
    world_.touched();
    return JsonObject{};
}

Reply Logs::describe_groups(const Call& call) {
    const std::string prefix = base::get_string(call.params, "logGroupNamePrefix");
    const std::string pattern = base::get_string(call.params, "logGroupNamePattern");
    JsonArray out;
    for (const auto& [name, group] : groups_) {
        if (name.starts_with(prefix) && name.find(pattern) != std::string::npos)
            out.emplace_back(group.about);
    }
    auto reply = small::page(call, {"logGroups", "limit", "nextToken", "nextToken", kPage}, out);
    if (!reply) return ServiceError(400, "InvalidParameterException", "The specified nextToken is invalid.");
    return std::move(*reply);
}

Reply Logs::create_stream(const Call& call) {
    Group* found = group(call);
    if (found == nullptr) return no_group();
    const std::string name = base::get_string(call.params, "logStreamName");
    if (found->streams.contains(name))
        return ServiceError(400, "ResourceAlreadyExistsException", "The specified log stream already exists");
    Stream& made = found->streams[name];
    made.about["logStreamName"] = name;
    made.about["creationTime"] = millis(call.now);
    made.about["arn"] = "arn:aws:logs:" + world_.region() + ":" + world_.account() +
                        ":log-group:" + base::get_string(found->about, "logGroupName") +
                        ":log-stream:" + name;
    made.about["storedBytes"] = 0;
    world_.touched();
    return JsonObject{};
}

Reply Logs::delete_stream(const Call& call) {
    Group* found = group(call);
    if (found == nullptr) return no_group();
    if (found->streams.erase(base::get_string(call.params, "logStreamName")) == 0) return no_stream();
    world_.touched();
    return JsonObject{};
}

Reply Logs::describe_streams(const Call& call) {
    Group* found = group(call);
    if (found == nullptr) return no_group();
    const std::string prefix = base::get_string(call.params, "logStreamNamePrefix");
    JsonArray out;
    for (const auto& [name, stream] : found->streams) {
        if (name.starts_with(prefix)) out.emplace_back(stream.about);
    }
    const bool by_time = base::get_string(call.params, "orderBy") == "LastEventTime";
    if (by_time) {
        std::sort(out.begin(), out.end(), [](const JsonValue& a, const JsonValue& b) {
            return base::get_int(a, "lastEventTimestamp") < base::get_int(b, "lastEventTimestamp");
        });
    }
    if (base::get_bool(call.params, "descending")) std::reverse(out.begin(), out.end());
    auto reply = small::page(call, {"logStreams", "limit", "nextToken", "nextToken", kPage}, out);
    if (!reply) return ServiceError(400, "InvalidParameterException", "The specified nextToken is invalid.");
    return std::move(*reply);
}

Reply Logs::put_events(const Call& call) {
    Group* found = group(call);
    if (found == nullptr) return no_group();
    const auto stream = found->streams.find(base::get_string(call.params, "logStreamName"));
    if (stream == found->streams.end()) return no_stream();
    JsonArray& events = stream->second.events;
    for (const JsonValue& event : base::get_array(call.params, "logEvents")) {
        JsonObject kept = event.as_object();
        kept["ingestionTime"] = millis(call.now);
        const std::int64_t time = base::get_int(kept, "timestamp");
        JsonObject& about = stream->second.about;
        if (!about.contains("firstEventTimestamp")) about["firstEventTimestamp"] = time;
        about["lastEventTimestamp"] = time;
        about["lastIngestionTime"] = millis(call.now);
        events.emplace_back(std::move(kept));
    }
    if (events.size() > kMostEvents) events.erase(events.begin(), events.end() - kMostEvents);
    world_.touched();
    return JsonObject{{"nextSequenceToken", world_.hex_id("4", 55)}};
}

Reply Logs::get_events(const Call& call) {
    Group* found = group(call);
    if (found == nullptr) return no_group();
    const auto stream = found->streams.find(base::get_string(call.params, "logStreamName"));
    if (stream == found->streams.end()) return no_stream();
    const std::int64_t from = base::get_int(call.params, "startTime", 0);
    const std::int64_t to = base::get_int(call.params, "endTime", INT64_MAX);
    JsonArray fitting;
    for (const JsonValue& event : stream->second.events) {
        const std::int64_t time = base::get_int(event, "timestamp");
        if (time >= from && time < to) fitting.push_back(event);
    }
    // Tokens are positions: forward ones begin where the page ended, backward ones end where it began.
    const auto limit = static_cast<std::size_t>(
        std::clamp<std::int64_t>(base::get_int(call.params, "limit", 10000), 1, 10000));
    const std::string token = base::get_string(call.params, "nextToken");
    std::size_t begin =
        base::get_bool(call.params, "startFromHead") || fitting.size() < limit ? 0 : fitting.size() - limit;
    if (token.starts_with("f/"))
        begin = std::min<std::size_t>(std::strtoul(token.c_str() + 2, nullptr, 10), fitting.size());
    if (token.starts_with("b/")) {
        const std::size_t end =
            std::min<std::size_t>(std::strtoul(token.c_str() + 2, nullptr, 10), fitting.size());
        begin = end > limit ? end - limit : 0;
    }
    const std::size_t stop =
        token.starts_with("b/")
            ? std::min<std::size_t>(std::strtoul(token.c_str() + 2, nullptr, 10), fitting.size())
            : std::min(begin + limit, fitting.size());
    JsonArray out;
    for (std::size_t i = begin; i < stop; ++i) out.push_back(fitting[i]);
    return JsonObject{{"events", std::move(out)},
                      {"nextForwardToken", "f/" + std::to_string(stop)},
                      {"nextBackwardToken", "b/" + std::to_string(begin)}};
}

Reply Logs::filter_events(const Call& call) {
    Group* found = group(call);
    if (found == nullptr) return no_group();
    const std::string pattern = base::get_string(call.params, "filterPattern");
    const std::string prefix = base::get_string(call.params, "logStreamNamePrefix");
    const JsonArray& wanted = base::get_array(call.params, "logStreamNames");
    const std::int64_t from = base::get_int(call.params, "startTime", 0);
    const std::int64_t to = base::get_int(call.params, "endTime", INT64_MAX);
    JsonArray out;
    for (const auto& [name, stream] : found->streams) {
        if (!name.starts_with(prefix)) continue;
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), JsonValue(name)) == wanted.end())
            continue;
        for (const JsonValue& event : stream.events) {
            const std::int64_t time = base::get_int(event, "timestamp");
            if (time < from || time > to || !fits(pattern, base::get_string(event, "message"))) continue;
            JsonObject kept = event.as_object();
            kept["logStreamName"] = name;
            kept["_order"] = static_cast<std::int64_t>(out.size());
            kept["eventId"] = std::to_string(time) + std::to_string(out.size());
            out.emplace_back(std::move(kept));
        }
    }
    std::sort(out.begin(), out.end(), [](const JsonValue& a, const JsonValue& b) {
        const std::int64_t first = base::get_int(a, "timestamp"), second = base::get_int(b, "timestamp");
        if (first != second) return first < second;
        return base::get_int(a, "_order") < base::get_int(b, "_order");
    });
    for (JsonValue& event : out) event.as_object().erase("_order");
    auto reply = small::page(call, {"events", "limit", "nextToken", "nextToken", 10000}, out);
    if (!reply) return ServiceError(400, "InvalidParameterException", "The specified nextToken is invalid.");
    return std::move(*reply);
}

Reply Logs::retention(const Call& call) {
    Group* found = group(call);
    if (found == nullptr) return no_group();
    if (call.operation == "PutRetentionPolicy")
        found->about["retentionInDays"] = base::get_int(call.params, "retentionInDays");
    else
        found->about.erase("retentionInDays");
    world_.touched();
    return JsonObject{};
}

Reply Logs::tags(const Call& call) {
    Group* found = group_of_arn(base::get_string(call.params, "resourceArn"));
    if (found == nullptr) return no_group();
    if (call.operation == "ListTagsForResource") return JsonObject{{"tags", found->tags}};
    for (const auto& item : base::get_object(call.params, "tags")) found->tags[item.key()] = item.value();
    for (const JsonValue& key : base::get_array(call.params, "tagKeys")) found->tags.erase(key.as_string());
    world_.touched();
    return JsonObject{};
}

Reply Logs::handle(const Call& call) {
    const std::string& operation = call.operation;
    if (operation == "CreateLogGroup") return create_group(call);
    if (operation == "DescribeLogGroups") return describe_groups(call);
    if (operation == "CreateLogStream") return create_stream(call);
    if (operation == "DeleteLogStream") return delete_stream(call);
    if (operation == "DescribeLogStreams") return describe_streams(call);
    if (operation == "PutLogEvents") return put_events(call);
    if (operation == "GetLogEvents") return get_events(call);
    if (operation == "FilterLogEvents") return filter_events(call);
    if (operation == "PutRetentionPolicy" || operation == "DeleteRetentionPolicy") return retention(call);
    if (operation == "TagResource" || operation == "UntagResource" || operation == "ListTagsForResource")
        return tags(call);
    if (operation == "DeleteLogGroup") {
        if (groups_.erase(base::get_string(call.params, "logGroupName")) == 0) return no_group();
        world_.touched();
        return JsonObject{};
    }
    return ServiceError(400, "UnknownOperationException",
                        "The simulated account does not know " + operation + ".");
}

}  // namespace

std::unique_ptr<Service> make_logs(World& world) {
    return std::make_unique<Logs>(world);
}

}  // namespace instantstart::twin
