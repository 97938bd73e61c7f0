// Objects: put, get, head, copy, delete, tags.
#include <charconv>

#include "base/digest.h"
#include "base/text.h"
#include "twin/aws/codec/checksum.h"
#include "twin/aws/codec/query_codec.h"
#include "twin/aws/s3/s3_service.h"

namespace instantstart::twin::s3 {

namespace {

constexpr std::string_view kChecksums[] = {"CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"};
constexpr std::string_view kMeta[] = {
    "ContentType", "CacheControl", "ContentDisposition",      "ContentEncoding",      "ContentLanguage",
    "Expires",     "StorageClass", "WebsiteRedirectLocation", "ServerSideEncryption", "SSEKMSKeyId",
    "Metadata"};

bool etag_matches(const std::string& wanted, const std::string& etag) {
    return wanted == "*" || wanted == etag || "\"" + wanted + "\"" == etag;
}

std::optional<ServiceError> check_put_conditions(const Call& call, const Object* present) {
    const std::string none = text_of(call, "IfNoneMatch");
    const std::string match = text_of(call, "IfMatch");
    ServiceError failed(412, "PreconditionFailed",
                        "At least one of the pre-conditions you specified did not hold");
    if (!none.empty() && present != nullptr && etag_matches(none, present->etag)) return failed;
    if (!match.empty() && present == nullptr) return no_such_key(text_of(call, "Key"));
    if (!match.empty() && !etag_matches(match, present->etag)) return failed;
    return std::nullopt;
}

std::optional<ServiceError> check_get_conditions(const Call& call, const Object& object) {
    const std::string match = text_of(call, "IfMatch");
    const std::string none = text_of(call, "IfNoneMatch");
    if (!match.empty() && !etag_matches(match, object.etag))
        return ServiceError(412, "PreconditionFailed",
                            "At least one of the pre-conditions you specified did not hold");
    if (!none.empty() && etag_matches(none, object.etag))
        return ServiceError(304, "NotModified", "Not Modified");
    const auto since = base::parse_time(text_of(call, "IfModifiedSince"));
    if (none.empty() && since && object.modified <= *since)
        return ServiceError(304, "NotModified", "Not Modified");
    return std::nullopt;
}

struct Range {
    std::size_t begin = 0, end = 0;  // half open
};

// "bytes=a-b", "bytes=a-", "bytes=-n"; nullopt where it cannot be satisfied.
std::optional<Range> parse_range(std::string_view text, std::size_t size) {
    if (!text.starts_with("bytes=")) return Range{0, size};
    text.remove_prefix(6);
    const auto dash = text.find('-');
    if (dash == std::string_view::npos) return Range{0, size};
    const auto number = [](std::string_view digits, std::size_t& out) {
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out);
        return read.ec == std::errc();
    };
    Range out{0, size};
    std::size_t last = 0;
    if (dash == 0) {
        std::size_t count = 0;
        if (!number(text.substr(1), count) || count == 0 || size == 0) return std::nullopt;
        out.begin = count >= size ? 0 : size - count;
        return out;
    }
    if (!number(text.substr(0, dash), out.begin) || out.begin >= size) return std::nullopt;
    if (number(text.substr(dash + 1), last)) {
        if (last < out.begin) return std::nullopt;
        out.end = std::min(last + 1, size);
    }
    return out;
}

}  // namespace

ServiceError no_such_key(const std::string& key) {
    ServiceError error(404, "NoSuchKey", "The specified key does not exist.");
    error.members["Key"] = key;
    return error;
}

std::optional<ServiceError> check_digests(const JsonObject& params, std::string_view bytes) {
    const std::string md5 = base::get_string(params, "ContentMD5");
    if (!md5.empty() && md5 != base::base64_encode(base::md5(bytes)))
        return ServiceError(400, "BadDigest",
                            "The Content-MD5 you specified did not match what we received.");
    for (const std::string_view algorithm : kChecksums) {
        const std::string given = base::get_string(params, "Checksum" + std::string(algorithm));
        if (!given.empty() && given != codec::checksum(algorithm, bytes)) {
            return ServiceError(
                400, "BadDigest",
                "The " + std::string(algorithm) + " you specified did not match the calculated checksum.");
        }
    }
    return std::nullopt;
}

