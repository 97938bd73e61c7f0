#include "http/message.h"

#include <gtest/gtest.h>

namespace instantstart::http {
namespace {

TEST(Headers, names_compare_without_case_and_keep_their_spelling) {
    Headers headers{{"X-Amz-Target", "a"}, {"x-amz-target", "b"}};
    EXPECT_EQ(headers.get("x-AMZ-target"), "a");
    EXPECT_EQ(headers.all("X-Amz-Target").size(), 2U);
    headers.set("X-AMZ-TARGET", "c");
    ASSERT_EQ(headers.fields().size(), 1U);
    EXPECT_EQ(headers.fields()[0].first, "X-AMZ-TARGET");
    headers.remove("x-amz-target");
    EXPECT_FALSE(headers.has("X-Amz-Target"));
}

TEST(Request, query_is_decoded_in_order) {
    Request request;
    request.target = "/a%20b?limit=5&sel=a%3Db+c&flag&limit=6&";
    EXPECT_EQ(request.path(), "/a%20b");
    EXPECT_EQ(request.parameter("limit"), "5");
    EXPECT_EQ(request.parameter("sel"), "a=b c");
    EXPECT_EQ(request.parameter("flag"), "");
    EXPECT_FALSE(request.parameter("none").has_value());
    EXPECT_EQ(request.parameters().size(), 4U);
}

TEST(Url, is_taken_apart) {
    const auto url = parse_url("https://Example.com/a/b?c=d#e");
    ASSERT_TRUE(url.has_value());
    EXPECT_EQ(url->host, "example.com");
    EXPECT_EQ(url->port, 443);
    EXPECT_EQ(url->target, "/a/b?c=d");
    EXPECT_EQ(url->authority(), "example.com");
    const auto six = parse_url("http://[::1]:3097");
    ASSERT_TRUE(six.has_value());
    EXPECT_EQ(six->host, "::1");
    EXPECT_EQ(six->target, "/");
    EXPECT_EQ(six->authority(), "[::1]:3097");
    EXPECT_EQ(parse_url("http://h?x=1").value().target, "/?x=1");
}

TEST(Url, bad_ones_are_refused) {
    for (const auto* text :
         {"http://[[0]:80/", "http://[host]/", "http://a<b>/", "ht/tp://h", "5el,.v://h/", "", "example.com",
          "://h/", "http://", "http://h:0/", "http://h:99999/", "http://h:x/", "http://[::1/",
          "http://[::1]x/", "http://u@h/", "http://h/a b", "http:///x"}) {
        EXPECT_FALSE(parse_url(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace instantstart::http
