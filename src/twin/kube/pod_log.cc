// pods/log: what a container printed, once or followed.
#include <algorithm>

#include "base/text.h"
#include "twin/kube/api_server.h"
#include "twin/kube/metadata.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

using Piece = std::optional<std::string>;

struct Follower {
    Follower() = default;
    StatePtr state;
    std::string ns, pod, container;
    std::uint64_t connections = 0;
    std::size_t told = 0;
    bool timestamps = false;
};

const std::vector<std::string>* lines_of(const ClusterState& state, const std::string& ns,
                                         const std::string& pod, const std::string& container) {
    return state.controllers == nullptr ? nullptr : state.controllers->log(ns, pod, container);
}

std::string text_of(const ClusterState& state, const std::vector<std::string>& lines, std::size_t from,
                    bool timestamps) {
    std::string out;
    const auto stamp = timestamps ? base::format_time_millis(state.clock.now()) + " " : "";
    for (std::size_t i = from; i < lines.size(); ++i) out += stamp + lines[i] + "\n";
    return out;
}

// True when the container will print no more.
bool has_ended(const Follower& follower) {
    const auto pod = follower.state->store.get(Kind("", "pods"), follower.ns, follower.pod);
    if (pod == nullptr) return true;
    const auto phase = base::get_string(*pod, "status.phase");
    return phase == "Succeeded" || phase == "Failed";
}

rt::Task<Piece> next_lines(std::shared_ptr<Follower> follower) {
    auto& state = *follower->state;
    while (!state.closed && follower->connections == state.connections) {
        const auto* lines = lines_of(state, follower->ns, follower->pod, follower->container);
        if (lines != nullptr && lines->size() > follower->told) {
            auto out = text_of(state, *lines, follower->told, follower->timestamps);
            follower->told = lines->size();
            co_return Piece(std::move(out));
        }
        if (has_ended(*follower)) break;
        const base::Duration limit = std::chrono::seconds(30);
        auto waited = co_await state.logged.wait_for(state.clock, limit);
        if (!waited.has_value() && waited.error().kind == base::ErrorKind::cancelled)
            co_return std::move(waited).error();
    }
    co_return Piece();
}

base::Result<std::string> choose_container(const JsonObject& pod, const std::string& wanted) {
    std::vector<std::string> names;
    for (auto list : {"spec.containers", "spec.initContainers"}) {
        for (const auto& container : base::get_array(pod, list))
            names.push_back(base::get_string(container, "name"));
    }
    const auto regular = base::get_array(pod, "spec.containers").size();
    if (wanted.empty() && regular == 1) return names.front();
    if (wanted.empty()) {
        names.resize(regular);
        return bad_request("a container name must be specified for pod " + name_of(pod) +
                           ", choose one of: [" + base::join(names, " ") + "]");
    }
    if (std::find(names.begin(), names.end(), wanted) == names.end()) {
        return bad_request("container " + wanted + " is not valid for pod " + name_of(pod));
    }
    return wanted;
}

// Why there is no log yet; "" where there may be one.
std::string not_started(const JsonObject& pod, const std::string& container) {
    for (auto list : {"status.containerStatuses", "status.initContainerStatuses"}) {
        for (const auto& status : base::get_array(pod, list)) {
            if (base::get_string(status, "name") != container) continue;
            if (base::find_path(status, "state.waiting") == nullptr ||
                base::get_int(status, "restartCount") > 0)
                return "";
            return base::get_string(status, "state.waiting.reason", "ContainerCreating");
        }
    }
    return base::get_string(pod, "status.phase") == "Pending" ? "PodInitializing" : "";
}

}  // namespace

http::Response answer_log(const StatePtr& state, const ApiCall& call) {
    const auto pod = state->store.get(Kind("", "pods"), call.ns, call.name);
    if (pod == nullptr) return error_response(not_found(Kind("", "pods"), call.name));
    const auto container = choose_container(*pod, call.parameter("container"));
    if (!container.has_value()) return error_response(container.error());
    if (base::get_string(*pod, "spec.nodeName").empty()) return {200, "text/plain", ""};
    if (call.flag("previous") && !call.parameter("previous").empty()) {
        return error_response(bad_request("previous terminated container \"" + *container + "\" in pod \"" +
                                          call.name + "\" not found"));
    }
    const auto* lines = lines_of(*state, call.ns, call.name, *container);
    if (const auto reason = not_started(*pod, *container);
        !reason.empty() && (lines == nullptr || lines->empty())) {
        return error_response(bad_request("container \"" + *container + "\" in pod \"" + call.name +
                                          "\" is waiting to start: " + reason));
    }
    const auto size = lines == nullptr ? 0 : lines->size();
    std::size_t from = 0;
    if (const auto tail = call.parameter("tailLines"); !tail.empty()) {
        const auto wanted = std::strtoll(tail.c_str(), nullptr, 10);
        if (wanted < 0)
            return error_response(invalid_object(
                "PodLogOptions", "", "",
                {Cause("FieldValueInvalid", "Invalid value: " + tail + ": must be greater than or equal to 0",
                       "tailLines")}));
        from = size - std::min(size, static_cast<std::size_t>(wanted));
    }
    const bool timestamps = call.flag("timestamps") && !call.parameter("timestamps").empty();
    if (!call.flag("follow") || call.parameter("follow").empty()) {
        return {200, "text/plain",
                lines == nullptr ? std::string() : text_of(*state, *lines, from, timestamps)};
    }
    auto follower = std::make_shared<Follower>();
    follower->state = state;
    follower->ns = call.ns;
    follower->pod = call.name;
    follower->container = *container;
    follower->connections = state->connections;
    follower->told = from;
    follower->timestamps = timestamps;
    http::Response response(200);
    response.headers.set("Content-Type", "text/plain");
    response.stream = http::make_stream([follower] { return next_lines(follower); });
    return response;
}

}  // namespace instantstart::twin::kube
