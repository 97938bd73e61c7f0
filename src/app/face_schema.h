// Schemas as the faces show them: the input with what the framework adds, and the shape of answers.
#pragma once

#include "app/catalogue.h"

namespace instantstart::app {

// A tool's arguments: the reduced input and, for writes, confirm, dry_run and idempotency_key.
JsonObject tool_input_schema(const Operation& operation);
// A tool's structured result; says the one member by which it can be told, and leaves the rest open.
JsonObject tool_output_schema(const Meta& meta);
// The tool's description: the summary and, for long ones, which tool tells that it is done.
std::string tool_description(const Meta& meta);

// REST: the JSON body without what stands in the path; the query parameters of a GET or DELETE.
JsonObject body_schema(const Operation& operation);
JsonArray openapi_parameters(const Operation& operation);

// The member of the answer that holds the object or the list: "cluster", "instance_groups", "operation".
std::string answer_member(const Meta& meta);
bool answers_list(const Meta& meta);

}  // namespace instantstart::app
