// DataFolder: the folder of the state: made, locked for one process, with the token in it.
#pragma once

#include <string>

#include "base/result.h"

namespace instantstart::server {

class DataFolder {
public:
    DataFolder() = default;
    ~DataFolder();
    DataFolder(DataFolder&& other) noexcept;
    DataFolder& operator=(DataFolder&& other) noexcept;
    DataFolder(const DataFolder&) = delete;
    DataFolder& operator=(const DataFolder&) = delete;

    // Makes it (0700) and locks it; Error{conflict, "data_folder_in_use"} where another process holds it.
    static base::Result<DataFolder> open(const std::string& path);
    const std::string& path() const { return path_; }

private:
    std::string path_;
    int lock_ = -1;
};

// INSTANTSTART_TOKEN; else the folder's file `token` (0600), which is made where `create` says so; else "".
base::Result<std::string> find_token(const std::string& folder, bool create);

}  // namespace instantstart::server
