// Multipart uploads.
#include "base/digest.h"
#include "base/text.h"
#include "twin/aws/s3/s3_service.h"

namespace instantstart::twin::s3 {

namespace {

constexpr std::size_t kSmallestPart = 5U << 20U;
constexpr std::int64_t kMostParts = 10000;

ServiceError no_such_upload() {
    return {404, "NoSuchUpload",
            "The specified multipart upload does not exist. The upload ID may be invalid, or the upload may "
            "have been aborted or "
            "completed."};
}

Upload* upload_of(const Call& call, Bucket& bucket) {
    const auto found = bucket.uploads.find(text_of(call, "UploadId"));
    if (found == bucket.uploads.end() || found->second.key != text_of(call, "Key")) return nullptr;
    return &found->second;
}

std::string unquoted(std::string etag) {
    std::erase(etag, '"');
    return etag;
}

}  // namespace

Reply S3::create_upload(const Call& call, Bucket& bucket) {
    const std::string id = world_.hex_id("", 64);
    Upload& upload = bucket.uploads[id];
    upload.key = text_of(call, "Key");
    upload.started = call.now;
    upload.meta = object_meta(call);
    upload.tags = tags_of_header(text_of(call, "Tagging"));
    world_.touched();
    JsonObject out{{"Bucket", text_of(call, "Bucket")},
                   {"Key", upload.key},
                   {"UploadId", id},
                   {"ServerSideEncryption", "AES256"}};
    for (const char* member : {"ChecksumAlgorithm", "ChecksumType"}) {
        if (const JsonValue* given = call.params.if_contains(member)) out[member] = *given;
    }
    return out;
}

Reply S3::upload_part(const Call& call, Bucket& bucket) {
    Upload* upload = upload_of(call, bucket);
    if (upload == nullptr) return no_such_upload();
    const std::int64_t number = base::get_int(call.params, "PartNumber");
    if (number < 1 || number > kMostParts)
        return ServiceError(400, "InvalidArgument",
                            "Part number must be an integer between 1 and 10000, inclusive");
    std::string bytes = text_of(call, "Body");
    if (auto fault = check_digests(call.params, bytes)) return *fault;
    Part& part = upload->parts[number];
    part.etag = quoted_md5(bytes);
    part.bytes = std::move(bytes);
    part.modified = call.now;
    world_.touched();
    JsonObject out{{"ETag", part.etag}, {"ServerSideEncryption", "AES256"}};
    echo_checksums(call.params, out);
    out.erase("ChecksumType");
    return out;
}

Reply S3::copy_part(const Call& call, Bucket& bucket) {
    Upload* upload = upload_of(call, bucket);
    if (upload == nullptr) return no_such_upload();
    const auto source = copy_source(call);
    if (const auto* fault = std::get_if<ServiceError>(&source)) return *fault;
    const Object& object = *std::get<const Object*>(source);
    Part& part = upload->parts[base::get_int(call.params, "PartNumber")];
    part.bytes = object.bytes;
    const std::string range = text_of(call, "CopySourceRange");
    if (const auto dash = range.find('-'); range.starts_with("bytes=") && dash != std::string::npos) {
        const std::size_t begin = std::strtoul(range.c_str() + 6, nullptr, 10);
        const std::size_t end = std::strtoul(range.c_str() + dash + 1, nullptr, 10);
        if (begin > end || end >= object.bytes.size())
            return ServiceError(400, "InvalidRange",
                                "The specified copy range is invalid for the source object size");
        part.bytes = object.bytes.substr(begin, end - begin + 1);
    }
    part.etag = quoted_md5(part.bytes);
    part.modified = call.now;
    world_.touched();
    JsonObject result{{"ETag", part.etag}, {"LastModified", base::format_time_millis(call.now)}};
    return JsonObject{{"CopyPartResult", std::move(result)}};
}

Reply S3::complete_upload(const Call& call, Bucket& bucket) {
    Upload* upload = upload_of(call, bucket);
    if (upload == nullptr) return no_such_upload();
    const std::string key = upload->key;
    if (text_of(call, "IfNoneMatch") == "*" && bucket.objects.contains(key))
        return ServiceError(412, "PreconditionFailed",
                            "At least one of the pre-conditions you specified did not hold");
    const JsonArray& wanted = base::get_array(call.params, "MultipartUpload.Parts");
    if (wanted.empty())
        return ServiceError(
            400, "MalformedXML",
            "The XML you provided was not well-formed or did not validate against our published schema");
    Object object;
    std::string digests;
    std::int64_t last = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::int64_t number = base::get_int(wanted[i], "PartNumber");
        if (number <= last)
            return ServiceError(
                400, "InvalidPartOrder",
                "The list of parts was not in ascending order. Parts must be ordered by part number.");
        last = number;
        const auto part = upload->parts.find(number);
        if (part == upload->parts.end() ||
            unquoted(part->second.etag) != unquoted(base::get_string(wanted[i], "ETag")))
            return ServiceError(400, "InvalidPart", "One or more of the specified parts could not be found.");
        if (i + 1 < wanted.size() && part->second.bytes.size() < kSmallestPart)
            return ServiceError(400, "EntityTooSmall",
                                "Your proposed upload is smaller than the minimum allowed size");
        digests += base::md5(part->second.bytes);
        object.bytes += part->second.bytes;
    }
    object.etag = "\"" + base::hex(base::md5(digests)) + "-" + std::to_string(wanted.size()) + "\"";
    object.modified = call.now;
    object.meta = std::move(upload->meta);
    object.tags = std::move(upload->tags);
    JsonObject out{{"Bucket", text_of(call, "Bucket")},
                   {"Key", key},
                   {"ETag", object.etag},
                   {"ServerSideEncryption", "AES256"}};
    out["Location"] = world_.aws_url() + "/" + text_of(call, "Bucket") + "/" + key;
    bucket.objects[key] = std::move(object);
    bucket.uploads.erase(text_of(call, "UploadId"));
    world_.touched();
    return out;
}

