#include "domain/untrusted.h"

#include <gtest/gtest.h>

namespace instantstart::domain {
namespace {

TEST(untrusted, escape_sequences_and_control_characters_go) {
    EXPECT_EQ(without_hidden("\x1b[31mred\x1b[0m"), "red");
    EXPECT_EQ(without_hidden("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07"), "link");
    EXPECT_EQ(without_hidden(std::string_view("a\0b\rc\td\n", 8)), "abc\td\n");
    EXPECT_EQ(without_hidden("end\x1b"), "end");
}

TEST(untrusted, what_turns_or_hides_text_goes) {
    EXPECT_EQ(without_hidden("a\u202Eb\u2066c\u200Bd\uFEFFe\u2060f"), "abcdef");
    EXPECT_EQ(without_hidden("a\U000E0041b\uFE0Fc\U000E0100"), "abc");
    EXPECT_EQ(without_hidden("é 日本 😀"), "é 日本 😀");
}

TEST(untrusted, what_is_no_utf8_is_marked) {
    EXPECT_EQ(without_hidden("a\xff"
                             "b\xc3"),
              "a\uFFFDb\uFFFD");
    EXPECT_EQ(without_hidden("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(untrusted, secrets_are_taken_out_and_counted) {
    const char* texts[] = {"key AKIAIOSFODNN7EXAMPLE here",
                           "DB_PASSWORD=abc123 more",
                           "\"token\": \"abc123\"",
                           "Authorization: Bearer abc123abc123",
                           "hf_abc123abc123abc123abc123",
                           "https://b/x?X-Amz-Signature=abc123&a=1",
                           "-----BEGIN PRIVATE KEY-----\nabc123\n-----END PRIVATE KEY-----"};
    for (const char* text : texts) {
        std::int64_t count = 0;
        const auto clean = without_secrets(text, count);
        EXPECT_EQ(count, 1) << text;
        EXPECT_EQ(clean.find("abc123"), std::string::npos) << clean;
        EXPECT_EQ(clean.find("AKIA"), std::string::npos) << clean;
        EXPECT_NE(clean.find("[redacted]"), std::string::npos) << clean;
    }
    std::int64_t count = 0;
    EXPECT_EQ(without_secrets("secret \"db\" not found", count), "secret \"db\" not found");
    EXPECT_EQ(count, 0);
}

TEST(untrusted, it_says_what_it_is_and_keeps_to_its_limits) {
    const auto json = UntrustedText("pod/a", "one\ntwo\nthree", TextLimits(2, 2)).to_json();
    EXPECT_EQ(base::to_text(json),
              R"({"untrusted":true,"source":"pod/a","lines":["on","tw"],"truncated":true})");
    EXPECT_EQ(base::to_text(UntrustedText("pod/a", "é\n", TextLimits(2, 1)).to_json()),
              R"({"untrusted":true,"source":"pod/a","lines":[""],"truncated":true})");
    EXPECT_EQ(base::to_text(UntrustedText("pod/a", "fine").to_json()),
              R"({"untrusted":true,"source":"pod/a","lines":["fine"]})");
}

}  // namespace
}  // namespace instantstart::domain
