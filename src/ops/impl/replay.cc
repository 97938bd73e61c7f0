#include "ops/impl/replay.h"

#include <set>

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::ops::impl {

namespace {

std::vector<std::string> differing_fields(const JsonObject& a, const JsonObject& b) {
    std::set<std::string> names;
    for (const auto* side : {&a, &b}) {
        for (const auto& member : *side) names.insert(std::string(member.key()));
    }
    std::vector<std::string> out;
    for (const auto& name : names) {
        const auto* left = a.if_contains(name);
        const auto* right = b.if_contains(name);
        const bool same = left != nullptr && right != nullptr &&
                          base::canonical_text(*left) == base::canonical_text(*right);
        if (!same) out.push_back(name);
    }
    return out;
}

base::Error key_reused(const KeyRow& key, const JsonObject& body) {
    const auto fields = differing_fields(key.body, body);
    auto error = base::conflict_error(
        "idempotency_key_reused",
        "this idempotency key was used with another request; different: " + base::join(fields, ", "));
    base::JsonArray names;
    for (const auto& field : fields) {
        names.push_back(JsonValue(field));
        error.fields.push_back({"/" + field, "differs from the request that first used this key", {}, {}});
    }
    error.hint =
        "Use a new idempotency key for a new request; repeat the first request unchanged to get its "
        "operation.";
    error.extra["operation_id"] = key.operation_id;
    error.extra["differs"] = std::move(names);
    return error;
}

base::Error key_expired(const KeyRow& key) {
    return base::conflict_error("idempotency_key_expired",
                                "this idempotency key is older than the time for which answers are kept")
        .with_hint(
            "Read what exists now, then send the request with a new idempotency key if it is still wanted.")
        .with_extra("operation_id", JsonValue(key.operation_id));
}

}  // namespace

std::string key_scope(const std::string& account, const std::string& principal, const std::string& operation,
                      const std::string& key) {
    const base::JsonArray parts = {JsonValue(account), JsonValue(principal), JsonValue(operation),
                                   JsonValue(key)};
    return base::sha256_hex(base::canonical_text(parts));
}

std::string hash_of(const std::string& operation, const JsonObject& body) {
    return base::sha256_hex(operation + "\n" + base::canonical_text(JsonValue(body)));
}

bool conflicts(const std::string& a, bool a_covers, const std::string& b, bool b_covers) {
    if (a == b) return true;
    return (a_covers && b.starts_with(a + "/")) || (b_covers && a.starts_with(b + "/"));
}

base::Error operation_in_progress(const Record& record) {
    return base::conflict_error("operation_in_progress", record.operation + " is in progress on " +
                                                             record.resource + " (" + record.id + ")")
        .with_hint(
            "Wait for that operation (operation_get with wait_seconds), or cancel it, then send the request "
            "again.")
        .with_extra("operation_id", JsonValue(record.id));
}

base::Result<std::optional<Match>> find_match(const Submission& submission, const ReplayView& view) {
    const std::string hash = hash_of(submission.operation, submission.body);
    Match match;
    if (view.key != nullptr) {
        if (view.now - view.key->created_at > view.key_retention) return key_expired(*view.key);
        if (view.key->body_hash != hash) return key_reused(*view.key, submission.body);
        match.operation_id = view.key->operation_id;
        return std::optional<Match>(match);
    }
    std::optional<base::Error> in_the_way;
    const Record* ended = nullptr;
    view.each([&](const Record& record) {
        const bool same = record.operation == submission.operation && record.account == submission.account &&
                          record.body_hash == hash;
        if (record.terminal()) {
            const bool recent = record.ended_at && view.now - *record.ended_at < kRepeatWindow;
            if (same && recent && ended == nullptr) ended = &record;
            return true;
        }
        if (same) {
            match.operation_id = record.id;
            return false;
        }
        if (!submission.resource.empty() && !in_the_way &&
            conflicts(submission.resource, submission.covers_children, record.resource,
                      record.covers_children)) {
            in_the_way = operation_in_progress(record);
        }
        return true;
    });
    if (!match.operation_id.empty()) {
        match.adopt_key = !submission.idempotency_key.empty();
        return std::optional<Match>(match);
    }
    if (in_the_way) return std::move(*in_the_way);
    if (ended != nullptr && !submission.naturally_idempotent && submission.idempotency_key.empty()) {
        match.operation_id = ended->id;
        match.hint =
            "This is the operation of the same request a short while ago. To do it again, pass a new "
            "idempotency_key.";
        return std::optional<Match>(match);
    }
    return std::optional<Match>();
}

}  // namespace instantstart::ops::impl
