#include "twin/kube/object_store.h"

#include <algorithm>

#include "twin/kube/apply.h"
#include "twin/kube/defaults.h"
#include "twin/kube/metadata.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

// Metadata that the server owns: what a writer sends for it does not count.
constexpr std::string_view kServerOwned[] = {
    "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"};

bool same_but_revision(const JsonObject& a, const JsonObject& b) {
    if (a == b) return true;
    JsonObject left = a;
    JsonObject right = b;
    metadata_of(left).erase("resourceVersion");
    metadata_of(right).erase("resourceVersion");
    return left == right;
}

bool spec_changed(const JsonObject& before, const JsonObject& after) {
    const auto differs = [](const JsonObject& a, const JsonObject& b) {
        return std::any_of(a.begin(), a.end(), [&b](const auto& member) {
            if (member.key() == "metadata" || member.key() == "status") return false;
            const auto* other = b.if_contains(member.key());
            return other == nullptr || *other != member.value();
        });
    };
    return differs(before, after) || differs(after, before);
}

}  // namespace

ObjectPtr MemoryObjectStore::get(const Kind& kind, std::string_view ns, std::string_view name) const {
    const auto table = tables_.find(kind);
    if (table == tables_.end()) return nullptr;
    const auto found = table->second.find(Name(ns, name));
    return found == table->second.end() ? nullptr : found->second;
}

std::vector<ObjectPtr> MemoryObjectStore::list(const Kind& kind, std::string_view ns) const {
    std::vector<ObjectPtr> out;
    const auto table = tables_.find(kind);
    if (table == tables_.end()) return out;
    auto at = ns.empty() ? table->second.begin() : table->second.lower_bound(Name(ns, ""));
    for (; at != table->second.end() && (ns.empty() || at->first.first == ns); ++at)
        out.push_back(at->second);
    return out;
}

std::string MemoryObjectStore::uid() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 32; ++i) {
        if (i % 16 == 0) bits = clock_.random();
        if (i == 8 || i == 12 || i == 16 || i == 20) out += '-';
        out += kDigits[bits & 15U];
        bits >>= 4U;
    }
    out[14] = '4';
    out[19] = kDigits[8U + (static_cast<unsigned char>(out[19]) & 3U)];
    return out;
}

JsonObject MemoryObjectStore::prepared_for_create(const Kind& kind, JsonObject object) const {
    auto& meta = metadata_of(object);
    for (auto key : kServerOwned) meta.erase(key);
    meta["uid"] = uid();
    meta["creationTimestamp"] = base::format_time(clock_.now());
    if (has_generation(kind)) meta["generation"] = 1;
    default_object(kind, object);
    if (defaulter_) defaulter_(kind, object);
    return object;
}

JsonObject MemoryObjectStore::prepared_for_update(const Kind& kind, const JsonObject& current,
                                                  JsonObject object) {
    auto& meta = metadata_of(object);
    const auto& old = base::get_object(current, "metadata");
    for (auto key : kServerOwned) {
        if (const auto* kept = old.if_contains(key)) {
            meta[key] = *kept;
        } else {
            // Absent before: only a deletion in progress, set by the server's own code, may appear.
            if (key != "deletionTimestamp" && key != "deletionGracePeriodSeconds") meta.erase(key);
        }
    }
    default_object(kind, object);
    if (has_generation(kind) && spec_changed(current, object)) {
        meta["generation"] = base::get_int(current, "metadata.generation") + 1;
    }
    return object;
}

base::Result<ObjectPtr> MemoryObjectStore::create(const Kind& kind, JsonObject object) {
    const Name name(namespace_of(object), name_of(object));
    if (name.second.empty()) return required_name(kind);
    if (tables_[kind].contains(name)) return already_exists(kind, name.second);
    return commit(Change::Type::added, kind, prepared_for_create(kind, std::move(object)), nullptr);
}

base::Result<ObjectPtr> MemoryObjectStore::update(const Kind& kind, JsonObject object) {
    const Name name(namespace_of(object), name_of(object));
    const auto current = get(kind, name.first, name.second);
    if (current == nullptr) return not_found(kind, name.second);
    const auto wanted = revision_of(object);
    if (wanted != 0 && wanted != revision_of(*current)) return conflict(kind, name.second);
    const auto wanted_uid = base::get_string(object, "metadata.uid");
    if (!wanted_uid.empty() && wanted_uid != base::get_string(*current, "metadata.uid")) {
        return conflict_uid(kind, name.second, wanted_uid, base::get_string(*current, "metadata.uid"));
    }
    auto prepared = prepared_for_update(kind, *current, std::move(object));
    if (is_terminating(prepared) && !has_finalizers(kind, prepared)) {
        // A pod that is only asked to end keeps its grace: remove() takes it when its containers have ended.
        const bool was_held = has_finalizers(kind, *current);
        if (was_held || base::get_int(prepared, "metadata.deletionGracePeriodSeconds") == 0) {
            return commit(Change::Type::deleted, kind, std::move(prepared), current);
        }
    }
    if (same_but_revision(*current, prepared)) return current;
    return commit(Change::Type::modified, kind, std::move(prepared), current);
}

