// Service models: operations and shapes as botocore has them, pruned. Shared by the client and the twin
// (their codecs are not).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace instantstart::aws::model {

enum class ShapeType : std::uint8_t {
    structure,
    list,
    map,
    string,
    integer,
    long_integer,
    float_number,
    double_number,
    boolean,
    blob,
    timestamp
};

struct Shape;
class Pattern;  // model/pattern.h

struct Member {
    std::string name;
    const Shape* shape = nullptr;
    bool required = false;
    // Traits of the member reference (falling back to the shape's own): "" where absent.
    std::string location;       // "uri", "querystring", "header", "headers", "statusCode"
    std::string location_name;  // name on the wire
    std::string query_name;     // ec2's queryName
    std::string timestamp_format;
    std::string xml_namespace_uri, xml_namespace_prefix;
    bool flattened = false, xml_attribute = false, streaming = false, idempotency_token = false,
         json_value = false, host_label = false;
};

struct Shape {
    std::string name;
    ShapeType type = ShapeType::structure;
    std::vector<Member> members;  // structure, in the model's order
    Member element;               // list: its member; map: the value
    Member key;                   // map
    std::vector<std::string> enumeration;
    std::optional<double> min, max;
    std::string pattern;
    std::shared_ptr<const Pattern> compiled_pattern;  // null where there is none, or none that we can compile
    std::string timestamp_format;
    std::string payload;  // name of the payload member
    std::string location_name, xml_namespace_uri, xml_namespace_prefix;
    bool flattened = false, streaming = false, union_type = false, wrapper = false;
    bool sensitive = false, document = false;
    // exceptions
    bool exception = false, fault_of_sender = false;
    std::string error_code;  // wire code where it differs from the name
    int http_status = 0;
    const Member* member(std::string_view name) const;
};

struct Paginator {
    std::vector<std::string> input_tokens, output_tokens, result_keys;
    std::vector<std::string> non_aggregate_keys;  // members of the first page that belong to the whole
    std::string more_results, limit_key;
};

struct Operation {
    std::string name;
    std::string http_method, request_uri;
    const Shape* input = nullptr;             // may be null
    const Shape* output = nullptr;            // may be null
    std::string result_wrapper;               // query protocol
    std::string input_root, input_namespace;  // rest-xml: locationName and namespace of the input's root
    std::vector<const Shape*> errors;
    bool http_checksum_required = false;
    std::string checksum_algorithm_member;  // s3: the input member that names the algorithm
    bool unsigned_call = false;             // sts AssumeRoleWithWebIdentity and the like carry no signature
    int response_code = 200;                // of a success
    const Paginator* paginator = nullptr;   // may be null
    // True where the name says that it only reads (Describe, Get, List, Head, Simulate, …).
    bool read_only() const;
    const Member* idempotency_token() const;  // null where it has none
};

struct Service {
    std::string name;      // botocore's ("ec2")
    std::string protocol;  // "json", "rest-json", "query", "ec2", "rest-xml"
    std::string api_version, endpoint_prefix, signing_name, target_prefix, json_version, service_id,
        xml_namespace;
    bool query_compatible = false;  // error codes are those of its former query protocol
    bool global = false;            // one endpoint and signing region per partition: iam
    std::map<std::string, Operation, std::less<>> operations;
    std::map<std::string, std::unique_ptr<Shape>, std::less<>> shapes;
    std::map<std::string, Paginator, std::less<>> paginators;
    const Operation* operation(std::string_view name) const;
};

// Reads the text of a models/*.json file.
base::Result<std::unique_ptr<Service>> load(std::string_view text);
// The models embedded in the binary: names, and one by name (loaded once, kept for the life of the process;
// null where absent).
const std::vector<std::string>& embedded_names();
const Service* embedded(std::string_view name);

// Every fault of `parameters` against `shape`, as (path, message): required, types, enums, ranges, lengths,
// patterns, unknown members.
struct Fault {
    std::string path;  // "Filters.0.Name"
    std::string message;
    std::string rule;  // "required", "type", "enum", "range", "length", "pattern", "unknown"
};
std::vector<Fault> validate(const Shape& shape, const base::JsonValue& parameters);

}  // namespace instantstart::aws::model
