// What is written is what Boost.JSON writes, whichever byte stands wherever.
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <limits>

#include "base/json.h"

namespace instantstart::base {
namespace {

TEST(JsonText, strings_are_escaped_wherever_a_byte_stands) {
    for (std::size_t size = 1; size <= 20; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (int byte = 0; byte < 0x80; ++byte) {
                std::string text(size, 'a');
                text[at] = static_cast<char>(byte);
                const JsonValue value(text);
                ASSERT_EQ(to_text(value), boost::json::serialize(value)) << size << " " << at << " " << byte;
            }
        }
    }
    const JsonValue foreign("größer als \u65e5\u672c, \U0001f680\n");
    EXPECT_EQ(to_text(foreign), boost::json::serialize(foreign));
}

TEST(JsonText, numbers_and_flags_are_whole) {
    const JsonValue value = JsonArray{0,
                                      -1,
                                      std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::uint64_t>::max(),
                                      true,
                                      false,
                                      nullptr};
    EXPECT_EQ(to_text(value), boost::json::serialize(value));
}

}  // namespace
}  // namespace instantstart::base
