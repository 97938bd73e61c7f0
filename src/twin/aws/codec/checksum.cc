#include "twin/aws/codec/checksum.h"

#include <array>
#include <cstdint>

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::twin::codec {

namespace {

// Reflected CRC of any width up to 64, table of the polynomial built at compile time.
constexpr std::array<std::uint64_t, 256> table_of(std::uint64_t polynomial) {
    std::array<std::uint64_t, 256> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        std::uint64_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? (value >> 1U) ^ polynomial : value >> 1U;
        table[i] = value;
    }
    return table;
}

constexpr auto kCrc32 = table_of(0xEDB88320U);
constexpr auto kCrc32c = table_of(0x82F63B78U);
constexpr auto kCrc64Nvme = table_of(0x9A6C9329AC4BC9B5U);

std::uint64_t crc(const std::array<std::uint64_t, 256>& table, std::uint64_t ones, std::string_view bytes) {
    std::uint64_t value = ones;
    for (const char c : bytes) value = table[(value ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (value >> 8U);
    return value ^ ones;
}

std::string big_endian(std::uint64_t value, int bytes) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i)
        out += static_cast<char>((value >> (8U * static_cast<unsigned>(i))) & 0xFFU);
    return base::base64_encode(out);
}

}  // namespace

std::string checksum(std::string_view algorithm, std::string_view bytes) {
    const std::string name = base::to_lower(algorithm);
    if (name == "crc32") return big_endian(crc(kCrc32, 0xFFFFFFFFU, bytes), 4);
    if (name == "crc32c") return big_endian(crc(kCrc32c, 0xFFFFFFFFU, bytes), 4);
    if (name == "crc64nvme") return big_endian(crc(kCrc64Nvme, ~std::uint64_t{0}, bytes), 8);
    if (name == "sha1") return base::base64_encode(base::sha1(bytes));
    if (name == "sha256") return base::base64_encode(base::sha256(bytes));
    return "";
}

}  // namespace instantstart::twin::codec
