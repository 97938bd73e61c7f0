#include "aws/codec/checksum.h"

#include <array>

#include "aws/codec/codec.h"
#include "base/digest.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
        table[i] = value;
    }
    return table;
}

std::string crc32_bytes(std::string_view body) {
    const std::uint32_t sum = crc32(body);
    std::string out;
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>((sum >> shift) & 0xFFU);
    return out;
}

bool has_checksum(const Call& call, bool chosen) {
    for (const auto& field : call.headers.fields()) {
        const std::string name = base::to_lower(field.first);
        // Where the operation knows algorithms, an MD5 of the caller's does not stand for one of them.
        if (name == "content-md5" && !chosen) return true;
        if (name.starts_with("x-amz-checksum-") && name != "x-amz-checksum-algorithm" &&
            name != "x-amz-checksum-mode" && name != "x-amz-checksum-type") {
            return true;
        }
    }
    return false;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
    static constexpr auto kTable = make_table();
    std::uint32_t sum = 0xFFFFFFFFU;
    for (const char c : bytes) sum = (sum >> 8U) ^ kTable[(sum ^ static_cast<unsigned char>(c)) & 0xFFU];
    return sum ^ 0xFFFFFFFFU;
}

void add_checksum(const model::Operation& operation, const base::JsonObject& parameters, Call& call) {
    const std::string& chooser = operation.checksum_algorithm_member;
    if ((!operation.http_checksum_required && chooser.empty()) || has_checksum(call, !chooser.empty()))
        return;
    if (chooser.empty()) {
        call.headers.set("Content-MD5", base::base64_encode(base::md5(call.body)));
        return;
    }
    const std::string wanted = base::get_string(parameters, chooser, "CRC32");
    std::string name = "CRC32";
    std::string sum;
    if (wanted == "SHA256" || wanted == "SHA1") {
        name = wanted;
        sum = wanted == "SHA256" ? base::sha256(call.body) : base::sha1(call.body);
    } else {
        sum = crc32_bytes(call.body);
    }
    call.headers.set("x-amz-sdk-checksum-algorithm", name);
    call.headers.set("x-amz-checksum-" + base::to_lower(name), base::base64_encode(sum));
}

}  // namespace instantstart::aws::codec
