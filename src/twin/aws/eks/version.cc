// Kubernetes versions that EKS offers.
#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

namespace {

Reply describe_versions(State& state, const Call& call) {
    const std::vector<std::string> wanted = strings(call.params, "clusterVersions");
    const bool default_only = base::get_bool(call.params, "defaultOnly");
    const std::string status = base::get_string(call.params, "versionStatus");
    JsonArray list;
    const std::vector<std::string>& versions = kubernetes_versions();
    for (std::size_t i = versions.size(); i-- > 0;) {
        const std::string& version = versions[i];
        const bool is_default = version == default_kubernetes_version();
        if ((!wanted.empty() && !contains(wanted, version)) || (default_only && !is_default)) continue;
        if (!status.empty() && status != "STANDARD_SUPPORT") continue;
        const auto age = std::chrono::hours(24 * 120 * static_cast<int>(versions.size() - i));
        const TimePoint released = state.world.now() - age, end = released + std::chrono::hours(24 * 1000);
        JsonObject entry;
        entry["clusterVersion"] = version;
        entry["clusterType"] = "eks";
        entry["defaultPlatformVersion"] = "eks.7";
        entry["defaultVersion"] = is_default;
        entry["releaseDate"] = base::format_time(released);
        entry["endOfStandardSupportDate"] = base::format_time(end);
        entry["endOfExtendedSupportDate"] = base::format_time(end + std::chrono::hours(24 * 365));
        entry["status"] = "standard-support";
        entry["versionStatus"] = "STANDARD_SUPPORT";
        entry["kubernetesPatchVersion"] = version + ".5";
        list.push_back(std::move(entry));
    }
    return listed(call, "clusterVersions", list);
}

}  // namespace

const std::vector<std::string>& kubernetes_versions() {
    static const std::vector<std::string> versions = {"1.30", "1.31", "1.32", "1.33", "1.34", "1.35"};
    return versions;
}

std::string default_kubernetes_version() {
    return "1.34";
}

void add_version_operations(Operations& operations) {
    operations["DescribeClusterVersions"] = describe_versions;
}

}  // namespace instantstart::twin::eks
