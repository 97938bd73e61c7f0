// What XML documents may hold, where the parser in use does not look: it writes whatever number a character
// reference has, so that one beyond Unicode would become text that is not UTF-8, and `&#0;` would cut it.
#pragma once

#include <string_view>

namespace instantstart::base {

// UTF-8, without NUL, and every character reference names a character that XML 1.0 (section 2.2) admits.
// References in comments, CDATA sections and processing instructions are plain text.
bool is_xml_text(std::string_view document);

}  // namespace instantstart::base
