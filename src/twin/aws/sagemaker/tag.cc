// Tags of clusters, and the calls whose lists are empty in the twin.
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

JsonArray* tags_of(State& state, const Call& call) {
    const std::string arn = base::get_string(call.params, "ResourceArn");
    for (auto& [name, cluster] : state.clusters) {
        if (base::get_string(cluster.data, "ClusterArn") == arn)
            return &ec2::array_of(cluster.hidden, "tags");
    }
    return nullptr;
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

JsonObject empty_list(const char* member) {
    JsonObject answer;
    answer[member] = JsonArray();
    return answer;
}

Reply list_plans(State&, const Call&) {
    return empty_list("TrainingPlanSummaries");
}
Reply search_offerings(State&, const Call&) {
    return empty_list("TrainingPlanOfferings");
}
Reply list_schedulers(State&, const Call&) {
    return empty_list("ClusterSchedulerConfigSummaries");
}
Reply list_quotas(State&, const Call&) {
    return empty_list("ComputeQuotaSummaries");
}

}  // namespace

void add_tag_operations(Operations& operations) {
    operations["AddTags"] = add_tags;
    operations["ListTags"] = list_tags;
    operations["DeleteTags"] = delete_tags;
    operations["ListTrainingPlans"] = list_plans;
    operations["SearchTrainingPlanOfferings"] = search_offerings;
    operations["ListClusterSchedulerConfigs"] = list_schedulers;
    operations["ListComputeQuotas"] = list_quotas;
}

}  // namespace instantstart::twin::sagemaker
