// Reads models/*.json into shapes and operations. First every shape gets its place, then references are
// resolved.
#include <algorithm>

#include "aws/model/model.h"
#include "aws/model/pattern.h"
#include "base/text.h"

namespace instantstart::aws::model {

namespace {

using base::get_bool;
using base::get_string;

std::optional<ShapeType> type_of(const std::string& name) {
    static const std::map<std::string, ShapeType, std::less<>> kTypes = {{"structure", ShapeType::structure},
                                                                         {"list", ShapeType::list},
                                                                         {"map", ShapeType::map},
                                                                         {"string", ShapeType::string},
                                                                         {"character", ShapeType::string},
                                                                         {"integer", ShapeType::integer},
                                                                         {"long", ShapeType::long_integer},
                                                                         {"float", ShapeType::float_number},
                                                                         {"double", ShapeType::double_number},
                                                                         {"boolean", ShapeType::boolean},
                                                                         {"blob", ShapeType::blob},
                                                                         {"timestamp", ShapeType::timestamp}};
    const auto found = kTypes.find(name);
    if (found == kTypes.end()) return std::nullopt;
    return found->second;
}

base::Error bad_model(const std::string& what) {
    return base::invalid_error("invalid_model", what);
}

std::optional<double> number(const base::JsonObject& from, std::string_view key) {
    const auto* found = from.if_contains(key);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    return found->to_number<double>();
}

// The trait is a text, or an object with a prefix.
std::string namespace_uri(const base::JsonObject& from) {
    return get_string(from, "xmlNamespace", get_string(from, "xmlNamespace.uri"));
}

class Loader {
public:
    explicit Loader(const base::JsonObject& root) : root_(root), service_(std::make_unique<Service>()) {}

    base::Result<std::unique_ptr<Service>> load() {
        load_metadata();
        CHECK_OK(declare_shapes());
        for (const auto& [name, shape] : base::get_object(root_, "shapes")) {
            CHECK_OK(fill_shape(*service_->shapes.find(std::string_view(name))->second, shape.get_object()));
        }
        load_paginators();
        for (const auto& [name, operation] : base::get_object(root_, "operations")) {
            if (!operation.is_object()) return bad_model("operation " + std::string(name) + " is no object");
            CHECK_OK(load_operation(std::string(name), operation.get_object()));
        }
        return std::move(service_);
    }

private:
    void load_metadata() {
        const auto& from = base::get_object(root_, "metadata");
        Service& service = *service_;
        service.service_id = get_string(from, "serviceId");
        service.name = get_string(from, "service", base::to_lower(service.service_id));
        service.protocol = get_string(from, "protocol");
        service.api_version = get_string(from, "apiVersion");
        service.endpoint_prefix = get_string(from, "endpointPrefix");
        service.signing_name = get_string(from, "signingName", service.endpoint_prefix);
        service.target_prefix = get_string(from, "targetPrefix");
        service.json_version = get_string(from, "jsonVersion", "1.1");
        service.xml_namespace = namespace_uri(from);
        service.query_compatible = from.contains("awsQueryCompatible");
        service.global = service.name == "iam";
    }

    base::Result<void> declare_shapes() {
        for (const auto& [name, shape] : base::get_object(root_, "shapes")) {
            if (!shape.is_object()) return bad_model("shape " + std::string(name) + " is no object");
            const auto type = type_of(get_string(shape, "type"));
            if (!type) return bad_model("shape " + std::string(name) + " has no known type");
            auto made = std::make_unique<Shape>();
            made->name = std::string(name);
            made->type = *type;
            service_->shapes.emplace(std::string(name), std::move(made));
        }
        return base::ok();
    }

    base::Result<const Shape*> shape_named(std::string_view name) const {
        const auto found = service_->shapes.find(name);
        if (found == service_->shapes.end()) return bad_model("no shape " + std::string(name));
        return static_cast<const Shape*>(found->second.get());
    }

