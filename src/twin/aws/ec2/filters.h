// Filters, ids and pages of EC2's Describe calls, described as data: which filter reads which path of the
// answer.
#pragma once

#include <functional>
#include <span>

#include "twin/aws/resources/record.h"

namespace instantstart::twin::ec2 {

struct State;

struct FilterPath {
    std::string_view filter;  // "vpc-id"
    std::string_view path;    // "VpcId"; "*" walks a list: "Attachments.*.VpcId"
};

// EC2's wildcards: `*` for any text, `?` for one character.
bool wildcard_match(std::string_view pattern, std::string_view text);
// All scalar values at the path, as text.
std::vector<std::string> values_at(const JsonObject& object, std::string_view path);
// Null where all filters (parameter `Filters`) match; an error names a filter that the call does not know.
std::optional<ServiceError> check_filters(const JsonArray& filters, std::span<const FilterPath> known);
bool matches(const JsonObject& object, const JsonArray& filters, std::span<const FilterPath> known);

struct Listing {
    Listing() = default;
    std::string_view result;          // member of the answer
    std::string_view ids_parameter;   // "VpcIds", "" for none
    std::string_view not_found_code;  // "InvalidVpcID.NotFound"
    std::string_view noun;            // "vpc ID"
    std::string_view filters_parameter = "Filters";
    std::span<const FilterPath> filters;
    std::function<JsonObject(const Record&)> render;  // default: the data
};
Reply describe(State& state, const Table& table, const Call& call, const Listing& listing);
// The tail of a Describe over answers made elsewhere: filter and page.
Reply describe_values(const Call& call, const JsonArray& all, const Listing& listing);

}  // namespace instantstart::twin::ec2
