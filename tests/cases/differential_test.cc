// The near half of the differential proof: differential.py and signatures.py write calls, answers and
// requests, this writes what ours makes of them, and the scripts compare with botocore. Run by the scripts
// only.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "aws/codec/codec.h"
#include "aws/sigv4.h"
#include "base/text.h"

namespace instantstart::aws {
namespace {

using base::JsonObject;
using base::JsonValue;

// A value with its blobs changed. They travel as base64 in the files and are raw bytes here.
using Change = std::function<std::string(std::string_view)>;

std::string bytes_of(std::string_view text) {
    std::string bytes;
    EXPECT_TRUE(base::base64_decode(text, bytes)) << text;
    return bytes;
}

JsonValue with_blobs(const model::Member& member, const JsonValue& value, const Change& change) {
    const model::Shape& shape = *member.shape;
    if (shape.type == model::ShapeType::blob && value.is_string()) {
        return JsonValue(change(std::string_view(value.get_string())));
    }
    if (shape.document) return value;
    if (value.is_array()) {
        base::JsonArray out;
        for (const auto& item : value.get_array()) out.push_back(with_blobs(shape.element, item, change));
        return out;
    }
    if (!value.is_object()) return value;
    JsonObject out;
    for (const auto& entry : value.get_object()) {
        const bool map = shape.type == model::ShapeType::map;
        const model::Member* inner = map ? &shape.element : shape.member(entry.key());
        out[entry.key()] = inner == nullptr ? entry.value() : with_blobs(*inner, entry.value(), change);
    }
    return out;
}

JsonObject with_blobs(const model::Shape* shape, const JsonObject& values, const Change& change) {
    if (shape == nullptr) return values;
    model::Member root;
    root.shape = shape;
    return with_blobs(root, values, change).as_object();
}

JsonValue call_of(const model::Service& service, const model::Operation& operation, const JsonValue& line) {
    JsonObject parameters = with_blobs(operation.input, base::get_object(line, "parameters"), bytes_of);
    codec::fill_idempotency_token(operation, parameters, base::get_string(line, "token"));
    auto made = codec::serialise(service, operation, parameters);
    if (!made.has_value()) return JsonObject{{"error", made.error().chain()}};
    codec::Call& call = made.value();
    codec::add_checksum(operation, parameters, call);
    JsonObject out{{"method", call.method}, {"path", call.path}};
    base::JsonArray query;
    for (const auto& [name, value] : call.query)
        query.push_back(base::JsonArray{JsonValue(name), JsonValue(value)});
    out["query"] = std::move(query);
    JsonObject headers;
    for (const auto& [name, value] : call.headers.fields()) headers[base::to_lower(name)] = value;
    out["headers"] = std::move(headers);
    out["body"] = base::base64_encode(call.body);
    return out;
}

http::Headers headers_of(const JsonValue& from) {
    http::Headers out;
    for (const auto& pair : base::get_array(from, "headers")) {
        out.add(base::get_string(pair, "0"), base::get_string(pair, "1"));
    }
    return out;
}

JsonValue answer_of(const model::Service& service, const model::Operation& operation, const JsonValue& line) {
    const JsonObject& from = base::get_object(line, "answer");
    codec::Answer answer;
    answer.status = static_cast<int>(base::get_int(from, "status"));
    answer.headers = headers_of(from);
    answer.body = bytes_of(base::get_string(from, "body"));
    constexpr int kFirstFailure = 300;
    const auto encode = [](std::string_view bytes) { return base::base64_encode(bytes); };
    if (answer.status >= kFirstFailure) {
        const auto error = codec::parse_error(service, operation, answer);
        const model::Shape* shape = nullptr;
        for (const model::Shape* each : operation.errors) {
            if (each->name == error.code || each->error_code == error.code) shape = each;
        }
        return JsonObject{{"error",
                           {{"code", error.code},
                            {"message", error.message},
                            {"request_id", error.request_id},
                            {"members", with_blobs(shape, error.members, encode)}}}};
    }
    const auto parsed = codec::parse(service, operation, answer);
    if (!parsed.has_value()) return JsonObject{{"unreadable", parsed.error().chain()}};
    return JsonObject{{"values", with_blobs(operation.output, parsed.value(), encode)}};
}

base::JsonArray faults_of(const model::Operation& operation, const JsonObject& parameters) {
    base::JsonArray out;
    if (operation.input == nullptr) return out;
    for (const auto& fault : model::validate(*operation.input, JsonValue(parameters))) {
        out.push_back(
            base::JsonArray{JsonValue(fault.path), JsonValue(fault.rule), JsonValue(fault.message)});
    }
    return out;
}

// Calls `make` for each line of the one file and writes its result as a line of the other.
void for_each_line(const std::function<JsonValue(const JsonValue&)>& make) {
    const char* in_name = std::getenv("INSTANTSTART_DIFFERENTIAL_IN");
    const char* out_name = std::getenv("INSTANTSTART_DIFFERENTIAL_OUT");
    ASSERT_TRUE(in_name != nullptr && out_name != nullptr) << "run by a script in tests/cases";
    std::ifstream in(in_name);
    std::ofstream out(out_name);
    std::string text;
    while (std::getline(in, text)) {
        const auto line = base::parse_json(text, 96);
        ASSERT_TRUE(line.has_value()) << line.error().chain() << text.substr(0, 200);
        out << base::to_text(make(line.value())) << "\n";
    }
}

TEST(Differential, writes_what_our_codecs_make) {
    for_each_line([](const JsonValue& line) -> JsonValue {
        const model::Service* service = model::embedded(base::get_string(line, "service"));
        const model::Operation* operation =
            service == nullptr ? nullptr : service->operation(base::get_string(line, "operation"));
        if (operation == nullptr) return JsonObject{{"call", JsonObject{{"error", "no such operation"}}}};
        return JsonObject{{"call", call_of(*service, *operation, line)},
                          {"answer", answer_of(*service, *operation, line)},
                          {"faults", faults_of(*operation, base::get_object(line, "spoilt"))}};
    });
}

TEST(Signatures, writes_what_our_signer_makes) {
    for_each_line([](const JsonValue& line) -> JsonValue {
        http::Request request;
        request.method = base::get_string(line, "method");
        request.scheme = base::get_string(line, "scheme");
        request.host = base::get_string(line, "host");
        request.port = static_cast<std::uint16_t>(base::get_int(line, "port"));
        request.target = base::get_string(line, "target");
        request.headers = headers_of(line);
        request.body = bytes_of(base::get_string(line, "body"));
        Credentials credentials;
        credentials.access_key = base::get_string(line, "access_key");
        credentials.secret_key = base::get_string(line, "secret_key");
        credentials.session_token = base::get_string(line, "session_token");
        SigningScope scope;
        scope.region = base::get_string(line, "region");
        scope.service = base::get_string(line, "service");
        scope.style = base::get_bool(line, "s3") ? SigningStyle::s3 : SigningStyle::common;
        const auto now = base::parse_time(base::get_string(line, "now"));
        if (!now) return JsonObject{{"error", "no time"}};
        const std::int64_t valid = base::get_int(line, "valid");
        if (valid > 0) {
            return JsonObject{
                {"target", presigned_target(request, credentials, scope, *now, std::chrono::seconds(valid))}};
        }
        sign(request, credentials, scope, *now);
        return JsonObject{{"authorization", request.headers.get("Authorization")}};
    });
}

}  // namespace
}  // namespace instantstart::aws
