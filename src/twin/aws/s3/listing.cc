// Listings with prefix, delimiter and pages.
#include <algorithm>

#include "base/text.h"
#include "twin/aws/s3/s3_service.h"

namespace instantstart::twin::s3 {

namespace {

struct Listing {
    Listing() = default;
    JsonArray contents, prefixes;
    std::string last;  // the key or prefix that the page ended with
    bool truncated = false;
};

struct Question {
    Question() = default;
    std::string prefix, delimiter, after;
    std::size_t most = 1000;
};

Listing list(const Call& call, const Bucket& bucket, const Question& question) {
    Listing out;
    std::string last_prefix;
    for (auto at = bucket.objects.lower_bound(question.prefix); at != bucket.objects.end(); ++at) {
        const std::string& key = at->first;
        if (!key.starts_with(question.prefix)) break;
        if (!call.shows(at->second.modified)) continue;
        std::string group;
        if (!question.delimiter.empty()) {
            const auto end = key.find(question.delimiter, question.prefix.size());
            if (end != std::string::npos) group = key.substr(0, end + question.delimiter.size());
        }
        const std::string& name = group.empty() ? key : group;
        if (!question.after.empty() && name <= question.after) continue;
        if (!group.empty() && group == last_prefix) continue;
        if (out.contents.size() + out.prefixes.size() >= question.most) {
            out.truncated = question.most > 0;
            break;
        }
        out.last = name;
        if (!group.empty()) {
            last_prefix = group;
            out.prefixes.emplace_back(JsonObject{{"Prefix", group}});
            continue;
        }
        JsonObject entry{{"Key", key},
                         {"LastModified", base::format_time_millis(at->second.modified)},
                         {"ETag", at->second.etag},
                         {"Size", static_cast<std::int64_t>(at->second.bytes.size())},
                         {"StorageClass", "STANDARD"}};
        name_checksums(at->second.meta, entry);
        out.contents.push_back(std::move(entry));
    }
    return out;
}

// With EncodingType url, names come percent-encoded, since XML cannot hold every byte.
void encode_names(JsonObject& out) {
    for (const char* member :
         {"Prefix", "Delimiter", "StartAfter", "Marker", "NextMarker", "KeyMarker", "NextKeyMarker"}) {
        if (JsonValue* value = out.if_contains(member))
            *value = base::percent_encode(value->as_string(), "/");
    }
    for (const char* member : {"Contents", "Versions", "CommonPrefixes"}) {
        JsonValue* items = out.if_contains(member);
        if (items == nullptr) continue;
        for (JsonValue& item : items->as_array()) {
            for (const char* name : {"Key", "Prefix"}) {
                if (JsonValue* value = item.as_object().if_contains(name))
                    *value = base::percent_encode(value->as_string(), "/");
            }
        }
    }
}

void describe_question(const Call& call, const Question& question, JsonObject& out) {
    out["Name"] = text_of(call, "Bucket");
    out["Prefix"] = question.prefix;
    if (!question.delimiter.empty()) out["Delimiter"] = question.delimiter;
    out["MaxKeys"] = static_cast<std::int64_t>(question.most);
    if (!text_of(call, "EncodingType").empty()) {
        out["EncodingType"] = "url";
        encode_names(out);
    }
}

}  // namespace

Reply S3::list_objects(const Call& call, Bucket& bucket) {
    const bool second = call.operation == "ListObjectsV2";
    Question question;
    question.prefix = text_of(call, "Prefix");
    question.delimiter = text_of(call, "Delimiter");
    question.most = static_cast<std::size_t>(
        std::clamp<std::int64_t>(base::get_int(call.params, "MaxKeys", 1000), 0, 1000));
    question.after = text_of(call, second ? "StartAfter" : "Marker");
    const std::string token = text_of(call, "ContinuationToken");
    if (second && !token.empty() && !base::base64_decode(token, question.after))
        return ServiceError(400, "InvalidArgument", "The continuation token provided is incorrect");
    Listing found = list(call, bucket, question);
    JsonObject out;
    const std::size_t count = found.contents.size() + found.prefixes.size();
    if (!found.contents.empty()) out["Contents"] = std::move(found.contents);
    if (!found.prefixes.empty()) out["CommonPrefixes"] = std::move(found.prefixes);
    out["IsTruncated"] = found.truncated;
    if (second) {
        out["KeyCount"] = static_cast<std::int64_t>(count);
        if (!token.empty()) out["ContinuationToken"] = token;
        if (found.truncated) out["NextContinuationToken"] = base::base64_encode(found.last);
        if (call.params.contains("StartAfter")) out["StartAfter"] = text_of(call, "StartAfter");
    } else {
        out["Marker"] = question.after;
        if (found.truncated && !question.delimiter.empty()) out["NextMarker"] = found.last;
    }
    describe_question(call, question, out);
    return out;
}

Reply S3::list_versions(const Call& call, Bucket& bucket) {
    Question question;
    question.prefix = text_of(call, "Prefix");
    question.delimiter = text_of(call, "Delimiter");
    question.after = text_of(call, "KeyMarker");
    question.most = static_cast<std::size_t>(
        std::clamp<std::int64_t>(base::get_int(call.params, "MaxKeys", 1000), 0, 1000));
    Listing found = list(call, bucket, question);
    for (JsonValue& item : found.contents) {
        item.as_object()["VersionId"] = "null";
        item.as_object()["IsLatest"] = true;
        item.as_object()["Owner"] = JsonObject{{"ID", owner_id()}};
    }
    JsonObject out;
    if (!found.contents.empty()) out["Versions"] = std::move(found.contents);
    if (!found.prefixes.empty()) out["CommonPrefixes"] = std::move(found.prefixes);
    out["IsTruncated"] = found.truncated;
    out["KeyMarker"] = question.after;
    out["VersionIdMarker"] = text_of(call, "VersionIdMarker");
    if (found.truncated) {
        out["NextKeyMarker"] = found.last;
        out["NextVersionIdMarker"] = "null";
    }
    describe_question(call, question, out);
    return out;
}

}  // namespace instantstart::twin::s3
