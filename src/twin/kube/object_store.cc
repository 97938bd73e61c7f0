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

bool same_but(std::string_view member, const JsonObject& a, const JsonObject& b) {
    const auto rest = [member](const JsonObject& object) {
        return object.size() - (object.contains(member) ? 1U : 0U);
    };
    return rest(a) == rest(b) && std::all_of(a.begin(), a.end(), [&](const auto& each) {
               const auto* other = each.key() == member ? &each.value() : b.if_contains(each.key());
               return other != nullptr && *other == each.value();
           });
}

bool same_but_revision(const JsonObject& a, const JsonObject& b) {
    return same_but("metadata", a, b) &&
           same_but("resourceVersion", base::get_object(a, "metadata"), base::get_object(b, "metadata"));
}

bool spec_changed(const JsonObject& before, const JsonObject& after) {
    const auto differs = [](const JsonObject& a, const JsonObject& b) {
        return std::any_of(a.begin(), a.end(), [&b](const auto& member) {
            if (member.key() == "metadata" || member.key() == "status" || member.key() == "apiVersion")
                return false;
            const auto* other = b.if_contains(member.key());
            return other == nullptr || *other != member.value();
        });
    };
    return differs(before, after) || differs(after, before);
}

std::string_view text_at(const JsonObject& object, std::string_view key) {
    const auto* value = base::get_object(object, "metadata").if_contains(key);
    return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                  : std::string_view();
}

}  // namespace

void MemoryObjectStore::Table::put(Name name, ObjectPtr object) {
    const auto found = objects.find(name);
    if (found != objects.end()) {
        found->second = std::move(object);
        return;
    }
    ++counts[name.first];
    objects.emplace(std::move(name), std::move(object));
}

void MemoryObjectStore::Table::erase(const Name& name) {
    if (objects.erase(name) == 0) return;
    const auto count = counts.find(name.first);
    if (--count->second == 0) counts.erase(count);
}

std::size_t MemoryObjectStore::Table::size(std::string_view ns) const {
    if (ns.empty()) return objects.size();
    const auto found = counts.find(ns);
    return found == counts.end() ? 0 : found->second;
}

ObjectPtr MemoryObjectStore::get(const Kind& kind, std::string_view ns, std::string_view name) const {
    const auto table = tables_.find(kind);
    if (table == tables_.end()) return nullptr;
    const auto found = table->second.objects.find(NameView(ns, name));
    return found == table->second.objects.end() ? nullptr : found->second;
}

std::vector<ObjectPtr> MemoryObjectStore::list(const Kind& kind, std::string_view ns) const {
    std::vector<ObjectPtr> out;
    const auto table = tables_.find(kind);
    if (table == tables_.end()) return out;
    out.reserve(table->second.size(ns));
    Range range;
    range.ns = ns;
    walk(kind, range, [&out](const ObjectPtr& object) {
        out.push_back(object);
        return true;
    });
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
    admit_object(kind, object);
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
    admit_object(kind, object);
    if (has_generation(kind) && spec_changed(current, object)) {
        // Asked for again: the defaults may have moved it.
        metadata_of(object)["generation"] = base::get_int(current, "metadata.generation") + 1;
    }
    return object;
}

