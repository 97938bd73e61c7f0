#include "twin/state_folder.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace instantstart::twin {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// Whole or not at all: written beside, then renamed. Only the owner may read it.
base::Result<void> write_file(const std::string& path, const std::string& text) {
    const std::string beside = path + ".new";
    std::error_code failed;
    {
        std::ofstream out(beside, std::ios::binary | std::ios::trunc);
        fs::permissions(beside, fs::perms::owner_read | fs::perms::owner_write, failed);
        out << text;
        if (!out.flush()) return base::internal_error("cannot write " + beside);
    }
    fs::rename(beside, path, failed);
    if (failed) return base::internal_error("cannot rename " + beside + ": " + failed.message());
    return base::ok();
}

}  // namespace

StateFolder::StateFolder(std::string path) : path_(std::move(path)) {}

base::Result<http::KeyPair> StateFolder::authority(base::TimePoint now) const {
    constexpr const char* kName = "InstantStart twin";
    if (!keeps()) return http::make_authority(kName, now);
    std::error_code failed;
    fs::create_directories(path_, failed);
    if (failed) return base::internal_error("cannot make the folder " + path_ + ": " + failed.message());
    http::KeyPair pair;
    auto cert = read_file(path_ + "/ca.pem");
    auto key = read_file(path_ + "/ca-key.pem");
    if (cert && key) {
        pair.cert_pem = std::move(*cert);
        pair.key_pem = std::move(*key);
        return pair;
    }
    TRY(pair, http::make_authority(kName, now));
    CHECK_OK(write_file(path_ + "/ca-key.pem", pair.key_pem));
    CHECK_OK(write_file(path_ + "/ca.pem", pair.cert_pem));
    return pair;
}

std::optional<std::string> StateFolder::read_state() const {
    if (!keeps()) return std::nullopt;
    return read_file(path_ + "/state.json");
}

base::Result<void> StateFolder::write_state(const std::string& text) const {
    return write_file(path_ + "/state.json", text);
}

}  // namespace instantstart::twin