Reply S3::abort_upload(const Call& call, Bucket& bucket) {
    if (upload_of(call, bucket) == nullptr) return no_such_upload();
    bucket.uploads.erase(text_of(call, "UploadId"));
    world_.touched();
    return JsonObject{};
}

Reply S3::list_parts(const Call& call, Bucket& bucket) {
    const Upload* upload = upload_of(call, bucket);
    if (upload == nullptr) return no_such_upload();
    const std::string marker = text_of(call, "PartNumberMarker");
    const std::int64_t after = std::strtol(marker.c_str(), nullptr, 10);
    const auto most = static_cast<std::size_t>(base::get_int(call.params, "MaxParts", 1000));
    JsonArray parts;
    JsonObject out{
        {"Bucket", text_of(call, "Bucket")}, {"Key", upload->key}, {"UploadId", text_of(call, "UploadId")}};
    out["IsTruncated"] = false;
    for (const auto& [number, part] : upload->parts) {
        if (number <= after) continue;
        if (parts.size() == most) {
            out["IsTruncated"] = true;
            out["NextPartNumberMarker"] = std::to_string(base::get_int(parts.back(), "PartNumber"));
            break;
        }
        parts.emplace_back(JsonObject{{"PartNumber", number},
                                      {"ETag", part.etag},
                                      {"Size", static_cast<std::int64_t>(part.bytes.size())},
                                      {"LastModified", base::format_time_millis(part.modified)}});
    }
    out["Parts"] = std::move(parts);
    return out;
}

Reply S3::list_uploads(const Call& call, Bucket& bucket) {
    JsonArray out;
    for (const auto& [id, upload] : bucket.uploads) {
        if (!upload.key.starts_with(text_of(call, "Prefix"))) continue;
        out.emplace_back(JsonObject{
            {"Key", upload.key}, {"UploadId", id}, {"Initiated", base::format_time_millis(upload.started)}});
    }
    return JsonObject{
        {"Bucket", text_of(call, "Bucket")}, {"IsTruncated", false}, {"Uploads", std::move(out)}};
}

}  // namespace instantstart::twin::s3
