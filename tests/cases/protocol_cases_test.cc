// The client's serialisers and parsers against protocol test files: metadata, shapes and cases, in the form
// of botocore's tests/unit/protocols. Run where INSTANTSTART_PROTOCOL_CASES names a folder with input/ and
// output/; cases that the reference itself leaves out (ignored-by-botocore.json there) are counted apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "aws/codec/codec.h"
#include "base/text.h"
#include "base/time.h"

namespace instantstart::aws {
namespace {

namespace fs = std::filesystem;
using base::JsonObject;
using base::JsonValue;

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

JsonValue json_file(const fs::path& path) {
    return base::parse_json(read_file(path), 64).value();
}

struct Tally {
    int passed = 0, failed = 0, left_out = 0;
};

// One case as a service of its own.
std::unique_ptr<model::Service> service_of(const JsonValue& suite, const JsonValue& one) {
    JsonObject model;
    model["metadata"] = base::get_object(suite, "metadata");
    model["shapes"] = base::get_object(suite, "shapes");
    JsonObject given = base::get_object(one, "given");
    model["operations"] = JsonObject{{base::get_string(given, "name"), given}};
    auto loaded = model::load(base::to_text(JsonValue(model)));
    EXPECT_TRUE(loaded.has_value()) << (loaded.has_value() ? "" : loaded.error().chain());
    return loaded.has_value() ? std::move(loaded).value() : nullptr;
}

std::vector<std::string> sorted_parts(const std::string& text) {
    std::vector<std::string> out;
    for (const std::string& part : base::split(text, '&')) {
        const std::size_t equals = part.find('=');
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        if (!part.empty())
            out.push_back(base::percent_decode(part.substr(0, equals)) + "=" + base::percent_decode(value));
    }
    std::sort(out.begin(), out.end());
    return out;
}

// XML without the order of siblings and attributes.
std::string canonical(const pugi::xml_node& node) {
    std::vector<std::string> parts;
    for (const auto& attribute : node.attributes()) {
        parts.push_back("@" + std::string(attribute.name()) + "=" + attribute.value());
    }
    for (const auto& child : node.children()) {
        if (child.type() == pugi::node_element) {
            parts.push_back(canonical(child));
        } else if (!base::trim(child.value()).empty()) {
            parts.push_back("'" + std::string(child.value()) + "'");
        }
    }
    std::sort(parts.begin(), parts.end());
    return std::string(node.name()) + "(" + base::join(parts, ",") + ")";
}

std::string comparable_body(const std::string& protocol, const std::string& text) {
    if (protocol == "query" || protocol == "ec2") return base::join(sorted_parts(text), "\n");
    if (protocol == "rest-xml") {
        pugi::xml_document document;
        if (document.load_string(text.c_str(), pugi::parse_default | pugi::parse_ws_pcdata_single)) {
            return canonical(document.document_element());
        }
    } else {
        auto parsed = base::parse_json(text, 64);
        if (parsed.has_value()) return base::canonical_text(parsed.value());
    }
    return text;
}

std::string target_of(const codec::Call& call) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : call.query) parts.push_back(name + "=" + value);
    std::sort(parts.begin(), parts.end());
    return call.path + "?" + base::join(parts, "&");
}

std::string expected_target(const std::string& uri) {
    const std::size_t question = uri.find('?');
    const std::string query = question == std::string::npos ? "" : uri.substr(question + 1);
    return uri.substr(0, question) + "?" + base::join(sorted_parts(query), "&");
}

// Lists in headers mean the same with and without spaces.
std::string unspaced_list(std::string text) {
    for (std::size_t at = text.find(", "); at != std::string::npos; at = text.find(", "))
        text.erase(at + 1, 1);
    return text;
}

// What differs, "" for nothing.
std::string check_input(const JsonValue& suite, const JsonValue& one) {
    const auto service = service_of(suite, one);
    if (service == nullptr) return "no model";
    const model::Operation& operation = service->operations.begin()->second;
    JsonObject parameters = base::get_object(one, "params");
    codec::fill_idempotency_token(operation, parameters, "00000000-0000-4000-8000-000000000000");
    auto made = codec::serialise(*service, operation, parameters);
    if (!made.has_value()) return made.error().chain();
    codec::add_checksum(operation, parameters, made.value());
    const codec::Call& call = made.value();
    const JsonObject& wanted = base::get_object(one, "serialized");
    std::string out;
    const auto differ = [&out](const std::string& what, const std::string& got, const std::string& want) {
        if (got != want) out += "\n  " + what + ": " + got + "\n  wanted: " + want;
    };
    differ("method", call.method, base::get_string(wanted, "method", call.method));
    differ("uri", target_of(call), expected_target(base::get_string(wanted, "uri", "/")));
    if (wanted.contains("body")) {
        differ("body", comparable_body(service->protocol, call.body),
               comparable_body(service->protocol, base::get_string(wanted, "body")));
    }
    for (const auto& header : base::get_object(wanted, "headers")) {
        const std::string want = unspaced_list(std::string(header.value().as_string()));
        const std::string got = unspaced_list(call.headers.get(header.key()));
        if (!(header.key() == "Content-Type" && got.starts_with(want))) differ(header.key(), got, want);
    }
    for (const auto& name : base::get_array(wanted, "forbidHeaders")) {
        differ("forbidden header", call.headers.get(std::string(name.as_string())), "");
    }
    return out;
}

std::string time_text(double epoch) {
    const auto time = base::from_epoch(epoch);
    return epoch == std::floor(epoch) ? base::format_time(time) : base::format_time_millis(time);
}

