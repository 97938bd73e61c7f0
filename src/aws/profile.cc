#include "aws/profile.h"

#include <fstream>
#include <sstream>

#include "base/text.h"

namespace instantstart::aws {

namespace {

std::string home_file(const Environment& environment, const char* variable, const char* below_home) {
    std::string path = environment(variable);
    const std::string home = environment("HOME");
    if (path.empty()) return home.empty() ? "" : home + below_home;
    if (path.starts_with("~/")) path = home + path.substr(1);
    return path;
}

// "[profile name]" and "[default]" of the config file; other sections (services, sso-session) are none.
std::string profile_of_section(const std::string& section) {
    if (section == "default") return section;
    if (!section.starts_with("profile ") && !section.starts_with("profile\t")) return "";
    std::string name(base::trim(std::string_view(section).substr(8)));
    if (name.size() > 1 && (name.front() == '"' || name.front() == '\''))
        name = name.substr(1, name.size() - 2);
    return name;
}

}  // namespace

Sections parse_ini(std::string_view text) {
    Sections out;
    Section* section = nullptr;
    for (const std::string& raw : base::split(text, '\n')) {
        const std::string_view line = base::trim(raw);
        if (line.empty() || line[0] == '#' || line[0] == ';') continue;
        if (line[0] == '[') {
            const std::size_t close = line.find(']');
            section = close == std::string_view::npos
                          ? nullptr
                          : &out[std::string(base::trim(line.substr(1, close - 1)))];
            continue;
        }
        const bool indented = raw[0] == ' ' || raw[0] == '\t';
        const std::size_t equals = line.find('=');
        if (section == nullptr || indented || equals == std::string_view::npos) continue;
        std::string_view value = base::trim(line.substr(equals + 1));
        const std::size_t comment = value.find(" #");
        if (comment != std::string_view::npos) value = base::trim(value.substr(0, comment));
        (*section)[base::to_lower(base::trim(line.substr(0, equals)))] = std::string(value);
    }
    return out;
}

std::string read_small_file(const std::string& path) {
    if (path.empty()) return "";
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    return text.str();
}

Profiles Profiles::from_text(std::string_view config, std::string_view credentials) {
    Profiles made;
    for (auto& [section, values] : parse_ini(config)) {
        const std::string name = profile_of_section(section);
        if (!name.empty()) made.sections_[name] = values;
    }
    for (auto& [name, values] : parse_ini(credentials)) {
        for (const auto& [key, value] : values) made.sections_[name][key] = value;
    }
    return made;
}

Profiles Profiles::read(const Environment& environment) {
    return from_text(
        read_small_file(home_file(environment, "AWS_CONFIG_FILE", "/.aws/config")),
        read_small_file(home_file(environment, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials")));
}

const Section* Profiles::find(const std::string& name) const {
    const auto found = sections_.find(name);
    return found == sections_.end() ? nullptr : &found->second;
}

std::string Profiles::value(const std::string& profile, const std::string& key) const {
    const Section* section = find(profile);
    if (section == nullptr) return "";
    const auto found = section->find(key);
    return found == section->end() ? "" : found->second;
}

std::string profile_name(const Environment& environment) {
    for (const char* variable : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}) {
        const std::string name = environment(variable);
        if (!name.empty()) return name;
    }
    return "default";
}

std::string region_from(const Environment& environment, const Profiles& profiles) {
    for (const char* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
        const std::string region = environment(variable);
        if (!region.empty()) return region;
    }
    return profiles.value(profile_name(environment), "region");
}

}  // namespace instantstart::aws
