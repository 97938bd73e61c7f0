// Configurations of buckets: each is set, read and removed as a whole.
#include "twin/aws/s3/s3_service.h"

namespace instantstart::twin::s3 {

namespace {

struct Row {
    std::string_view put, get, remove;
    std::string_view member;   // the parameter that sets it, and its name in the state
    bool wrapped;              // the answer holds the member; else its content
    std::string_view missing;  // the code where there is none; "" answers nothing
};

constexpr Row kRows[] = {
    {"PutBucketEncryption", "GetBucketEncryption", "DeleteBucketEncryption",
     "ServerSideEncryptionConfiguration", true, "ServerSideEncryptionConfigurationNotFoundError"},
    {"PutPublicAccessBlock", "GetPublicAccessBlock", "DeletePublicAccessBlock",
     "PublicAccessBlockConfiguration", true, "NoSuchPublicAccessBlockConfiguration"},
    {"PutBucketOwnershipControls", "GetBucketOwnershipControls", "DeleteBucketOwnershipControls",
     "OwnershipControls", true, "OwnershipControlsNotFoundError"},
    {"PutBucketPolicy", "GetBucketPolicy", "DeleteBucketPolicy", "Policy", true, "NoSuchBucketPolicy"},
    {"PutBucketTagging", "GetBucketTagging", "DeleteBucketTagging", "Tagging", false, "NoSuchTagSet"},
    {"PutBucketVersioning", "GetBucketVersioning", "", "VersioningConfiguration", false, ""},
    {"PutBucketLifecycleConfiguration", "GetBucketLifecycleConfiguration", "DeleteBucketLifecycle",
     "LifecycleConfiguration", false, "NoSuchLifecycleConfiguration"},
};

const Row* row_of(std::string_view operation) {
    for (const Row& row : kRows) {
        if (row.put == operation || row.get == operation || row.remove == operation) return &row;
    }
    return nullptr;
}

// What AWS gives every new bucket.
std::optional<JsonValue> standard(std::string_view member) {
    if (member == "ServerSideEncryptionConfiguration") {
        JsonObject rule{{"ApplyServerSideEncryptionByDefault", JsonObject{{"SSEAlgorithm", "AES256"}}},
                        {"BucketKeyEnabled", false}};
        return JsonObject{{"Rules", JsonArray{std::move(rule)}}};
    }
    if (member == "PublicAccessBlockConfiguration") {
        return JsonObject{{"BlockPublicAcls", true},
                          {"IgnorePublicAcls", true},
                          {"BlockPublicPolicy", true},
                          {"RestrictPublicBuckets", true}};
    }
    if (member == "OwnershipControls") {
        JsonObject rule{{"ObjectOwnership", "BucketOwnerEnforced"}};
        return JsonObject{{"Rules", JsonArray{std::move(rule)}}};
    }
    return std::nullopt;
}

}  // namespace

Reply S3::put_configuration(const Call& call, Bucket& bucket) {
    const Row* row = row_of(call.operation);
    const JsonValue* given = call.params.if_contains(row->member);
    if (given == nullptr)
        return ServiceError(
            400, "MalformedXML",
            "The XML you provided was not well-formed or did not validate against our published schema");
    if (row->member == "Policy") {
        const auto document = base::parse_json(given->as_string());
        if (!document || !document->is_object() || !document->as_object().contains("Statement"))
            return ServiceError(400, "MalformedPolicy",
                                "Policies must be valid JSON and the first byte must be '{'");
    }
    bucket.configurations[row->member] = *given;
    world_.touched();
    return JsonObject{};
}

Reply S3::get_configuration(const Call& call, Bucket& bucket) {
    const Row* row = row_of(call.operation);
    std::optional<JsonValue> value = standard(row->member);
    if (const JsonValue* found = bucket.configurations.if_contains(row->member)) {
        if (found->is_null())
            value.reset();
        else
            value = *found;
    }
    if (!value) {
        if (row->missing.empty()) return JsonObject{};
        return ServiceError(404, std::string(row->missing), "The configuration does not exist");
    }
    if (!row->wrapped) return value->is_object() ? value->as_object() : JsonObject{};
    JsonObject out;
    out[row->member] = *value;
    return out;
}

Reply S3::delete_configuration(const Call& call, Bucket& bucket) {
    const Row* row = row_of(call.operation);
    bucket.configurations.erase(row->member);
    // Encryption falls back to AWS's own; the others are then really gone.
    if (standard(row->member) && row->member != "ServerSideEncryptionConfiguration")
        bucket.configurations[row->member] = nullptr;
    world_.touched();
    return JsonObject{};
}

}  // namespace instantstart::twin::s3
