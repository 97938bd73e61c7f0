#include "aws/pages.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>

#include "rt/testing.h"

namespace instantstart::aws {
namespace {

// Answers from a list, and keeps what was asked.
class PagedClient final : public Client {
public:
    using Client::call;
    Task<JsonObject> call(Context, std::string, std::string, JsonObject parameters, CallOptions) override {
        asked.push_back(std::move(parameters));
        if (make_answer) co_return make_answer(asked.size() - 1);
        co_return answers.at(std::min(asked.size(), answers.size()) - 1);
    }
    Task<std::string> eks_token(Context, std::string) override { co_return std::string(); }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }

    std::vector<base::Result<JsonObject>> answers;
    std::function<JsonObject(std::size_t)> make_answer;
    std::vector<JsonObject> asked;
};

struct World {
    boost::asio::io_context io;
    rt::VirtualClock clock{io, 7, *base::parse_time("2026-11-30T12:00:00Z")};
    PagedClient client;

    Pages pages(const char* service, const char* operation, PageBound bound = PageBound(),
                JsonObject parameters = {}) {
        return {client, rt::Context(), service, operation, std::move(parameters), bound};
    }
    base::Result<std::optional<JsonArray>> next(Pages& pages) {
        return rt::testing::run(io, clock, pages.next());
    }
    base::Result<JsonArray> collect(const char* service, const char* operation, std::size_t most) {
        return rt::testing::run(io, clock,
                                client.collect(rt::Context(), service, operation, JsonObject(), most));
    }
    // The items of every page, as JSON text, until the end or the first error's code.
    std::vector<std::string> walk(Pages& pages) {
        std::vector<std::string> seen;
        while (true) {
            auto items = next(pages);
            if (!items) {
                seen.push_back(items.error().code);
                return seen;
            }
            if (!*items) return seen;
            seen.push_back(base::to_text(JsonValue(**items)));
        }
    }
};

JsonObject parsed(const char* text) {
    return base::parse_json(text).value().get_object();
}

// --- every paginator of the models

// "NextMarker || Contents[-1].Key" → "NextMarker": the way that a service takes which names its tokens.
std::string first_alternative(const std::string& expression) {
    return expression.substr(0, expression.find(' '));
}

void put(JsonObject& object, const std::string& path, JsonValue value) {
    const auto dot = path.find('.');
    if (dot == std::string::npos) {
        object[path] = std::move(value);
        return;
    }
    JsonValue& inner = object[path.substr(0, dot)];
    if (!inner.is_object()) inner = JsonObject();
    put(inner.get_object(), path.substr(dot + 1), std::move(value));
}

constexpr std::size_t kPages = 3;

std::string token_text(std::size_t which, std::size_t page) {
    return "token-" + std::to_string(which) + "-" + std::to_string(page);
}

// Page `page` of three: two items under each result key, but none on the second page.
JsonObject page_of(const model::Paginator& paginator, std::size_t page) {
    JsonObject answer;
    for (const std::string& key : paginator.result_keys) {
        JsonArray items;
        for (int i = 0; i < 2 && page != 1; ++i) {
            items.emplace_back(key + "-" + std::to_string(page) + "-" + std::to_string(i));
        }
        put(answer, key, std::move(items));
    }
    for (const std::string& key : paginator.non_aggregate_keys) {
        put(answer, key, JsonValue(key + "-of-page-" + std::to_string(page)));
    }
    const bool last = page + 1 == kPages;
    if (!paginator.more_results.empty()) put(answer, paginator.more_results, !last);
    for (std::size_t i = 0; i < paginator.output_tokens.size() && !last; ++i) {
        put(answer, first_alternative(paginator.output_tokens[i]), JsonValue(token_text(i, page)));
    }
    return answer;
}

void expect_three_pages(const std::string& service, const model::Operation& operation) {
    SCOPED_TRACE(service + " " + operation.name);
    const model::Paginator& paginator = *operation.paginator;
    World world;
    world.client.make_answer = [&paginator](std::size_t page) { return page_of(paginator, page); };
    auto all = rt::testing::run(world.io, world.clock,
                                gather(world.pages(service.c_str(), operation.name.c_str()), operation));
    ASSERT_TRUE(all.has_value()) << all.error().chain();
    ASSERT_EQ(world.client.asked.size(), kPages);
    for (std::size_t page = 1; page < kPages; ++page) {
        for (std::size_t i = 0; i < paginator.input_tokens.size(); ++i) {
            EXPECT_EQ(base::get_string(world.client.asked[page], paginator.input_tokens[i]),
                      token_text(i, page - 1));
        }
    }
    for (const std::string& key : paginator.result_keys) {
        const JsonArray wanted{key + "-0-0", key + "-0-1", key + "-2-0", key + "-2-1"};
        EXPECT_EQ(base::to_text(JsonValue(base::get_array(*all, key))), base::to_text(JsonValue(wanted)));
    }
    for (const std::string& key : paginator.non_aggregate_keys) {
        EXPECT_EQ(base::get_string(*all, key), key + "-of-page-0");
    }
}

TEST(Paginators, each_of_the_models_walks_all_pages) {
    int count = 0;
    for (const std::string& service : model::embedded_names()) {
        for (const auto& [name, operation] : model::embedded(service)->operations) {
            if (operation.paginator == nullptr) continue;
            ++count;
            expect_three_pages(service, operation);
        }
    }
    EXPECT_GT(count, 90);
}

TEST(Paginators, each_names_members_that_the_model_has) {
    for (const std::string& service : model::embedded_names()) {
        for (const auto& [name, operation] : model::embedded(service)->operations) {
            if (operation.paginator == nullptr) continue;
            SCOPED_TRACE(service + " " + name);
            ASSERT_NE(operation.input, nullptr);
            ASSERT_NE(operation.output, nullptr);
            const model::Paginator& paginator = *operation.paginator;
            EXPECT_EQ(paginator.input_tokens.size(), paginator.output_tokens.size());
            for (const auto& token : paginator.input_tokens)
                EXPECT_NE(operation.input->member(token), nullptr);
            if (!paginator.limit_key.empty())
                EXPECT_NE(operation.input->member(paginator.limit_key), nullptr);
            for (const auto& key : paginator.result_keys) {
                EXPECT_NE(operation.output->member(key.substr(0, key.find('.'))), nullptr) << key;
            }
        }
    }
}

// --- bounds

TEST(Pages, first_few_are_asked_for_in_one_small_page) {
    World world;
    world.client.answers = {parsed(R"({"ClusterNodeSummaries":[1,2,3],"NextToken":"t"})")};
    Pages pages = world.pages("sagemaker", "ListClusterNodes", PageBound::first(2));
    EXPECT_EQ(world.walk(pages), std::vector<std::string>{"[1,2]"});
    EXPECT_TRUE(pages.has_more());
    ASSERT_EQ(world.client.asked.size(), 1U);
    EXPECT_EQ(base::to_text(world.client.asked[0]), R"({"MaxResults":2})");
}

TEST(Pages, page_size_keeps_to_what_the_model_allows) {
    World world;
    world.client.answers = {parsed("{}")};
    PageBound bound;
    bound.page_size = 5000;
    Pages nodes = world.pages("sagemaker", "ListClusterNodes", bound);
    EXPECT_EQ(world.walk(nodes), std::vector<std::string>{"[]"});
    bound.page_size = 1;
    Pages subnets = world.pages("ec2", "DescribeSubnets", bound);
    world.walk(subnets);
    Pages given = world.pages("ec2", "DescribeSubnets", bound, {{"MaxResults", 77}});
    world.walk(given);
    Pages prices = world.pages("ec2", "DescribeAvailabilityZones", bound);
    world.walk(prices);
    ASSERT_EQ(world.client.asked.size(), 4U);
    EXPECT_EQ(base::get_int(world.client.asked[0], "MaxResults"), 100);
    EXPECT_EQ(base::get_int(world.client.asked[1], "MaxResults"), 5);
    EXPECT_EQ(base::get_int(world.client.asked[2], "MaxResults"), 77);
    EXPECT_TRUE(world.client.asked[3].empty());
}

TEST(Pages, bound_goes_over_pages_and_tells_whether_any_are_left) {
    World world;
    world.client.answers = {parsed(R"({"clusters":["a","b"],"nextToken":"1"})"),
                            parsed(R"({"clusters":["c","d"]})")};
    PageBound bound;
    bound.items = 3;
    Pages cut = world.pages("eks", "ListClusters", bound);
    EXPECT_EQ(world.walk(cut), (std::vector<std::string>{R"(["a","b"])", R"(["c"])"}));
    EXPECT_TRUE(cut.has_more());
    world.client.asked.clear();
    bound.items = 4;
    Pages whole = world.pages("eks", "ListClusters", bound);
    EXPECT_EQ(world.walk(whole).size(), 2U);
    EXPECT_FALSE(whole.has_more());
}

TEST(Pages, collect_takes_exactly_the_limit_and_refuses_one_more) {
    World world;
    world.client.answers = {parsed(R"({"clusters":["a","b"],"nextToken":"1"})"),
                            parsed(R"({"clusters":[]})")};
    EXPECT_EQ(world.collect("eks", "ListClusters", 2).value().size(), 2U);
    world.client.asked.clear();
    world.client.answers[1] = parsed(R"({"clusters":["c"]})");
    EXPECT_EQ(world.collect("eks", "ListClusters", 2).error().code, "too_many_items");
}

// --- servers that go wrong

TEST(Pages, token_that_repeats_is_an_error_and_no_endless_loop) {
    World world;
    world.client.answers = {parsed(R"({"clusters":["a"],"nextToken":"same"})")};
    Pages pages = world.pages("eks", "ListClusters");
    EXPECT_EQ(world.walk(pages), (std::vector<std::string>{R"(["a"])", "repeated_page_token"}));
    EXPECT_EQ(world.client.asked.size(), 2U);
    world.client.asked.clear();
    world.client.make_answer = [](std::size_t page) {
        return JsonObject{{"clusters", JsonArray()}, {"nextToken", page % 2 == 0 ? "even" : "odd"}};
    };
    EXPECT_EQ(world.collect("eks", "ListClusters", 100).error().code, "repeated_page_token");
    EXPECT_EQ(world.client.asked.size(), 3U);
}

TEST(Pages, ever_new_tokens_end_at_the_bound_of_pages) {
    World world;
    world.client.make_answer = [](std::size_t page) {
        return JsonObject{{"clusters", JsonArray()}, {"nextToken", std::to_string(page)}};
    };
    PageBound bound;
    bound.pages_max = 7;
    Pages pages = world.pages("eks", "ListClusters", bound);
    EXPECT_EQ(world.walk(pages).back(), "too_many_pages");
    EXPECT_EQ(world.client.asked.size(), 7U);
}

TEST(Pages, error_in_the_middle_is_handed_up_as_it_is) {
    World world;
    world.client.answers = {parsed(R"({"clusters":["a"],"nextToken":"1"})"),
                            base::Error(base::ErrorKind::denied, "AccessDeniedException", "no")};
    EXPECT_EQ(world.collect("eks", "ListClusters", 100).error().code, "AccessDeniedException");
    EXPECT_EQ(world.collect("eks", "Nothing", 100).error().kind, base::ErrorKind::internal);
    EXPECT_EQ(world.collect("nothing", "ListClusters", 100).error().kind, base::ErrorKind::internal);
}

// --- the rules of single services

TEST(Pages, s3_goes_on_after_the_last_key_where_there_is_no_marker) {
    World world;
    world.client.answers = {
        parsed(R"({"IsTruncated":true,"Contents":[{"Key":"a"},{"Key":"b"}]})"),
        parsed(R"({"IsTruncated":true,"NextMarker":"m","CommonPrefixes":[{"Prefix":"p"}]})"),
        parsed(R"({"IsTruncated":false,"NextMarker":"x","Contents":[{"Key":"z"}]})")};
    Pages pages = world.pages("s3", "ListObjects", PageBound(), {{"Bucket", "b"}});
    EXPECT_EQ(world.walk(pages).size(), 3U);
    ASSERT_EQ(world.client.asked.size(), 3U);
    EXPECT_EQ(base::to_text(world.client.asked[1]), R"({"Bucket":"b","Marker":"b"})");
    EXPECT_EQ(base::to_text(world.client.asked[2]), R"({"Bucket":"b","Marker":"m"})");
}

TEST(Pages, token_that_is_gone_is_left_out_of_the_next_call) {
    World world;
    world.client.answers = {
        parsed(R"({"IsTruncated":true,"NextKeyMarker":"k","NextVersionIdMarker":"v","Versions":[1]})"),
        parsed(R"({"IsTruncated":true,"NextKeyMarker":"l","Versions":[2]})"), parsed(R"({"Versions":[3]})")};
    Pages pages = world.pages("s3", "ListObjectVersions", PageBound(), {{"Bucket", "b"}});
    EXPECT_EQ(world.walk(pages), (std::vector<std::string>{"[1]", "[2]", "[3]"}));
    EXPECT_EQ(base::to_text(world.client.asked[1]),
              R"({"Bucket":"b","KeyMarker":"k","VersionIdMarker":"v"})");
    EXPECT_EQ(base::to_text(world.client.asked[2]), R"({"Bucket":"b","KeyMarker":"l"})");
}

TEST(Pages, empty_token_and_no_paginator_end_the_walk) {
    World world;
    world.client.answers = {parsed(R"({"clusters":["a"],"nextToken":""})")};
    EXPECT_EQ(world.collect("eks", "ListClusters", 10).value().size(), 1U);
    world.client.answers = {parsed(R"({"AvailabilityZones":[1,2],"NextToken":"x"})")};
    EXPECT_EQ(world.collect("ec2", "DescribeAvailabilityZones", 10).value().size(), 2U);
    EXPECT_EQ(world.client.asked.size(), 2U);
}

}  // namespace
}  // namespace instantstart::aws
