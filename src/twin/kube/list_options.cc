#include "twin/kube/list_options.h"

#include <algorithm>

#include "base/text.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

using base::Result;

// In a token: go on with the state as it is, whatever has changed since the first page.
constexpr std::int64_t kInconsistent = -1;
// Between namespace and name in a token: below every character of either.
constexpr char kSeparator = '\x01';
constexpr const char* kMatch = "resourceVersionMatch";

Cause forbidden_option(std::string why, std::string field) {
    return {"FieldValueForbidden", "Forbidden: " + std::move(why), std::move(field)};
}

Result<void> refuse(const std::vector<Cause>& causes) {
    if (causes.empty()) return base::ok();
    return invalid_object("ListOptions", "meta.k8s.io", "", causes);
}

std::vector<Cause> check_match(const ApiCall& call) {
    std::vector<Cause> causes;
    const auto match = call.parameter("resourceVersionMatch");
    if (match.empty()) return causes;
    const auto revision = call.parameter("resourceVersion");
    if (revision.empty())
        causes.push_back(
            forbidden_option("resourceVersionMatch is forbidden unless resourceVersion is provided", kMatch));
    if (!call.parameter("continue").empty())
        causes.push_back(
            forbidden_option("resourceVersionMatch is forbidden when continue is provided", kMatch));
    if (match != "Exact" && match != "NotOlderThan") {
        causes.emplace_back(
            "FieldValueNotSupported",
            "Unsupported value: \"" + match + "\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
            "resourceVersionMatch");
    }
    if (match == "Exact" && revision == "0")
        causes.push_back(forbidden_option(
            "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"", "resourceVersionMatch"));
    return causes;
}

Result<ListPosition> read_token(const ClusterState& state, const std::string& text) {
    std::string plain;
    if (!base::base64_decode(text, plain))
        return bad_request("continue key is not valid: illegal base64 data");
    const auto parsed = base::parse_json(plain);
    if (!parsed.has_value() || !parsed->is_object() || base::get_string(*parsed, "v") != "meta.k8s.io/v1")
        return bad_request("continue key is not valid: it is no token of this server");
    ListPosition position;
    position.revision = base::get_int(*parsed, "rv");
    const auto start = base::get_string(*parsed, "start");
    const auto space = start.find(kSeparator);
    if (space != std::string::npos) {
        position.after_ns = start.substr(0, space);
        position.after_name = start.substr(space + 1);
    }
    position.told = base::get_int(*parsed, "told", -1);
    if (*position.told < 0) position.told.reset();
    if (position.revision == kInconsistent) position.revision = 0;
    const bool known = position.revision == 0 || (position.revision >= state.store.oldest() &&
                                                  position.revision <= state.store.revision());
    if (known) return position;
    auto error = expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new "
        "list without the continue parameter, or use the continue token in this response to retrieve the "
        "remainder of the results. Continuing with the provided token results in an inconsistent list - "
        "objects that were created, modified, or deleted between the time the first chunk was returned and "
        "now may show up in the list.");
    position.revision = kInconsistent;
    error.extra["metadata"] = JsonObject{{"continue", make_continue(position)}};
    return error;
}

base::Error too_large(const ClusterState& state, const ApiCall& call, std::int64_t asked) {
    const auto* prefix = call.name.empty() ? "Timeout: " : "";
    const auto text = prefix + std::string("Too large resource version: ") + std::to_string(asked) +
                      ", current: " + std::to_string(state.store.revision());
    auto error = server_error(504, "Timeout", text);
    const JsonObject cause{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}};
    error.extra["details"] = JsonObject{{"causes", JsonArray{cause}}, {"retryAfterSeconds", 1}};
    return error;
}

}  // namespace

Result<std::int64_t> asked_revision(const ClusterState& state, const ApiCall& call) {
    const auto text = call.parameter("resourceVersion");
    if (text.empty()) return 0;
    if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) ||
        text.size() > 18) {
        const auto why = "resourceVersion: Invalid value: \"" + text + "\": strconv.ParseUint: parsing \"" +
                         text + "\": invalid syntax";
        if (!call.name.empty() || call.is_watch()) return server_error(500, "", why);
        return bad_request("invalid resource version: " + why);
    }
    const auto revision = std::strtoll(text.c_str(), nullptr, 10);
    if (revision > state.store.revision()) return too_large(state, call, revision);
    return revision;
}

Result<ListPosition> list_position(const ClusterState& state, const ApiCall& call) {
    auto causes = check_match(call);
    if (!call.parameter("sendInitialEvents").empty())
        causes.push_back(forbidden_option("sendInitialEvents is forbidden for list", "sendInitialEvents"));
    CHECK_OK(refuse(causes));
    const auto token = call.parameter("continue");
    if (!token.empty()) {
        const auto revision = call.parameter("resourceVersion");
        if (!revision.empty() && revision != "0")
            return bad_request("specifying resource version is not allowed when using continue");
        return read_token(state, token);
    }
    TRY(const auto asked, asked_revision(state, call));
    ListPosition position;
    const auto match = call.parameter("resourceVersionMatch");
    const auto limit = std::strtoll(call.parameter("limit").c_str(), nullptr, 10);
    // Without a match a limited list is of exactly that revision, as it was before there were matches.
    if (match == "Exact" || (match.empty() && limit > 0)) position.revision = asked;
    return position;
}

Result<void> check_watch_options(const ApiCall& call) {
    const auto match = call.parameter("resourceVersionMatch");
    const bool initial = !call.parameter("sendInitialEvents").empty();
    std::vector<Cause> causes;
    if (initial && match != "NotOlderThan")
        causes.push_back(forbidden_option(
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan", kMatch));
    if (!match.empty() && !initial)
        causes.push_back(forbidden_option(
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided", kMatch));
    if (!match.empty() && match != "NotOlderThan")
        causes.emplace_back("FieldValueNotSupported",
                            "Unsupported value: \"" + match + "\": supported values: \"NotOlderThan\"",
                            kMatch);
    if (!match.empty() && !call.parameter("continue").empty())
        causes.push_back(
            forbidden_option("resourceVersionMatch is forbidden when continue is provided", kMatch));
    return refuse(causes);
}

std::string make_continue(const ListPosition& position) {
    JsonObject token{{"v", "meta.k8s.io/v1"},
                     {"rv", position.revision},
                     {"start", position.after_ns + kSeparator + position.after_name}};
    if (position.told) token["told"] = *position.told;
    return base::base64url_encode(base::to_text(token));
}

base::Error list_expired() {
    return expired("The resourceVersion for the provided list is too old.");
}

}  // namespace instantstart::twin::kube
