#include <algorithm>
#include <pugixml.hpp>

#include "aws/codec/codec.h"
#include "aws/codec/readers.h"
#include "aws/codec/values.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

using base::JsonObject;
using base::JsonValue;
using model::Member;
using model::ShapeType;

base::Error unreadable(const model::Operation& operation, const Answer& answer, std::string_view what) {
    constexpr std::size_t kShown = 200;
    std::string shown = answer.body.substr(0, kShown);
    std::replace_if(shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '.');
    return base::Error(base::ErrorKind::internal, "unreadable_answer",
                       "the answer to " + operation.name + " is not " + std::string(what))
        .with_detail("status " + std::to_string(answer.status) + ", body: " + shown);
}

bool is_time(const Member& member) {
    return member.shape->type == ShapeType::timestamp;
}

// A list in a header: parted by commas outside of quotes; HTTP dates have a comma of their own.
std::vector<std::string> header_items(const Member& element, std::string_view text) {
    std::vector<std::string> items;
    std::string item;
    bool quoted = false;
    const bool dates = is_time(element) && time_format_of(element, TimeFormat::http) == TimeFormat::http;
    std::size_t commas = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && quoted && i + 1 < text.size()) {
            item += text[++i];
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (text[i] == ',' && !quoted && !(dates && commas++ % 2 == 0)) {
            items.emplace_back(base::trim(item));
            item.clear();
        } else {
            item += text[i];
        }
    }
    items.emplace_back(base::trim(item));
    return items;
}

JsonValue read_header(const Member& member, const std::string& text) {
    if (member.json_value) {
        std::string decoded;
        if (base::base64_decode(text, decoded)) {
            auto parsed = base::parse_json(decoded);
            if (parsed.has_value()) return std::move(parsed).value();
        }
        return JsonValue(text);
    }
    if (member.shape->type == ShapeType::list) {
        base::JsonArray out;
        for (const std::string& item : header_items(member.shape->element, text)) {
            out.push_back(read_scalar(*member.shape->element.shape, item));
        }
        return out;
    }
    return read_scalar(*member.shape, text);
}

void read_located(const model::Shape& shape, const Answer& answer, JsonObject& out) {
    for (const Member& member : shape.members) {
        const std::string& name = member.location_name.empty() ? member.name : member.location_name;
        if (member.location == "statusCode") out[member.name] = answer.status;
        if (member.location == "header" && answer.headers.has(name)) {
            out[member.name] = read_header(member, header_text(answer.headers.get(name)));
        }
        if (member.location != "headers") continue;
        JsonObject map;
        const std::string prefix = base::to_lower(member.location_name);
        for (const auto& [field, value] : answer.headers.fields()) {
            if (base::to_lower(field).starts_with(prefix))
                map[header_text(field.substr(prefix.size()))] = header_text(value);
        }
        out[member.name] = std::move(map);
    }
}

base::Result<JsonObject> json_body(const model::Operation& operation, const Answer& answer) {
    if (base::trim(answer.body).empty()) return JsonObject();
    auto parsed = base::parse_json(answer.body, 64);
    if (!parsed.has_value() || !parsed.value().is_object())
        return unreadable(operation, answer, "a JSON object");
    return std::move(parsed.value().get_object());
}

base::Result<JsonObject> parse_json_protocol(const model::Operation& operation, const Answer& answer) {
    if (operation.output == nullptr) return JsonObject();
    TRY(JsonObject body, json_body(operation, answer));
    return read_json_members(*operation.output, std::move(body));
}

