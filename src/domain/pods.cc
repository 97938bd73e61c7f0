#include "domain/pods.h"

#include <algorithm>
#include <limits>

#include "domain/instance_type.h"

namespace instantstart::domain {

namespace {

struct Room {
    Room() = default;
    std::string type;
    std::int64_t holds = std::numeric_limits<std::int64_t>::max();
    std::int64_t system = 0;
    std::int64_t left() const { return holds - system; }
};

// Of a group's types the one with the least room: HyperPod may choose any of them.
Room least_room(const InstanceGroup& group, bool s3) {
    Room least;
    for (const auto& name : group.types()) {
        const auto* type = find_instance_type(name);
        if (type == nullptr) continue;
        Room room;
        room.type = name;
        room.holds = type->max_pods;
        room.system = daemonset_pods(name, s3);
        if (room.left() < least.left()) least = room;
    }
    return least;
}

base::FieldError refusal(const std::string& at, std::size_t index, std::string message) {
    base::FieldError made;
    made.pointer = (at.empty() ? "" : at + "/" + std::to_string(index)) + "/instance_type";
    made.message = std::move(message);
    return made;
}

std::string sentence(const Room& room) {
    return room.type + " holds " + std::to_string(room.holds) + " pods a node, of which DaemonSets take " +
           std::to_string(room.system);
}

}  // namespace

std::int64_t daemonset_pods(const std::string& instance_type, bool s3) {
    const auto* type = find_instance_type(instance_type);
    std::int64_t pods = 3;                                     // CNI, proxy, pod identity
    if (type != nullptr && type->accelerators > 0) pods += 2;  // health agent, device plugin
    if (type != nullptr && type->efa_interfaces > 0) ++pods;
    return pods + (s3 ? 1 : 0);
}

std::int64_t deployment_pods(const PodNeeds& needs) {
    std::int64_t pods = 2;  // CoreDNS
    if (needs.s3) ++pods;
    if (needs.inference_operator) pods += kInferenceOperatorPods;
    return pods;
}

std::vector<base::FieldError> check_pods(const std::vector<InstanceGroup>& groups, const std::string& at,
                                         const PodNeeds& needs) {
    std::vector<base::FieldError> faults;
    std::int64_t left = 0, nodes = 0;
    std::size_t smallest = 0;
    for (std::size_t index = 0; index < groups.size(); ++index) {
        const auto room = least_room(groups[index], needs.s3);
        if (room.type.empty() || groups[index].count == 0) continue;
        if (room.left() < 1) faults.push_back(refusal(at, index, sentence(room) + ": choose a larger type"));
        left += std::max<std::int64_t>(0, room.left()) * groups[index].count;
        nodes += groups[index].count;
        if (room.left() < least_room(groups[smallest], needs.s3).left()) smallest = index;
    }
    const auto wanted = deployment_pods(needs) + 1;
    if (!faults.empty() || nodes == 0 || !needs.whole_cluster || left >= wanted) return faults;
    const std::string operators = needs.inference_operator ? " (" + std::to_string(kInferenceOperatorPods) +
                                                                 " of them of the inference operator)"
                                                           : "";
    faults.push_back(refusal(at, smallest,
                             sentence(least_room(groups[smallest], needs.s3)) + "; the " +
                                 std::to_string(nodes) + " nodes have " + std::to_string(left) +
                                 " left and the system needs " + std::to_string(wanted - 1) + " more" +
                                 operators + " and one for your own: choose a larger type or more nodes"));
    return faults;
}

}  // namespace instantstart::domain
