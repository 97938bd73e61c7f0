// Feeds: pieces cut anywhere, and thousands of hostile pages and events from a seed.
#include "kube/impl/feed.h"

#include <gtest/gtest.h>

#include <random>

#include "kube/cache/events.h"
#include "kube/cache/nodes.h"
#include "kube/cache/pods.h"

namespace instantstart::kube::impl {
namespace {

const std::string kPod =
    R"({"kind":"Pod","metadata":{"name":"p\u00e9-1","namespace":"ns","resourceVersion":"77","labels":{"app":"a","b":"c"},
    "managedFields":[{"deep":[[[{}]]]}],"ownerReferences":[{"kind":"Job","name":"j","controller":true}]},
    "spec":{"nodeName":"n1","containers":[{"resources":{"limits":{"nvidia.com/gpu":"8"}}}]},
    "status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
    "containerStatuses":[{"restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}})";

std::string page_of(const std::string& items) {
    return R"({"items":[)" + items +
           R"(],"kind":"PodList","metadata":{"continue":"next","resourceVersion":"99"}})";
}

struct Pods {
    Symbols symbols;
    PodTable table{symbols, {"app"}};
};

TEST(Feed, page_gives_the_same_however_it_is_cut) {
    const auto page = page_of(kPod);
    for (std::size_t step = 1; step < page.size(); step += 1 + step / 8) {
        Pods pods;
        PageFeed feed(pods.table, {});
        for (std::size_t at = 0; at < page.size(); at += step) {
            ASSERT_TRUE(feed.write(std::string_view(page).substr(at, step)).has_value()) << step;
        }
        ASSERT_TRUE(feed.end().has_value());
        EXPECT_EQ(feed.next(), "next");
        EXPECT_EQ(feed.resource_version(), "99");
        const auto* pod = pods.table.find("ns", "p\u00e9-1");
        ASSERT_NE(pod, nullptr) << step;
        EXPECT_EQ(pod->accelerators, 8);
        EXPECT_EQ(pod->restarts, 3U);
        EXPECT_TRUE(pod->ready);
        EXPECT_EQ(pods.symbols.text(pod->job), "Job/j");
        EXPECT_EQ(pods.symbols.text(pod->reason), "CrashLoopBackOff");
        EXPECT_EQ(pods.symbols.text(pod->node), "n1");
    }
}

TEST(Feed, watch_gives_the_same_however_it_is_cut) {
    const auto events = R"({"object":)" + kPod + R"(,"type":"ADDED"})" + "\n\n" +
                        R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"120"}}})" + "\n";
    for (std::size_t step = 1; step < events.size(); step += 1 + step / 8) {
        Pods pods;
        WatchFeed feed(pods.table, {});
        for (std::size_t at = 0; at < events.size(); at += step) {
            ASSERT_TRUE(feed.write(std::string_view(events).substr(at, step)).has_value()) << step;
        }
        EXPECT_EQ(feed.events(), 2U);
        EXPECT_EQ(feed.resource_version(), "120");
        EXPECT_TRUE(feed.is_between_events());
        EXPECT_EQ(pods.table.size(), 1U);
    }
}

TEST(Feed, status_in_a_watch_is_its_error_for_every_table) {
    const std::string error =
        R"({"type":"ERROR","object":{"kind":"Status","code":429,"reason":"TooManyRequests","message":"slow down","details":{"retryAfterSeconds":7}}})";
    Symbols symbols;
    PodTable pods(symbols, {});
    EventTable events(symbols, 10);
    for (Table* table : {static_cast<Table*>(&pods), static_cast<Table*>(&events)}) {
        WatchFeed feed(*table, {});
        const auto told = feed.write(error).error();
        EXPECT_EQ(told.code, "TooManyRequests");
        EXPECT_EQ(told.message, "slow down");
        EXPECT_EQ(told.retry_after, std::chrono::seconds(7));
    }
}

TEST(Feed, sizes_are_bounded) {
    Pods pods;
    FeedLimits limits;
    limits.event_bytes = 10'000;
    limits.objects = 3;
    {
        WatchFeed feed(pods.table, limits);
        const std::string endless(20'000, 'x');
        EXPECT_EQ(feed.write(R"({"type":"ADDED","object":{"metadata":{"name":")" + endless).error().code,
                  "WatchBroken");
    }
    PageFeed feed(pods.table, limits);
    std::string items;
    for (int i = 0; i < 5; ++i) {
        items += (i == 0 ? "" : ",") + (R"({"metadata":{"name":"p)" + std::to_string(i) + R"("}})");
    }
    EXPECT_EQ(feed.write(page_of(items)).error().code, "too_many_items");
    EXPECT_EQ(pods.table.size(), 3U);
    const std::string deep(100'000, '[');
    PageFeed nested(pods.table, {});
    EXPECT_EQ(nested.write(R"({"items":)" + deep).error().code, "InvalidAnswer");
}

TEST(Feed, texts_are_cut_at_a_whole_character) {
    Pods pods;
    WatchFeed feed(pods.table, {});
    std::string message;
    for (int i = 0; i < 5000; ++i) message += "\u00e9";
    for (const std::string& lead : {std::string(), std::string("x")}) {
        ASSERT_TRUE(feed.write(R"({"type":"ADDED","object":{"metadata":{"name":"p"},"status":{"reason":")" +
                               lead + message + R"("}}})")
                        .has_value());
        const auto& kept = pods.symbols.text(pods.table.find("", "p")->reason);
        EXPECT_LE(kept.size(), Table::kMaxText);
        EXPECT_EQ(kept.size() % 2, lead.size());
    }
}

