#include "base/xml_text.h"

#include <gtest/gtest.h>

namespace instantstart::base {
namespace {

TEST(XmlText, references_name_characters) {
    for (const char* text : {"<a/>", "<a>&#65;&#x1F680;&amp;&#xD;</a>", "<a>&#x10FFFF;</a>"})
        EXPECT_TRUE(is_xml_text(text)) << text;
    for (const char* text :
         {"<a>&#x1F16800;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#99999999999999999999;</a>",
          "<a b='&#1;'/>", "<a>&#;</a>", "<a>&#x;</a>", "<a>&#65</a>", "<a>&#xFFFF;</a>", "&#"})
        EXPECT_FALSE(is_xml_text(text)) << text;
}

TEST(XmlText, what_is_no_markup_is_plain) {
    EXPECT_TRUE(is_xml_text("<!-- &#0; --><?p &#0;?><a><![CDATA[&#0;]]>&#10;</a>"));
    EXPECT_FALSE(is_xml_text("<a><![CDATA[&#0;]]>&#0;</a>"));
    EXPECT_TRUE(is_xml_text("<a><![CDATA[&#0;"));
}

TEST(XmlText, other_bytes_are_refused) {
    EXPECT_FALSE(is_xml_text("<a>\xff</a>"));
    EXPECT_FALSE(is_xml_text(std::string_view("<a>\0</a>", 8)));
}

}  // namespace
}  // namespace instantstart::base
