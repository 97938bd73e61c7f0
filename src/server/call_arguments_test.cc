#include "server/call_arguments.h"

#include <gmock/gmock.h>

namespace instantstart::server {
namespace {

using base::JsonObject;
using base::JsonValue;

class CallArgumentsTest : public testing::Test {
protected:
    JsonObject arguments(const std::vector<std::string>& words) {
        auto parsed = parse_call(*catalogue_, words);
        EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
        return parsed ? parsed->arguments : JsonObject();
    }

    std::string refusal(const std::vector<std::string>& words) {
        auto parsed = parse_call(*catalogue_, words);
        return parsed ? "" : parsed.error().message;
    }

    std::unique_ptr<const app::Catalogue> catalogue_ = app::make_catalogue();
};

TEST_F(CallArgumentsTest, numbers_in_a_path_make_list_items) {
    const JsonObject made = arguments({"cluster.launch", "--name", "demo", "--set", "storage.kind=s3",
                                       "--set", "instance_groups.0.name=a", "--set",
                                       "instance_groups.0.count=2", "--set", "instance_groups.1.name=b"});
    EXPECT_EQ(JsonValue(made), base::parse_json(R"({"name": "demo", "storage": {"kind": "s3"},
                  "instance_groups": [{"name": "a", "count": 2}, {"name": "b"}]})")
                                   .value());
}

TEST_F(CallArgumentsTest, values_take_the_type_of_their_field) {
    const JsonObject made = arguments({"instance_group.add", "--set", "name=7", "--count=3", "--set",
                                       "labels.team.io/wave=2", "--set", "autoscaled=true"});
    EXPECT_EQ(
        JsonValue(made),
        base::parse_json(R"({"name": "7", "count": 3, "labels": {"team.io/wave": "2"}, "autoscaled": true})")
            .value());
}

TEST_F(CallArgumentsTest, lists_have_no_gaps_and_no_names) {
    EXPECT_THAT(refusal({"cluster.launch", "--set", "instance_groups.1.name=a"}),
                testing::HasSubstr("is a list"));
    EXPECT_THAT(refusal({"cluster.launch", "--set", "instance_groups.name=a"}),
                testing::HasSubstr("instance_groups.0"));
    EXPECT_NE(refusal({"cluster.launch", "--set", "storage..kind=s3"}), "");
    EXPECT_NE(refusal({"cluster.launch", "--set", "storage"}), "");
    EXPECT_NE(refusal({"cluster.launch", "--set"}), "");
}

TEST_F(CallArgumentsTest, a_missing_part_of_the_path_is_named) {
    EXPECT_EQ(refusal({"operation.get"}), "operation.get needs --operation_id");
    EXPECT_EQ(refusal({"cluster.get", "--cluster", ""}), "cluster.get needs --cluster");
    EXPECT_EQ(refusal({"cluster.get"}), "");  // the active one
}

TEST_F(CallArgumentsTest, an_unknown_operation_comes_with_the_nearest) {
    EXPECT_THAT(refusal({"cluster.lunch"}), testing::HasSubstr("did you mean cluster.launch"));
    EXPECT_NE(refusal({"--name", "x"}), "");
    EXPECT_NE(refusal({"cluster.list", "more"}), "");
}

}  // namespace
}  // namespace instantstart::server