base::Result<bool> MemoryObjectStore::remove(const Kind& kind, std::string_view ns, std::string_view name) {
    const auto current = get(kind, ns, name);
    if (current == nullptr) return not_found(kind, name);
    auto next = *current;
    if (!has_finalizers(kind, next)) {
        commit(Change::Type::deleted, kind, std::move(next), current);
        return true;
    }
    if (is_terminating(next)) return false;
    metadata_of(next)["deletionTimestamp"] = base::format_time(clock_.now());
    metadata_of(next)["deletionGracePeriodSeconds"] = 0;
    if (has_generation(kind))
        metadata_of(next)["generation"] = base::get_int(next, "metadata.generation") + 1;
    if (kind == Kind("", "namespaces")) object_at(next, "status")["phase"] = "Terminating";
    commit(Change::Type::modified, kind, std::move(next), current);
    return false;
}

base::Result<ObjectPtr> MemoryObjectStore::apply(const Kind& kind, JsonObject object,
                                                 std::string_view manager) {
    const auto current = get(kind, namespace_of(object), name_of(object));
    ApplyOptions options;
    options.manager = manager;
    options.force = true;
    options.time = base::format_time(clock_.now());
    TRY(auto merged, apply_object(current.get(), object, options));
    if (current == nullptr) return create(kind, std::move(merged));
    return update(kind, std::move(merged));
}

ObjectPtr MemoryObjectStore::commit(Change::Type type, const Kind& kind, JsonObject object,
                                    ObjectPtr previous) {
    ++revision_;
    metadata_of(object)["resourceVersion"] = std::to_string(revision_);
    Change change;
    change.type = type;
    change.kind = kind;
    change.revision = revision_;
    const Name name(namespace_of(object), name_of(object));
    change.object = std::make_shared<const JsonObject>(std::move(object));
    change.previous = std::move(previous);
    if (type == Change::Type::deleted) {
        tables_[kind].erase(name);
    } else {
        tables_[kind][name] = change.object;
    }
    log_.push_back(change);
    if (log_.size() > log_limit_) {
        compacted_ = log_.front().revision;
        log_.pop_front();
    }
    auto stored = change.object;
    untold_.push_back(std::move(change));
    tell();
    return stored;
}

// A subscriber's own write comes back here while the outer call is telling: it is queued, so that all see one
// order.
void MemoryObjectStore::tell() {
    if (telling_) return;
    telling_ = true;
    while (!untold_.empty()) {
        const auto change = std::move(untold_.front());
        untold_.pop_front();
        const auto targets = subscribers_;
        for (const auto& target : targets) {
            if (const auto callback = target.lock()) (*callback)(change);
        }
    }
    std::erase_if(subscribers_, [](const auto& target) { return target.expired(); });
    telling_ = false;
}

ObjectStore::Subscription MemoryObjectStore::subscribe(std::function<void(const Change&)> on_change) {
    auto callback = std::make_shared<std::function<void(const Change&)>>(std::move(on_change));
    subscribers_.push_back(callback);
    return callback;
}

std::optional<std::vector<Change>> MemoryObjectStore::changes_since(std::int64_t revision) const {
    if (revision < compacted_) return std::nullopt;
    const auto first =
        std::upper_bound(log_.begin(), log_.end(), revision,
                         [](std::int64_t at, const Change& change) { return at < change.revision; });
    return std::vector<Change>(first, log_.end());
}

void MemoryObjectStore::compact() {
    log_.clear();
    compacted_ = revision_;
}

std::vector<std::pair<Kind, std::size_t>> MemoryObjectStore::kinds() const {
    std::vector<std::pair<Kind, std::size_t>> out;
    for (const auto& [kind, table] : tables_) out.emplace_back(kind, table.size());
    return out;
}

JsonValue MemoryObjectStore::save() const {
    JsonArray tables;
    for (const auto& [kind, table] : tables_) {
        JsonArray objects;
        for (const auto& [name, object] : table) objects.emplace_back(*object);
        tables.emplace_back(
            JsonObject{{"group", kind.group}, {"plural", kind.plural}, {"objects", std::move(objects)}});
    }
    return JsonObject{{"revision", revision_}, {"tables", std::move(tables)}};
}

void MemoryObjectStore::load(const JsonValue& state) {
    tables_.clear();
    log_.clear();
    // The log is gone: watchers of before must list again.
    revision_ = std::max(revision_, base::get_int(state, "revision", 1)) + 1;
    compacted_ = revision_;
    for (const auto& table : base::get_array(state, "tables")) {
        const Kind kind(base::get_string(table, "group"), base::get_string(table, "plural"));
        for (const auto& value : base::get_array(table, "objects")) {
            if (!value.is_object()) continue;
            auto object = std::make_shared<const JsonObject>(value.get_object());
            tables_[kind][Name(namespace_of(*object), name_of(*object))] = object;
        }
    }
}

}  // namespace instantstart::twin::kube
