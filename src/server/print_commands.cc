// openapi, iam-policy and version: what needs no server.
#include <iostream>

#include "api/rest/openapi.h"
#include "aws/endpoint.h"
#include "server/commands.h"
#include "server/iam_policy.h"

namespace instantstart::server {

int run_openapi() {
    const auto catalogue = app::make_catalogue();
    std::cout << base::pretty_text(base::JsonValue(api::openapi_document(*catalogue, INSTANTSTART_VERSION)))
              << "\n";
    return 0;
}

namespace {

PolicyOptions policy_options(const PolicyFlags& flags, const std::string& region) {
    PolicyOptions options;
    options.read_only = flags.read_only;
    options.limits.region = region;
    options.limits.account = flags.account;
    options.limits.partition = flags.partition;
    if (flags.partition.empty())
        options.limits.partition = region.empty() ? "aws" : aws::partition_of(region);
    options.limits.permissions_boundary = flags.permissions_boundary;
    options.limits.execution_roles = flags.execution_roles;
    options.limits.kms_keys = flags.kms_keys;
    options.limits.custom_images = flags.custom_images;
    return options;
}

base::JsonObject numbered(const std::vector<base::JsonObject>& documents) {
    base::JsonObject made;
    for (std::size_t index = 0; index < documents.size(); ++index)
        made["instantstart-" + std::to_string(index + 1)] = documents[index];
    return made;
}

}  // namespace

int run_iam_policy(const Flags& flags) {
    const auto catalogue = app::make_catalogue();
    const auto options = policy_options(flags.policy, flags.region);
    base::JsonObject shown;
    if (flags.policy.format == "cloudformation") {
        shown = policy_template(*catalogue, options);
    } else if (flags.policy.format == "managed") {
        shown = numbered(managed_policies(*catalogue, options));
    } else {
        shown = iam_policy(*catalogue, options);
        const auto size = policy_size(shown);
        if (size > kManagedPolicyLimit) {
            std::cerr << "note: " << size << " characters, more than a managed policy holds ("
                      << kManagedPolicyLimit << ")"
                      << (size > kInlinePolicyLimit ? ", more than a role's inline policies hold (10240)"
                                                    : "")
                      << ": --format managed prints numbered policies that fit\n";
        }
    }
    std::cout << base::pretty_text(base::JsonValue(shown)) << "\n";
    return 0;
}

int run_version() {
    std::cout << "instantstart " << INSTANTSTART_VERSION << "\n";
    return 0;
}

}  // namespace instantstart::server
