// What the twin keeps between runs: its state and its authority, in one folder.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "http/certificate.h"

namespace instantstart::twin {

class StateFolder {
public:
    explicit StateFolder(std::string path);  // "" keeps nothing
    bool keeps() const { return !path_.empty(); }
    // The authority of the last run, or a new one, kept.
    base::Result<http::KeyPair> authority(base::TimePoint now) const;
    std::optional<std::string> read_state() const;
    base::Result<void> write_state(const std::string& text) const;

private:
    std::string path_;
};

}  // namespace instantstart::twin
