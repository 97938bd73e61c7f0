// Small text helpers used by several folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace instantstart::base {

std::vector<std::string> split(std::string_view text, char separator);  // keeps empty parts
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);  // ASCII white space at both ends
std::string to_lower(std::string_view text);   // ASCII
bool iequals(std::string_view a, std::string_view b);
std::string hex(std::string_view bytes);  // lower case
std::string base64_encode(std::string_view bytes);
std::string base64url_encode(std::string_view bytes);  // without padding
// Both alphabets, padding optional; false where the text is neither.
bool base64_decode(std::string_view text, std::string& out);
// RFC 3986 percent-encoding of all but unreserved characters; `keep` are further characters left alone.
std::string percent_encode(std::string_view text, std::string_view keep = "");
std::string percent_decode(std::string_view text);  // bad escapes are kept as they stand
bool is_valid_utf8(std::string_view text);
// The entry of `choices` nearest to `text` by edit distance, if near enough to be a likely slip; else "".
std::string nearest(std::string_view text, const std::vector<std::string>& choices);

}  // namespace instantstart::base
