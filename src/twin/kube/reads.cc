// get and list, with tables, selectors and pages.
#include "base/text.h"
#include "twin/kube/api_server.h"
#include "twin/kube/list_options.h"
#include "twin/kube/metadata.h"
#include "twin/kube/selectors.h"
#include "twin/kube/status.h"
#include "twin/kube/table.h"

namespace instantstart::twin::kube {

namespace {

struct Page {
    std::vector<ObjectPtr> items;
    std::string next;
    std::int64_t remaining = 0;
    std::int64_t revision = 0;
};

base::Result<Page> select(const ClusterState& state, const ApiCall& call) {
    TRY(const auto selector,
        Selector::parse(call.parameter("labelSelector"), call.parameter("fieldSelector"), *call.kind));
    TRY(const auto position, list_position(state, call));
    Page page;
    page.revision = position.revision == 0 ? state.store.revision() : position.revision;
    const auto limit_text = call.parameter("limit");
    if (limit_text.find_first_not_of("-0123456789") != std::string::npos)
        return bad_request("strconv.ParseInt: parsing \"" + limit_text + "\": invalid syntax");
    const auto limit = std::strtoll(limit_text.c_str(), nullptr, 10);
    MemoryObjectStore::Range range;
    range.ns = call.ns;
    range.after_ns = position.after_ns;
    range.after_name = position.after_name;
    range.revision = position.revision;
    bool more = false;
    const bool known = state.store.walk(call.kind->kind, range, [&](const ObjectPtr& object) {
        if (!selector.matches(*object)) return true;
        more = limit > 0 && static_cast<long long>(page.items.size()) >= limit;
        if (!more) page.items.push_back(in_version(*call.kind, object));
        return !more;
    });
    if (!known) return list_expired();
    if (!more) return page;
    ListPosition next;
    next.revision = page.revision;
    next.after_ns = namespace_of(*page.items.back());
    next.after_name = name_of(*page.items.back());
    next.told = position.told;
    if (next.told) *next.told += static_cast<std::int64_t>(page.items.size());
    page.next = make_continue(next);
    // Not told where a selector is in play.
    const auto all = selector.empty() && next.told ? state.store.count(call.kind->kind, range) : std::nullopt;
    if (all) page.remaining = static_cast<std::int64_t>(*all) - *next.told;
    return page;
}

JsonObject list_metadata(const Page& page, bool custom) {
    JsonObject meta;
    meta["resourceVersion"] = std::to_string(page.revision);
    if (!page.next.empty() || custom) meta["continue"] = page.next;
    if (page.remaining > 0) meta["remainingItemCount"] = page.remaining;
    return meta;
}

bool wants_metadata(const ApiCall& call) {
    return call.request.headers.get("Accept").find("as=PartialObjectMetadata") != std::string::npos;
}

JsonObject metadata_only(const JsonObject& object) {
    return JsonObject{{"kind", "PartialObjectMetadata"},
                      {"apiVersion", "meta.k8s.io/v1"},
                      {"metadata", base::get_object(object, "metadata")}};
}

TableOptions table_options(const ApiCall& call, std::string api_version) {
    TableOptions options;
    options.api_version = std::move(api_version);
    const auto include = call.parameter("includeObject");
    if (!include.empty()) options.include_object = include;
    return options;
}

// An item's text. Items of a list do not repeat what the list says; custom kinds' do.
void add_item(const ApiCall& call, const JsonObject& object, std::string& out) {
    if (wants_metadata(call)) {
        out += base::to_text(metadata_only(object));
        return;
    }
    if (call.kind->custom) {
        out += base::to_text(object);
        return;
    }
    out += '{';
    for (const auto& member : object) {
        if (member.key() == "kind" || member.key() == "apiVersion") continue;
        if (out.back() != '{') out += ',';
        out += base::to_text(JsonValue(member.key())) + ':' + base::to_text(member.value());
    }
    out += '}';
}

// A list in writing. Its objects are the ones of the moment it was asked for, whatever changes meanwhile.
struct ListText {
    ListText(const ApiCall& the_call, Page the_page) : call(the_call), page(std::move(the_page)) {}
    ApiCall call;
    Page page;
    std::size_t told = 0;
    bool begun = false, ended = false;

