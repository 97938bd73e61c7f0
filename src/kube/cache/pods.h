// PodTable: the pods of a cluster in about 300 bytes each, found by node, by job, by label and by namespace.
//
// Kept up incrementally: what a reader asks costs what it gets, not what there is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kube/cache/symbols.h"
#include "kube/cache/table.h"

namespace instantstart::kube {

enum class PodPhase : std::uint8_t { unknown, pending, running, succeeded, failed };

// Symbols are of the table's Symbols.
struct Pod {
    Pod() = default;
    std::string name;
    Symbol ns = 0;
    Symbol node = 0;    // 0 while it is not bound
    Symbol job = 0;     // the controlling owner, "Kind/name"
    Symbol reason = 0;  // why it waits or failed ("Unschedulable", "CrashLoopBackOff", "Evicted"), 0 for none
    std::vector<std::pair<Symbol, Symbol>> labels;  // key and value, of the keys that are kept
    std::int64_t created = 0;                       // seconds since the epoch
    std::int32_t accelerators = 0;                  // that its containers ask for
    std::uint32_t restarts = 0;
    PodPhase phase = PodPhase::unknown;
    bool ready = false;
    bool ending = false;  // has a deletionTimestamp

    bool uses_node() const { return node != 0 && phase != PodPhase::succeeded && phase != PodPhase::failed; }
    bool operator==(const Pod&) const = default;
};

// What the pods on a node take of it.
struct NodeUse {
    NodeUse() = default;
    std::int64_t accelerators = 0;
    std::int64_t pods = 0;
};

class PodTable final : public Table {
public:
    // `kept_labels`: the label keys that are kept and indexed.
    PodTable(Symbols& symbols, std::vector<std::string> kept_labels);
    ~PodTable() override;
    PodTable(const PodTable&) = delete;
    PodTable& operator=(const PodTable&) = delete;

    const Pod* find(std::string_view ns, std::string_view name) const;
    // Each calls for the pods in no certain order, and only reads: the table must not change meanwhile.
    using Visit = std::function<void(const Pod&)>;
    void on_node(std::string_view node, const Visit& visit) const;
    void of_job(std::string_view ns, std::string_view job, const Visit& visit) const;
    void with_label(std::string_view key, std::string_view value, const Visit& visit) const;
    void in_namespace(std::string_view ns, const Visit& visit) const;
    void each(const Visit& visit) const;
    // The `limit` pods after (ns, name) by namespace and name, of those that `among` visits.
    using Among = std::function<void(const Visit&)>;
    std::vector<const Pod*> page(const Among& among, std::string_view ns, std::string_view name,
                                 std::size_t limit) const;

    NodeUse use_of(Symbol node) const;
    // Of all nodes, also of those that a NodeTable does not know.
    NodeUse whole_use() const { return whole_use_; }
    const Symbols& symbols() const { return symbols_; }
    std::uint64_t revision() const { return revision_; }
    // Grows where what nodes bear has changed, which is rarer.
    std::uint64_t use_revision() const { return use_revision_; }

    std::vector<Wanted> wanted() const override;
    void begin() override;
    void open(int tag) override;
    void close(int tag) override;
    void text(int tag, std::string_view key, std::string_view value) override;
    void number(int tag, std::string_view key, std::int64_t value) override;
    void flag(int tag, std::string_view key, bool value) override;
    bool put(std::string_view ns, std::string_view name) override;
    bool remove(std::string_view ns, std::string_view name) override;
    void start_list() override { ++generation_; }
    bool finish_list() override;
    void clear() override;
    std::size_t size() const override { return keys_.size(); }

private:
    using Slot = std::uint32_t;
    using IndexKey = std::uint64_t;
    struct Place {  // where a slot stands in the list of one index key
        IndexKey key;
        std::uint32_t position;
    };
    struct Row {
        Row() = default;
        Pod pod;
        std::vector<Place> places;
        std::uint32_t generation = 0;
    };
    struct Entry {  // one of the rows of an index key: row `slot`, its `ordinal`-th place
        Slot slot;
        std::uint32_t ordinal;
    };
    struct PodKey {
        Symbol ns;
        std::string_view name;
    };
    struct Hash {
        using is_transparent = void;
        const PodTable* table;
        std::size_t operator()(const PodKey& key) const;
        std::size_t operator()(Slot slot) const;
    };
    struct Equal {
        using is_transparent = void;
        const PodTable* table;
        bool operator()(Slot a, Slot b) const { return a == b; }
        bool operator()(const PodKey& key, Slot slot) const;
        bool operator()(Slot slot, const PodKey& key) const { return (*this)(key, slot); }
    };
    // What is read of an object before it is known to be whole.
    struct Draft;

    Pod make_pod(std::string_view ns, std::string_view name);
    void release(const Pod& pod);
    void index(Slot slot);
    void unindex(Slot slot);
    void add_place(Slot slot, IndexKey key);
    void count_use(const Pod& pod, int sign);
    void drop(Slot slot);
    void visit_key(IndexKey key, const Visit& visit) const;

    Symbols& symbols_;
    std::vector<std::string> kept_labels_;
    std::vector<Row> rows_;
    std::vector<Slot> free_;
    std::unordered_set<Slot, Hash, Equal> keys_;
    std::unordered_map<IndexKey, std::vector<Entry>> index_;
    std::unordered_map<Symbol, NodeUse> use_;
    NodeUse whole_use_;
    std::uint32_t generation_ = 0;
    std::uint64_t revision_ = 0, use_revision_ = 0;
    std::unique_ptr<Draft> draft_;
};

}  // namespace instantstart::kube
