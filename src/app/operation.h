// Operation: one declaration per operation; every face is derived from it (route, validation, JSON Schema,
// OpenAPI, MCP tool, `call` subcommand, TypeScript client, reference page, IAM policy). Declared in
// src/app/<operation>.cc, listed in catalogue.cc.
//
// Input types are plain structs described by BOOST_DESCRIBE_STRUCT(Type, (), (members…)). Members:
// std::string, bool, std::int64_t, double, std::vector<T>, std::map<std::string, std::string>, nested
// described structs, base::JsonObject (free form) and std::optional of these (optional = may be left out).
// Path parameters are ordinary members (`cluster`, `group`). `confirm`, `dry_run` and `idempotency_key` are
// added by the framework and are no members.
#pragma once

#include <boost/describe/class.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/services.h"
#include "base/json.h"
#include "base/result.h"
#include "rt/context.h"
#include "rt/task.h"

namespace instantstart::app {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using rt::Context;
using rt::Task;

enum class Kind : std::uint8_t { query, mutation, long_running };
enum class Removes : std::uint8_t { never, by_plan, always };
enum class Role : std::uint8_t { viewer, operator_role, admin };

// What is known of one member, beyond its type. `name` is a dotted path ("network.vpc_cidr";
// "instance_groups.name" for an item of a list). A test fails where a member has none.
struct Field {
    Field() = default;
    Field(std::string name, std::string sentence) : name(std::move(name)), sentence(std::move(sentence)) {}
    std::string name;
    std::string sentence;                               // one sentence for people and the reference
    std::optional<double> min, max;                     // numbers
    std::optional<std::size_t> min_length, max_length;  // strings, lists, maps
    std::string pattern;                                // ECMAScript, anchored
    std::vector<std::string> allowed;                   // enumeration
    JsonValue default_value;                            // null: none
    JsonValue example;
    Field&& range(double low, double high) &&;
    Field&& length(std::size_t low, std::size_t high) &&;
    Field&& matches(std::string regex) &&;
    Field&& one_of(std::vector<std::string> values) &&;
    Field&& defaults(JsonValue value) &&;
    Field&& like(JsonValue value) &&;
    // The name alone does not say it: the sentence is shown to agents, too (every byte of a tool list costs
    // them).
    Field&& explained() &&;
    bool for_tools = false;
    // Left out of tool lists where it is a member of a nested object; taken there all the same.
    Field&& rare() &&;
    bool is_rare = false;
};

struct Meta {
    Meta() = default;
    std::string id;      // "instance_group.add"
    std::string method;  // "POST"
    std::string path;    // "/clusters/{cluster}/instance-groups", under /api/v1; {x} are members of the input
    std::string summary;  // 20 to 300 characters: the MCP description and the reference's first sentence
    Kind kind = Kind::query;
    Removes removes = Removes::never;
    Role role = Role::viewer;
    std::string area;          // toolset area: "start", "quotas", "operations", "cluster", "instance_groups",
                               // "nodes", "features", "storage", …
    bool default_tool = true;  // in the default MCP toolset
    bool disruptive = false;   // MCP destructiveHint although it removes nothing (reboot)
    bool idempotent = true;    // MCP idempotentHint; false also means the 15-minute rule
    bool open_world = false;
    bool creates_cluster = false;   // names a new cluster instead of an existing one ("name")
    std::vector<std::string> uses;  // AWS operations, "ec2:CreateVpc"
    std::string shows_result;       // the query that shows what was made ("cluster.get")
};

// Who asks, and how.
struct Caller {
    Caller() = default;
    std::string principal;
    Role role = Role::viewer;
    std::string face;  // rest, mcp, web, cli
};

struct Call {
    Call(Context context, Services& services, Caller caller)
        : context(std::move(context)), services(&services), caller(std::move(caller)) {}
    Context context;
    Services* services;
    Caller caller;
    std::string idempotency_key;  // for operations that hand it to the engine themselves (operation.retry)
};

// What a mutation would do. An operation plans; the framework decides (replay, conflict, dry run,
// confirmation) and submits.
struct Plan {
    Plan() = default;
    struct PlannedStep {
        std::string id, title, action;
    };
    std::string resource;  // "cluster/demo/instance-group/a"
    bool covers_children = false;
    std::string flow;  // long-running: name in the engine
    JsonObject flow_params;
    bool no_change = false;  // the account already is as asked
    JsonObject no_change_result;
    std::vector<PlannedStep> steps;                      // empty: taken from the flow
    std::vector<std::string> creates, changes, removes;  // sentences; removes ask for confirmation
    std::string confirm_value;  // what `confirm` must equal where removes is not empty or the operation
                                // always removes
    JsonArray quota;            // {"name", "limit", "used", "needed", "free"}
    JsonArray addresses;        // of the subnets: {"subnet", "zone", "free", "needed", "figures"}
    JsonObject cost;            // {} = unknown
    std::vector<std::string> warnings;
};

// An answer object as CATALOGUE says ({"cluster": {…}} or {"clusters": […], "next_cursor"…}); `resolved` is
// added by the framework, `summary` and `next` are used by MCP only.
struct Answer {
    Answer() = default;
    // NOLINTNEXTLINE(google-explicit-constructor)
    Answer(JsonObject body) : body(std::move(body)) {}
    JsonObject body;
    std::string summary;  // one or two sentences with the numbers that matter
    JsonArray next;       // up to 3 of {tool, arguments, why}
    std::vector<std::string> warnings;
    std::string cluster;  // the cluster it acted on, for `resolved`
};

// Type-erased: what the catalogue holds.
class Operation {
public:
    virtual ~Operation() = default;
    virtual const Meta& meta() const = 0;
    virtual const std::vector<Field>& fields() const = 0;
    // JSON Schema 2020-12 of the input (flat object, additionalProperties false), with everything fields()
    // says.
    virtual const JsonObject& input_schema() const = 0;
    // The same for MCP tools: fewer keywords, sentences only where Field::explained() asks for them.
    virtual const JsonObject& tool_schema() const = 0;
    // Parses, defaults and checks; all faults at once as field errors with JSON Pointers. The canonical
    // request.
    virtual base::Result<JsonObject> normalize(const JsonObject& arguments) const = 0;
    virtual Task<Answer> run(Call call, JsonObject normalized) const = 0;  // query, mutation
    virtual Task<Plan> plan(Call call, JsonObject normalized) const = 0;   // mutation, long_running
};

// Makers, implemented in app/typed_operation.h over app/schema.h:
//   template <class Input> std::unique_ptr<Operation> make_query(Meta, std::vector<Field>,
//   std::function<Task<Answer>(Call, Input)> run); template <class Input> std::unique_ptr<Operation>
//   make_mutation(Meta, std::vector<Field>, std::function<Task<Plan>(Call, Input)> plan,
//                                                                   std::function<Task<Answer>(Call, Input)>
//                                                                   run);
//   template <class Input> std::unique_ptr<Operation> make_long_running(Meta, std::vector<Field>,
//   std::function<Task<Plan>(Call, Input)> plan);

}  // namespace instantstart::app
