// The INI dialect of the AWS configuration files, as botocore reads it: "key = value" or "key: value",
// whole-line comments with # or ;, a value goes on over lines indented deeper than its key, and a value that
// begins on the next line holds "key = value" lines of its own (s3, and the services of a `services`
// section).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace instantstart::aws {

struct IniSection {
    IniSection() = default;
    std::map<std::string, std::string> values;  // keys in lower case
    std::map<std::string, std::map<std::string, std::string>>
        nested;  // key -> its own lines, keys as written
};
using IniFile = std::map<std::string, IniSection>;

// Error{invalid, "config_file_invalid"} whose message begins with "line N: ". Whatever the text holds, this
// ends.
base::Result<IniFile> parse_ini(std::string_view text);

// A command or section name into words as a POSIX shell quotes them, with no expansion of any kind.
// Error{invalid, "bad_quotes"} for a quotation that does not end.
base::Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace instantstart::aws
