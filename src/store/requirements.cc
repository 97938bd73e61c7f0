#include "store/requirements.h"

namespace instantstart::store {

base::Error exists_error(const std::string& table, const std::string& key) {
    return base::conflict_error("store_conflict", table + "/" + key + " exists already");
}

base::Error changed_error(const std::string& table, const std::string& key) {
    return base::conflict_error("store_conflict", table + "/" + key + " was changed meanwhile");
}

std::string key_after_prefix(std::string prefix) {
    while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
    if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
    return prefix;
}

}  // namespace instantstart::store
