#include "base/xml_text.h"

#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace instantstart::base {

namespace {

struct Section {
    std::string_view begin, end;
};
constexpr Section kPlain[] = {{"<![CDATA[", "]]>"}, {"<!--", "-->"}, {"<?", "?>"}};

bool is_xml_character(std::uint32_t code) {
    if (code < 0x20U) return code == 0x9U || code == 0xAU || code == 0xDU;
    if (code >= 0xD800U && code <= 0xDFFFU) return false;
    return code <= 0x10FFFFU && code != 0xFFFEU && code != 0xFFFFU;
}

// `text` begins behind "&#".
bool names_a_character(std::string_view text) {
    const bool hexadecimal = text.starts_with('x');
    if (hexadecimal) text.remove_prefix(1);
    std::uint32_t code = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, code, hexadecimal ? 16 : 10);
    return read.ec == std::errc() && read.ptr != end && *read.ptr == ';' && is_xml_character(code);
}

// The length of a section whose references are plain text; 0 where none begins here.
std::size_t plain_section(std::string_view text) {
    for (const Section& section : kPlain) {
        if (!text.starts_with(section.begin)) continue;
        const std::size_t end = text.find(section.end, section.begin.size());
        return end == std::string_view::npos ? text.size() : end + section.end.size();
    }
    return 0;
}

}  // namespace

bool is_xml_text(std::string_view document) {
    if (!is_valid_utf8(document) || document.find('\0') != std::string_view::npos) return false;
    if (document.find("&#") == std::string_view::npos) return true;
    while (true) {
        const std::size_t at = document.find_first_of("&<");
        if (at == std::string_view::npos) return true;
        document.remove_prefix(at);
        if (document.starts_with("&#") && !names_a_character(document.substr(2))) return false;
        const std::size_t plain = plain_section(document);
        document.remove_prefix(plain == 0 ? 1 : plain);
    }
}

}  // namespace instantstart::base
