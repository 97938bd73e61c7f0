#include "aws/codec/rest_writer.h"

#include <algorithm>
#include <cctype>

#include "aws/codec/values.h"
#include "aws/codec/writers.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

using model::Member;
using model::ShapeType;

std::string wire_name(const Member& member) {
    return member.location_name.empty() ? member.name : member.location_name;
}

const Member* label_member(const model::Shape& shape, const std::string& label) {
    for (const Member& member : shape.members) {
        if (member.location == "uri" && wire_name(member) == label) return &member;
    }
    return nullptr;
}

base::Result<std::string> label_text(const model::Operation& operation, const base::JsonObject& parameters,
                                     std::string label) {
    const bool greedy = label.ends_with('+');
    if (greedy) label.pop_back();
    const Member* member = operation.input == nullptr ? nullptr : label_member(*operation.input, label);
    const auto* value = member == nullptr ? nullptr : parameters.if_contains(member->name);
    const std::string text =
        value == nullptr || value->is_null() ? "" : scalar_text(*member, *value, TimeFormat::iso8601);
    if (text.empty()) {
        return base::invalid_error("invalid_parameter", operation.name + ": " + label + " must not be empty");
    }
    return base::percent_encode(text, greedy ? "/" : "");
}

// The path of the template, and the fixed part of its query.
base::Result<void> write_path(const model::Operation& operation, const base::JsonObject& parameters,
                              Call& call) {
    const std::size_t question = operation.request_uri.find('?');
    const std::string path = operation.request_uri.substr(0, question);
    call.path.clear();
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t close = path[at] == '{' ? path.find('}', at) : std::string::npos;
        if (close == std::string::npos) {
            call.path += path[at++];
            continue;
        }
        TRY(const std::string text, label_text(operation, parameters, path.substr(at + 1, close - at - 1)));
        call.path += text;
        at = close + 1;
    }
    if (question == std::string::npos) return base::ok();
    for (const std::string& part : base::split(operation.request_uri.substr(question + 1), '&')) {
        const std::size_t equals = part.find('=');
        if (part.empty()) continue;
        call.query.emplace_back(part.substr(0, equals),
                                equals == std::string::npos ? "" : part.substr(equals + 1));
    }
    return base::ok();
}

void write_query_member(const Member& member, const base::JsonValue& value, Call& call) {
    if (value.is_object()) {
        for (const auto& entry : value.get_object()) {
            const Member& element = member.shape->element;
            const bool taken = std::any_of(call.query.begin(), call.query.end(),
                                           [&](const auto& pair) { return pair.first == entry.key(); });
            if (taken) continue;  // a member with a name of its own wins
            if (entry.value().is_array() && element.shape != nullptr) {
                for (const auto& item : entry.value().get_array()) {
                    call.query.emplace_back(entry.key(),
                                            scalar_text(element.shape->element, item, TimeFormat::iso8601));
                }
            } else {
                call.query.emplace_back(entry.key(),
                                        scalar_text(element, entry.value(), TimeFormat::iso8601));
            }
        }
    } else if (value.is_array()) {
        for (const auto& item : value.get_array()) {
            call.query.emplace_back(wire_name(member),
                                    scalar_text(member.shape->element, item, TimeFormat::iso8601));
        }
    } else {
        call.query.emplace_back(wire_name(member), scalar_text(member, value, TimeFormat::iso8601));
    }
}

std::string header_item(const Member& element, const base::JsonValue& item) {
    std::string text = scalar_text(element, item, TimeFormat::http);
    const bool quoted = element.shape != nullptr && element.shape->type == ShapeType::string &&
                        text.find_first_of(",\"") != std::string::npos;
    if (!quoted) return text;
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '\\';
        out += c;
    }
    return out + '"';
}

void write_header_member(const Member& member, const base::JsonValue& value, Call& call) {
    if (member.json_value) {
        call.headers.set(wire_name(member), base::base64_encode(base::to_text(value)));
    } else if (value.is_array()) {
        std::vector<std::string> items;
        for (const auto& item : value.get_array()) {
            if (!item.is_null()) items.push_back(header_item(member.shape->element, item));
        }
        if (!value.get_array().empty()) call.headers.set(wire_name(member), base::join(items, ","));
    } else {
        std::string text = scalar_text(member, value, TimeFormat::http);
        // Times in headers are whole seconds in every format.
        const std::size_t point =
            member.shape->type == ShapeType::timestamp ? text.find('.') : std::string::npos;
        if (point != std::string::npos && text.ends_with('Z')) text.erase(point, text.size() - 1 - point);
        call.headers.set(wire_name(member), std::move(text));
    }
}

