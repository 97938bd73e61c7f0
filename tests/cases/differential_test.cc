// The near half of the differential proof: differential.py writes calls and answers, this writes what our
// codecs make of them, and the script compares with what botocore makes. Run by the script only.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "aws/codec/codec.h"
#include "base/text.h"

namespace instantstart::aws {
namespace {

using base::JsonObject;
using base::JsonValue;

// Blobs travel as base64 in the file and are raw bytes here.
JsonValue decoded(const model::Member& member, const JsonValue& value) {
    const model::Shape& shape = *member.shape;
    if (shape.type == model::ShapeType::blob && value.is_string()) {
        std::string bytes;
        base::base64_decode(std::string_view(value.get_string()), bytes);
        return JsonValue(bytes);
    }
    if (value.is_array()) {
        base::JsonArray out;
        for (const auto& item : value.get_array()) out.push_back(decoded(shape.element, item));
        return out;
    }
    if (!value.is_object()) return value;
    JsonObject out;
    for (const auto& entry : value.get_object()) {
        const bool map = shape.type == model::ShapeType::map;
        out[entry.key()] = decoded(map ? shape.element : *shape.member(entry.key()), entry.value());
    }
    return out;
}

JsonValue call_of(const model::Service& service, const model::Operation& operation, const JsonValue& line) {
    JsonObject parameters = base::get_object(line, "parameters");
    if (operation.input != nullptr) {
        model::Member root;
        root.shape = operation.input;
        parameters = decoded(root, parameters).as_object();
    }
    JsonObject out;
    const auto made = codec::serialise(service, operation, parameters);
    if (!made.has_value()) return JsonObject{{"error", made.error().chain()}};
    const codec::Call& call = made.value();
    out["method"] = call.method;
    out["path"] = call.path;
    base::JsonArray query;
    for (const auto& [name, value] : call.query)
        query.push_back(base::JsonArray{JsonValue(name), JsonValue(value)});
    out["query"] = std::move(query);
    JsonObject headers;
    for (const auto& [name, value] : call.headers.fields()) headers[base::to_lower(name)] = value;
    out["headers"] = std::move(headers);
    out["body"] = base::base64_encode(call.body);
    base::JsonArray faults;
    if (operation.input != nullptr) {
        for (const auto& fault : model::validate(*operation.input, JsonValue(parameters))) {
            faults.push_back(JsonValue(fault.path + " " + fault.message));
        }
    }
    out["faults"] = std::move(faults);
    return out;
}

TEST(Differential, writes_what_our_codecs_make) {
    const char* in_name = std::getenv("INSTANTSTART_DIFFERENTIAL_IN");
    const char* out_name = std::getenv("INSTANTSTART_DIFFERENTIAL_OUT");
    ASSERT_TRUE(in_name != nullptr && out_name != nullptr) << "run by tests/cases/differential.py";
    std::ifstream in(in_name);
    std::ofstream out(out_name);
    std::string text;
    while (std::getline(in, text)) {
        const JsonValue line = base::parse_json(text, 64).value();
        const model::Service* service = model::embedded(base::get_string(line, "service"));
        ASSERT_NE(service, nullptr);
        const model::Operation* operation = service->operation(base::get_string(line, "operation"));
        ASSERT_NE(operation, nullptr);
        out << base::to_text(call_of(*service, *operation, line)) << "\n";
    }
}

}  // namespace
}  // namespace instantstart::aws
