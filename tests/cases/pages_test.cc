// The near half of pages.py: walks list operations over the answers of a file, and writes what was asked for
// and what came together. Run by the script only.
#include "aws/pages.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <fstream>

#include "rt/testing.h"

namespace instantstart::aws {
namespace {

class Canned final : public Client {
public:
    explicit Canned(JsonArray answers) : answers_(std::move(answers)) {}
    using Client::call;
    Task<JsonObject> call(Context, std::string, std::string, JsonObject parameters, CallOptions) override {
        asked.push_back(std::move(parameters));
        if (asked.size() > answers_.size())
            co_return base::internal_error("asked for more pages than there are");
        co_return answers_[asked.size() - 1].as_object();
    }
    Task<std::string> eks_token(Context, std::string) override { co_return std::string(); }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }
    JsonArray asked;

private:
    JsonArray answers_;
};

JsonObject walked(const JsonValue& line) {
    boost::asio::io_context io;
    rt::VirtualClock clock(io, 1, base::TimePoint());
    Canned client(base::get_array(line, "answers"));
    const auto service = base::get_string(line, "service");
    const auto name = base::get_string(line, "operation");
    const auto* operation = model::embedded(service)->operation(name);
    Pages pages(client, rt::Context(), service, name, base::get_object(line, "parameters"), PageBound());
    auto all = rt::testing::run(io, clock, gather(std::move(pages), *operation));
    JsonObject out{{"asked", std::move(client.asked)}};
    if (all) {
        out["all"] = std::move(*all);
    } else {
        out["error"] = all.error().code;
    }
    return out;
}

TEST(PagesBeside, writes_what_is_asked_and_gathered) {
    const char* in_name = std::getenv("INSTANTSTART_PAGES_IN");
    const char* out_name = std::getenv("INSTANTSTART_PAGES_OUT");
    ASSERT_TRUE(in_name != nullptr && out_name != nullptr) << "run by tests/cases/pages.py";
    std::ifstream in(in_name);
    std::ofstream out(out_name);
    std::string text;
    while (std::getline(in, text)) out << base::to_text(walked(base::parse_json(text, 64).value())) << "\n";
}

}  // namespace
}  // namespace instantstart::aws
