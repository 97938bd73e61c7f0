// The objects of one cluster in memory, with the log of recent changes that watches read.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twin/kube/cluster.h"

namespace instantstart::twin::kube {

// One per cluster, owned by it, used on its loop only. A subscriber may write to the store: changes are told
// in order, each one to all subscribers before the next.
class MemoryObjectStore final : public ObjectStore {
public:
    explicit MemoryObjectStore(rt::Clock& clock, std::size_t log_limit = 20'000)
        : clock_(clock), log_limit_(log_limit) {}

    ObjectPtr get(const Kind& kind, std::string_view ns, std::string_view name) const override;
    std::vector<ObjectPtr> list(const Kind& kind, std::string_view ns = "") const override;
    base::Result<ObjectPtr> create(const Kind& kind, JsonObject object) override;
    base::Result<ObjectPtr> update(const Kind& kind, JsonObject object) override;
    base::Result<bool> remove(const Kind& kind, std::string_view ns, std::string_view name) override;
    base::Result<ObjectPtr> apply(const Kind& kind, JsonObject object, std::string_view manager) override;
    Subscription subscribe(std::function<void(const Change&)> on_change) override;
    std::int64_t revision() const override { return revision_; }

    // Which objects a walk is about: those of `ns` ("" for all namespaces) as they were at `revision` (0: as
    // they are), after the one named `after_ns`, `after_name` in the order of namespace and name.
    struct Range {
        Range() = default;
        std::string_view ns, after_ns, after_name;
        std::int64_t revision = 0;
    };
    // Visits them until `visit` says false. False where that revision is no longer known. Costs what it
    // visits and the changes since the revision, not what there is: pages of any list are cheap.
    using Visit = std::function<bool(const ObjectPtr&)>;
    bool walk(const Kind& kind, const Range& range, const Visit& visit) const;
    // How many there are in all, whatever the range begins after; nullopt as with walk().
    std::optional<std::size_t> count(const Kind& kind, const Range& range) const;
    // The changes after `revision`, oldest first, `most` of them; nullopt where they are no longer known (410
    // Expired).
    std::optional<std::vector<Change>> changes_since(std::int64_t revision, std::size_t most) const;
    // The oldest revision from which changes_since can still answer.
    std::int64_t oldest() const { return compacted_; }
    // Forgets the log, as etcd's compaction does.
    void compact();
    // Every kind that has an object, with the count.
    std::vector<std::pair<Kind, std::size_t>> kinds() const;
    // What create() would store (uid, times and generation filled), without storing it: for dry runs.
    JsonObject prepared_for_create(const Kind& kind, JsonObject object) const;
    // What update() would store; `current` is the object as it is.
    static JsonObject prepared_for_update(const Kind& kind, const JsonObject& current, JsonObject object);

    // Fills what needs the whole cluster to know, on every create (a Service's address, …).
    void set_defaulter(std::function<void(const Kind&, JsonObject&)> defaulter) {
        defaulter_ = std::move(defaulter);
    }

    JsonValue save() const;
    // The text of save() as it is now, to be made on any thread: the objects are immutable.
    std::function<std::string()> saver() const;
    void load(const JsonValue& state);

private:
    using Name = std::pair<std::string, std::string>;  // namespace, name
    using NameView = std::pair<std::string_view, std::string_view>;
    struct NameLess {
        using is_transparent = void;
        template <class A, class B>
        bool operator()(const A& a, const B& b) const {
            const int spaces = std::string_view(a.first).compare(b.first);
            return spaces != 0 ? spaces < 0 : std::string_view(a.second) < std::string_view(b.second);
        }
    };
    using Objects = std::map<Name, ObjectPtr, NameLess>;
    struct Table {
        Table() = default;
        Objects objects;
        std::map<std::string, std::size_t, std::less<>> counts;  // by namespace
        void put(Name name, ObjectPtr object);
        void erase(const Name& name);
        std::size_t size(std::string_view ns) const;
    };
    // What is otherwise at an older revision: how it was then, null where it was not there.
    using Past = std::map<Name, ObjectPtr, NameLess>;
    std::optional<Past> past(const Kind& kind, const Range& range) const;

    std::string uid() const;
    ObjectPtr commit(Change::Type type, const Kind& kind, JsonObject object, ObjectPtr previous);
    void tell();

    rt::Clock& clock_;
    std::size_t log_limit_;
    std::map<Kind, Table> tables_;
    std::deque<Change> log_;
    std::int64_t revision_ = 1;
    std::int64_t compacted_ = 1;  // the log holds every change with a greater revision
    std::vector<std::weak_ptr<std::function<void(const Change&)>>> subscribers_;
    std::deque<Change> untold_;
    bool telling_ = false;
    std::function<void(const Kind&, JsonObject&)> defaulter_;
};

}  // namespace instantstart::twin::kube
