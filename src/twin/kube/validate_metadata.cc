#include <algorithm>
#include <set>

#include "twin/kube/metadata.h"
#include "twin/kube/validate_parts.h"

namespace instantstart::twin::kube {

namespace {

constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kKeyRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kConfigKeyRule =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

bool is_label_value(std::string_view text) {
    const auto good = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    if (text.empty()) return true;
    if (text.size() > 63 || !good(text.front()) || !good(text.back())) return false;
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return good(c) || c == '-' || c == '_' || c == '.'; });
}

void check_key(std::string_view key, const std::string& path, Causes& causes) {
    const auto slash = key.find('/');
    const auto last = slash == std::string_view::npos ? key : key.substr(slash + 1);
    if (slash != std::string_view::npos && !is_dns_subdomain(key.substr(0, slash)))
        invalid(causes, path, std::string(key).c_str(), "prefix part " + std::string(kSubdomainRule));
    if (last.empty() || !is_label_value(last)) invalid(causes, path, std::string(key).c_str(), kKeyRule);
}

void check_labels(const JsonObject& labels, Causes& causes) {
    for (const auto& label : labels) {
        check_key(label.key(), "metadata.labels", causes);
        if (!label.value().is_string() || !is_label_value(label.value().get_string()))
            invalid(causes, "metadata.labels", label.value(), kValueRule);
    }
}

bool is_label_kind(const KindInfo& kind) {
    return !kind.custom && (kind.kind.plural == "namespaces" || kind.kind.plural == "services");
}

void check_name(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    const auto name = name_of(object);
    if (kind.kind.group == "rbac.authorization.k8s.io") {
        if (name.find('/') != std::string::npos)
            invalid(causes, "metadata.name", name.c_str(), "may not contain '/'");
        return;
    }
    const bool label = is_label_kind(kind);
    // A generated name is judged by its beginning, which is what the client chose.
    auto prefix = base::get_string(object, "metadata.generateName");
    while (prefix.ends_with('-')) prefix.pop_back();
    if (!prefix.empty() && !(label ? is_dns_label(prefix) : is_dns_subdomain(prefix))) {
        invalid(causes, "metadata.generateName", base::get_string(object, "metadata.generateName").c_str(),
                label ? kLabelRule : kSubdomainRule);
        return;
    }
    if (label && name.find('.') != std::string::npos) {
        invalid(causes, "metadata.name", name.c_str(), "must not contain dots");
    } else if (label ? !is_dns_label(name) : !is_dns_subdomain(name)) {
        invalid(causes, "metadata.name", name.c_str(), label ? kLabelRule : kSubdomainRule);
    }
}

void check_finalizers(const JsonObject& object, Causes& causes) {
    static const std::set<std::string, std::less<>> kPlain = {"kubernetes", "orphan", "foregroundDeletion"};
    const auto& list = base::get_array(object, "metadata.finalizers");
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto name = list[i].is_string() ? std::string(list[i].get_string()) : std::string();
        if (name.find('/') == std::string::npos && !kPlain.contains(name))
            invalid(causes, "metadata.finalizers[" + std::to_string(i) + "]", list[i],
                    "name is neither a standard finalizer name nor is it fully qualified");
    }
}

void check_owners(const JsonObject& object, Causes& causes) {
    const auto& owners = base::get_array(object, "metadata.ownerReferences");
    std::string first;
    for (std::size_t i = 0; i < owners.size(); ++i) {
        const auto path = "metadata.ownerReferences[" + std::to_string(i) + "]";
        if (base::get_string(owners[i], "uid").empty())
            invalid(causes, path + ".uid", "", "must not be empty");
        if (base::get_string(owners[i], "name").empty())
            invalid(causes, path + ".name", "", "must not be empty");
        if (!base::get_bool(owners[i], "controller")) continue;
        const auto described =
            base::get_string(owners[i], "kind") + "/" + base::get_string(owners[i], "name");
        if (!first.empty())
            invalid(causes, "metadata.ownerReferences", owners,
                    "Only one reference can have Controller set to true. Found \"true\" in references for " +
                        first + " and " + described);
        first = described;
    }
}

// Keys of a ConfigMap or Secret become file names.
void check_data_keys(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    if (!kind.is("", "configmaps") && !kind.is("", "secrets")) return;
    for (auto member : {"data", "binaryData"}) {
        for (const auto& entry : base::get_object(object, member)) {
            const std::string_view key = entry.key();
            const bool good =
                !key.empty() && key.size() <= 253 && std::all_of(key.begin(), key.end(), [](char c) {
                    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                           c == '.';
                });
            if (!good)
                invalid(causes, std::string(member) + "[" + std::string(key) + "]", std::string(key).c_str(),
                        kConfigKeyRule);
        }
    }
}

}  // namespace

void check_metadata(const KindInfo& kind, const JsonObject& object, Causes& causes) {
    check_name(kind, object, causes);
    check_labels(base::get_object(object, "metadata.labels"), causes);
    for (const auto& note : base::get_object(object, "metadata.annotations"))
        check_key(note.key(), "metadata.annotations", causes);
    check_finalizers(object, causes);
    check_owners(object, causes);
    check_data_keys(kind, object, causes);
}

void check_metadata_change(const JsonObject& before, const JsonObject& after, Causes& causes) {
    if (!is_terminating(before)) return;
    const auto& old = base::get_array(before, "metadata.finalizers");
    std::string fresh;
    for (const auto& name : base::get_array(after, "metadata.finalizers")) {
        if (std::find(old.begin(), old.end(), name) == old.end())
            fresh += (fresh.empty() ? "" : ", ") + base::to_text(name);
    }
    if (!fresh.empty())
        causes.emplace_back("FieldValueForbidden",
                            "Forbidden: no new finalizers can be added if the object is being deleted, found "
                            "new finalizers []string{" +
                                fresh + "}",
                            "metadata.finalizers");
}

}  // namespace instantstart::twin::kube
