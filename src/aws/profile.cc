#include "aws/profile.h"

#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace instantstart::aws {

namespace {

std::string file_named_by(const Environment& environment, const char* variable, const char* usual) {
    const std::string path = environment(variable);
    return home_path(environment, path.empty() ? usual : path);
}

// "[profile name]", "[sso-session name]", "[services name]": the second word of a section of that kind, ""
// for another.
std::string name_after(std::string_view kind, const std::string& section) {
    if (!section.starts_with(kind)) return "";
    const auto words = split_words(section);
    const bool fits = words.has_value() && words->size() == 2 && words->front() == kind;
    return fits ? words->back() : "";
}

base::Result<IniFile> parse_file(std::string_view text, const std::string& file) {
    auto parsed = parse_ini(text);
    if (parsed.has_value()) return parsed;
    base::Error error = std::move(parsed).error();
    error.message = file + ", " + error.message;
    error.hint = "Mend the file, or name another in AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE.";
    return error;
}

}  // namespace

std::string home_path(const Environment& environment, const std::string& path) {
    const std::string home = environment("HOME");
    if (!path.starts_with("~/")) return path;
    return home.empty() ? "" : home + path.substr(1);
}

std::string read_small_file(const std::string& path) {
    constexpr std::size_t kMost = 1U << 20U;
    // A folder or a pipe would block or fail late.
    std::error_code failed;
    if (path.empty() || !std::filesystem::is_regular_file(path, failed)) return "";
    std::ifstream in(path, std::ios::binary);
    std::string text(kMost, '\0');
    in.read(text.data(), static_cast<std::streamsize>(kMost));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

base::Result<Profiles> Profiles::from_text(std::string_view config, std::string_view credentials) {
    Profiles made;
    TRY(const IniFile shared, parse_file(config, made.config_file_));
    for (const auto& [section, content] : shared) {
        const std::string profile = section == "default" ? section : name_after("profile", section);
        const std::string session = name_after("sso-session", section);
        const std::string services = name_after("services", section);
        // Where both [default] and [profile default] stand, the second is the one (it sorts later).
        if (!profile.empty()) made.profiles_[profile] = content.values;
        if (!session.empty()) made.sso_sessions_[session] = content.values;
        if (!services.empty()) made.services_[services] = content;
    }
    TRY(const IniFile secret, parse_file(credentials, made.credentials_file_));
    for (const auto& [name, content] : secret) {
        made.of_credentials_[name] = content.values;
        for (const auto& [key, value] : content.values) made.profiles_[name][key] = value;
    }
    return made;
}

base::Result<Profiles> Profiles::read(const Environment& environment) {
    const std::string config = file_named_by(environment, "AWS_CONFIG_FILE", "~/.aws/config");
    const std::string credentials =
        file_named_by(environment, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
    auto parsed = from_text(read_small_file(config), read_small_file(credentials));
    if (parsed.has_value()) {
        parsed->config_file_ = config;
        parsed->credentials_file_ = credentials;
        return parsed;
    }
    base::Error error = std::move(parsed).error();
    const Profiles names;
    for (const auto& [word, path] :
         {std::pair(names.config_file_, config), std::pair(names.credentials_file_, credentials)}) {
        if (error.message.starts_with(word)) error.message = path + error.message.substr(word.size());
    }
    return error;
}

const Section* Profiles::find(const std::string& profile) const {
    const auto found = profiles_.find(profile);
    return found == profiles_.end() ? nullptr : &found->second;
}

std::string Profiles::value(const std::string& profile, const std::string& key) const {
    const Section* section = find(profile);
    if (section == nullptr) return "";
    const auto found = section->find(key);
    return found == section->end() ? "" : found->second;
}

bool Profiles::has(const std::string& profile, const std::string& key) const {
    const Section* section = find(profile);
    return section != nullptr && section->contains(key);
}

bool Profiles::in_credentials_file(const std::string& profile, const std::string& key) const {
    const auto found = of_credentials_.find(profile);
    return found != of_credentials_.end() && found->second.contains(key);
}

std::string Profiles::file_of(const std::string& profile, const std::string& key) const {
    return in_credentials_file(profile, key) ? credentials_file_ : config_file_;
}

const Section* Profiles::sso_session(const std::string& name) const {
    const auto found = sso_sessions_.find(name);
    return found == sso_sessions_.end() ? nullptr : &found->second;
}

base::Result<std::string> Profiles::service_value(const std::string& profile, const std::string& service,
                                                  const std::string& key) const {
    const std::string name = value(profile, "services");
    if (name.empty()) return std::string();
    const auto section = services_.find(name);
    if (section == services_.end()) {
        return base::invalid_error("config_file_invalid", "profile " + profile + " names services = " + name +
                                                              ", but " + config_file_ +
                                                              " has no section [services " + name + "]");
    }
    const auto found = section->second.nested.find(service);
    if (found == section->second.nested.end()) return std::string();
    const auto entry = found->second.find(key);
    return entry == found->second.end() ? std::string() : entry->second;
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

std::string setting(const Environment& environment, const Profiles& profiles, const char* variable,
                    const char* key) {
    const std::string value = environment(variable);
    return value.empty() ? profiles.value(profile_name(environment), key) : value;
}

bool is_switched_on(const Environment& environment, const Profiles& profiles, const char* variable,
                    const char* key) {
    return base::iequals(setting(environment, profiles, variable, key), "true");
}

}  // namespace instantstart::aws
