#include "server/surroundings.h"

#include <cstdlib>
#include <filesystem>

namespace instantstart::server {

std::string environment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

http::TransportSettings transport_settings() {
    http::TransportSettings settings;
    settings.proxies = http::ProxyRules::from(environment);
    return settings;
}

bool is_in_container() {
    std::error_code failed;
    return std::filesystem::exists("/.dockerenv", failed) ||
           std::filesystem::exists("/run/.containerenv", failed) ||
           !environment("KUBERNETES_SERVICE_HOST").empty();
}

}  // namespace instantstart::server
