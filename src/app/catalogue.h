// Catalogue: every operation, in the order in which all faces list them. The one place where operations are
// registered.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/operation.h"

namespace instantstart::app {

// "instance_group.add" -> "instance_group_add".
std::string tool_name(const Meta& meta);
// The noun of the id ("instance_group") and its verb ("add").
std::string noun_of(const Meta& meta);
std::string verb_of(const Meta& meta);
// Names of the path's parameters, in order: {"cluster", "group"}.
std::vector<std::string> path_parameters(const Meta& meta);
bool is_write(const Meta& meta);  // mutation or long_running

class Catalogue {
public:
    explicit Catalogue(std::vector<std::unique_ptr<Operation>> operations);

    const std::vector<std::unique_ptr<Operation>>& operations() const { return operations_; }
    const Operation* find(std::string_view id) const;         // by id, null where unknown
    const Operation* find_tool(std::string_view name) const;  // by MCP tool name
    std::vector<std::string> ids() const;

    // A request's path below /api/v1, taken apart. `parameters` are percent-decoded.
    struct Route {
        Route() = default;
        const Operation* operation = nullptr;
        std::vector<std::pair<std::string, std::string>> parameters;
        std::vector<std::string> allowed_methods;  // where the path exists but not for this method
    };
    Route route(std::string_view method, std::string_view path) const;

private:
    std::vector<std::unique_ptr<Operation>> operations_;
    std::map<std::string, const Operation*, std::less<>> by_id_, by_tool_;
};

std::vector<std::unique_ptr<Operation>> make_framework_operations();
// Framework's and domain's operations, in listing order.
std::unique_ptr<Catalogue> make_catalogue();

}  // namespace instantstart::app
