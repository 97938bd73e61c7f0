// Tags of EKS resources, by ARN.
#include "twin/aws/eks/eks.h"

namespace instantstart::twin::eks {

namespace {

struct Kind {
    Table State::* table;
    const char* arn;  // the member that holds it
};
constexpr Kind kKinds[] = {{&State::clusters, "arn"},
                           {&State::addons, "addonArn"},
                           {&State::nodegroups, "nodegroupArn"},
                           {&State::associations, "associationArn"},
                           {&State::entries, "accessEntryArn"}};

JsonObject* tags_of(State& state, std::string_view arn) {
    for (const Kind& kind : kKinds) {
        for (auto& [key, record] : state.*kind.table) {
            if (base::get_string(record.data, kind.arn) != arn) continue;
            JsonValue& tags = record.data["tags"];
            if (!tags.is_object()) tags = JsonObject();
            return &tags.get_object();
        }
    }
    return nullptr;
}

ServiceError unknown(std::string_view arn) {
    return failure("NotFoundException", "Resource was not found: " + std::string(arn), 404);
}

Reply tag_resource(State& state, const Call& call) {
    const std::string arn = base::get_string(call.params, "resourceArn");
    JsonObject* tags = tags_of(state, arn);
    if (tags == nullptr) return unknown(arn);
    for (const auto& [key, value] : base::get_object(call.params, "tags")) (*tags)[key] = value;
    return JsonObject();
}

Reply untag_resource(State& state, const Call& call) {
    const std::string arn = base::get_string(call.params, "resourceArn");
    JsonObject* tags = tags_of(state, arn);
    if (tags == nullptr) return unknown(arn);
    for (const std::string& key : strings(call.params, "tagKeys")) tags->erase(key);
    return JsonObject();
}

Reply list_tags(State& state, const Call& call) {
    const std::string arn = base::get_string(call.params, "resourceArn");
    const JsonObject* tags = tags_of(state, arn);
    if (tags == nullptr) return unknown(arn);
    JsonObject answer;
    answer["tags"] = *tags;
    return answer;
}

}  // namespace

void add_tag_operations(Operations& operations) {
    operations["TagResource"] = tag_resource;
    operations["UntagResource"] = untag_resource;
    operations["ListTagsForResource"] = list_tags;
}

JsonArray Eks::resource_tags(std::string_view arn) const {
    JsonArray tags;
    for (const Kind& kind : kKinds) {
        for (const auto& [key, record] : state_.*kind.table) {
            if (base::get_string(record.data, kind.arn) != arn) continue;
            for (const auto& [name, value] : base::get_object(record.data, "tags"))
                tags.push_back(JsonObject{{"Key", name}, {"Value", value}});
        }
    }
    return tags;
}

}  // namespace instantstart::twin::eks
