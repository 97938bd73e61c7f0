#include "base/log.h"

#include <atomic>
#include <chrono>
#include <cstdio>

#include "base/time.h"

namespace instantstart::base {

namespace {

std::atomic<LogLevel> g_level{LogLevel::info};
std::atomic<LogFormat> g_format{LogFormat::text};

const char* name_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
        case LogLevel::off: return "off";
    }
    return "info";
}

std::string as_text_line(const JsonObject& record) {
    std::string line;
    for (const auto& member : record) {
        const bool plain = member.value().is_string() &&
                           member.value().get_string().find_first_of(" \"=\n\t") == std::string::npos;
        if (!line.empty()) line += ' ';
        if (member.key() != "time" && member.key() != "level" && member.key() != "event")
            line += std::string(member.key()) + "=";
        line += plain ? std::string(member.value().get_string()) : to_text(member.value());
    }
    return line;
}

}  // namespace

void configure_log(LogLevel level, LogFormat format) {
    g_level = level;
    g_format = format;
}

bool parse_log_level(std::string_view text, LogLevel& out) {
    for (auto level : {LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error, LogLevel::off}) {
        if (text == name_of(level)) {
            out = level;
            return true;
        }
    }
    return false;
}

void log(LogLevel level, std::string_view event, const JsonObject& context, LogFields fields) {
    if (level < g_level.load() || level == LogLevel::off) return;
    JsonObject record;
    record["time"] = format_time(std::chrono::system_clock::now());
    record["level"] = name_of(level);
    record["event"] = event;
    for (const auto& member : context) record[member.key()] = member.value();
    for (const auto& [key, value] : fields) record[key] = value;
    const std::string line =
        (g_format.load() == LogFormat::json ? to_text(record) : as_text_line(record)) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

void log(LogLevel level, std::string_view event, LogFields fields) {
    log(level, event, JsonObject(), fields);
}

}  // namespace instantstart::base
