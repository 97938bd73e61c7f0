// Tags of whatever has an ARN.
#include "twin/aws/sagemaker/sagemaker.h"

namespace instantstart::twin::sagemaker {

namespace {

JsonArray* tags_of(State& state, const Call& call) {
    const std::string arn = base::get_string(call.params, "ResourceArn");
    for (auto& [name, cluster] : state.clusters) {
        if (base::get_string(cluster.data, "ClusterArn") == arn)
            return &ec2::array_of(cluster.hidden, "tags");
    }
    for (auto& [name, plan] : state.plans) {
        if (base::get_string(plan.data, "TrainingPlanArn") == arn) return &ec2::array_of(plan.hidden, "tags");
    }
    Record* managed = state.world.get<SageMaker>("sagemaker").managed().by_arn(arn);
    return managed == nullptr ? nullptr : &ec2::array_of(managed->hidden, "tags");
}

ServiceError unknown(const Call& call) {
    return invalid("Resource " + base::get_string(call.params, "ResourceArn") + " does not exist.");
}

Reply add_tags(State& state, const Call& call) {
    JsonArray* tags = tags_of(state, call);
    if (tags == nullptr) return unknown(call);
    for (const JsonValue& tag : base::get_array(call.params, "Tags"))
        put_tag(*tags, base::get_string(tag, "Key"), base::get_string(tag, "Value"));
    JsonObject answer;
    answer["Tags"] = *tags;
    return answer;
}

Reply list_tags(State& state, const Call& call) {
    const JsonArray* tags = tags_of(state, call);
    if (tags == nullptr) return unknown(call);
    Page page = paginate(*tags, base::get_int(call.params, "MaxResults", 50),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer["Tags"] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

Reply delete_tags(State& state, const Call& call) {
    JsonArray* tags = tags_of(state, call);
    if (tags == nullptr) return unknown(call);
    for (const std::string& key : strings(call.params, "TagKeys")) remove_tag(*tags, key);
    return JsonObject();
}

}  // namespace

void add_tag_operations(Operations& operations) {
    operations["AddTags"] = add_tags;
    operations["ListTags"] = list_tags;
    operations["DeleteTags"] = delete_tags;
}

JsonArray SageMaker::resource_tags(std::string_view arn) const {
    for (const auto& [name, cluster] : state_.clusters) {
        if (base::get_string(cluster.data, "ClusterArn") == arn)
            return base::get_array(cluster.hidden, "tags");
    }
    for (const auto& [name, plan] : state_.plans) {
        if (base::get_string(plan.data, "TrainingPlanArn") == arn)
            return base::get_array(plan.hidden, "tags");
    }
    const Record* managed = managed_.by_arn(arn);
    return managed == nullptr ? JsonArray() : base::get_array(managed->hidden, "tags");
}

}  // namespace instantstart::twin::sagemaker
