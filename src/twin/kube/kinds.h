// The kinds that a cluster knows: the built-in ones, and those that custom resource definitions bring.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "twin/kube/cluster.h"
#include "twin/kube/schema.h"

namespace instantstart::twin::kube {

struct KindInfo {
    KindInfo() = default;
    Kind kind;
    std::string version, name, singular;  // name is the kind: "Pod"
    std::vector<std::string> short_names, categories, subresources, verbs;
    bool namespaced = true;
    bool custom = false;
    SchemaPtr schema;           // null: nothing is known of its members
    JsonArray printer_columns;  // of a custom kind
    JsonObject scale;           // of a custom kind: specReplicasPath, statusReplicasPath
    JsonArray selectable;       // of a custom kind: selectableFields

    std::string api_version() const { return kind.group.empty() ? version : kind.group + "/" + version; }
    bool has(std::string_view subresource) const;
    bool may(std::string_view verb) const;
    bool is(std::string_view group, std::string_view plural) const {
        return kind.group == group && kind.plural == plural;
    }
};
using KindPtr = std::shared_ptr<const KindInfo>;

// Reads the definitions from the store at each call; what it made of a definition is kept until that changes.
class KindRegistry {
public:
    explicit KindRegistry(const ObjectStore& objects) : objects_(objects) {}
    KindPtr find(std::string_view group, std::string_view version, std::string_view plural) const;
    // By apiVersion and kind of an object.
    KindPtr find_object(std::string_view api_version, std::string_view kind) const;
    // Everything, built-in first, groups together; each version of a custom kind is one entry.
    std::vector<KindPtr> all() const;

private:
    const std::vector<KindPtr>& custom(const ObjectPtr& definition) const;

    const ObjectStore& objects_;
    struct Made {
        ObjectPtr definition;
        std::vector<KindPtr> kinds;
    };
    mutable std::map<std::string, Made, std::less<>> made_;  // by the definition's name
};

const std::vector<KindPtr>& builtin_kinds();

}  // namespace instantstart::twin::kube