void write_located(const model::Shape& input, const base::JsonObject& parameters, Call& call) {
    // Maps come last, so that they cannot displace members with names of their own.
    for (const bool maps : {false, true}) {
        for (const auto& entry : parameters) {
            const Member* member = input.member(entry.key());
            if (member == nullptr || entry.value().is_null() || entry.value().is_object() != maps) continue;
            if (member->location == "querystring") write_query_member(*member, entry.value(), call);
            // The length is the transport's to say: another one would part the connection from its bytes.
            if (base::iequals(wire_name(*member), "Content-Length")) continue;
            if (member->location == "header") write_header_member(*member, entry.value(), call);
            if (member->location == "headers" && maps) {
                for (const auto& pair : entry.value().get_object()) {
                    if (!pair.value().is_string()) continue;
                    call.headers.set(member->location_name + std::string(pair.key()),
                                     std::string(pair.value().get_string()));
                }
            }
        }
    }
}

// A line end in a value would begin a header of its own.
base::Result<void> check_headers(const model::Operation& operation, const Call& call) {
    constexpr std::string_view kInNames = "!#$%&'*+-.^_`|~";
    for (const auto& [name, value] : call.headers.fields()) {
        const bool named = std::all_of(name.begin(), name.end(), [&](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                   kInNames.find(c) != std::string_view::npos;
        });
        const bool one_line = std::none_of(value.begin(), value.end(), [](char c) {
            return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
        });
        if (!named) {
            return base::invalid_error("invalid_parameter",
                                       operation.name + ": a header cannot be called \"" + name + "\"");
        }
        if (!one_line) {
            return base::invalid_error("invalid_parameter",
                                       operation.name + ": the value of " + name +
                                           " must not hold line ends or other control characters");
        }
    }
    return base::ok();
}

class BodyWriter {
public:
    BodyWriter(const model::Operation& operation, const base::JsonObject& parameters, RestDialect dialect)
        : operation_(operation), input_(*operation.input), parameters_(parameters), dialect_(dialect) {}

    void write(Call& call) {
        if (!input_.payload.empty()) return write_payload(call);
        const bool any_body = std::any_of(input_.members.begin(), input_.members.end(),
                                          [](const Member& each) { return each.location.empty(); });
        if (!any_body) return;
        const bool given = std::any_of(parameters_.begin(), parameters_.end(), [&](const auto& entry) {
            const Member* member = input_.member(entry.key());
            return member != nullptr && member->location.empty() && !entry.value().is_null();
        });
        if (dialect_ == RestDialect::json) {
            call.body = base::to_text(write_json_members(input_, parameters_));
        } else if (given) {
            call.body = write_xml(root_of_input(), root_name(), parameters_);
        }
        if (!call.body.empty()) set_type(call);
    }

private:
    void write_payload(Call& call) {
        const Member* member = input_.member(input_.payload);
        if (member == nullptr) return;
        const auto* value = parameters_.if_contains(member->name);
        const bool absent = value == nullptr || value->is_null();
        const bool raw = member->shape->type == ShapeType::blob || member->shape->type == ShapeType::string;
        if (raw) {
            if (absent || !value->is_string()) return;
            call.body = std::string(value->get_string());
            set_raw_type(member->shape->type, call);
            return;
        }
        if (dialect_ == RestDialect::json) {
            call.body = absent ? "{}" : base::to_text(write_json(*member, *value));
        } else if (!absent) {
            const std::string& own = member->shape->location_name;
            const std::string& name = member->location_name.empty() ? own : member->location_name;
            call.body = write_xml(*member, name.empty() ? member->shape->name : name, *value);
        }
        if (!call.body.empty()) set_type(call);
    }

    void set_type(Call& call) const {
        if (call.headers.has("Content-Type")) return;
        call.headers.set("Content-Type",
                         dialect_ == RestDialect::json ? "application/json" : "application/xml");
    }

    void set_raw_type(ShapeType type, Call& call) const {
        if (call.headers.has("Content-Type")) return;
        if (type == ShapeType::string) call.headers.set("Content-Type", "text/plain");
        // S3 keeps what it is told as the object's type: it is told nothing.
        if (type == ShapeType::blob && dialect_ == RestDialect::json) {
            call.headers.set("Content-Type", "application/octet-stream");
        }
    }

    std::string root_name() const {
        if (!operation_.input_root.empty()) return operation_.input_root;
        return input_.location_name.empty() ? input_.name : input_.location_name;
    }

    Member root_of_input() const {
        Member root;
        root.shape = &input_;
        root.xml_namespace_uri =
            operation_.input_namespace.empty() ? input_.xml_namespace_uri : operation_.input_namespace;
        root.xml_namespace_prefix = input_.xml_namespace_prefix;
        return root;
    }

    const model::Operation& operation_;
    const model::Shape& input_;
    const base::JsonObject& parameters_;
    RestDialect dialect_;
};

}  // namespace

base::Result<Call> write_rest(const model::Operation& operation, const base::JsonObject& parameters,
                              RestDialect dialect) {
    Call call;
    call.method = operation.http_method;
    CHECK_OK(write_path(operation, parameters, call));
    if (operation.input == nullptr) return call;
    write_located(*operation.input, parameters, call);
    CHECK_OK(check_headers(operation, call));
    BodyWriter(operation, parameters, dialect).write(call);
    return call;
}

}  // namespace instantstart::aws::codec
