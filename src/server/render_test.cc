#include "server/render.h"

#include <gmock/gmock.h>

#include "base/result.h"

namespace instantstart::server {
namespace {

std::string rendered(const char* json) {
    return render(base::parse_json(json).value().as_object());
}

TEST(Render, a_list_is_a_table_with_its_count_below) {
    EXPECT_EQ(
        rendered(R"({"total": 2, "zones": [{"name": "a", "size": 192.0}, {"name": "böse", "more": true}]})"),
        "name  size  more\n"
        "a     192   -\n"
        "böse  -     true\n"
        "total: 2\n");
}

TEST(Render, members_of_objects_are_columns_too) {
    EXPECT_EQ(
        rendered(R"({"types": [{"name": "g5", "gpu": {"count": 4, "parts": []}, "labels": {"a": "b"}}]})"),
        "name  gpu.count\n"
        "g5    4\n");
}

TEST(Render, nothing_is_said_as_nothing) {
    EXPECT_EQ(rendered(R"({"clusters": []})"), "No clusters.\n");
}

TEST(Render, texts_cannot_steer_the_terminal) {
    EXPECT_EQ(plain_line("a\x1b[2Jb\nc\x7f\xC2\x9B!"), "a [2Jb c   !");
    EXPECT_EQ(plain_line("Zürich …"), "Zürich …");
}

TEST(Render, only_the_last_column_may_be_long) {
    const std::string text(100, 'x');
    const std::string shown =
        rendered((R"({"rows": [{"a": ")" + text + R"(", "b": ")" + text + R"("}]})").c_str());
    EXPECT_THAT(shown, testing::HasSubstr(std::string(59, 'x') + "…  " + text));
}

}  // namespace
}  // namespace instantstart::server
