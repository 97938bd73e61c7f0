// Context: what a call chain carries, first parameter of everything that does I/O. Cheap to copy, immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/log.h"
#include "base/time.h"

namespace instantstart::rt {

class Context {
public:
    Context();
    // A copy with one more log field ("request", "operation", "step", "principal", "face", …).
    Context with(std::string_view key, std::string_view value) const;
    // A copy with a deadline on Clock::monotonic(); the earlier of two wins.
    Context with_deadline(base::Duration monotonic_deadline) const;

    std::string field(std::string_view key) const;  // "" where absent
    std::optional<base::Duration> deadline() const;
    const base::JsonObject& fields() const;
    void log(base::LogLevel level, std::string_view event, base::LogFields fields = {}) const;

private:
    struct Data {
        base::JsonObject fields;
        std::optional<base::Duration> deadline;
    };
    std::shared_ptr<const Data> data_;
};

}  // namespace instantstart::rt