    void begin(std::string& out) {
        const bool partial = wants_metadata(call);
        JsonObject head;
        head["kind"] = partial ? "PartialObjectMetadataList" : call.kind->name + "List";
        head["apiVersion"] = partial ? "meta.k8s.io/v1" : call.kind->api_version();
        head["metadata"] = list_metadata(page, call.kind->custom);
        out += base::to_text(head);
        out.back() = ',';
        out += "\"items\":[";
        begun = true;
    }
    std::string some(std::size_t most) {
        std::string out;
        if (!begun) begin(out);
        for (; most > 0 && told < page.items.size(); --most, ++told) {
            if (told > 0) out += ',';
            add_item(call, *page.items[told], out);
            page.items[told].reset();
        }
        ended = told == page.items.size();
        if (ended) out += "]}\n";
        return out;
    }
};

// Longer lists are written piece by piece, so that others are answered between them.
constexpr std::size_t kPiece = 100;

rt::Task<std::optional<std::string>> next_piece(std::shared_ptr<ListText> list) {
    if (list->ended) co_return std::optional<std::string>();
    co_return std::optional<std::string>(list->some(kPiece));
}

http::Response answer_list(const StatePtr& state, const ApiCall& call) {
    auto page = select(*state, call);
    if (!page.has_value()) return error_response(page.error());
    const auto table = wanted_table(call);
    if (!table.empty()) {
        return json_response(200, make_table(*call.kind, page->items, state->clock.now(),
                                             table_options(call, table), list_metadata(*page, false)));
    }
    http::Response response(200);
    response.headers.set("Content-Type", "application/json");
    const bool is_long = page->items.size() > kPiece;
    auto list = std::make_shared<ListText>(call, std::move(*page));
    if (is_long) {
        response.stream = http::make_stream([list] { return next_piece(list); });
    } else {
        response.body = list->some(kPiece);
    }
    return response;
}

}  // namespace

std::string wanted_table(const ApiCall& call) {
    for (const auto& part : base::split(call.request.headers.get("Accept"), ',')) {
        if (part.find("as=Table") == std::string::npos) {
            if (part.find("application/json") != std::string::npos && part.find("as=") == std::string::npos)
                return "";
            continue;
        }
        if (part.find("v=v1beta1") != std::string::npos) return "meta.k8s.io/v1beta1";
        if (part.find("v=v1") != std::string::npos) return "meta.k8s.io/v1";
    }
    return "";
}

ObjectPtr in_version(const KindInfo& kind, const ObjectPtr& object) {
    const auto wanted = kind.api_version();
    if (base::get_string(*object, "apiVersion") == wanted) return object;
    auto copy = std::make_shared<JsonObject>(*object);
    (*copy)["apiVersion"] = wanted;
    (*copy)["kind"] = kind.name;
    return copy;
}

http::Response object_response(const ClusterState& state, const ApiCall& call, int status,
                               const ObjectPtr& object) {
    const auto shown = in_version(*call.kind, object);
    if (const auto table = wanted_table(call); !table.empty()) {
        const JsonObject meta{{"resourceVersion", base::get_string(*shown, "metadata.resourceVersion")}};
        return json_response(
            status, make_table(*call.kind, {shown}, state.clock.now(), table_options(call, table), meta));
    }
    if (wants_metadata(call)) return json_response(status, metadata_only(*shown));
    return json_response(status, *shown);
}

http::Response answer_read(const StatePtr& state, const ApiCall& call) {
    if (call.name.empty()) return answer_list(state, call);
    const auto revision = asked_revision(*state, call);
    if (!revision.has_value()) return error_response(revision.error());
    const auto object = state->store.get(call.kind->kind, call.ns, call.name);
    if (object == nullptr) return error_response(not_found(call.kind->kind, call.name));
    return object_response(*state, call, 200, object);
}

}  // namespace instantstart::twin::kube
