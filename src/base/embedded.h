// Files built into the binary (cmake/embed.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace instantstart::base {

struct EmbeddedFile {
    std::string_view name;  // path below the embedded folder
    std::string_view content;
};

}  // namespace instantstart::base

namespace instantstart::embedded {

const std::vector<base::EmbeddedFile>& models();     // models/*.json
const std::vector<base::EmbeddedFile>& data();       // data/*.json: tables of facts
const std::vector<base::EmbeddedFile>& manifests();  // manifests/*.yaml: our in-cluster objects
const std::vector<base::EmbeddedFile>& console();    // the built web console, with .gz beside

}  // namespace instantstart::embedded
