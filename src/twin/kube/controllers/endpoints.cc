#include <algorithm>

#include "base/digest.h"
#include "twin/kube/controllers/services.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

const Kind kEndpoints("", "endpoints");
const Kind kSlices("discovery.k8s.io", "endpointslices");
constexpr std::size_t kSliceMost = 100;       // endpoints in one slice
constexpr std::size_t kEndpointsMost = 1000;  // addresses in one Endpoints object

bool selects(const JsonObject& selector, const JsonObject& labels) {
    return std::all_of(selector.begin(), selector.end(), [&labels](const auto& wanted) {
        const auto* label = labels.if_contains(wanted.key());
        return label != nullptr && *label == wanted.value();
    });
}

// The port of the pod that a service's port leads to: by number, or by the name of a container's port; 0
// where the pod has none of that name.
std::int64_t target_port(const JsonValue& port, const JsonObject& pod) {
    const auto* target = base::find_path(port, "targetPort");
    if (target != nullptr && target->is_int64()) return target->get_int64();
    if (target == nullptr || !target->is_string()) return base::get_int(port, "port");
    for (const auto& container : base::get_array(pod, "spec.containers")) {
        for (const auto& candidate : base::get_array(container, "ports")) {
            if (base::get_string(candidate, "name") == std::string_view(target->get_string()))
                return base::get_int(candidate, "containerPort");
        }
    }
    return 0;
}

JsonArray ports_of(const JsonObject& service, const JsonObject& pod, bool names_always) {
    JsonArray out;
    for (const auto& port : base::get_array(service, "spec.ports")) {
        const auto number = target_port(port, pod);
        if (number == 0) continue;
        JsonObject made{{"port", number}, {"protocol", base::get_string(port, "protocol", "TCP")}};
        const auto name = base::get_string(port, "name");
        if (names_always || !name.empty()) made["name"] = name;
        if (const auto protocol = base::get_string(port, "appProtocol"); !protocol.empty())
            made["appProtocol"] = protocol;
        out.push_back(std::move(made));
    }
    return out;
}

JsonObject target_of(const JsonObject& pod) {
    return {{"kind", "Pod"},
            {"name", name_of(pod)},
            {"namespace", namespace_of(pod)},
            {"uid", base::get_string(pod, "metadata.uid")}};
}

bool serves(const JsonObject& service, const JsonObject& pod) {
    return base::get_bool(service, "spec.publishNotReadyAddresses") ||
           (is_ready(pod) && !is_terminating(pod));
}

// The host name by which a headless service lets its pods be found.
std::string host_of(const JsonObject& service, const JsonObject& pod) {
    const auto subdomain = base::get_string(pod, "spec.subdomain");
    return subdomain == name_of(service) ? base::get_string(pod, "spec.hostname") : std::string();
}

JsonObject slice_endpoint(const Env& env, const JsonObject& service, const JsonObject& pod) {
    const auto node = base::get_string(pod, "spec.nodeName");
    const JsonArray addresses{JsonValue(base::get_string(pod, "status.podIP"))};
    const JsonObject conditions{
        {"ready", serves(service, pod)}, {"serving", is_ready(pod)}, {"terminating", is_terminating(pod)}};
    JsonObject out{{"addresses", addresses},
                   {"conditions", conditions},
                   {"nodeName", node},
                   {"targetRef", target_of(pod)}};
    if (const auto host = host_of(service, pod); !host.empty()) out["hostname"] = host;
    const auto* facts = env.index.nodes().find(node);
    const auto* zone = facts == nullptr ? nullptr : facts->label("topology.kubernetes.io/zone");
    if (zone != nullptr) out["zone"] = *zone;
    return out;
}

// Keeps what others wrote beside the members that are ours.
void put(Env& env, const Kind& kind, JsonObject object) {
    const auto known = env.get(kind, Key(namespace_of(object), name_of(object)));
    if (!known) {
        env.create(kind, std::move(object));
        return;
    }
    JsonObject next = *known;
    for (const char* member : {"subsets", "endpoints", "ports"}) {
        next.erase(member);
        if (auto* value = object.if_contains(member)) next[member] = *value;
    }
    env.write(kind, std::move(next));
}

// The same for the same service, as the name that a real controller makes up once stays.
std::string slice_name(const Key& service, std::size_t number) {
    return service.name + "-" +
           base::sha256_hex(service.ns + "/" + service.name + "/" + std::to_string(number)).substr(0, 5);
}

bool is_headless(const JsonObject& service) {
    return base::get_string(service, "spec.clusterIP") == "None";
}

bool same_for_services(const Change& change) {
    if (change.type != Change::Type::modified || !change.previous) return false;
    const auto& before = *change.previous;
    const auto& after = *change.object;
    return is_ready(before) == is_ready(after) && is_terminating(before) == is_terminating(after) &&
           is_finished(before) == is_finished(after) &&
           base::get_string(before, "status.podIP") == base::get_string(after, "status.podIP") &&
           base::get_object(before, "metadata.labels") == base::get_object(after, "metadata.labels");
}

}  // namespace

void Endpoints::clear() {
    selectors_.clear();
    sizes_.clear();
}

void Endpoints::changed(const Change& change) {
    if (change.kind == kPods) return pod_changed(change);
    if (change.kind != kServices) return;
    const JsonObject& service = *change.object;
    const Key key(namespace_of(service), name_of(service));
    const auto& selector = base::get_object(service, "spec.selector");
    if (change.type == Change::Type::deleted || selector.empty()) {
        selectors_[key.ns].erase(key.name);
    } else {
        selectors_[key.ns][key.name] = selector;
    }
    env_.queue.add(this, key);
}