// Changes bytes, cuts, repeats, swaps whole members for others of another type: from slightly wrong to noise.
class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    std::string mutate(std::string text) {
        for (auto count = 1 + random_() % 4; count > 0; --count) once(text);
        return text;
    }
    std::size_t below(std::size_t most) { return most == 0 ? 0 : random_() % most; }

private:
    void once(std::string& text) {
        static const std::vector<std::string> kPieces = {"null",
                                                         "{}",
                                                         "[]",
                                                         "\"\"",
                                                         "-1",
                                                         "1e999",
                                                         "18446744073709551616",
                                                         "true",
                                                         "\\u0000",
                                                         "\xff\xfe",
                                                         "\"items\":[{}]",
                                                         R"({"name":{"name":[]}})",
                                                         "[[[[[[[[",
                                                         "}}}}",
                                                         ",",
                                                         "\\ud800",
                                                         R"("metadata":{"name":"x","namespace":7})",
                                                         R"("type":"DELETED")",
                                                         R"("object":{)",
                                                         "\n",
                                                         "{\"",
                                                         std::string(9000, 'A'),
                                                         std::string(300, '[')};
        const auto at = below(text.size() + 1);
        const auto length = below(std::min<std::size_t>(40, text.size() - at) + 1);
        switch (random_() % 6) {
            case 0: text.erase(at, length); break;
            case 1: text.insert(at, kPieces[below(kPieces.size())]); break;
            case 2: text.replace(at, length, kPieces[below(kPieces.size())]); break;
            case 3: text.insert(at, text.substr(below(text.size() + 1), 200)); break;
            case 4: text.resize(at); break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(random_());
        }
    }
    std::mt19937_64 random_;
};

// Every table survives what is not JSON, what is JSON of another shape and what lies; what it holds stays
// bounded by its limits; and good data afterwards is taken as ever.
TEST(Feed, survives_ten_thousand_hostile_pages_and_events) {
    Mutator mutator(20261130);
    Symbols symbols;
    PodTable pods(symbols, {"app"});
    NodeTable nodes(symbols);
    EventTable events(symbols, 50);
    const std::vector<Table*> tables = {&pods, &nodes, &events};
    FeedLimits limits;
    limits.objects = 100;
    limits.event_bytes = 50'000;
    limits.page_bytes = 100'000;
    int refused = 0;
    for (int round = 0; round < 12'000; ++round) {
        Table& table = *tables[static_cast<std::size_t>(round) % tables.size()];
        const bool page = round % 2 == 0;
        const auto text = mutator.mutate(page ? page_of(kPod + "," + kPod)
                                              : R"({"type":"ADDED","object":)" + kPod + "}\n" +
                                                    R"({"type":"MODIFIED","object":)" + kPod + "}\n");
        const auto cut = mutator.below(text.size() + 1);
        base::Result<void> went = base::ok();
        if (page) {
            table.start_list();
            PageFeed feed(table, limits);
            went = feed.write(std::string_view(text).substr(0, cut));
            if (went.has_value()) went = feed.write(std::string_view(text).substr(cut));
            if (went.has_value()) went = feed.end();
            if (went.has_value()) table.finish_list();
        } else {
            WatchFeed feed(table, limits);
            went = feed.write(std::string_view(text).substr(0, cut));
            if (went.has_value()) went = feed.write(std::string_view(text).substr(cut));
        }
        refused += went.has_value() ? 0 : 1;
        ASSERT_LE(table.size(), limits.objects);
        ASSERT_LE(symbols.size(), 3000U);
    }
    EXPECT_GT(refused, 1000);
    EXPECT_LT(refused, 12'000);
    for (Table* table : tables) {
        table->start_list();
        PageFeed feed(*table, limits);
        ASSERT_TRUE(feed.write(page_of(kPod)).has_value());
        ASSERT_TRUE(feed.end().has_value());
        table->finish_list();
        EXPECT_EQ(table->size(), 1U);
        table->clear();
    }
    EXPECT_EQ(symbols.size(), 0U);
}

}  // namespace
}  // namespace instantstart::kube::impl
