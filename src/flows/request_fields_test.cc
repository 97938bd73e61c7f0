#include "flows/request_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "aws/model/model.h"

namespace instantstart::flows {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// A value that is found again wherever it goes, and the field that gives it.
struct Given {
    std::string param, pointer;
    JsonValue value;
};

std::vector<Given> cluster_fields() {
    return {{"cluster", "/name", "mark-name"},
            {"eks_cluster", "/name", "mark-name"},
            {"hyperpod_name", "/name", "mark-name"},
            {"kubernetes_version", "/kubernetes_version", "1.77"},
            {"permissions_boundary_arn", "/permissions_boundary_arn", "mark-boundary"},
            {"kms_key_arn", "/kms_key_arn", "mark-cluster-key"},
            {"log_types.0", "/log_types/0", "mark-log-0"},
            {"log_types.1", "/log_types/1", "mark-log-1"},
            {"principals.0", "/admin_principals", "mark-principal"},
            {"network.vpc_cidr", "/network/vpc_cidr", "10.77.0.0/16"},
            {"network.subnet_ids.0", "/network/subnet_ids/0", "mark-subnet-0"},
            {"network.subnet_ids.1", "/network/subnet_ids/1", "mark-subnet-1"},
            {"network.api_cidrs.0", "/network/api_cidrs/0", "10.78.0.0/16"},
            {"tags.mark-tag", "/tags/mark-tag", "mark-tag-value"},
            {"tags.mark~/tag", "/tags/mark~0~1tag", "mark-odd-value"},
            {"storage.bucket", "/storage/bucket", "mark-bucket"}};
}

// Of one group; "{at}" is its place in the body.
std::vector<Given> group_fields() {
    return {{"name", "{at}/name", "mark-group"},
            {"instance_type", "{at}/instance_type", "mark-type"},
            {"count", "{at}/count", 771},
            {"min_count", "{at}/min_count", 772},
            {"threads_per_core", "{at}/threads_per_core", 773},
            {"deep_health_checks.0", "{at}/deep_health_checks/0", "mark-check"},
            {"image_id", "{at}/image_id", "mark-image"},
            {"execution_role_arn", "{at}/execution_role_arn", "mark-role"},
            {"lifecycle_script", "{at}/lifecycle_script", "s3://mark-scripts/mark-file"},
            {"labels.mark/label", "{at}/labels/mark~1label", "mark-label-value"},
            {"taints.0.key", "{at}/taints/0/key", "mark-taint-key"},
            {"taints.0.value", "{at}/taints/0/value", "mark-taint-value"},
            {"taints.0.effect", "{at}/taints/0/effect", "mark-effect"},
            {"volume_size_gib", "{at}/volume_size_gib", 774},
            {"kms_key_arn", "{at}/kms_key_arn", "mark-volume-key"},
            {"interface_type", "{at}/interface_type", "mark-interface"},
            {"capacity.training_plan_arn", "{at}/capacity/training_plan_arn", "mark-plan"},
            {"security_group_ids.0", "{at}/security_group_ids/0", "mark-sg-0"},
            {"security_group_ids.1", "{at}/security_group_ids/1", "mark-sg-1"},
            {"subnet_id", "{at}/subnet_id", "mark-group-subnet"}};
}

std::string at(std::string pointer, const std::string& place) {
    const std::string mark = "{at}";
    if (pointer.starts_with(mark)) pointer.replace(0, mark.size(), place);
    return pointer;
}

JsonObject params() {
    JsonObject group{
        {"name", "mark-group"},
        {"instance_type", "mark-type"},
        {"count", 771},
        {"min_count", 772},
        {"threads_per_core", 773},
        {"zone", "us-west-2a"},
        {"deep_health_checks", JsonArray{"mark-check"}},
        {"image_id", "mark-image"},
        {"execution_role_arn", "mark-role"},
        {"lifecycle_script", "s3://mark-scripts/mark-file"},
        {"labels", {{"mark/label", "mark-label-value"}}},
        {"taints", JsonArray{JsonObject{
                       {"key", "mark-taint-key"}, {"value", "mark-taint-value"}, {"effect", "mark-effect"}}}},
        {"volume_size_gib", 774},
        {"kms_key_arn", "mark-volume-key"},
        {"interface_type", "mark-interface"},
        {"capacity", {{"type", "training_plan"}, {"training_plan_arn", "mark-plan"}}},
        {"security_group_ids", JsonArray{"mark-sg-0", "mark-sg-1"}},
        {"subnet_id", "mark-group-subnet"}};
    return {{"cluster", "mark-name"},
            {"eks_cluster", "mark-name"},
            {"hyperpod_name", "mark-name"},
            {"region", "us-west-2"},
            {"account", "111122223333"},
            {"partition", "aws"},
            {"kubernetes_version", "1.77"},
            {"permissions_boundary_arn", "mark-boundary"},
            {"kms_key_arn", "mark-cluster-key"},
            {"log_types", JsonArray{"mark-log-0", "mark-log-1"}},
            {"principals", JsonArray{"mark-principal"}},
            {"network",
             {{"vpc_cidr", "10.77.0.0/16"},
              {"subnet_ids", JsonArray{"mark-subnet-0", "mark-subnet-1"}},
              {"api_cidrs", JsonArray{"10.78.0.0/16"}}}},
            {"tags", {{"mark-tag", "mark-tag-value"}, {"mark~/tag", "mark-odd-value"}}},
            {"storage", {{"bucket", "mark-bucket"}, {"own_bucket", false}}},
            {"groups", JsonArray{std::move(group)}}};
}

struct Leaf {
    std::string path, text;
};
void leaves(const JsonValue& value, const std::string& path, std::vector<Leaf>& out) {
    const auto below = [&path](std::string_view part) {
        return path.empty() ? std::string(part) : path + "." + std::string(part);
    };
    if (const auto* object = value.if_object()) {
        for (const auto& [key, inner] : *object) leaves(inner, below(key), out);
    } else if (const auto* list = value.if_array()) {
        for (std::size_t i = 0; i < list->size(); ++i) leaves((*list)[i], below(std::to_string(i)), out);
    } else {
        out.push_back({path, value.is_string() ? std::string(value.as_string()) : base::to_text(value)});
    }
}

std::string text_of(const JsonValue& value) {
    return value.is_string() ? std::string(value.as_string()) : base::to_text(value);
}

// Pointers of the fields whose marks were seen in a request; every mark must have its row, and the right one.
std::set<std::string> expect_rows(const std::string& flow, const std::string& place) {
    std::set<std::string> seen;
    auto given = cluster_fields();
    for (auto& field : group_fields()) {
        field.pointer = at(field.pointer, place);
        given.push_back(std::move(field));
    }
    for (const PlannedRequest& request : planned_requests(flow, params())) {
        std::vector<Leaf> found;
        leaves(request.parameters, "", found);
        for (const Leaf& leaf : found) {
            for (const Given& field : given) {
                const auto mark = text_of(field.value);
                // Names are part of names that are made of them; a script is taken apart.
                const bool made_of =
                    leaf.text == mark || (mark.starts_with("s3://mark") &&
                                          (leaf.text == "s3://mark-scripts/" || leaf.text == "mark-file"));
                const bool marked_tag = leaf.path.ends_with(".Value") || leaf.path.find("tags.") == 0;
                if (!made_of || (mark == "mark-name" && marked_tag)) continue;
                const auto pointer =
                    field_behind(request.service, request.operation, leaf.path, request.parameters);
                const std::string where = request.service + ":" + request.operation + " " + leaf.path;
                EXPECT_TRUE(pointer.has_value()) << where << " holds " << mark << " and has no row";
                if (!pointer) continue;
                const bool cluster = field.pointer == "/name" && *pointer == "/cluster";
                EXPECT_TRUE(*pointer == field.pointer || cluster) << where << ": " << *pointer;
                seen.insert(field.pointer);
            }
        }
    }
    return seen;
}

TEST(RequestFields, every_field_that_reaches_aws_has_its_row) {
    auto seen = expect_rows("cluster_launch", "/instance_groups/0");
    for (const auto& field : cluster_fields()) EXPECT_THAT(seen, Contains(field.pointer));
    for (const auto& field : group_fields())
        EXPECT_THAT(seen, Contains(at(field.pointer, "/instance_groups/0")));
    seen = expect_rows("instance_group_add", "");
    for (const auto& field : group_fields()) EXPECT_THAT(seen, Contains(at(field.pointer, "")));
    EXPECT_FALSE(expect_rows("hyperpod_create", "/instance_groups/0").empty());
    EXPECT_FALSE(expect_rows("cluster_create", "/instance_groups/0").empty());
}

std::vector<std::string> pointers(const std::vector<base::FieldError>& faults) {
    std::vector<std::string> out;
    out.reserve(faults.size());
    for (const auto& fault : faults) out.push_back(fault.pointer);
    return out;
}

JsonObject good_params() {
    auto made = params();
    for (const char* name : {"cluster", "eks_cluster", "hyperpod_name"}) made[name] = "demo";
    made["kubernetes_version"] = "1.33";
    made["permissions_boundary_arn"] = "arn:aws:iam::111122223333:policy/boundary";
    made["kms_key_arn"] = "arn:aws:kms:us-west-2:111122223333:key/1";
    made["log_types"] = JsonArray{"audit", "api"};
    made["principals"] = JsonArray{"arn:aws:iam::111122223333:role/ops"};
    made["tags"] = JsonObject{{"team", "research"}};
    made["storage"] = JsonObject{{"bucket", "sagemaker-demo"}, {"own_bucket", true}};
    made["network"] = JsonObject{{"vpc_cidr", "10.0.0.0/16"}};
    made["groups"] = JsonArray{JsonObject{{"name", "workers"},
                                          {"instance_type", "ml.g5.12xlarge"},
                                          {"count", 2},
                                          {"zone", "us-west-2a"},
                                          {"labels", {{"team", "research"}}}}};
    return made;
}

TEST(PlannedFaults, good_requests_have_none) {
    for (const char* flow : {"cluster_create", "cluster_launch", "hyperpod_create", "instance_group_add"}) {
        EXPECT_THAT(pointers(planned_faults(flow, good_params())), testing::IsEmpty()) << flow;
        for (const auto& request : planned_requests(flow, good_params())) {
            const auto* operation = aws::model::embedded(request.service)->operation(request.operation);
            for (const auto& fault : aws::model::validate(*operation->input, JsonValue(request.parameters)))
                ADD_FAILURE() << flow << " " << request.operation << " " << fault.path << " "
                              << fault.message;
        }
    }
    EXPECT_TRUE(planned_requests("something_else", good_params()).empty());
}

TEST(PlannedFaults, all_are_told_at_once_in_the_words_of_their_fields) {
    auto bad = good_params();
    bad["permissions_boundary_arn"] = "short";
    bad["tags"] = JsonObject{{"what*ever", "x"}, {"ok", "fine"}};
    auto& group = bad["groups"].as_array()[0].as_object();
    group["labels"] = JsonObject{{"team", "not a label value!"}};
    group["execution_role_arn"] = "arn:aws:iam::1:role/x";
    group["min_count"] = -1;
    const auto faults = planned_faults("cluster_launch", bad);
    EXPECT_THAT(
        pointers(faults),
        UnorderedElementsAre("/permissions_boundary_arn", "/tags/what*ever", "/instance_groups/0/labels/team",
                             "/instance_groups/0/execution_role_arn", "/instance_groups/0/min_count"));
    for (const auto& fault : faults) EXPECT_THAT(fault.message, HasSubstr(":Create"));
}

TEST(FieldWords, members_of_a_refused_request_become_fields) {
    base::Error error(base::ErrorKind::invalid, "invalid_parameter", "UpdateCluster: wrong");
    for (const char* pointer : {"/InstanceGroups/0/KubernetesConfig/Taints/1/Key", "/Nothing"}) {
        base::FieldError field;
        field.pointer = pointer;
        field.message = "too long";
        error.fields.push_back(std::move(field));
    }
    const auto said = in_field_words(error, "sagemaker", "UpdateCluster", JsonObject());
    ASSERT_EQ(said.fields.size(), 1U);
    EXPECT_EQ(said.fields[0].pointer, "/taints/1/key");
    EXPECT_EQ(said.fields[0].message, "too long");
}

TEST(FieldWords, members_that_a_service_quotes_become_fields) {
    const base::Error error(
        base::ErrorKind::invalid, "ValidationException",
        "2 validation errors detected: Value '-1' at 'instanceGroups.2.member.instanceCount' "
        "failed to satisfy constraint: Member must be at least 0; Value 'x' at "
        "'instanceGroups.1.member.instanceType' failed to satisfy constraint");
    const auto said = in_field_words(error, "sagemaker", "CreateCluster", JsonObject());
    EXPECT_THAT(pointers(said.fields),
                UnorderedElementsAre("/instance_groups/1/count", "/instance_groups/0/instance_type"));
    EXPECT_TRUE(in_field_words(error, "sagemaker", "DeleteCluster", JsonObject()).fields.empty());
    const base::Error other(base::ErrorKind::conflict, "X", "in use at 'clusterName'");
    EXPECT_TRUE(in_field_words(other, "sagemaker", "CreateCluster", JsonObject()).fields.empty());
}

}  // namespace
}  // namespace instantstart::flows