void Endpoints::pod_changed(const Change& change) {
    const auto ns = selectors_.find(namespace_of(*change.object));
    if (ns == selectors_.end() || ns->second.empty() || same_for_services(change)) return;
    const auto& labels = base::get_object(*change.object, "metadata.labels");
    for (const auto& [name, selector] : ns->second) {
        const bool before =
            change.previous && selects(selector, base::get_object(*change.previous, "metadata.labels"));
        if (!before && !selects(selector, labels)) continue;
        const Key key(ns->first, name);
        // A large service gathers changes before it is written anew.
        const auto size = sizes_[key];
        const auto delay = size < 200 ? base::Duration::zero() : env_.scaled(size < 1000 ? 1 : 5);
        env_.queue.add_after(this, key, delay);
    }
}

void Endpoints::sync(const Key& key) {
    const auto service = env_.get(kServices, key);
    if (!service) {
        sizes_.erase(key);
        env_.remove(kEndpoints, key);
        return remove_slices(key, 0);
    }
    const auto& selector = base::get_object(*service, "spec.selector");
    if (selector.empty() || base::get_string(*service, "spec.type") == "ExternalName") return;
    std::vector<ObjectPtr> pods;
    for (const auto& pod : env_.objects.list(kPods, key.ns)) {
        if (base::get_string(*pod, "status.podIP").empty() || is_finished(*pod)) continue;
        if (selects(selector, base::get_object(*pod, "metadata.labels"))) pods.push_back(pod);
    }
    sizes_[key] = pods.size();
    write_endpoints(*service, pods);
    write_slices(*service, pods);
}

void Endpoints::write_endpoints(const JsonObject& service, const std::vector<ObjectPtr>& pods) {
    JsonArray ready, not_ready, ports;
    for (const auto& pod : pods) {
        if (ready.size() + not_ready.size() >= kEndpointsMost) break;
        JsonObject address{{"ip", base::get_string(*pod, "status.podIP")},
                           {"nodeName", base::get_string(*pod, "spec.nodeName")},
                           {"targetRef", target_of(*pod)}};
        if (const auto host = host_of(service, *pod); !host.empty()) address["hostname"] = host;
        (serves(service, *pod) ? ready : not_ready).push_back(std::move(address));
        if (ports.empty()) ports = ports_of(service, *pod, false);
    }
    JsonObject endpoints{{"apiVersion", "v1"}, {"kind", "Endpoints"}};
    JsonObject labels = base::get_object(service, "metadata.labels");
    if (is_headless(service)) labels["service.kubernetes.io/headless"] = "";
    labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller";
    auto& metadata = metadata_of(endpoints);
    metadata["name"] = name_of(service);
    metadata["namespace"] = namespace_of(service);
    metadata["labels"] = std::move(labels);
    if (pods.size() > kEndpointsMost)
        metadata["annotations"] = JsonObject{{"endpoints.kubernetes.io/over-capacity", "truncated"}};
    const bool any = !ready.empty() || !not_ready.empty();
    JsonObject subset{{"addresses", std::move(ready)},
                      {"notReadyAddresses", std::move(not_ready)},
                      {"ports", std::move(ports)}};
    base::drop_empty(subset);
    if (any) endpoints["subsets"] = JsonArray{std::move(subset)};
    put(env_, kEndpoints, std::move(endpoints));
}

void Endpoints::write_slices(const JsonObject& service, const std::vector<ObjectPtr>& pods) {
    const Key key(namespace_of(service), name_of(service));
    const std::size_t slices = pods.empty() ? 1 : (pods.size() + kSliceMost - 1) / kSliceMost;
    for (std::size_t number = 0; number < slices; ++number) {
        JsonArray endpoints;
        const auto end = std::min(pods.size(), (number + 1) * kSliceMost);
        for (auto i = number * kSliceMost; i < end; ++i)
            endpoints.push_back(slice_endpoint(env_, service, *pods[i]));
        JsonObject slice{
            {"apiVersion", "discovery.k8s.io/v1"}, {"kind", "EndpointSlice"}, {"addressType", "IPv4"}};
        JsonObject labels = base::get_object(service, "metadata.labels");
        labels["kubernetes.io/service-name"] = key.name;
        labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io";
        if (is_headless(service)) labels["service.kubernetes.io/headless"] = "";
        auto& metadata = metadata_of(slice);
        metadata["name"] = slice_name(key, number);
        metadata["generateName"] = key.name + "-";
        metadata["namespace"] = key.ns;
        metadata["labels"] = std::move(labels);
        metadata["ownerReferences"] = JsonArray{owner_reference("v1", "Service", service)};
        slice["endpoints"] = std::move(endpoints);
        slice["ports"] = pods.empty() ? JsonArray() : ports_of(service, *pods[0], true);
        put(env_, kSlices, std::move(slice));
    }
    remove_slices(key, slices);
}

void Endpoints::remove_slices(const Key& service, std::size_t from) {
    for (auto number = from;; ++number) {
        const Key key(service.ns, slice_name(service, number));
        if (!env_.get(kSlices, key)) return;
        env_.remove(kSlices, key);
    }
}

}  // namespace instantstart::twin::kube::controllers
