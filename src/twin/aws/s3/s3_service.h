// The S3 service of the simulated account.
#pragma once

#include <map>

#include "twin/aws/services.h"
#include "twin/aws/world.h"

namespace instantstart::twin::s3 {

struct Object {
    Object() = default;
    std::string bytes;
    std::string etag;  // quoted
    TimePoint modified;
    JsonObject
        meta;  // members of GetObject's answer that were given with the object (ContentType, Metadata, …)
    JsonArray tags;
};

struct Part {
    Part() = default;
    std::string bytes, etag;
    TimePoint modified;
};

struct Upload {
    Upload() = default;
    std::string key;
    TimePoint started;
    JsonObject meta;
    JsonArray tags;
    std::map<std::int64_t, Part> parts;
};

struct Bucket {
    Bucket() = default;
    TimePoint created;
    JsonObject configurations;  // by the name of the parameter that sets them
    std::map<std::string, Object, std::less<>> objects;
    std::map<std::string, Upload, std::less<>> uploads;  // by id
};

class S3 final : public Service {
public:
    explicit S3(World& world) : world_(world) {}
    std::string_view name() const override { return "s3"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string&, const JsonObject&) override {}
    JsonValue save() const override;
    void load(const JsonValue& state) override;

private:
    using Operation = Reply (S3::*)(const Call&, Bucket&);
    static const std::map<std::string_view, Operation>& operations();

    // buckets.cc
    Reply create_bucket(const Call& call);
    Reply list_buckets(const Call& call);
    Reply delete_bucket(const Call& call, Bucket& bucket);
    Reply head_bucket(const Call& call, Bucket& bucket);
    Reply location(const Call& call, Bucket& bucket);
    Reply acl(const Call& call, Bucket& bucket);
    // configurations.cc
    Reply put_configuration(const Call& call, Bucket& bucket);
    Reply get_configuration(const Call& call, Bucket& bucket);
    Reply delete_configuration(const Call& call, Bucket& bucket);
    // objects.cc
    Reply put_object(const Call& call, Bucket& bucket);
    Reply get_object(const Call& call, Bucket& bucket);
    Reply object_attributes(const Call& call, Bucket& bucket);
    Reply copy_object(const Call& call, Bucket& bucket);
    Reply delete_object(const Call& call, Bucket& bucket);
    Reply delete_objects(const Call& call, Bucket& bucket);
    Reply object_tagging(const Call& call, Bucket& bucket);
    // listing.cc
    Reply list_objects(const Call& call, Bucket& bucket);
    Reply list_versions(const Call& call, Bucket& bucket);
    // multipart.cc
    Reply create_upload(const Call& call, Bucket& bucket);
    Reply upload_part(const Call& call, Bucket& bucket);
    Reply copy_part(const Call& call, Bucket& bucket);
    Reply complete_upload(const Call& call, Bucket& bucket);
    Reply abort_upload(const Call& call, Bucket& bucket);
    Reply list_parts(const Call& call, Bucket& bucket);
    Reply list_uploads(const Call& call, Bucket& bucket);

    // The object that a CopySource names; an error where there is none.
    std::variant<const Object*, ServiceError> copy_source(const Call& call) const;

    World& world_;
    std::map<std::string, Bucket, std::less<>> buckets_;
};

// Shared by the files of this folder.
std::string text_of(const Call& call, std::string_view member);
std::string quoted_md5(std::string_view bytes);
ServiceError no_such_key(const std::string& key);
// What the request says of the body's digests, against the body.
std::optional<ServiceError> check_digests(const JsonObject& params, std::string_view bytes);
// Checksum members of `params` for the answer.
void echo_checksums(const JsonObject& params, JsonObject& out);
// In a listing: which checksums an object has, by the members that it was kept with.
void name_checksums(const JsonObject& meta, JsonObject& entry);
std::string owner_id();  // the canonical user that owns everything
// Headers that are given with an object and come back with it.
JsonObject object_meta(const Call& call);
JsonArray tags_of_header(const std::string& text);  // "a=1&b=2"

}  // namespace instantstart::twin::s3
