#include "server/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::server {

namespace {

namespace fs = std::filesystem;

base::Error cannot(const std::string& what, const std::string& path, const std::string& why) {
    return base::Error(base::ErrorKind::unavailable, "data_folder",
                       "Cannot " + what + " " + path + ": " + why);
}

}  // namespace

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

DataFolder& DataFolder::operator=(DataFolder&& other) noexcept {
    if (this == &other) return *this;
    if (lock_ >= 0) ::close(lock_);
    path_ = std::move(other.path_);
    lock_ = std::exchange(other.lock_, -1);
    return *this;
}

// Closing the file gives the lock back, as does the end of the process, however it comes.
DataFolder::~DataFolder() {
    if (lock_ >= 0) ::close(lock_);
}

base::Result<DataFolder> DataFolder::open(const std::string& path) {
    std::error_code failed;
    fs::create_directories(path, failed);
    if (failed) return cannot("make the folder", path, failed.message());
    fs::permissions(path, fs::perms::owner_all, failed);
    DataFolder folder;
    folder.path_ = path;
    const std::string file = path + "/lock";
    constexpr int kPrivate = 0600;
    folder.lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPrivate);
    if (folder.lock_ < 0) return cannot("open", file, std::strerror(errno));
    if (::flock(folder.lock_, LOCK_EX | LOCK_NB) != 0) {
        return base::conflict_error("data_folder_in_use", "Another process uses the data folder " + path)
            .with_hint("Stop it, or name another folder with --data.");
    }
    return folder;
}

base::Result<std::string> find_token(const std::string& folder, bool create) {
    const char* given = std::getenv("INSTANTSTART_TOKEN");
    if (given != nullptr && *given != '\0') return std::string(given);
    const std::string path = folder + "/token";
    std::ifstream file(path);
    std::string token;
    if (std::getline(file, token) && !base::trim(token).empty()) return std::string(base::trim(token));
    if (!create) return std::string();
    constexpr std::size_t kBytes = 32;
    constexpr int kPrivate = 0600;
    token = base::base64url_encode(base::random_bytes(kBytes));
    const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kPrivate);
    if (made < 0) return cannot("write", path, std::strerror(errno));
    const std::string line = token + "\n";
    const bool whole = ::write(made, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    ::close(made);
    if (!whole) return cannot("write", path, "the disk may be full");
    return token;
}

}  // namespace instantstart::server
