#include "base/digest.h"
#include "base/text.h"
#include "twin/aws/s3/s3_service.h"

namespace instantstart::twin {

std::unique_ptr<Service> make_s3(World& world) {
    return std::make_unique<s3::S3>(world);
}

namespace s3 {

namespace {

// Buckets that somebody else on earth has.
constexpr std::string_view kTaken = "taken-";

JsonObject save_object(const Object& object) {
    JsonObject out;
    out["bytes"] = base::base64_encode(object.bytes);
    out["etag"] = object.etag;
    out["modified"] = base::format_time_millis(object.modified);
    out["meta"] = object.meta;
    out["tags"] = object.tags;
    return out;
}

TimePoint time_of(const JsonValue& value, std::string_view member) {
    return base::parse_time(base::get_string(value, member)).value_or(TimePoint{});
}

Object load_object(const JsonValue& value) {
    Object out;
    base::base64_decode(base::get_string(value, "bytes"), out.bytes);
    out.etag = base::get_string(value, "etag");
    out.modified = time_of(value, "modified");
    out.meta = base::get_object(value, "meta");
    out.tags = base::get_array(value, "tags");
    return out;
}

JsonObject save_upload(const Upload& upload) {
    JsonArray parts;
    for (const auto& [number, part] : upload.parts) {
        parts.emplace_back(JsonObject{{"number", number},
                                      {"bytes", base::base64_encode(part.bytes)},
                                      {"etag", part.etag},
                                      {"modified", base::format_time_millis(part.modified)}});
    }
    JsonObject out;
    out["key"] = upload.key;
    out["started"] = base::format_time_millis(upload.started);
    out["meta"] = upload.meta;
    out["tags"] = upload.tags;
    out["parts"] = std::move(parts);
    return out;
}

Upload load_upload(const JsonValue& value) {
    Upload out;
    out.key = base::get_string(value, "key");
    out.started = time_of(value, "started");
    out.meta = base::get_object(value, "meta");
    out.tags = base::get_array(value, "tags");
    for (const JsonValue& part : base::get_array(value, "parts")) {
        Part& made = out.parts[base::get_int(part, "number")];
        base::base64_decode(base::get_string(part, "bytes"), made.bytes);
        made.etag = base::get_string(part, "etag");
        made.modified = time_of(part, "modified");
    }
    return out;
}

}  // namespace

std::string text_of(const Call& call, std::string_view member) {
    return base::get_string(call.params, member);
}

std::string quoted_md5(std::string_view bytes) {
    return "\"" + base::hex(base::md5(bytes)) + "\"";
}

JsonValue S3::save() const {
    JsonObject buckets;
    for (const auto& [name, bucket] : buckets_) {
        JsonObject objects, uploads;
        for (const auto& [key, object] : bucket.objects) objects[key] = save_object(object);
        for (const auto& [id, upload] : bucket.uploads) uploads[id] = save_upload(upload);
        JsonObject out;
        out["created"] = base::format_time_millis(bucket.created);
        out["configurations"] = bucket.configurations;
        out["objects"] = std::move(objects);
        out["uploads"] = std::move(uploads);
        buckets[name] = std::move(out);
    }
    return JsonObject{{"buckets", std::move(buckets)}};
}

void S3::load(const JsonValue& state) {
    buckets_.clear();
    for (const auto& item : base::get_object(state, "buckets")) {
        Bucket& bucket = buckets_[std::string(item.key())];
        bucket.created = time_of(item.value(), "created");
        bucket.configurations = base::get_object(item.value(), "configurations");
        for (const auto& object : base::get_object(item.value(), "objects"))
            bucket.objects[std::string(object.key())] = load_object(object.value());
        for (const auto& upload : base::get_object(item.value(), "uploads"))
            bucket.uploads[std::string(upload.key())] = load_upload(upload.value());
    }
}

Reply S3::handle(const Call& call) {
    if (call.operation == "CreateBucket") return create_bucket(call);
    if (call.operation == "ListBuckets") return list_buckets(call);
    const auto operation = operations().find(call.operation);
    if (operation == operations().end())
        return ServiceError(501, "NotImplemented",
                            "The simulated account does not know " + call.operation + ".");
    const std::string name = text_of(call, "Bucket");
    const std::string owner = text_of(call, "ExpectedBucketOwner");
    if (name.starts_with(kTaken)) return ServiceError(403, "AccessDenied", "Access Denied");
    const auto bucket = buckets_.find(name);
    if (bucket == buckets_.end() || !call.shows(bucket->second.created)) {
        ServiceError missing(404, "NoSuchBucket", "The specified bucket does not exist");
        missing.members["BucketName"] = name;
        return missing;
    }
    if (!owner.empty() && owner != world_.account())
        return ServiceError(403, "AccessDenied", "Access Denied");
    return (this->*operation->second)(call, bucket->second);
}

const std::map<std::string_view, S3::Operation>& S3::operations() {
    static const std::map<std::string_view, Operation> table = {
        {"DeleteBucket", &S3::delete_bucket},
        {"HeadBucket", &S3::head_bucket},
        {"GetBucketLocation", &S3::location},
        {"GetBucketAcl", &S3::acl},
        {"PutBucketEncryption", &S3::put_configuration},
        {"GetBucketEncryption", &S3::get_configuration},
        {"DeleteBucketEncryption", &S3::delete_configuration},
        {"PutPublicAccessBlock", &S3::put_configuration},
        {"GetPublicAccessBlock", &S3::get_configuration},
        {"DeletePublicAccessBlock", &S3::delete_configuration},
        {"PutBucketOwnershipControls", &S3::put_configuration},
        {"GetBucketOwnershipControls", &S3::get_configuration},
        {"DeleteBucketOwnershipControls", &S3::delete_configuration},
        {"PutBucketPolicy", &S3::put_configuration},
        {"GetBucketPolicy", &S3::get_configuration},
        {"DeleteBucketPolicy", &S3::delete_configuration},
        {"PutBucketTagging", &S3::put_configuration},
        {"GetBucketTagging", &S3::get_configuration},
        {"DeleteBucketTagging", &S3::delete_configuration},
        {"PutBucketVersioning", &S3::put_configuration},
        {"GetBucketVersioning", &S3::get_configuration},
        {"PutBucketLifecycleConfiguration", &S3::put_configuration},
        {"GetBucketLifecycleConfiguration", &S3::get_configuration},
        {"DeleteBucketLifecycle", &S3::delete_configuration},
        {"PutObject", &S3::put_object},
        {"GetObject", &S3::get_object},
        {"HeadObject", &S3::get_object},
        {"GetObjectAttributes", &S3::object_attributes},
        {"CopyObject", &S3::copy_object},
        {"DeleteObject", &S3::delete_object},
        {"DeleteObjects", &S3::delete_objects},
        {"PutObjectTagging", &S3::object_tagging},
        {"GetObjectTagging", &S3::object_tagging},
        {"DeleteObjectTagging", &S3::object_tagging},
        {"ListObjects", &S3::list_objects},
        {"ListObjectsV2", &S3::list_objects},
        {"ListObjectVersions", &S3::list_versions},
        {"CreateMultipartUpload", &S3::create_upload},
        {"UploadPart", &S3::upload_part},
        {"UploadPartCopy", &S3::copy_part},
        {"CompleteMultipartUpload", &S3::complete_upload},
        {"AbortMultipartUpload", &S3::abort_upload},
        {"ListParts", &S3::list_parts},
        {"ListMultipartUploads", &S3::list_uploads},
    };
    return table;
}

}  // namespace s3
}  // namespace instantstart::twin
