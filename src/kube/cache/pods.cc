#include "kube/cache/pods.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/time.h"
#include "kube/cache/quantity.h"

namespace instantstart::kube {

namespace {

enum Tag : int {
    kCreated = 1,
    kDeleted,
    kLabel,
    kOwner,
    kOwnerKind,
    kOwnerName,
    kOwnerController,
    kNode,
    kContainer,
    kLimit,
    kPhase,
    kReason,
    kCondition,
    kConditionType,
    kConditionStatus,
    kConditionReason,
    kRestarts,
    kWaiting,
    kTerminated
};

// Kinds of index keys, in the highest bits.
enum class By : std::uint8_t { node = 1, job = 2, ns = 3, label = 4 };

// Symbols are counted in 32 bits, but a cluster has no 2^28 label keys.
std::uint64_t key_of(By by, Symbol first, Symbol second) {
    constexpr std::uint64_t kFirstBits = 0x0FFFFFFF;
    return (std::uint64_t{static_cast<std::uint8_t>(by)} << 60U) | ((first & kFirstBits) << 32U) | second;
}

PodPhase phase_of(std::string_view text) {
    if (text == "Running") return PodPhase::running;
    if (text == "Pending") return PodPhase::pending;
    if (text == "Succeeded") return PodPhase::succeeded;
    return text == "Failed" ? PodPhase::failed : PodPhase::unknown;
}

std::int64_t seconds_of(std::string_view text) {
    const auto time = base::parse_time(text);
    if (!time) return 0;
    return std::chrono::duration_cast<std::chrono::seconds>(time->time_since_epoch()).count();
}

}  // namespace

struct PodTable::Draft {
    Draft() = default;
    std::string node, job, owner_kind, owner_name, reason, waiting, terminated, unschedulable;
    std::string condition_type, condition_status, condition_reason;
    std::vector<std::pair<std::string, std::string>> labels;
    std::int64_t created = 0, accelerators = 0, restarts = 0;
    PodPhase phase = PodPhase::unknown;
    bool ready = false, ending = false, controls = false;

