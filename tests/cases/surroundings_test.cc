// Tells a peer what the client finds in its surroundings: credentials, endpoints, configuration files. Each
// test reads its questions from the file that a variable names and writes the answers to another; without
// them it is left out. tests/peers/surroundings.py compares them with botocore's.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <fstream>

#include "aws/client.h"
#include "aws/endpoint.h"
#include "aws/ini.h"
#include "http/transport.h"
#include "rt/task_group.h"
#include "rt/testing.h"

namespace instantstart::aws {
namespace {

std::string variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

// The questions, null where nobody asks.
JsonValue questions(const char* name) {
    std::ifstream in(variable(name), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    auto parsed = base::parse_json(text);
    return parsed.has_value() ? std::move(parsed).value() : JsonValue();
}

void answer(const JsonValue& value) {
    std::ofstream(variable("INSTANTSTART_ANSWERS"), std::ios::binary) << base::to_text(value);
}

TEST(Surroundings, credentials) {
    ASSERT_FALSE(variable("INSTANTSTART_ASK_CREDENTIALS").empty()) << "run by tests/peers/surroundings.py";
    boost::asio::io_context io;
    const auto clock = rt::make_system_clock(io.get_executor());
    http::TransportSettings settings;
    settings.proxies = http::ProxyRules::from(variable);
    const auto transport = http::make_socket_transport(io.get_executor(), *clock, std::move(settings));
    ClientSettings client_settings;
    client_settings.region = "us-west-2";
    auto client = make_client(std::move(client_settings), *transport, *clock);
    if (!client.has_value()) {
        answer(JsonObject{{"credentials", JsonObject{{"error", client.error().message}}}});
        return;
    }
    rt::TaskGroup group(io.get_executor(), "test");
    const auto out = std::make_shared<std::optional<base::Result<JsonObject>>>();
    group.spawn("explain", rt::testing::keep<JsonObject>((*client)->explain({}), out));
    while (group.size() > 0) io.run_one();
    answer(out->value().value());
}

TEST(Surroundings, endpoints) {
    const JsonValue asked = questions("INSTANTSTART_ASK_ENDPOINTS");
    ASSERT_TRUE(asked.is_array()) << "run by tests/peers/surroundings.py";
    JsonArray answers;
    for (const JsonValue& one : asked.get_array()) {
        const model::Service* service = model::embedded(base::get_string(one, "service"));
        ASSERT_NE(service, nullptr) << base::to_text(one);
        EndpointSwitches switches;
        switches.fips = base::get_bool(one, "fips");
        switches.dual_stack = base::get_bool(one, "dual_stack");
        const auto found = resolve_endpoint(*service, base::get_string(one, "region"), "", switches);
        JsonObject made;
        if (found.has_value()) {
            made["url"] = found->url();
            made["signed"] = found->signing_region;
        } else {
            made["error"] = found.error().message;
        }
        made["partition"] = partition_of(base::get_string(one, "region"));
        answers.push_back(std::move(made));
    }
    answer(answers);
}

TEST(Surroundings, ini_files) {
    const JsonValue asked = questions("INSTANTSTART_ASK_INI");
    ASSERT_TRUE(asked.is_array()) << "run by tests/peers/surroundings.py";
    JsonArray answers;
    for (const JsonValue& text : asked.get_array()) {
        const auto parsed = parse_ini(text.get_string());
        if (!parsed.has_value()) {
            answers.push_back(nullptr);
            continue;
        }
        JsonObject file;
        for (const auto& [name, section] : *parsed) {
            JsonObject made;
            for (const auto& [key, value] : section.values) made[key] = value;
            for (const auto& [key, inner] : section.nested) {
                JsonObject nested;
                for (const auto& [inner_key, value] : inner) nested[inner_key] = value;
                made[key] = std::move(nested);
            }
            file[name] = std::move(made);
        }
        answers.push_back(std::move(file));
    }
    answer(answers);
}

}  // namespace
}  // namespace instantstart::aws