    // The traits of a reference, and those of the shape it names where the reference has none.
    base::Result<Member> member_of(std::string name, const base::JsonValue& reference) const {
        if (!reference.is_object()) return bad_model("member " + name + " is no object");
        const auto& from = reference.get_object();
        TRY(const Shape* shape, shape_named(get_string(from, "shape")));
        const auto& own = base::get_object(base::get_object(root_, "shapes"), shape->name);
        Member made;
        made.name = std::move(name);
        made.shape = shape;
        made.location = get_string(from, "location");
        made.location_name = get_string(from, "locationName", get_string(own, "locationName"));
        made.query_name = get_string(from, "queryName");
        made.timestamp_format = get_string(from, "timestampFormat", get_string(own, "timestampFormat"));
        made.xml_namespace_uri = namespace_uri(from);
        if (made.xml_namespace_uri.empty()) made.xml_namespace_uri = namespace_uri(own);
        made.xml_namespace_prefix =
            get_string(from, "xmlNamespace.prefix", get_string(own, "xmlNamespace.prefix"));
        made.flattened = get_bool(from, "flattened", get_bool(own, "flattened"));
        made.xml_attribute = get_bool(from, "xmlAttribute", get_bool(own, "xmlAttribute"));
        made.streaming = get_bool(from, "streaming", get_bool(own, "streaming"));
        made.idempotency_token = get_bool(from, "idempotencyToken", get_bool(own, "idempotencyToken"));
        made.json_value = get_bool(from, "jsonvalue", get_bool(own, "jsonvalue"));
        made.host_label = get_bool(from, "hostLabel");
        return made;
    }

    base::Result<void> fill_shape(Shape& shape, const base::JsonObject& from) {
        shape.min = number(from, "min");
        shape.max = number(from, "max");
        shape.pattern = get_string(from, "pattern");
        if (!shape.pattern.empty()) shape.compiled_pattern = Pattern::compile(shape.pattern);
        shape.timestamp_format = get_string(from, "timestampFormat");
        shape.payload = get_string(from, "payload");
        shape.location_name = get_string(from, "locationName");
        shape.xml_namespace_uri = namespace_uri(from);
        shape.xml_namespace_prefix = get_string(from, "xmlNamespace.prefix");
        shape.flattened = get_bool(from, "flattened");
        shape.streaming = get_bool(from, "streaming");
        shape.union_type = get_bool(from, "union");
        shape.wrapper = get_bool(from, "wrapper");
        shape.sensitive = get_bool(from, "sensitive");
        shape.document = get_bool(from, "document");
        shape.exception = get_bool(from, "exception");
        shape.fault_of_sender = get_bool(from, "error.senderFault");
        shape.error_code = get_string(from, "error.code");
        shape.http_status = static_cast<int>(base::get_int(from, "error.httpStatusCode"));
        for (const auto& value : base::get_array(from, "enum")) {
            if (value.is_string()) shape.enumeration.emplace_back(value.get_string());
        }
        return fill_members(shape, from);
    }

    base::Result<void> fill_members(Shape& shape, const base::JsonObject& from) {
        for (const auto& [name, reference] : base::get_object(from, "members")) {
            TRY(Member made, member_of(std::string(name), reference));
            shape.members.push_back(std::move(made));
        }
        for (const auto& name : base::get_array(from, "required")) {
            if (!name.is_string()) continue;
            for (Member& member : shape.members) {
                if (name.get_string() == member.name) member.required = true;
            }
        }
        if (shape.type == ShapeType::list) {
            const auto* element = from.if_contains("member");
            if (element == nullptr) return bad_model("list " + shape.name + " has no member");
            TRY(shape.element, member_of("member", *element));
        }
        if (shape.type == ShapeType::map) {
            const auto* key = from.if_contains("key");
            const auto* value = from.if_contains("value");
            if (key == nullptr || value == nullptr)
                return bad_model("map " + shape.name + " lacks key or value");
            TRY(shape.key, member_of("key", *key));
            TRY(shape.element, member_of("value", *value));
        }
        return base::ok();
    }

