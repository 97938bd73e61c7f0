// watch: what changed after a revision, line by line, until the client's time is over or the server ends it.
#include "base/text.h"
#include "twin/kube/api_server.h"
#include "twin/kube/list_options.h"
#include "twin/kube/metadata.h"
#include "twin/kube/selectors.h"
#include "twin/kube/status.h"
#include "twin/kube/table.h"

namespace instantstart::twin::kube {

namespace {

using Piece = std::optional<std::string>;

struct Watcher {
    Watcher(StatePtr the_state, const ApiCall& call, Selector the_selector)
        : state(std::move(the_state)),
          kind(call.kind),
          ns(call.ns),
          name(call.name),
          selector(std::move(the_selector)),
          connections(state->connections),
          table(wanted_table(call)),
          include(call.parameter("includeObject")),
          bookmarks(call.flag("allowWatchBookmarks") && !call.parameter("allowWatchBookmarks").empty()) {}

    StatePtr state;
    KindPtr kind;
    std::string ns, name;
    Selector selector;
    std::uint64_t connections;
    std::string table, include;
    bool bookmarks = false;
    bool partial = false;  // metadata only
    bool headers_sent = false;
    bool over = false;
    bool behind = false;  // there are more changes to tell
    std::int64_t revision = 0;
    // To send before anything else: what was there at the beginning, and then a bookmark.
    std::vector<ObjectPtr> present;
    std::size_t told = 0;
    bool initial_end = false;
    base::Duration end{}, next_bookmark{};
};

constexpr auto kBookmarkEvery = std::chrono::seconds(60);
constexpr std::size_t kPiece = 500;  // objects at a time, so that others are answered between them

bool concerns(const Watcher& watcher, const JsonObject& object) {
    if (!watcher.name.empty() && name_of(object) != watcher.name) return false;
    return watcher.selector.matches(object);
}

void add_line(Watcher& watcher, std::string_view type, const ObjectPtr& object, std::string& out) {
    const auto shown = in_version(*watcher.kind, object);
    out += "{\"type\":\"";
    out += type;
    out += "\",\"object\":";
    if (watcher.partial) {
        out += base::to_text(JsonObject{{"kind", "PartialObjectMetadata"},
                                        {"apiVersion", "meta.k8s.io/v1"},
                                        {"metadata", base::get_object(*shown, "metadata")}});
    } else if (watcher.table.empty() || type == "BOOKMARK") {
        out += base::to_text(*shown);
    } else {
        TableOptions options;
        options.api_version = watcher.table;
        if (!watcher.include.empty()) options.include_object = watcher.include;
        options.headers = !watcher.headers_sent;
        watcher.headers_sent = true;
        const JsonObject meta{{"resourceVersion", base::get_string(*shown, "metadata.resourceVersion")}};
        out += base::to_text(make_table(*watcher.kind, {shown}, watcher.state->clock.now(), options, meta));
    }
    out += "}\n";
}

void add_bookmark(Watcher& watcher, bool initial_end, std::string& out) {
    JsonObject meta;
    meta["resourceVersion"] = std::to_string(watcher.revision);
    if (initial_end) meta["annotations"] = JsonObject{{"k8s.io/initial-events-end", "true"}};
    const JsonObject object{{"kind", watcher.kind->name},
                            {"apiVersion", watcher.kind->api_version()},
                            {"metadata", std::move(meta)}};
    add_line(watcher, "BOOKMARK", std::make_shared<const JsonObject>(object), out);
}

// An object that leaves the selection is told as deleted, one that enters it as added.
void add_change(Watcher& watcher, const Change& change, std::string& out) {
    if (change.kind != watcher.kind->kind) return;
    if (!watcher.ns.empty() && namespace_of(*change.object) != watcher.ns) return;
    const bool was = change.previous != nullptr && concerns(watcher, *change.previous);
    const bool is = change.type != Change::Type::deleted && concerns(watcher, *change.object);
    if (change.type == Change::Type::deleted && was) add_line(watcher, "DELETED", change.object, out);
    if (change.type == Change::Type::deleted) return;
    if (is) add_line(watcher, was ? "MODIFIED" : "ADDED", change.object, out);
    if (!was || is) return;
    // What left the selection is shown as it was last in it.
    auto last = *change.previous;
    metadata_of(last)["resourceVersion"] = std::to_string(change.revision);
    add_line(watcher, "DELETED", std::make_shared<const JsonObject>(std::move(last)), out);
}

// What was there at the beginning, a piece at a time.
std::string collect_present(Watcher& watcher) {
    std::string out;
    for (std::size_t i = 0; i < kPiece && watcher.told < watcher.present.size(); ++i)
        add_line(watcher, "ADDED", std::exchange(watcher.present[watcher.told++], nullptr), out);
    if (watcher.told < watcher.present.size()) return out;
    watcher.present = {};
    watcher.told = 0;
    if (std::exchange(watcher.initial_end, false)) add_bookmark(watcher, true, out);
    return out;
}

std::string collect(Watcher& watcher) {
    if (!watcher.present.empty() || watcher.initial_end) return collect_present(watcher);
    std::string out;
    const auto changes = watcher.state->store.changes_since(watcher.revision, kPiece);
    if (!changes) {
        const auto error = expired("too old resource version: " + std::to_string(watcher.revision) + " (" +
                                   std::to_string(watcher.state->store.oldest()) + ")");
        out += base::to_text(JsonObject{{"type", "ERROR"}, {"object", status_object(error)}}) + "\n";
        watcher.over = true;
        return out;
    }
    for (const auto& change : *changes) {
        add_change(watcher, change, out);
        watcher.revision = change.revision;
    }
    watcher.behind = changes->size() == kPiece;
    return out;
}

bool is_ended(const Watcher& watcher) {
    return watcher.over || watcher.state->closed || watcher.connections != watcher.state->connections;
}

rt::Task<Piece> next_piece(std::shared_ptr<Watcher> watcher) {
    auto& clock = watcher->state->clock;
    while (!is_ended(*watcher)) {
        auto out = collect(*watcher);
        const auto now = clock.monotonic();
        if (now >= watcher->end) {
            watcher->over = true;
            if (watcher->bookmarks) add_bookmark(*watcher, false, out);
        } else if (watcher->bookmarks && now >= watcher->next_bookmark) {
            add_bookmark(*watcher, false, out);
            watcher->next_bookmark = now + kBookmarkEvery;
        }
        if (!out.empty()) co_return Piece(std::move(out));
        if (watcher->over) break;
        if (watcher->behind) continue;
        const auto limit =
            (watcher->bookmarks ? std::min(watcher->end, watcher->next_bookmark) : watcher->end) - now;
        auto waited = co_await watcher->state->changed.wait_for(clock, limit);
        if (!waited.has_value() && waited.error().kind == base::ErrorKind::cancelled)
            co_return std::move(waited).error();
    }
    co_return Piece();
}

void add_present(Watcher& watcher) {
    for (const auto& object : watcher.state->store.list(watcher.kind->kind, watcher.ns)) {
        if (concerns(watcher, *object)) watcher.present.push_back(object);
    }
}

}  // namespace

http::Response answer_watch(const StatePtr& state, const ApiCall& call) {
    auto selector =
        Selector::parse(call.parameter("labelSelector"), call.parameter("fieldSelector"), *call.kind);
    if (!selector.has_value()) return error_response(selector.error());
    if (auto good = check_watch_options(call); !good.has_value()) return error_response(good.error());
    if (auto asked = asked_revision(*state, call); !asked.has_value()) return error_response(asked.error());
    auto watcher = std::make_shared<Watcher>(state, call, std::move(*selector));
    watcher->partial =
        call.request.headers.get("Accept").find("as=PartialObjectMetadata") != std::string::npos;
    const auto given = call.parameter("resourceVersion");
    const bool initial = call.parameter("sendInitialEvents") == "true";
    watcher->revision = std::strtoll(given.c_str(), nullptr, 10);
    if (given.empty() || given == "0" || initial) {
        watcher->revision = state->store.revision();
        if (call.parameter("sendInitialEvents") != "false") add_present(*watcher);
        watcher->initial_end = initial && watcher->bookmarks;
    } else if (watcher->revision < state->store.oldest()) {
        return error_response(expired("too old resource version: " + given + " (" +
                                      std::to_string(state->store.oldest()) + ")"));
    }
    const auto asked = std::strtoll(call.parameter("timeoutSeconds").c_str(), nullptr, 10);
    const auto now = state->clock.monotonic();
    watcher->end =
        now + std::chrono::seconds(asked > 0 ? std::min(asked, 86'400LL)
                                             : 1800LL + static_cast<long long>(state->clock.random() % 1800));
    watcher->next_bookmark = now + kBookmarkEvery;
    http::Response response(200);
    response.headers.set("Content-Type", "application/json");
    response.stream = http::make_stream([watcher] { return next_piece(watcher); });
    return response;
}

}  // namespace instantstart::twin::kube
