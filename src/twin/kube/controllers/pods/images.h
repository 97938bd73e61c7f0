// Images: which names can be pulled, which lie on which node already, and how long a pull takes.
#pragma once

#include <map>
#include <set>
#include <string>

#include "twin/kube/cluster.h"

namespace instantstart::twin::kube::controllers {

// Why an image cannot be had, as container runtime and kubelet say it.
struct PullFailure {
    PullFailure() = default;
    std::string reason;   // ErrImagePull, InvalidImageName, ErrImageNeverPull
    std::string message;  // without "Failed to pull image ..."
};

class Images {
public:
    // All images whose name begins so (whole parts of the path) fail from now on: "not_found", "denied",
    // "unreachable"; "" lets them be pulled again. False for another word.
    bool set_failure(const std::string& prefix, const std::string& failure);
    // Nothing where it can be pulled.
    std::optional<PullFailure> failure_of(const std::string& image) const;
    bool is_on(const std::string& node, const std::string& image) const;
    void put_on(const std::string& node, const std::string& image);
    void forget_node(const std::string& node) { on_nodes_.erase(node); }
    // 2 to 10 s, the same for the same image on the same node.
    static double pull_seconds(const std::string& node, const std::string& image);
    static std::int64_t size_of(const std::string& image);  // bytes

    JsonValue save() const;
    void load(const JsonValue& state);

private:
    std::map<std::string, std::string> failures_;  // by prefix of the full name
    std::map<std::string, std::set<std::string>, std::less<>> on_nodes_;
};

// "web:1" is "docker.io/library/web:1"; "" for what is no name of an image.
std::string full_image_name(const std::string& image);

}  // namespace instantstart::twin::kube::controllers
