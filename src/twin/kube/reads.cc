// get and list, with tables, selectors and pages.
#include "base/text.h"
#include "twin/kube/api_server.h"
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

std::string sort_key(const JsonObject& object) {
    return namespace_of(object) + "\x01" + name_of(object);
}

// A continue token names the revision of its list and the last object told; it dies with the log of changes.
std::string make_token(std::int64_t revision, const std::string& after) {
    const JsonObject token{{"v", "meta.k8s.io/v1"}, {"rv", revision}, {"start", after}};
    return base::base64url_encode(base::to_text(token));
}

base::Result<std::pair<std::int64_t, std::string>> read_token(const ClusterState& state,
                                                              const std::string& text) {
    std::string plain;
    if (!base::base64_decode(text, plain))
        return bad_request("continue key is not valid: illegal base64 data");
    const auto parsed = base::parse_json(plain);
    if (!parsed.has_value() || !parsed->is_object())
        return bad_request("continue key is not valid: it is no token of this server");
    const auto revision = base::get_int(*parsed, "rv");
    if (revision < state.store.oldest() || revision > state.store.revision()) {
        return expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a "
            "new list "
            "without the continue parameter, or use the continue token in this response to retrieve the "
            "remainder of the "
            "results. Continuing with the provided token results in an inconsistent list - objects that were "
            "created, "
            "modified, or deleted between the time the first chunk was returned and now may show up in the "
            "list.");
    }
    return std::pair(revision, base::get_string(*parsed, "start"));
}

base::Result<Page> select(const ClusterState& state, const ApiCall& call) {
    TRY(const auto selector,
        Selector::parse(call.parameter("labelSelector"), call.parameter("fieldSelector"), *call.kind));
    Page page;
    page.revision = state.store.revision();
    std::string after;
    if (const auto token = call.parameter("continue"); !token.empty()) {
        TRY(auto position, read_token(state, token));
        page.revision = position.first;
        after = position.second;
    }
    const auto limit = std::strtoll(call.parameter("limit").c_str(), nullptr, 10);
    for (const auto& object : state.store.list(call.kind->kind, call.ns)) {
        if (!selector.matches(*object)) continue;
        if (!after.empty() && sort_key(*object) <= after) continue;
        if (limit > 0 && static_cast<long long>(page.items.size()) >= limit) {
            ++page.remaining;
            continue;
        }
        page.items.push_back(in_version(*call.kind, object));
    }
    if (page.remaining > 0) page.next = make_token(page.revision, sort_key(*page.items.back()));
    if (!selector.empty() && page.remaining > 0) page.remaining = -1;  // not told where a selector is in play
    return page;
}

JsonObject list_metadata(const Page& page) {
    JsonObject meta;
    meta["resourceVersion"] = std::to_string(page.revision);
    if (!page.next.empty()) meta["continue"] = page.next;
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

http::Response answer_list(const StatePtr& state, const ApiCall& call) {
    auto page = select(*state, call);
    if (!page.has_value()) return error_response(page.error());
    const auto table = wanted_table(call);
    if (!table.empty()) {
        return json_response(200, make_table(*call.kind, page->items, state->clock.now(),
                                             table_options(call, table), list_metadata(*page)));
    }
    const bool partial = wants_metadata(call);
    JsonArray items;
    for (const auto& object : page->items) {
        auto item = partial ? metadata_only(*object) : *object;
        // Items of a list do not repeat what the list says; custom kinds' do.
        if (!call.kind->custom && !partial) {
            item.erase("kind");
            item.erase("apiVersion");
        }
        items.emplace_back(std::move(item));
    }
    JsonObject list;
    list["kind"] = partial ? "PartialObjectMetadataList" : call.kind->name + "List";
    list["apiVersion"] = partial ? "meta.k8s.io/v1" : call.kind->api_version();
    list["metadata"] = list_metadata(*page);
    list["items"] = std::move(items);
    return json_response(200, list);
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
    if (call.method == "GET" && wants_metadata(call)) return json_response(status, metadata_only(*shown));
    return json_response(status, *shown);
}

http::Response answer_read(const StatePtr& state, const ApiCall& call) {
    if (call.name.empty()) return answer_list(state, call);
    const auto object = state->store.get(call.kind->kind, call.ns, call.name);
    if (object == nullptr) return error_response(not_found(call.kind->kind, call.name));
    return object_response(*state, call, 200, object);
}

}  // namespace instantstart::twin::kube