void echo_checksums(const JsonObject& params, JsonObject& out) {
    for (const std::string_view algorithm : kChecksums) {
        const std::string member = "Checksum" + std::string(algorithm);
        if (const JsonValue* given = params.if_contains(member)) {
            out[member] = *given;
            out["ChecksumType"] = "FULL_OBJECT";
        }
    }
}

void name_checksums(const JsonObject& meta, JsonObject& entry) {
    JsonArray algorithms;
    for (const std::string_view algorithm : kChecksums) {
        if (meta.contains("Checksum" + std::string(algorithm))) algorithms.emplace_back(algorithm);
    }
    if (algorithms.empty()) return;
    entry["ChecksumAlgorithm"] = std::move(algorithms);
    entry["ChecksumType"] = "FULL_OBJECT";
}

JsonObject object_meta(const Call& call) {
    JsonObject out;
    for (const std::string_view member : kMeta) {
        if (const JsonValue* given = call.params.if_contains(member)) out[member] = *given;
    }
    if (!out.contains("ContentType")) out["ContentType"] = "binary/octet-stream";
    if (!out.contains("ServerSideEncryption")) out["ServerSideEncryption"] = "AES256";
    return out;
}

JsonArray tags_of_header(const std::string& text) {
    JsonArray out;
    for (const auto& [key, value] : codec::parse_form(text))
        out.emplace_back(JsonObject{{"Key", key}, {"Value", value}});
    return out;
}

Reply S3::put_object(const Call& call, Bucket& bucket) {
    const std::string key = text_of(call, "Key");
    const auto present = bucket.objects.find(key);
    if (auto fault = check_put_conditions(call, present == bucket.objects.end() ? nullptr : &present->second))
        return *fault;
    std::string bytes = text_of(call, "Body");
    if (auto fault = check_digests(call.params, bytes)) return *fault;
    Object object;
    object.etag = quoted_md5(bytes);
    object.modified = call.now;
    object.meta = object_meta(call);
    echo_checksums(call.params, object.meta);
    object.tags = tags_of_header(text_of(call, "Tagging"));
    object.bytes = std::move(bytes);
    JsonObject out{{"ETag", object.etag}, {"ServerSideEncryption", object.meta["ServerSideEncryption"]}};
    echo_checksums(call.params, out);
    bucket.objects[key] = std::move(object);
    world_.touched();
    return out;
}

Reply S3::get_object(const Call& call, Bucket& bucket) {
    const std::string key = text_of(call, "Key");
    const auto found = bucket.objects.find(key);
    if (found == bucket.objects.end() || !call.shows(found->second.modified)) return no_such_key(key);
    const Object& object = found->second;
    if (auto fault = check_get_conditions(call, object)) return *fault;
    const std::string range_text = text_of(call, "Range");
    Range range{0, object.bytes.size()};
    if (!range_text.empty()) {
        const auto parsed = parse_range(range_text, object.bytes.size());
        if (!parsed) return ServiceError(416, "InvalidRange", "The requested range is not satisfiable");
        range = *parsed;
    }
    JsonObject out = object.meta;
    // Checksums are of the whole object and come only when asked for.
    if (text_of(call, "ChecksumMode") != "ENABLED" || !range_text.empty()) {
        for (const std::string_view algorithm : kChecksums) out.erase("Checksum" + std::string(algorithm));
        out.erase("ChecksumType");
    }
    out["ETag"] = object.etag;
    out["LastModified"] = base::format_time(object.modified);
    out["AcceptRanges"] = "bytes";
    if (!object.tags.empty()) out["TagCount"] = object.tags.size();
    out["ContentLength"] = static_cast<std::int64_t>(range.end - range.begin);
    if (!range_text.empty()) {
        out["ContentRange"] = "bytes " + std::to_string(range.begin) + "-" + std::to_string(range.end - 1) +
                              "/" + std::to_string(object.bytes.size());
    }
    if (call.operation == "GetObject")
        out["Body"] = object.bytes.substr(range.begin, range.end - range.begin);
    return out;
}

