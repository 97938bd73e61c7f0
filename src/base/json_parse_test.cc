#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace instantstart::base {
namespace {

TEST(ParseJson, doubles_are_the_nearest_ones) {
    for (const char* text : {"253392437474.12302", "0.1", "1.7976931348623157e308", "5e-324", "123456789.123",
                             "-2171773766.999999", "9007199254740993.5", "8.41e21", "1e-7"}) {
        const auto parsed = parse_json(text);
        ASSERT_TRUE(parsed.has_value()) << text;
        EXPECT_EQ(parsed.value().as_double(), std::strtod(text, nullptr)) << text;
    }
}

TEST(ParseJson, whole_numbers_stay_whole_as_long_as_they_fit) {
    EXPECT_EQ(parse_json("-9223372036854775808").value().as_int64(), INT64_MIN);
    EXPECT_EQ(parse_json("18446744073709551615").value().as_uint64(), UINT64_MAX);
    EXPECT_EQ(parse_json("18446744073709551616").value().as_double(), 18446744073709551616.0);
}

TEST(ParseJson, every_kind_of_value_comes_back) {
    const std::string text =
        R"({"a":[1,-2,0.5,true,false,null,"\u00fc\ud83d\ude80\n",{},[]],"":{"b":{"c":"d"}}})";
    EXPECT_EQ(to_text(parse_json(text).value()),
              "{\"a\":[1,-2,0.5,true,false,null,\"\u00fc\U0001F680\\n\",{},[]],\"\":{\"b\":{\"c\":\"d\"}}}");
    const std::string longer = "\"" + std::string(100'000, 'x') + "\"";
    EXPECT_EQ(to_text(parse_json(longer).value()), longer);
}

TEST(ParseJson, what_is_no_json_is_refused) {
    for (const char* text :
         {"", " ", "{", "[1,]", "{\"a\":1,}", "nul", "01", "1 2", "{} x", "\"\xff\"", "'a'", "\"a\nb\"",
          "\"\\ud800\"", "// c\n1", "NaN", "1e400", "-1e999999999999"}) {
        const auto parsed = parse_json(text);
        ASSERT_FALSE(parsed.has_value()) << text;
        EXPECT_EQ(parsed.error().code, "invalid_json") << text;
    }
}

TEST(ParseJson, depth_is_limited) {
    const std::string deep = std::string(40, '[') + std::string(40, ']');
    EXPECT_FALSE(parse_json(deep).has_value());
    EXPECT_TRUE(parse_json(deep, 64).has_value());
}

}  // namespace
}  // namespace instantstart::base
