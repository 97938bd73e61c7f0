// The settings that the AWS SDKs share: environment, config file and credentials file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace instantstart::aws {

using Environment = std::function<std::string(const std::string&)>;
using Section = std::map<std::string, std::string>;
using Sections = std::map<std::string, Section>;

// Sections of an INI file as the SDKs read it: "key = value" lines, # and ; comments, indented lines belong
// to the key above and are skipped. Lines that are neither are ignored.
Sections parse_ini(std::string_view text);

// One view of both files. Values of the credentials file win over those of the config file.
class Profiles {
public:
    // Reads the files now; one that is absent is empty.
    static Profiles read(const Environment& environment);
    // From texts, for tests.
    static Profiles from_text(std::string_view config, std::string_view credentials);

    const Section* find(const std::string& name) const;
    // Of AWS_PROFILE, else "default"; "" where absent.
    std::string value(const std::string& profile, const std::string& key) const;

private:
    Sections sections_;
};

std::string profile_name(const Environment& environment);

// AWS_REGION, AWS_DEFAULT_REGION, the profile's; "" where none says.
std::string region_from(const Environment& environment, const Profiles& profiles);

// A small file's text, "" where it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace instantstart::aws