base::Result<ObjectPtr> MemoryObjectStore::create(const Kind& kind, JsonObject object) {
    const Name name(namespace_of(object), name_of(object));
    if (name.second.empty()) return required_name(kind);
    if (tables_[kind].objects.contains(name)) return already_exists(kind, name.second);
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
    if (kind != Kind("", "namespaces")) metadata_of(next)["deletionGracePeriodSeconds"] = 0;
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
        tables_[kind].put(name, change.object);
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

std::optional<std::vector<Change>> MemoryObjectStore::changes_since(std::int64_t revision,
                                                                    std::size_t most) const {
    if (revision < compacted_) return std::nullopt;
    const auto first =
        std::upper_bound(log_.begin(), log_.end(), revision,
                         [](std::int64_t at, const Change& change) { return at < change.revision; });
    const auto there = static_cast<std::size_t>(log_.end() - first);
    return std::vector<Change>(first, first + static_cast<std::ptrdiff_t>(std::min(most, there)));
}

// Every later change undone: of each object the first change after the revision knows how it was.
std::optional<MemoryObjectStore::Past> MemoryObjectStore::past(const Kind& kind, const Range& range) const {
    Past then;
    if (range.revision == 0) return then;
    if (range.revision < compacted_) return std::nullopt;
    const NameView after(range.after_ns, range.after_name);
    for (auto change = log_.rbegin(); change != log_.rend() && change->revision > range.revision; ++change) {
        if (change->kind != kind) continue;
        const NameView name(text_at(*change->object, "namespace"), text_at(*change->object, "name"));
        if ((!range.ns.empty() && name.first != range.ns) || !NameLess()(after, name)) continue;
        then.insert_or_assign(Name(name), change->previous);
    }
    return then;
}

bool MemoryObjectStore::walk(const Kind& kind, const Range& range, const Visit& visit) const {
    static const Table kNone;
    const auto then = past(kind, range);
    if (!then) return false;
    const auto table = tables_.find(kind);
    const auto& objects = (table == tables_.end() ? kNone : table->second).objects;
    const NameView after(range.after_ns, range.after_name);
    auto now = objects.upper_bound(std::max(after, NameView(range.ns, "")));
    const auto ends = [&](Objects::const_iterator at) {
        return at == objects.end() || (!range.ns.empty() && at->first.first != range.ns);
    };
    auto other = then->begin();
    while (!ends(now) || other != then->end()) {
        // What was otherwise stands for what is there now under the same name.
        const bool was = other != then->end() && (ends(now) || !NameLess()(now->first, other->first));
        const bool same = was && !ends(now) && !NameLess()(other->first, now->first);
        const auto& object = was ? other->second : now->second;
        if (was) ++other;
        if (!was || same) ++now;
        if (object != nullptr && !visit(object)) break;
    }
    return true;
}

std::optional<std::size_t> MemoryObjectStore::count(const Kind& kind, const Range& range) const {
    Range all = range;
    all.after_ns = all.after_name = {};
    const auto then = past(kind, all);
    if (!then) return std::nullopt;
    const auto table = tables_.find(kind);
    auto found = table == tables_.end() ? 0 : table->second.size(range.ns);
    for (const auto& [name, object] : *then) {
        found += object == nullptr ? 0U : 1U;
        found -= get(kind, name.first, name.second) == nullptr ? 0U : 1U;
    }
    return found;
}

void MemoryObjectStore::compact() {
    log_.clear();
    compacted_ = revision_;
}

std::vector<std::pair<Kind, std::size_t>> MemoryObjectStore::kinds() const {
    std::vector<std::pair<Kind, std::size_t>> out;
    out.reserve(tables_.size());
    for (const auto& [kind, table] : tables_) out.emplace_back(kind, table.objects.size());
    return out;
}

JsonValue MemoryObjectStore::save() const {
    JsonArray tables;
    for (const auto& [kind, table] : tables_) {
        JsonArray objects;
        for (const auto& [name, object] : table.objects) objects.emplace_back(*object);
        tables.emplace_back(
            JsonObject{{"group", kind.group}, {"plural", kind.plural}, {"objects", std::move(objects)}});
    }
    return JsonObject{{"revision", revision_}, {"tables", std::move(tables)}};
}

std::function<std::string()> MemoryObjectStore::saver() const {
    std::vector<std::pair<Kind, std::vector<ObjectPtr>>> tables;
    tables.reserve(tables_.size());
    for (const auto& [kind, table] : tables_) tables.emplace_back(kind, list(kind));
    return [revision = revision_, tables = std::move(tables)] {
        std::string out = "{\"revision\":" + std::to_string(revision) + ",\"tables\":[";
        for (const auto& [kind, objects] : tables) {
            if (out.back() == '}') out += ',';
            out += base::to_text(JsonObject{{"group", kind.group}, {"plural", kind.plural}});
            out.back() = ',';
            out += "\"objects\":[";
            for (const auto& object : objects) {
                if (out.back() == '}') out += ',';
                out += base::to_text(*object);
            }
            out += "]}";
        }
        return out + "]}";
    };
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
            tables_[kind].put(Name(namespace_of(*object), name_of(*object)), object);
        }
    }
}

}  // namespace instantstart::twin::kube
