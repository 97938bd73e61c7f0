// Log records: one per event, a fixed event name and fields. Lines go to standard error, as text or JSON.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace instantstart::base {

enum class LogLevel : std::uint8_t { debug, info, warn, error, off };
enum class LogFormat : std::uint8_t { text, json };

using LogFields = std::initializer_list<std::pair<std::string_view, JsonValue>>;

// Sets level and format for the process; called once by main() before any thread starts.
void configure_log(LogLevel level, LogFormat format);
bool parse_log_level(std::string_view text, LogLevel& out);
// error = a person must act, warn = degraded, info = one per request, step or state change. Thread-safe.
void log(LogLevel level, std::string_view event, const JsonObject& context, LogFields fields = {});
void log(LogLevel level, std::string_view event, LogFields fields = {});

}  // namespace instantstart::base
