#include "kube/list_into.h"

#include <algorithm>

#include "base/check.h"
#include "kube/impl/feed.h"

namespace instantstart::kube {

namespace {

constexpr int kRounds = 3;
// A server may end pages early, but not for ever.
constexpr std::size_t kMorePages = 1000;

Task<std::string> list_pages(Client& client, Context context, Resource resource, ListOptions options,
                             Table& table) {
    impl::FeedLimits limits;
    limits.objects = options.max_items;
    impl::PageFeed feed(table, limits);
    table.start_list();
    const auto usual_pages =
        options.max_items / static_cast<std::size_t>(std::max<std::int64_t>(options.page_size, 1));
    for (std::size_t pages = 0;; ++pages) {
        if (pages > usual_pages + kMorePages) {
            co_return base::Error(base::ErrorKind::unavailable, "InvalidAnswer",
                                  "the Kubernetes API server's list has no end");
        }
        const std::string next = feed.next();
        CO_TRY(const auto stream, co_await client.list_stream(context, resource, options, next));
        feed.begin_page();
        while (true) {
            CO_TRY(const auto piece, co_await stream->read());
            if (!piece) break;
            CO_CHECK_OK(feed.write(*piece));
        }
        CO_CHECK_OK(feed.end());
        if (feed.next().empty()) break;
    }
    table.finish_list();
    co_return feed.resource_version().empty() ? std::string("0") : feed.resource_version();
}

}  // namespace

Task<std::string> list_into(Client& client, Context context, Resource resource, ListOptions options,
                            Table& table) {
    for (int round = 1;; ++round) {
        if (round == kRounds) options.page_size = 0;
        auto listed = co_await list_pages(client, context, resource, options, table);
        if (listed || listed.error().code != "Expired" || round == kRounds) co_return listed;
    }
}

void put_object(Table& table, const JsonObject& object) {
    impl::PageFeed feed(table, {});
    feed.begin_page();
    const JsonObject page{{"kind", "List"}, {"items", base::JsonArray{JsonValue(object)}}};
    const bool read = feed.write(base::to_text(page)).has_value() && feed.end().has_value();
    CHECK(read);
}

}  // namespace instantstart::kube
