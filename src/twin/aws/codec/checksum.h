// The checksums that S3 knows, as base64 of their big-endian bytes.
#pragma once

#include <string>
#include <string_view>

namespace instantstart::twin::codec {

// `algorithm` is CRC32, CRC32C, CRC64NVME, SHA1 or SHA256 (any case); "" for another.
std::string checksum(std::string_view algorithm, std::string_view bytes);

}  // namespace instantstart::twin::codec
