#include "app/schema.h"

#include <gmock/gmock.h>

#include <boost/describe/class.hpp>

namespace instantstart::app {
namespace {

struct Taint {
    std::string key;
    std::optional<std::string> effect;
};
BOOST_DESCRIBE_STRUCT(Taint, (), (key, effect))

struct Sample {
    std::string name;
    std::int64_t count = 0;
    std::optional<double> ratio;
    std::optional<bool> automatic;
    std::optional<std::vector<Taint>> taints;
    std::optional<std::map<std::string, std::string>> labels;
    std::optional<std::vector<std::string>> checks;
    std::optional<std::string> mode;
    std::optional<JsonObject> parameters;
};
BOOST_DESCRIBE_STRUCT(Sample, (), (name, count, ratio, automatic, taints, labels, checks, mode, parameters))

Schema sample() {
    std::vector<Field> fields;
    fields.push_back(Field("name", "The name.").length(1, 10).matches("[a-z][a-z0-9-]*").like("demo"));
    fields.push_back(Field("count", "How many.").range(0, 6758).explained());
    fields.push_back(Field("checks", "Which checks.").one_of({"InstanceStress", "InstanceConnectivity"}));
    fields.push_back(Field("taints.effect", "What it does.").one_of({"NoSchedule", "NoExecute"}));
    fields.push_back(Field("mode", "Which mode.").one_of({"fast", "slow"}).defaults("slow"));
    return {shape_of<Sample>(), std::move(fields)};
}

base::Result<JsonObject> normalize(std::string_view text) {
    auto parsed = base::parse_json(text);
    return sample().normalize(parsed.value().as_object());
}

std::vector<std::string> pointers(std::string_view text) {
    std::vector<std::string> made;
    auto result = normalize(text);
    if (result) return made;
    for (const auto& field : result.error().fields) made.push_back(field.pointer);
    return made;
}

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Schema, canonical_request_has_defaults_and_the_order_of_the_struct) {
    auto made = normalize(R"({"count": 2.0, "name": "demo", "ratio": null})");
    ASSERT_TRUE(made);
    EXPECT_EQ(base::to_text(*made), R"({"name":"demo","count":2,"mode":"slow"})");
}

TEST(Schema, every_fault_is_named_at_once) {
    EXPECT_THAT(
        pointers(
            R"({"colour": 1, "count": "two", "taints": [{"key": "a"}, {"effect": "NoSchedul"}], "automatic": 1})"),
        ElementsAre("/colour", "/name", "/count", "/automatic", "/taints/1/key", "/taints/1/effect"));
}

TEST(Schema, each_rule_is_checked) {
    struct Case {
        const char* text;
        const char* pointer;
    };
    const Case cases[] = {
        {R"({"name": "", "count": 1})", "/name"},
        {R"({"name": "Bad Name", "count": 1})", "/name"},
        {R"({"name": "abcdefghijk", "count": 1})", "/name"},
        {R"({"name": "a", "count": -1})", "/count"},
        {R"({"name": "a", "count": 6759})", "/count"},
        {R"({"name": "a", "count": 1.5})", "/count"},
        {R"({"name": "a", "count": 18446744073709551615})", "/count"},
        {R"({"name": "a", "count": 1e300})", "/count"},
        {R"({"name": "a", "count": 1, "ratio": "x"})", "/ratio"},
        {R"({"name": "a", "count": 1, "labels": {"a/b": 1}})", "/labels/a~1b"},
        {R"({"name": "a", "count": 1, "labels": []})", "/labels"},
        {R"({"name": "a", "count": 1, "checks": ["InstanceStres"]})", "/checks/0"},
        {R"({"name": "a", "count": 1, "mode": "quick"})", "/mode"},
        {R"({"name": "a", "count": 1, "parameters": 3})", "/parameters"},
    };
    for (const auto& entry : cases)
        EXPECT_THAT(pointers(entry.text), ElementsAre(entry.pointer)) << entry.text;
}

TEST(Schema, a_slip_is_answered_with_the_nearest_name) {
    auto result = normalize(R"({"nmae": "demo", "count": 1, "name": "demo", "checks": ["InstanceStres"]})");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().fields[0].did_you_mean, "name");
    EXPECT_EQ(result.error().fields[1].did_you_mean, "InstanceStress");
    EXPECT_THAT(result.error().fields[1].allowed, ElementsAre("InstanceStress", "InstanceConnectivity"));
}

TEST(Schema, long_text_never_reaches_the_pattern) {
    const std::string text = R"({"count": 1, "name": ")" + std::string(1U << 20U, 'a') + R"("})";
    EXPECT_THAT(pointers(text), ElementsAre("/name"));
}

TEST(Schema, decode_reads_what_normalize_accepted) {
    auto made = normalize(R"({"name": "demo", "count": 3, "taints": [{"key": "gpu", "effect": "NoSchedule"}],
                              "labels": {"a": "b"}, "parameters": {"free": [1]}})");
    ASSERT_TRUE(made);
    const auto sample_value = decode<Sample>(JsonValue(*made));
    EXPECT_EQ(to_json(sample_value), *made);
    EXPECT_EQ(sample_value.count, 3);
    EXPECT_EQ(sample_value.taints.value().at(0).effect.value(), "NoSchedule");
    EXPECT_EQ(sample_value.labels.value().at("a"), "b");
    EXPECT_EQ(sample_value.mode.value(), "slow");
    EXPECT_FALSE(sample_value.ratio.has_value());
    EXPECT_TRUE(sample_value.parameters.value().contains("free"));
}

TEST(Schema, full_form_says_everything_and_the_reduced_one_little) {
    const Schema schema = sample();
    const JsonObject& full = schema.full();
    EXPECT_EQ(base::get_string(full, "properties.name.pattern"), "[a-z][a-z0-9-]*");
    EXPECT_EQ(base::get_string(full, "properties.mode.default"), "slow");
    EXPECT_EQ(base::get_int(full, "properties.count.maximum"), 6758);
    EXPECT_EQ(base::get_array(full, "required"), (JsonArray{"name", "count"}));
    EXPECT_FALSE(base::get_bool(full, "properties.taints.items.additionalProperties", true));
    const std::string reduced = base::to_text(schema.reduced());
    EXPECT_EQ(reduced.find("pattern"), std::string::npos);
    EXPECT_EQ(reduced.find("default"), std::string::npos);
    EXPECT_NE(reduced.find("How many."), std::string::npos);
    EXPECT_EQ(reduced.find("The name."), std::string::npos);
}

TEST(Schema, text_of_a_query_string_becomes_the_type_of_the_field) {
    const JsonObject made = coerce_text(
        sample().full(),
        {{"count", "7"}, {"name", "7"}, {"checks", "a,b"}, {"automatic", "true"}, {"ratio", "x"}});
    EXPECT_EQ(base::to_text(made),
              R"({"count":7,"name":"7","checks":["a","b"],"automatic":true,"ratio":"x"})");
}

TEST(Schema, names_of_all_members_are_dotted) {
    EXPECT_THAT(field_names(shape_of<Sample>()), Contains("taints.effect"));
}

}  // namespace
}  // namespace instantstart::app
