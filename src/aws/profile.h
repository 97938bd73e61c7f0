// The settings that the AWS SDKs share: environment, config file and credentials file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "aws/ini.h"

namespace instantstart::aws {

using Environment = std::function<std::string(const std::string&)>;
using Section = std::map<std::string, std::string>;

// One view of both files. Values of the credentials file win over those of the config file.
class Profiles {
public:
    // Reads the files now; one that is absent is empty. A file that cannot be understood is an error
    // {invalid, "config_file_invalid"} that names it and the line.
    static base::Result<Profiles> read(const Environment& environment);
    // From texts.
    static base::Result<Profiles> from_text(std::string_view config, std::string_view credentials);

    const Section* find(const std::string& profile) const;
    // "" where absent.
    std::string value(const std::string& profile, const std::string& key) const;
    bool has(const std::string& profile, const std::string& key) const;
    // The file that the value comes from, for messages.
    std::string file_of(const std::string& profile, const std::string& key) const;
    // Keys in the section of that name in the credentials file alone.
    bool in_credentials_file(const std::string& profile, const std::string& key) const;

    const Section* sso_session(const std::string& name) const;
    // From the `services` section that the profile names: the value of `key` under `service`
    // ("sagemaker", "cloudwatch_logs"). An error where the profile names a section that is not there.
    base::Result<std::string> service_value(const std::string& profile, const std::string& service,
                                            const std::string& key) const;

    const std::string& config_file() const { return config_file_; }
    const std::string& credentials_file() const { return credentials_file_; }

private:
    std::map<std::string, Section> profiles_, sso_sessions_;
    std::map<std::string, Section> of_credentials_;
    std::map<std::string, IniSection> services_;
    std::string config_file_ = "the config file", credentials_file_ = "the credentials file";
};

// AWS_PROFILE, AWS_DEFAULT_PROFILE, else "default".
std::string profile_name(const Environment& environment);

// AWS_REGION, AWS_DEFAULT_REGION, the profile's; "" where none says.
std::string region_from(const Environment& environment, const Profiles& profiles);

// A setting: the variable where it is set, else the profile's key, else "".
std::string setting(const Environment& environment, const Profiles& profiles, const char* variable,
                    const char* key);
// The same as a switch: only "true" (in any case) switches on.
bool is_switched_on(const Environment& environment, const Profiles& profiles, const char* variable,
                    const char* key);

// "~/…" under HOME; anything else as it is.
std::string home_path(const Environment& environment, const std::string& path);

// A small file's text (at most 1 MiB), "" where it cannot be read.
std::string read_small_file(const std::string& path);

}  // namespace instantstart::aws
