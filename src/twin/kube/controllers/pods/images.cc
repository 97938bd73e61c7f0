#include "twin/kube/controllers/pods/images.h"

#include <algorithm>
#include <cctype>

#include "base/digest.h"

namespace instantstart::twin::kube::controllers {

namespace {

bool is_path_part(std::string_view part) {
    return !part.empty() && std::isalnum(static_cast<unsigned char>(part.front())) != 0 &&
           std::isalnum(static_cast<unsigned char>(part.back())) != 0 &&
           std::all_of(part.begin(), part.end(), [](unsigned char c) {
               return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '.' || c == '_' || c == '-';
           });
}

bool is_tag(std::string_view tag) {
    return !tag.empty() && tag.size() <= 128 && tag.front() != '.' && tag.front() != '-' &&
           std::all_of(tag.begin(), tag.end(), [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
           });
}

bool is_host(std::string_view part) {
    return part == "localhost" || part.find_first_of(".:") != std::string_view::npos;
}

bool has_upper(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

struct Parts {
    Parts() = default;
    std::string host, path, tag;  // tag: ":1" or "@sha256:..."
};

Parts parts_of(std::string image) {
    Parts out;
    const auto slash = image.find('/');
    if (slash != std::string::npos && is_host(std::string_view(image).substr(0, slash))) {
        out.host = image.substr(0, slash);
        image = image.substr(slash + 1);
    }
    const auto digest = image.find('@');
    const auto colon = image.find(':');
    const auto end = std::min(digest, colon);
    out.path = image.substr(0, end);
    out.tag = end == std::string::npos ? ":latest" : image.substr(end);
    return out;
}

bool is_valid(const Parts& parts) {
    const std::string_view tag(parts.tag);
    if (tag[0] == ':' && !is_tag(tag.substr(1, tag.find('@') - 1))) return false;
    std::string_view path(parts.path);
    while (true) {
        const auto slash = path.find('/');
        if (!is_path_part(path.substr(0, slash))) return false;
        if (slash == std::string_view::npos) return true;
        path.remove_prefix(slash + 1);
    }
}

PullFailure failure_text(const std::string& kind, const std::string& image) {
    const Parts parts = parts_of(image);
    const auto full = full_image_name(image);
    const auto host = parts.host.empty() ? std::string("registry-1.docker.io") : parts.host;
    std::string why;
    if (kind == "denied") {
        why =
            "pull access denied, repository does not exist or may require authorization: server message: "
            "insufficient_scope: authorization failed";
    } else if (kind == "unreachable") {
        why = "failed to do request: Head \"https://" + host + "/v2/" + parts.path + "/manifests/" +
              parts.tag.substr(1) + "\": dial tcp: lookup " + host.substr(0, host.find(':')) +
              ": no such host";
    } else {
        why = full + ": not found";
    }
    PullFailure out;
    out.reason = "ErrImagePull";
    out.message = std::string("rpc error: code = ") + (kind == "not_found" ? "NotFound" : "Unknown") +
                  " desc = failed to pull and unpack image \"" + full + "\": failed to resolve reference \"" +
                  full + "\": " + why;
    return out;
}

// "registry/team" holds for "registry/team/web:1", not for "registry/teams".
bool has_prefix(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return false;
    return name.size() == prefix.size() || prefix.ends_with("/") ||
           std::string_view("/:@").find(name[prefix.size()]) != std::string_view::npos;
}

}  // namespace

std::string full_image_name(const std::string& image) {
    Parts parts = parts_of(image);
    if (!is_valid(parts)) return {};
    if (parts.host.empty()) {
        parts.host = "docker.io";
        if (parts.path.find('/') == std::string::npos) parts.path = "library/" + parts.path;
    }
    return parts.host + "/" + parts.path + parts.tag;
}

bool Images::set_failure(const std::string& prefix, const std::string& failure) {
    if (failure.empty()) {
        failures_.erase(prefix);
        return true;
    }
    if (failure != "not_found" && failure != "denied" && failure != "unreachable") return false;
    failures_[prefix] = failure;
    return true;
}

std::optional<PullFailure> Images::failure_of(const std::string& image) const {
    const auto full = full_image_name(image);
    if (full.empty()) {
        PullFailure out;
        out.reason = "InvalidImageName";
        const auto path = parts_of(image).path;
        out.message = "Failed to apply default image tag \"" + image + "\": couldn't parse image name \"" +
                      image + "\": invalid reference format" +
                      (has_upper(path) ? ": repository name (" + path + ") must be lowercase" : "");
        return out;
    }
    for (const auto& [prefix, failure] : failures_) {
        if (has_prefix(full, prefix) || has_prefix(image, prefix)) return failure_text(failure, image);
    }
    // A name that no registry can have (RFC 2606).
    const auto host = parts_of(image).host;
    if (host.substr(0, host.find(':')).ends_with(".invalid")) return failure_text("unreachable", image);
    return std::nullopt;
}

bool Images::is_on(const std::string& node, const std::string& image) const {
    const auto found = on_nodes_.find(node);
    return found != on_nodes_.end() && found->second.contains(image);
}

void Images::put_on(const std::string& node, const std::string& image) {
    on_nodes_[node].insert(image);
}

double Images::pull_seconds(const std::string& node, const std::string& image) {
    const auto hash = base::sha256(image + node);
    return 2.0 + static_cast<double>(static_cast<unsigned char>(hash[0])) / 32.0;
}

std::int64_t Images::size_of(const std::string& image) {
    const auto hash = base::sha256(image);
    const auto byte = [&hash](std::size_t at) { return std::int64_t{static_cast<unsigned char>(hash[at])}; };
    return 10'000'000 + (byte(1) << 16U) + (byte(2) << 8U) + byte(3);
}

JsonValue Images::save() const {
    JsonObject failures, nodes;
    for (const auto& [prefix, failure] : failures_) failures[prefix] = failure;
    for (const auto& [node, images] : on_nodes_) nodes[node] = JsonArray(images.begin(), images.end());
    return JsonObject{{"failures", std::move(failures)}, {"nodes", std::move(nodes)}};
}

void Images::load(const JsonValue& state) {
    failures_.clear();
    on_nodes_.clear();
    for (const auto& item : base::get_object(state, "failures")) {
        if (item.value().is_string()) failures_[item.key()] = std::string(item.value().get_string());
    }
    for (const auto& item : base::get_object(state, "nodes")) {
        if (!item.value().is_array()) continue;
        for (const auto& image : item.value().get_array()) {
            if (image.is_string()) on_nodes_[item.key()].insert(std::string(image.get_string()));
        }
    }
}

}  // namespace instantstart::twin::kube::controllers
