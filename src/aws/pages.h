// Pages of a list operation, by the model's paginator: an asynchronous sequence with a bound.
//
//   Pages pages(client, context, "sagemaker", "ListClusterNodes", parameters, PageBound::first(20));
//   CO_TRY(auto items, co_await pages.next());   // nullopt after the last page
//
// A server that hands out a token a second time is an error ("repeated_page_token"), never an endless loop;
// so is one that has more pages than the bound allows ("too_many_pages"). Errors of the calls come as they
// are. A Pages is used by one coroutine at a time and must outlive what it awaits; the client must outlive
// the Pages.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aws/client.h"
#include "aws/model/model.h"

namespace instantstart::aws {

struct PageBound {
    PageBound() = default;
    // Ends once so many items were given; has_more() says whether any are left. nullopt: all of them.
    std::optional<std::size_t> items;
    // Items to ask for in one page, within what the model allows; 0 leaves it to the service.
    std::int64_t page_size = 0;
    std::size_t pages_max = 1000;

    // The first `count` items, asked for in pages of no more than that.
    static PageBound first(std::size_t count);
};

class Pages {
public:
    Pages(Client& client, Context context, std::string service, std::string operation, JsonObject parameters,
          PageBound bound);

    // The next page's items, of the paginator's first result key; nullopt once all were given or the bound is
    // reached. An empty page in the middle is an empty array.
    Task<std::optional<JsonArray>> next();
    // The whole next answer, for operations with several result keys. The bound on items counts all of them,
    // but an answer is not cut.
    Task<std::optional<JsonObject>> next_answer();
    // Whether items are left that the bound has cut off. Known once next() has given nullopt or reached the
    // bound.
    bool has_more() const { return has_more_; }

private:
    base::Result<void> advance(const JsonObject& answer);

    Client& client_;
    Context context_;
    std::string service_, operation_name_;
    JsonObject parameters_;
    PageBound bound_;
    const model::Operation* operation_ = nullptr;
    std::set<std::string> seen_tokens_;
    std::size_t pages_ = 0, items_ = 0;
    bool ended_ = false, has_more_ = false;
};

// All pages as one answer: every result key's items one after another, and of the first page the members that
// belong to the whole (the paginator's non-aggregate keys).
Task<JsonObject> gather(Pages pages, const model::Operation& operation);

// The keys under which a list operation's items stand: the paginator's; without one, the only list of the
// answer. Empty where there is none.
std::vector<std::string> result_keys(const model::Operation& operation);
// The tokens for the page after `answer`, by input member; empty where `answer` is the last page. A member
// that must be left out from now on is null.
JsonObject next_tokens(const model::Operation& operation, const JsonObject& answer);

}  // namespace instantstart::aws