    static std::vector<std::string> strings(const base::JsonObject& from, std::string_view key) {
        std::vector<std::string> out;
        const auto* found = from.if_contains(key);
        if (found == nullptr) return out;
        if (found->is_string()) out.emplace_back(found->get_string());
        if (!found->is_array()) return out;
        for (const auto& value : found->get_array()) {
            if (value.is_string()) out.emplace_back(value.get_string());
        }
        return out;
    }

    void load_paginators() {
        for (const auto& [name, value] : base::get_object(root_, "pagination")) {
            if (!value.is_object()) continue;
            const auto& from = value.get_object();
            Paginator made;
            made.input_tokens = strings(from, "input_token");
            made.output_tokens = strings(from, "output_token");
            made.result_keys = strings(from, "result_key");
            made.non_aggregate_keys = strings(from, "non_aggregate_keys");
            made.more_results = get_string(from, "more_results");
            made.limit_key = get_string(from, "limit_key");
            service_->paginators.emplace(std::string(name), std::move(made));
        }
    }

    base::Result<void> load_operation(std::string name, const base::JsonObject& from) {
        Operation made;
        made.name = name;
        made.http_method = get_string(from, "http.method", "POST");
        made.request_uri = get_string(from, "http.requestUri", "/");
        made.response_code = static_cast<int>(base::get_int(from, "http.responseCode", 200));
        made.result_wrapper = get_string(from, "output.resultWrapper");
        made.input_root = get_string(from, "input.locationName");
        made.input_namespace = namespace_uri(base::get_object(from, "input"));
        made.http_checksum_required =
            get_bool(from, "httpChecksumRequired", get_bool(from, "httpChecksum.requestChecksumRequired"));
        made.checksum_algorithm_member = get_string(from, "httpChecksum.requestAlgorithmMember");
        made.unsigned_call = get_string(from, "authtype") == "none";
        const auto& input = base::get_object(from, "input");
        const auto& output = base::get_object(from, "output");
        if (!input.empty()) {
            TRY(made.input, shape_named(get_string(input, "shape")));
        }
        if (!output.empty()) {
            TRY(made.output, shape_named(get_string(output, "shape")));
        }
        for (const auto& error : base::get_array(from, "errors")) {
            TRY(const Shape* shape, shape_named(get_string(error, "shape")));
            made.errors.push_back(shape);
        }
        const auto paginator = service_->paginators.find(name);
        if (paginator != service_->paginators.end()) made.paginator = &paginator->second;
        service_->operations.emplace(std::move(name), std::move(made));
        return base::ok();
    }

    const base::JsonObject& root_;
    std::unique_ptr<Service> service_;
};

}  // namespace

const Member* Shape::member(std::string_view wanted) const {
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const Member& each) { return each.name == wanted; });
    return found == members.end() ? nullptr : &*found;
}

const Operation* Service::operation(std::string_view wanted) const {
    const auto found = operations.find(wanted);
    return found == operations.end() ? nullptr : &found->second;
}

bool Operation::read_only() const {
    // AssumeRole and the other givers of tokens change nothing either: a second answer is as good as the
    // first.
    static constexpr std::string_view kVerbs[] = {"Describe", "Get",      "List",       "Head",   "Simulate",
                                                  "Search",   "BatchGet", "AssumeRole", "Filter", "Decode"};
    return std::any_of(std::begin(kVerbs), std::end(kVerbs),
                       [this](std::string_view verb) { return name.starts_with(verb); });
}

const Member* Operation::idempotency_token() const {
    if (input == nullptr) return nullptr;
    const auto& all = input->members;
    const auto found =
        std::find_if(all.begin(), all.end(), [](const Member& each) { return each.idempotency_token; });
    return found == all.end() ? nullptr : &*found;
}

base::Result<std::unique_ptr<Service>> load(std::string_view text) {
    TRY(base::JsonValue root, base::parse_json(text, 64));
    if (!root.is_object()) return bad_model("a model is a JSON object");
    return Loader(root.get_object()).load();
}

}  // namespace instantstart::aws::model
