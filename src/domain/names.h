// Names and tags of everything that the product makes: derived from the cluster, so that a repeated act finds
// its object.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace instantstart::domain {

constexpr std::string_view kClusterNamePattern = "^[a-z]([a-z0-9-]{0,26}[a-z0-9])?$";
constexpr std::string_view kTagCluster = "instantstart:cluster";
constexpr std::string_view kTagRegion = "instantstart:region";
constexpr std::string_view kTagOperation = "instantstart:operation";
constexpr std::string_view kTagStep = "instantstart:step";

// Error{invalid} with the pointer where the name breaks the pattern or is a word of the API's own paths.
base::Result<void> check_cluster_name(std::string_view name, std::string_view pointer);
bool is_reserved_name(std::string_view name);

// `name` itself, or its beginning with "-" and 8 digits of its hash where it is longer than `limit`.
std::string shorten(std::string name, std::size_t limit);
// "instantstart-<cluster>-<region>-<purpose>", at most 64 characters (IAM's limit).
std::string role_name(std::string_view cluster, std::string_view region, std::string_view purpose);
// "sagemaker-<cluster>-<account>-<region>", at most 63 characters (S3's limit).
std::string bucket_name(std::string_view cluster, std::string_view account, std::string_view region);

// Who an object belongs to. `user` are the user's own tags.
struct Owner {
    Owner() = default;
    std::string cluster, region, operation, step;
    std::map<std::string, std::string> user;
};
base::JsonArray tag_list(const Owner& owner);  // [{"Key", "Value"}], EC2, IAM, SageMaker
base::JsonObject tag_map(const Owner& owner);  // {"key": "value"}, EKS
// [{"ResourceType": type, "Tags": […]}] with a Name tag, for EC2's create calls.
base::JsonArray tag_specifications(const Owner& owner, std::string_view resource_type, std::string_view name,
                                   const std::map<std::string, std::string>& further);

// Value of a tag in either form; "" where absent.
std::string tag_of(const base::JsonValue& tags, std::string_view key);

// One line of text that others wrote, made safe to stand inside a sentence of ours: as untrusted.h does, and
// bounded. Where the text is itself the answer, use UntrustedText.
std::string clean_text(std::string_view text, std::size_t limit);

}  // namespace instantstart::domain