    // Keeps the strings' room: an object costs no allocation.
    void reset() {
        for (auto* text : {&node, &job, &owner_kind, &owner_name, &reason, &waiting, &terminated,
                           &unschedulable, &condition_type, &condition_status, &condition_reason}) {
            text->clear();
        }
        labels.clear();
        created = accelerators = restarts = 0;
        phase = PodPhase::unknown;
        ready = ending = controls = false;
    }
};

std::size_t PodTable::Hash::operator()(const PodKey& key) const {
    return std::hash<std::string_view>()(key.name) ^ (std::size_t{key.ns} * 0x9E3779B97F4A7C15ULL);
}
std::size_t PodTable::Hash::operator()(Slot slot) const {
    const auto& pod = table->rows_[slot].pod;
    return (*this)(PodKey{pod.ns, pod.name});
}
bool PodTable::Equal::operator()(const PodKey& key, Slot slot) const {
    const auto& pod = table->rows_[slot].pod;
    return pod.ns == key.ns && pod.name == key.name;
}

PodTable::PodTable(Symbols& symbols, std::vector<std::string> kept_labels)
    : symbols_(symbols),
      kept_labels_(std::move(kept_labels)),
      keys_(16, Hash{this}, Equal{this}),
      draft_(std::make_unique<Draft>()) {}
PodTable::~PodTable() = default;

std::vector<Wanted> PodTable::wanted() const {
    std::vector<Wanted> labels;
    labels.reserve(kept_labels_.size());
    for (const auto& key : kept_labels_) labels.emplace_back(key, kLabel);
    const Wanted limits("limits", 0,
                        {{"nvidia.com/gpu", kLimit},
                         {"aws.amazon.com/neuron", kLimit},
                         {"aws.amazon.com/neurondevice", kLimit}});
    const Wanted state(
        "state", 0, {{"waiting", 0, {{"reason", kWaiting}}}, {"terminated", 0, {{"reason", kTerminated}}}});
    return {{"metadata",
             0,
             {{"creationTimestamp", kCreated},
              {"deletionTimestamp", kDeleted},
              {"labels", 0, labels},
              {"ownerReferences",
               kOwner,
               {{"kind", kOwnerKind}, {"name", kOwnerName}, {"controller", kOwnerController}}}}},
            {"spec", 0, {{"nodeName", kNode}, {"containers", kContainer, {{"resources", 0, {limits}}}}}},
            {"status",
             0,
             {{"phase", kPhase},
              {"reason", kReason},
              {"conditions",
               kCondition,
               {{"type", kConditionType}, {"status", kConditionStatus}, {"reason", kConditionReason}}},
              {"containerStatuses", 0, {{"restartCount", kRestarts}, state}}}}};
}

void PodTable::begin() {
    draft_->reset();
}

void PodTable::open(int tag) {
    auto& draft = *draft_;
    if (tag == kOwner) {
        draft.owner_kind.clear();
        draft.owner_name.clear();
        draft.controls = false;
    } else if (tag == kCondition) {
        draft.condition_type.clear();
        draft.condition_status.clear();
        draft.condition_reason.clear();
    }
}

void PodTable::close(int tag) {
    auto& draft = *draft_;
    if (tag == kOwner) {
        if (draft.controls) draft.job = draft.owner_kind + "/" + draft.owner_name;
    } else if (tag == kCondition) {
        const bool is_true = draft.condition_status == "True";
        if (draft.condition_type == "Ready") draft.ready = is_true;
        if (draft.condition_type == "PodScheduled" && !is_true) draft.unschedulable = draft.condition_reason;
    }
}

void PodTable::text(int tag, std::string_view key, std::string_view value) {
    auto& draft = *draft_;
    switch (tag) {
        case kCreated: draft.created = seconds_of(value); break;
        case kDeleted: draft.ending = true; break;
        case kLabel:
            // A key that comes twice counts once, so there are no more labels than kept keys.
            if (draft.labels.size() < kept_labels_.size()) draft.labels.emplace_back(key, value);
            break;
        case kOwnerKind: draft.owner_kind = value; break;
        case kOwnerName: draft.owner_name = value; break;
        case kNode: draft.node = value; break;
        case kLimit: draft.accelerators += whole_quantity(value); break;
        case kPhase: draft.phase = phase_of(value); break;
        case kReason: draft.reason = value; break;
        case kConditionType: draft.condition_type = value; break;
        case kConditionStatus: draft.condition_status = value; break;
        case kConditionReason: draft.condition_reason = value; break;
        case kWaiting: draft.waiting = value; break;
        case kTerminated: draft.terminated = value; break;
        default: break;
    }
}

void PodTable::number(int tag, std::string_view /*key*/, std::int64_t value) {
    if (tag == kRestarts) draft_->restarts += std::clamp<std::int64_t>(value, 0, 1'000'000);
    if (tag == kLimit) draft_->accelerators += std::clamp<std::int64_t>(value, 0, kMostUnits);
}

void PodTable::flag(int tag, std::string_view /*key*/, bool value) {
    if (tag == kOwnerController) draft_->controls = value;
}

Pod PodTable::make_pod(std::string_view ns, std::string_view name) {
    const auto& draft = *draft_;
    Pod pod;
    pod.name = name;
    pod.ns = symbols_.hold(ns);
    pod.node = symbols_.hold(draft.node);
    pod.job = symbols_.hold(draft.job);
    // The pod's own reason says most, then why a container waits, then why it ended, then the scheduler's.
    for (const auto* reason : {&draft.reason, &draft.waiting, &draft.terminated, &draft.unschedulable}) {
        if (reason->empty()) continue;
        pod.reason = symbols_.hold(*reason);
        break;
    }
    pod.labels.reserve(draft.labels.size());
    for (const auto& [key, value] : draft.labels) {
        pod.labels.emplace_back(symbols_.hold(key), symbols_.hold(value));
    }
    pod.created = draft.created;
    pod.accelerators = static_cast<std::int32_t>(std::min<std::int64_t>(draft.accelerators, kMostUnits));
    pod.restarts = static_cast<std::uint32_t>(std::min<std::int64_t>(draft.restarts, 1'000'000'000));
    pod.phase = draft.phase;
    pod.ready = draft.ready;
    pod.ending = draft.ending;
    return pod;
}

void PodTable::release(const Pod& pod) {
    for (const Symbol symbol : {pod.ns, pod.node, pod.job, pod.reason}) symbols_.release(symbol);
    for (const auto& [key, value] : pod.labels) {
        symbols_.release(key);
        symbols_.release(value);
    }
}

bool PodTable::put(std::string_view ns, std::string_view name) {
    auto pod = make_pod(ns, name);
    const auto found = keys_.find(PodKey{pod.ns, name});
    if (found == keys_.end()) {
        Slot slot = static_cast<Slot>(rows_.size());
        if (free_.empty()) {
            rows_.emplace_back();
        } else {
            slot = free_.back();
            free_.pop_back();
        }
        rows_[slot].pod = std::move(pod);
        rows_[slot].generation = generation_;
        keys_.insert(slot);
        index(slot);
        count_use(rows_[slot].pod, +1);
        ++revision_;
        return true;
    }
    auto& row = rows_[*found];
    row.generation = generation_;
    if (row.pod == pod) {
        release(pod);
        return false;
    }
    const auto old = std::exchange(row.pod, std::move(pod));
    // The key's own text stays equal: name and namespace have not changed.
    if (old.node != row.pod.node || old.job != row.pod.job || old.labels != row.pod.labels) {
        unindex(*found);
        index(*found);
    }
    if (old.node != row.pod.node || old.uses_node() != row.pod.uses_node() ||
        old.accelerators != row.pod.accelerators) {
        count_use(old, -1);
        count_use(row.pod, +1);
    }
    release(old);
    ++revision_;
    return true;
}

bool PodTable::remove(std::string_view ns, std::string_view name) {
    const Symbol known = symbols_.find(ns);
    if (known == 0 && !ns.empty()) return false;
    const auto found = keys_.find(PodKey{known, name});
    if (found == keys_.end()) return false;
    drop(*found);
    return true;
}

void PodTable::drop(Slot slot) {
    keys_.erase(keys_.find(slot));
    unindex(slot);
    count_use(rows_[slot].pod, -1);
    release(rows_[slot].pod);
    rows_[slot] = Row();
    free_.push_back(slot);
    ++revision_;
}

bool PodTable::finish_list() {
    std::vector<Slot> gone;
    for (const Slot slot : keys_) {
        if (rows_[slot].generation != generation_) gone.push_back(slot);
    }
    for (const Slot slot : gone) drop(slot);
    return !gone.empty();
}

void PodTable::clear() {
    for (const Slot slot : keys_) release(rows_[slot].pod);
    keys_.clear();
    rows_ = {};
    free_ = {};
    index_ = {};
    use_ = {};
    whole_use_ = {};
    ++revision_;
    ++use_revision_;
}

void PodTable::add_place(Slot slot, IndexKey key) {
    auto& list = index_[key];
    auto& places = rows_[slot].places;
    list.push_back({slot, static_cast<std::uint32_t>(places.size())});
    places.push_back({key, static_cast<std::uint32_t>(list.size() - 1)});
}

void PodTable::index(Slot slot) {
    const auto& pod = rows_[slot].pod;
    rows_[slot].places.reserve(3 + pod.labels.size());
    if (pod.node != 0) add_place(slot, key_of(By::node, 0, pod.node));
    if (pod.job != 0) add_place(slot, key_of(By::job, 0, pod.job));
    add_place(slot, key_of(By::ns, 0, pod.ns));
    for (const auto& [key, value] : pod.labels) add_place(slot, key_of(By::label, key, value));
}

// Takes the slot out of each list by moving the last entry into its place.
void PodTable::unindex(Slot slot) {
    auto& places = rows_[slot].places;
    for (const auto& [key, position] : places) {
        const auto found = index_.find(key);
        auto& list = found->second;
        const auto last = list.back();
        list.pop_back();
        if (position < list.size()) {
            list[position] = last;
            rows_[last.slot].places[last.ordinal].position = position;
        }
        if (list.empty()) index_.erase(found);
    }
    places.clear();
}

void PodTable::count_use(const Pod& pod, int sign) {
    if (!pod.uses_node()) return;
    auto& use = use_[pod.node];
    use.accelerators += sign * std::int64_t{pod.accelerators};
    use.pods += sign;
    whole_use_.accelerators += sign * std::int64_t{pod.accelerators};
    whole_use_.pods += sign;
    if (use.pods == 0) use_.erase(pod.node);
    ++use_revision_;
}

NodeUse PodTable::use_of(Symbol node) const {
    const auto found = use_.find(node);
    return found == use_.end() ? NodeUse() : found->second;
}

const Pod* PodTable::find(std::string_view ns, std::string_view name) const {
    const Symbol known = symbols_.find(ns);
    if (known == 0 && !ns.empty()) return nullptr;
    const auto found = keys_.find(PodKey{known, name});
    return found == keys_.end() ? nullptr : &rows_[*found].pod;
}

void PodTable::visit_key(IndexKey key, const Visit& visit) const {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    for (const auto& entry : found->second) visit(rows_[entry.slot].pod);
}

void PodTable::on_node(std::string_view node, const Visit& visit) const {
    if (const Symbol known = symbols_.find(node)) visit_key(key_of(By::node, 0, known), visit);
}

void PodTable::of_job(std::string_view ns, std::string_view job, const Visit& visit) const {
    const Symbol known = symbols_.find(job);
    const Symbol space = symbols_.find(ns);
    if (known == 0) return;
    visit_key(key_of(By::job, 0, known), [&](const Pod& pod) {
        if (pod.ns == space) visit(pod);
    });
}

void PodTable::with_label(std::string_view key, std::string_view value, const Visit& visit) const {
    const Symbol label = symbols_.find(key);
    const Symbol known = symbols_.find(value);
    if (label == 0 || (known == 0 && !value.empty())) return;
    visit_key(key_of(By::label, label, known), visit);
}

void PodTable::in_namespace(std::string_view ns, const Visit& visit) const {
    if (const Symbol known = symbols_.find(ns)) visit_key(key_of(By::ns, 0, known), visit);
}

void PodTable::each(const Visit& visit) const {
    for (const Slot slot : keys_) visit(rows_[slot].pod);
}

std::vector<const Pod*> PodTable::page(const Among& among, std::string_view ns, std::string_view name,
                                       std::size_t limit) const {
    using Key = std::pair<std::string_view, std::string_view>;
    const auto key = [this](const Pod& pod) { return Key(symbols_.text(pod.ns), pod.name); };
    const auto before = [&](const Pod* a, const Pod* b) { return key(*a) < key(*b); };
    const Key after(ns, name);
    // A heap of the smallest so far, the largest of them on top.
    std::vector<const Pod*> heap;
    among([&](const Pod& pod) {
        if (key(pod) <= after) return;
        if (heap.size() == limit && (limit == 0 || !before(&pod, heap.front()))) return;
        if (heap.size() == limit) {
            std::pop_heap(heap.begin(), heap.end(), before);
            heap.pop_back();
        }
        heap.push_back(&pod);
        std::push_heap(heap.begin(), heap.end(), before);
    });
    std::sort_heap(heap.begin(), heap.end(), before);
    return heap;
}

}  // namespace instantstart::kube
