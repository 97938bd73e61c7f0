#include "twin/aws/eks/operators.h"

#include "base/text.h"

namespace instantstart::twin::eks {

namespace {

using std::chrono::seconds;

const kube::Kind kDeployments("apps", "deployments"), kSecrets("", "secrets"),
    kCertificates("cert-manager.io", "certificates"), kIssuers("cert-manager.io", "issuers"),
    kClusterIssuers("cert-manager.io", "clusterissuers"),
    kMutating("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    kValidating("admissionregistration.k8s.io", "validatingwebhookconfigurations");
constexpr const char* kInjectFrom = "cert-manager.io/inject-ca-from";
constexpr const char* kKedaSecret = "kedaorg-certs";
constexpr std::chrono::hours kCertificateLife{24 * 90};

bool of_cert_manager(const kube::Kind& kind) {
    return kind == kCertificates || kind == kIssuers || kind == kClusterIssuers;
}

// An operator that has become available, or work for one.
bool concerns(const kube::Change& change) {
    if (change.type == kube::Change::Type::deleted) return change.kind == kSecrets;
    if (change.kind == kMutating || change.kind == kValidating || of_cert_manager(change.kind))
        return change.previous == nullptr || base::get_int(*change.object, "metadata.generation") !=
                                                 base::get_int(*change.previous, "metadata.generation");
    if (change.kind != kDeployments) return false;
    const std::int64_t before =
        change.previous == nullptr ? 0 : base::get_int(*change.previous, "status.availableReplicas");
    return base::get_int(*change.object, "status.availableReplicas") > 0 && before == 0;
}

void plan_look(State& state, const std::string& cluster) {
    if (!state.operator_looks.insert(cluster).second) return;
    state.world.after(seconds(5), "eks", "operator_look", {{"cluster", cluster}});
}

// The name of the first container's image, without registry and version.
std::string image_name(const JsonObject& deployment) {
    std::string image = base::get_string(deployment, "spec.template.spec.containers.0.image");
    image = image.substr(0, image.find('@'));
    image = image.substr(image.rfind('/') + 1);
    return image.substr(0, image.find(':'));
}

bool is_available(const JsonObject& deployment) {
    return base::get_int(deployment, "status.availableReplicas") > 0;
}

// The namespaces in which an available Deployment runs this image or bears this name.
std::vector<std::string> namespaces_of(kube::ObjectStore& objects, std::string_view image,
                                       std::string_view name) {
    std::vector<std::string> found;
    for (const kube::ObjectPtr& deployment : objects.list(kDeployments)) {
        if (!is_available(*deployment)) continue;
        if (image_name(*deployment) == image || base::get_string(*deployment, "metadata.name") == name)
            found.push_back(base::get_string(*deployment, "metadata.namespace"));
    }
    return found;
}

// Stand-ins: nobody shakes hands with the twin's webhooks.
std::string stand_in(const char* what, const std::string& whose) {
    return base::base64_encode(std::string("-----BEGIN ") + what + "-----\nsimulated for " + whose +
                               "\n-----END " + what + "-----\n");
}

void put_secret(kube::ObjectStore& objects, const std::string& ns, const std::string& name, const char* type,
                const char* manager) {
    if (objects.get(kSecrets, ns, name) != nullptr) return;
    const std::string whose = ns + "/" + name;
    JsonObject secret{{"apiVersion", "v1"},
                      {"kind", "Secret"},
                      {"type", type},
                      {"metadata", {{"name", name}, {"namespace", ns}}},
                      {"data",
                       {{"ca.crt", stand_in("CERTIFICATE", whose)},
                        {"tls.crt", stand_in("CERTIFICATE", whose)},
                        {"tls.key", stand_in("PRIVATE KEY", whose)}}}};
    static_cast<void>(objects.apply(kSecrets, std::move(secret), manager));
}

void put_condition(State& state, kube::ObjectStore& objects, const kube::Kind& kind, const JsonObject& object,
                   bool ready, const char* reason, const std::string& message) {
    JsonObject status = base::get_object(object, "status");
    for (const JsonValue& earlier : base::get_array(status, "conditions")) {
        if (base::get_string(earlier, "type") == "Ready" &&
            base::get_string(earlier, "status") == (ready ? "True" : "False"))
            return;
    }
    status["conditions"] =
        JsonArray{JsonObject{{"type", "Ready"},
                             {"status", ready ? "True" : "False"},
                             {"reason", reason},
                             {"message", message},
                             {"observedGeneration", base::get_int(object, "metadata.generation", 1)},
                             {"lastTransitionTime", base::format_time(state.world.now())}}};
    if (kind == kCertificates && ready) {
        status["notBefore"] = base::format_time(state.world.now());
        status["notAfter"] = base::format_time(state.world.now() + kCertificateLife);
        status["renewalTime"] = base::format_time(state.world.now() + kCertificateLife * 2 / 3);
        status["revision"] = 1;
    }
    JsonObject changed = object;
    changed["status"] = std::move(status);
    static_cast<void>(objects.update(kind, std::move(changed)));
}

void sign(State& state, kube::ObjectStore& objects, const JsonObject& certificate) {
    const std::string ns = base::get_string(certificate, "metadata.namespace"),
                      issuer = base::get_string(certificate, "spec.issuerRef.name");
    const bool wide = base::get_string(certificate, "spec.issuerRef.kind", "Issuer") == "ClusterIssuer";
    if (objects.get(wide ? kClusterIssuers : kIssuers, wide ? "" : ns, issuer) == nullptr) {
        return put_condition(state, objects, kCertificates, certificate, false, "DoesNotExist",
                             "Issuing certificate as Secret does not exist: issuer " + issuer + " not found");
    }
    put_secret(objects, ns, base::get_string(certificate, "spec.secretName"), "kubernetes.io/tls",
               "cert-manager");
    put_condition(state, objects, kCertificates, certificate, true, "Ready",
                  "Certificate is up to date and has not expired");
}

// The authority of the named Certificate into the webhooks that ask for it.
void inject(kube::ObjectStore& objects, const kube::Kind& kind, const JsonObject& configuration) {
    const JsonValue* from = base::get_object(configuration, "metadata.annotations").if_contains(kInjectFrom);
    if (from == nullptr || !from->is_string()) return;
    const std::string name(from->get_string());
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) return;
    const kube::ObjectPtr certificate =
        objects.get(kCertificates, name.substr(0, slash), name.substr(slash + 1));
    const kube::ObjectPtr secret =
        certificate == nullptr
            ? nullptr
            : objects.get(kSecrets, name.substr(0, slash), base::get_string(*certificate, "spec.secretName"));
    const JsonValue* authority =
        secret == nullptr ? nullptr : base::get_object(*secret, "data").if_contains("ca.crt");
    if (authority == nullptr) return;
    JsonArray webhooks = base::get_array(configuration, "webhooks");
    bool changes = false;
    for (JsonValue& webhook : webhooks) {
        JsonObject client = base::get_object(webhook, "clientConfig");
        const JsonValue* now = client.if_contains("caBundle");
        if (now != nullptr && *now == *authority) continue;
        client["caBundle"] = *authority;
        webhook.as_object()["clientConfig"] = std::move(client);
        changes = true;
    }
    if (!changes) return;
    JsonObject changed = configuration;
    changed["webhooks"] = std::move(webhooks);
    static_cast<void>(objects.update(kind, std::move(changed)));
}

void work_of_cert_manager(State& state, kube::ObjectStore& objects) {
    for (const kube::Kind& kind : {kIssuers, kClusterIssuers}) {
        for (const kube::ObjectPtr& issuer : objects.list(kind))
            put_condition(state, objects, kind, *issuer, true, "IsReady", "");
    }
    for (const kube::ObjectPtr& certificate : objects.list(kCertificates)) sign(state, objects, *certificate);
    for (const kube::Kind& kind : {kMutating, kValidating}) {
        for (const kube::ObjectPtr& configuration : objects.list(kind)) inject(objects, kind, *configuration);
    }
}

}  // namespace

void watch_operators(State& state, const std::string& cluster) {
    kube::Cluster* live = state.host.find(cluster);
    if (live == nullptr) return;
    state.watches[cluster] = live->objects().subscribe([&state, cluster](const kube::Change& change) {
        if (concerns(change)) plan_look(state, cluster);
    });
    plan_look(state, cluster);
}

void operator_timer(State& state, const JsonObject& payload) {
    const std::string cluster = base::get_string(payload, "cluster");
    state.operator_looks.erase(cluster);
    kube::Cluster* live = state.host.find(cluster);
    if (live == nullptr) return;
    kube::ObjectStore& objects = live->objects();
    for (const std::string& ns : namespaces_of(objects, "keda", "keda-operator"))
        put_secret(objects, ns, kKedaSecret, "Opaque", "keda-operator");
    if (!namespaces_of(objects, "cert-manager-controller", "cert-manager").empty())
        work_of_cert_manager(state, objects);
}

}  // namespace instantstart::twin::eks