// The expected result in our convention: times as text.
JsonValue expected_value(const model::Member& member, const JsonValue& value) {
    const model::Shape& shape = *member.shape;
    if (value.is_null() || shape.document) return value;
    switch (shape.type) {
        case model::ShapeType::timestamp:
            return value.is_number() ? JsonValue(time_text(value.to_number<double>())) : value;
        case model::ShapeType::float_number:
        case model::ShapeType::double_number:
            return value.is_int64() ? JsonValue(static_cast<double>(value.get_int64())) : value;
        case model::ShapeType::structure: {
            if (!value.is_object()) return value;
            JsonObject out;
            for (const auto& entry : value.get_object()) {
                const model::Member* inner = shape.member(entry.key());
                if (inner != nullptr) out[entry.key()] = expected_value(*inner, entry.value());
            }
            return out;
        }
        case model::ShapeType::list: {
            base::JsonArray out;
            for (const auto& item : value.as_array()) out.push_back(expected_value(shape.element, item));
            return out;
        }
        case model::ShapeType::map: {
            JsonObject out;
            for (const auto& entry : value.as_object())
                out[entry.key()] = expected_value(shape.element, entry.value());
            return out;
        }
        default: return value;
    }
}

std::string check_output(const JsonValue& suite, const JsonValue& one) {
    const auto service = service_of(suite, one);
    if (service == nullptr) return "no model";
    const model::Operation& operation = service->operations.begin()->second;
    codec::Answer answer;
    answer.status = static_cast<int>(base::get_int(one, "response.status_code", 200));
    for (const auto& header : base::get_object(one, "response.headers")) {
        answer.headers.set(header.key(), std::string(header.value().as_string()));
    }
    answer.body = base::get_string(one, "response.body");
    const std::string code = base::get_string(one, "errorCode");
    if (!code.empty()) {
        const auto error = codec::parse_error(*service, operation, answer);
        std::string out;
        if (error.code != code) out += "\n  code: " + error.code + "\n  wanted: " + code;
        const std::string message = base::get_string(one, "errorMessage");
        if (!message.empty() && error.message != message) out += "\n  message: " + error.message;
        return out;
    }
    auto parsed = codec::parse(*service, operation, answer);
    if (!parsed.has_value()) return parsed.error().chain();
    JsonValue wanted = base::get_object(one, "result");
    if (operation.output != nullptr) {
        model::Member root;
        root.shape = operation.output;
        wanted = expected_value(root, wanted);
    }
    const std::string got = base::canonical_text(JsonValue(parsed.value()));
    const std::string want = base::canonical_text(wanted);
    return got == want ? "" : "\n  result: " + got + "\n  wanted: " + want;
}

class ProtocolCases : public ::testing::Test {
protected:
    void SetUp() override {
        const char* folder = std::getenv("INSTANTSTART_PROTOCOL_CASES");
        ASSERT_NE(folder, nullptr) << "INSTANTSTART_PROTOCOL_CASES names no folder";
        folder_ = folder;
        if (!fs::exists(folder_ / "ignored-by-botocore.json")) return;
        const JsonValue list = json_file(folder_ / "ignored-by-botocore.json");
        collect(list);
    }

    // The last line counts both directions.
    static void TearDownTestSuite() {
        std::cout << total_.passed << " passed, " << total_.failed << " failed\n";
    }

    void collect(const JsonValue& value) {
        if (value.is_string()) ignored_.insert(std::string(value.get_string()));
        if (value.is_array()) {
            for (const auto& item : value.get_array()) collect(item);
        }
        if (value.is_object()) {
            for (const auto& entry : value.get_object()) collect(entry.value());
        }
    }

    void run(const char* direction, std::string (*check)(const JsonValue&, const JsonValue&)) {
        Tally all;
        for (const auto& file : fs::directory_iterator(folder_ / direction)) {
            if (file.path().extension() != ".json") continue;
            Tally tally;
            const JsonValue suites = json_file(file.path());
            for (const auto& suite : suites.as_array()) {
                for (const auto& one : base::get_array(suite, "cases")) run_case(suite, one, check, tally);
            }
            std::cout << direction << " " << file.path().stem().string() << ": " << tally.passed
                      << " passed, " << tally.failed << " failed, " << tally.left_out << " left out\n";
            all.passed += tally.passed;
            all.failed += tally.failed;
        }
        total_.passed += all.passed;
        total_.failed += all.failed;
        EXPECT_GT(all.passed, 0);
        EXPECT_EQ(all.failed, 0);
    }

    void run_case(const JsonValue& suite, const JsonValue& one,
                  std::string (*check)(const JsonValue&, const JsonValue&), Tally& tally) {
        const std::string id = base::get_string(one, "id");
        const bool ignored =
            ignored_.count(id) > 0 || ignored_.count(base::get_string(suite, "description")) > 0;
        const std::string wrong = check(suite, one);
        if (wrong.empty()) {
            ++tally.passed;
        } else if (ignored) {
            ++tally.left_out;
        } else {
            ++tally.failed;
            std::cout << id << wrong << "\n";
        }
    }

    static inline Tally total_;
    fs::path folder_;
    std::set<std::string> ignored_;
};

TEST_F(ProtocolCases, requests_are_as_the_cases_say) {
    run("input", check_input);
}
TEST_F(ProtocolCases, answers_are_as_the_cases_say) {
    run("output", check_output);
}

}  // namespace
}  // namespace instantstart::aws
