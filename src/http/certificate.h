// Certificates for the twin's own authority.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace instantstart::http {

struct KeyPair {
    KeyPair() = default;
    std::string cert_pem, key_pem;
};

// A self-signed authority (EC P-256), valid from a day before `now` for ten years.
base::Result<KeyPair> make_authority(const std::string& common_name, base::TimePoint now);
// A server certificate for DNS names and IP addresses, signed by `authority`, valid for a year.
base::Result<KeyPair> make_server_certificate(const KeyPair& authority, const std::string& common_name,
                                              const std::vector<std::string>& names, base::TimePoint now);

}  // namespace instantstart::http