Reply S3::object_attributes(const Call& call, Bucket& bucket) {
    const std::string key = text_of(call, "Key");
    const auto found = bucket.objects.find(key);
    if (found == bucket.objects.end()) return no_such_key(key);
    const Object& object = found->second;
    JsonObject out;
    out["LastModified"] = base::format_time(object.modified);
    for (const JsonValue& asked : base::get_array(call.params, "ObjectAttributes")) {
        if (asked == "ETag") out["ETag"] = object.etag.substr(1, object.etag.size() - 2);
        if (asked == "ObjectSize") out["ObjectSize"] = static_cast<std::int64_t>(object.bytes.size());
        if (asked == "StorageClass")
            out["StorageClass"] = base::get_string(object.meta, "StorageClass", "STANDARD");
    }
    return out;
}

std::variant<const Object*, ServiceError> S3::copy_source(const Call& call) const {
    std::string source = base::percent_decode(text_of(call, "CopySource"));
    if (const auto mark = source.find("?versionId="); mark != std::string::npos) source.erase(mark);
    if (source.starts_with('/')) source.erase(0, 1);
    const auto slash = source.find('/');
    if (slash == std::string::npos)
        return ServiceError(400, "InvalidArgument", "Invalid copy source object key");
    const auto bucket = buckets_.find(source.substr(0, slash));
    if (bucket == buckets_.end())
        return ServiceError(404, "NoSuchBucket", "The specified bucket does not exist");
    const auto object = bucket->second.objects.find(source.substr(slash + 1));
    if (object == bucket->second.objects.end()) return no_such_key(source.substr(slash + 1));
    return &object->second;
}

Reply S3::copy_object(const Call& call, Bucket& bucket) {
    const auto source = copy_source(call);
    if (const auto* fault = std::get_if<ServiceError>(&source)) return *fault;
    Object copy = *std::get<const Object*>(source);
    copy.modified = call.now;
    // A copy keeps its source's checksums, whatever metadata it is given.
    const JsonObject checksums = copy.meta;
    if (text_of(call, "MetadataDirective") == "REPLACE") {
        copy.meta = object_meta(call);
        echo_checksums(checksums, copy.meta);
    }
    if (text_of(call, "TaggingDirective") == "REPLACE") copy.tags = tags_of_header(text_of(call, "Tagging"));
    JsonObject result{{"ETag", copy.etag}, {"LastModified", base::format_time_millis(copy.modified)}};
    echo_checksums(checksums, result);
    bucket.objects[text_of(call, "Key")] = std::move(copy);
    world_.touched();
    return JsonObject{{"CopyObjectResult", std::move(result)}, {"ServerSideEncryption", "AES256"}};
}

Reply S3::delete_object(const Call& call, Bucket& bucket) {
    bucket.objects.erase(text_of(call, "Key"));
    world_.touched();
    return JsonObject{};
}

Reply S3::delete_objects(const Call& call, Bucket& bucket) {
    const bool quiet = base::get_bool(call.params, "Delete.Quiet");
    JsonArray deleted;
    for (const JsonValue& object : base::get_array(call.params, "Delete.Objects")) {
        const std::string key = base::get_string(object, "Key");
        bucket.objects.erase(key);
        if (!quiet) deleted.emplace_back(JsonObject{{"Key", key}});
    }
    world_.touched();
    return JsonObject{{"Deleted", std::move(deleted)}};
}

Reply S3::object_tagging(const Call& call, Bucket& bucket) {
    const std::string key = text_of(call, "Key");
    const auto found = bucket.objects.find(key);
    if (found == bucket.objects.end()) return no_such_key(key);
    if (call.operation == "GetObjectTagging") return JsonObject{{"TagSet", found->second.tags}};
    found->second.tags =
        call.operation == "PutObjectTagging" ? base::get_array(call.params, "Tagging.TagSet") : JsonArray{};
    world_.touched();
    return JsonObject{};
}

}  // namespace instantstart::twin::s3
