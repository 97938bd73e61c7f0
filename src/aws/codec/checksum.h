// CRC-32 as zlib and S3 mean it.
#pragma once

#include <cstdint>
#include <string_view>

namespace instantstart::aws::codec {
std::uint32_t crc32(std::string_view bytes);
}
