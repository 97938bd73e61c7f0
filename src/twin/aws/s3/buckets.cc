// Buckets themselves.
#include <algorithm>

#include "twin/aws/s3/s3_service.h"

namespace instantstart::twin::s3 {

namespace {

constexpr std::size_t kShortest = 3, kLongest = 63;

bool valid_name(const std::string& name) {
    const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (name.size() < kShortest || name.size() > kLongest || !alnum(name.front()) || !alnum(name.back()))
        return false;
    if (name.find("..") != std::string::npos || name.starts_with("xn--") || name.ends_with("-s3alias"))
        return false;
    return std::all_of(name.begin(), name.end(),
                       [&alnum](char c) { return alnum(c) || c == '-' || c == '.'; });
}

std::optional<ServiceError> check_location(const std::string& constraint, const std::string& region) {
    if (region == "us-east-1") {
        if (constraint.empty()) return std::nullopt;
        return ServiceError(400, "InvalidLocationConstraint",
                            "The specified location-constraint is not valid");
    }
    if (constraint == region) return std::nullopt;
    const std::string which = constraint.empty() ? "unspecified" : constraint;
    return ServiceError(400, "IllegalLocationConstraintException",
                        "The " + which +
                            " location constraint is incompatible for the region specific endpoint this "
                            "request was sent to.");
}

}  // namespace

std::string owner_id() {
    return std::string(64, 'a');
}

Reply S3::create_bucket(const Call& call) {
    const std::string name = text_of(call, "Bucket");
    if (!valid_name(name))
        return ServiceError(400, "InvalidBucketName", "The specified bucket is not valid.");
    if (auto fault =
            check_location(text_of(call, "CreateBucketConfiguration.LocationConstraint"), world_.region()))
        return *fault;
    if (name.starts_with("taken-")) {
        return ServiceError(
            409, "BucketAlreadyExists",
            "The requested bucket name is not available. The bucket namespace is shared by all users of the "
            "system. Please select a different name and try again.");
    }
    JsonObject answer{
        {"Location", world_.region() == "us-east-1" ? "/" + name : "http://" + name + ".s3.amazonaws.com/"}};
    if (buckets_.contains(name)) {
        if (world_.region() == "us-east-1") return answer;
        return ServiceError(
            409, "BucketAlreadyOwnedByYou",
            "Your previous request to create the named bucket succeeded and you already own it.");
    }
    const auto limit = world_.quota("General purpose buckets");
    if (limit && static_cast<double>(buckets_.size()) >= *limit)
        return ServiceError(400, "TooManyBuckets", "You have attempted to create more buckets than allowed");
    Bucket& bucket = buckets_[name];
    bucket.created = call.now;
    if (const JsonArray& tags = base::get_array(call.params, "CreateBucketConfiguration.Tags"); !tags.empty())
        bucket.configurations["Tagging"] = JsonObject{{"TagSet", tags}};
    world_.touched();
    return answer;
}

Reply S3::list_buckets(const Call& call) {
    const std::string prefix = text_of(call, "Prefix");
    const std::string after = text_of(call, "ContinuationToken");
    const auto most = static_cast<std::size_t>(base::get_int(call.params, "MaxBuckets", 10000));
    JsonArray out;
    JsonObject reply;
    for (const auto& [name, bucket] : buckets_) {
        if (!name.starts_with(prefix) || (!after.empty() && name <= after) || !call.shows(bucket.created))
            continue;
        if (out.size() == most) {
            reply["ContinuationToken"] = base::get_string(out.back(), "Name");
            break;
        }
        out.emplace_back(
            JsonObject{{"Name", name}, {"CreationDate", base::format_time_millis(bucket.created)}});
    }
    reply["Owner"] = JsonObject{{"ID", owner_id()}};
    reply["Buckets"] = std::move(out);
    return reply;
}

Reply S3::delete_bucket(const Call& call, Bucket& bucket) {
    if (!bucket.objects.empty())
        return ServiceError(409, "BucketNotEmpty", "The bucket you tried to delete is not empty");
    buckets_.erase(text_of(call, "Bucket"));
    world_.touched();
    return JsonObject{};
}

Reply S3::head_bucket(const Call&, Bucket&) {
    return JsonObject{{"BucketRegion", world_.region()}, {"AccessPointAlias", false}};
}

Reply S3::location(const Call&, Bucket&) {
    if (world_.region() == "us-east-1") return JsonObject{};
    return JsonObject{{"LocationConstraint", world_.region()}};
}

Reply S3::acl(const Call&, Bucket&) {
    JsonObject grant{{"Grantee", JsonObject{{"ID", owner_id()}, {"Type", "CanonicalUser"}}},
                     {"Permission", "FULL_CONTROL"}};
    return JsonObject{{"Owner", JsonObject{{"ID", owner_id()}}}, {"Grants", JsonArray{std::move(grant)}}};
}

}  // namespace instantstart::twin::s3