base::Result<JsonObject> parse_query_protocol(const model::Operation& operation, const Answer& answer) {
    if (operation.output == nullptr) return JsonObject();
    if (operation.output->members.empty() && base::trim(answer.body).empty()) return JsonObject();
    pugi::xml_document document;
    if (!load_xml(document, answer.body)) return unreadable(operation, answer, "an XML document");
    pugi::xml_node start = document.document_element();
    if (local_name(start) == "html") return unreadable(operation, answer, "one of AWS");
    if (!operation.result_wrapper.empty()) start = child_named(start, operation.result_wrapper);
    if (operation.result_wrapper.empty()) {
        const pugi::xml_node usual = child_named(start, operation.name + "Result");
        if (usual) start = usual;
    }
    if (!start) return unreadable(operation, answer, "complete: " + operation.result_wrapper + " is missing");
    return read_xml_members(*operation.output, start);
}

class RestReader {
public:
    RestReader(const model::Service& service, const model::Operation& operation, const Answer& answer)
        : service_(service), operation_(operation), answer_(answer) {}

    base::Result<JsonObject> read() {
        if (operation_.output == nullptr) return JsonObject();
        const model::Shape& shape = *operation_.output;
        JsonObject out;
        read_located(shape, answer_, out);
        if (shape.payload.empty()) {
            TRY(JsonObject body, read_body(shape));
            for (auto& entry : body) out[entry.key()] = std::move(entry.value());
            return out;
        }
        const Member* payload = shape.member(shape.payload);
        if (payload == nullptr) return out;
        CHECK_OK(read_payload(*payload, out));
        return out;
    }

private:
    bool xml() const { return service_.protocol == "rest-xml"; }

    base::Result<void> read_payload(const Member& payload, JsonObject& out) {
        const ShapeType type = payload.shape->type;
        if (type == ShapeType::blob || type == ShapeType::string) {
            out[payload.name] = answer_.body;
            return base::ok();
        }
        if (base::trim(answer_.body).empty()) return base::ok();
        if (!xml()) {
            auto parsed = base::parse_json(answer_.body, 64);
            if (!parsed.has_value()) return unreadable(operation_, answer_, "JSON");
            if (!parsed.value().is_null()) out[payload.name] = read_json(payload, std::move(parsed.value()));
            return base::ok();
        }
        pugi::xml_document document;
        CHECK_OK(load_success(document));
        out[payload.name] = read_xml(payload, document.document_element());
        return base::ok();
    }

    base::Result<void> load_success(pugi::xml_document& document) const {
        if (!load_xml(document, answer_.body)) return unreadable(operation_, answer_, "an XML document");
        // S3 may begin an answer as a success and end it as a failure.
        if (local_name(document.document_element()) == "Error")
            return unreadable(operation_, answer_, "a success, for all its status");
        return base::ok();
    }

    base::Result<JsonObject> read_body(const model::Shape& shape) {
        if (!xml()) {
            TRY(JsonObject body, json_body(operation_, answer_));
            return read_json_members(shape, std::move(body));
        }
        if (base::trim(answer_.body).empty()) return JsonObject();
        pugi::xml_document document;
        CHECK_OK(load_success(document));
        const pugi::xml_node root = document.document_element();
        // S3's one answer whose root element itself is the value.
        if (operation_.name == "GetBucketLocation") {
            JsonObject out;
            const std::string_view text = base::trim(root.text().get());
            if (!text.empty()) out["LocationConstraint"] = text;
            return out;
        }
        return read_xml_members(shape, root);
    }

    const model::Service& service_;
    const model::Operation& operation_;
    const Answer& answer_;
};

}  // namespace

base::Result<JsonObject> parse(const model::Service& service, const model::Operation& operation,
                               const Answer& answer) {
    if (service.protocol == "json") return parse_json_protocol(operation, answer);
    if (service.protocol == "query" || service.protocol == "ec2")
        return parse_query_protocol(operation, answer);
    return RestReader(service, operation, answer).read();
}

std::string request_id_of(const Answer& answer) {
    for (const char* name : {"x-amzn-RequestId", "x-amz-request-id", "x-amzn-request-id"}) {
        std::string id = header_text(answer.headers.get(name));
        if (!id.empty()) return id;
    }
    return "";
}

}  // namespace instantstart::aws::codec
