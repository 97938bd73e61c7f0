// In the user's words: which field of our request a member of a request to AWS comes from. One table per AWS
// operation whose parameters hold what users give; a test fills every field and fails where one that reaches
// AWS has no row.
//
// The same requests are made and checked twice: when an operation is planned (planned_faults), so that what
// AWS's model refuses is a fault of the field before anything is done, and by the client before it sends
// (then in_field_words gives the operation's error the pointers).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flows/step_kit.h"

namespace instantstart::flows {

// Where a member comes from. `path` is the model's with dots; "*" stands for one part and "**" for the rest.
// In `pointer` they come back: "*" is the last one, "*2" the second, and "{Key}" the member Key of the item
// that the last one stands for.
struct FieldRow {
    std::string_view service, operation, path, pointer;
};

// The JSON pointer of the field behind a member; nullopt where no field is.
std::optional<std::string> field_behind(const std::string& service, const std::string& operation,
                                        const std::string& path, const JsonObject& request);

struct PlannedRequest {
    PlannedRequest(std::string service, std::string operation, JsonObject parameters)
        : service(std::move(service)), operation(std::move(operation)), parameters(std::move(parameters)) {}
    std::string service, operation;
    JsonObject parameters;
};
// The requests of a flow that hold what the user gave, with stand-ins for what earlier steps find out.
std::vector<PlannedRequest> planned_requests(const std::string& flow, const JsonObject& params);
// Every fault of those requests against AWS's models that lies in a user's field, once per field.
std::vector<base::FieldError> planned_faults(const std::string& flow, const JsonObject& params);

// The fields of an error, from members of the request that was made into fields of the user's. Where AWS
// itself refused, the members that its message names ("at 'instanceGroups.1.member.instanceCount'") count.
base::Error in_field_words(base::Error error, const std::string& service, const std::string& operation,
                           const JsonObject& request);

}  // namespace instantstart::flows
