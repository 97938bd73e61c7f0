#include "twin/kube/controllers/system.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

const Kind kEndpoints("", "endpoints");
const Kind kSlices("discovery.k8s.io", "endpointslices");

bool selects(const JsonObject& service, const JsonObject& labels) {
    const auto& selector = base::get_object(service, "spec.selector");
    if (selector.empty()) return false;
    for (const auto& wanted : selector) {
        const auto* label = labels.if_contains(wanted.key());
        if (label == nullptr || *label != wanted.value()) return false;
    }
    return true;
}

// The port of the pod that a service's port leads to: by number, or by the name of a container's port.
std::int64_t target_port(const JsonValue& port, const JsonObject& pod) {
    const auto* target = base::find_path(port, "targetPort");
    if (target != nullptr && target->is_int64()) return target->get_int64();
    if (target != nullptr && target->is_string()) {
        for (const auto& container : base::get_array(pod, "spec.containers")) {
            for (const auto& candidate : base::get_array(container, "ports")) {
                if (base::get_string(candidate, "name") == std::string_view(target->get_string()))
                    return base::get_int(candidate, "containerPort");
            }
        }
    }
    return base::get_int(port, "port");
}

JsonObject target_of(const JsonObject& pod) {
    return {{"kind", "Pod"},
            {"name", name_of(pod)},
            {"namespace", namespace_of(pod)},
            {"uid", base::get_string(pod, "metadata.uid")}};
}

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

}  // namespace

void Endpoints::changed(const Change& change) {
    if (change.kind == kServices) {
        env_.queue.add(this, Key(namespace_of(*change.object), name_of(*change.object)));
        return;
    }
    if (change.kind != kPods) return;
    const bool same = change.type == Change::Type::modified && change.previous &&
                      is_ready(*change.previous) == is_ready(*change.object) &&
                      is_terminating(*change.previous) == is_terminating(*change.object) &&
                      base::get_object(*change.previous, "metadata.labels") ==
                          base::get_object(*change.object, "metadata.labels");
    if (same) return;
    for (const auto& service : env_.objects.list(kServices, namespace_of(*change.object))) {
        const bool now = selects(*service, base::get_object(*change.object, "metadata.labels"));
        const bool before =
            change.previous && selects(*service, base::get_object(*change.previous, "metadata.labels"));
        if (now || before) env_.queue.add(this, Key(namespace_of(*service), name_of(*service)));
    }
}

void Endpoints::sync(const Key& key) {
    const auto service = env_.get(kServices, key);
    if (!service) {
        env_.remove(kEndpoints, key);
        env_.remove(kSlices, Key(key.ns, key.name + "-slice"));
        return;
    }
    if (base::get_object(*service, "spec.selector").empty()) return;
    JsonArray ready, not_ready, slice_endpoints, ports, slice_ports;
    for (const auto& pod : env_.objects.list(kPods, key.ns)) {
        const auto ip = base::get_string(*pod, "status.podIP");
        if (ip.empty() || is_finished(*pod) || !selects(*service, base::get_object(*pod, "metadata.labels")))
            continue;
        const bool serves = is_ready(*pod) && !is_terminating(*pod);
        const auto node = base::get_string(*pod, "spec.nodeName");
        (serves ? ready : not_ready)
            .push_back(JsonObject{{"ip", ip}, {"nodeName", node}, {"targetRef", target_of(*pod)}});
        slice_endpoints.push_back(JsonObject{
            {"addresses", JsonArray{JsonValue(ip)}},
            {"conditions",
             JsonObject{
                 {"ready", serves}, {"serving", is_ready(*pod)}, {"terminating", is_terminating(*pod)}}},
            {"nodeName", node},
            {"targetRef", target_of(*pod)}});
        if (!ports.empty()) continue;
        for (const auto& port : base::get_array(*service, "spec.ports")) {
            JsonObject made{{"port", target_port(port, *pod)},
                            {"protocol", base::get_string(port, "protocol", "TCP")}};
            const auto name = base::get_string(port, "name");
            slice_ports.push_back(
                JsonObject{{"name", name}, {"port", made["port"]}, {"protocol", made["protocol"]}});
            if (!name.empty()) made["name"] = name;
            ports.push_back(std::move(made));
        }
    }
    JsonObject endpoints{{"apiVersion", "v1"},
                         {"kind", "Endpoints"},
                         {"metadata", JsonObject{{"name", key.name}, {"namespace", key.ns}}}};
    JsonObject subset{{"addresses", ready}, {"notReadyAddresses", not_ready}, {"ports", ports}};
    base::drop_empty(subset);
    if (!ready.empty() || !not_ready.empty()) endpoints["subsets"] = JsonArray{std::move(subset)};
    put(env_, kEndpoints, std::move(endpoints));
    JsonObject slice{
        {"apiVersion", "discovery.k8s.io/v1"}, {"kind", "EndpointSlice"}, {"addressType", "IPv4"}};
    slice["metadata"] = JsonObject{
        {"name", key.name + "-slice"},
        {"namespace", key.ns},
        {"labels", JsonObject{{"kubernetes.io/service-name", key.name},
                              {"endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"}}},
        {"ownerReferences", JsonArray{owner_reference("v1", "Service", *service)}}};
    slice["endpoints"] = std::move(slice_endpoints);
    slice["ports"] = std::move(slice_ports);
    put(env_, kSlices, std::move(slice));
}

}  // namespace instantstart::twin::kube::controllers
