// Any bytes as a list or a watch of the Kubernetes API, in one piece and in several: both must come to the
// same.
#include "kube/cache/events.h"
#include "kube/cache/nodes.h"
#include "kube/cache/pods.h"
#include "kube/impl/feed.h"

#include "input.h"

namespace instantstart::kube {
namespace {

struct Tables {
    Tables() = default;
    Symbols symbols;
    PodTable pods{symbols, {"app", "training.kubeflow.org/job-name"}};
    NodeTable nodes{symbols};
    EventTable events{symbols, 20};
    Table& table(std::size_t which) {
        if (which == 0) return pods;
        return which == 1 ? static_cast<Table&>(nodes) : static_cast<Table&>(events);
    }
};

struct Outcome {
    Outcome() = default;
    bool good = false;
    std::size_t size = 0;
    std::string version;
    bool operator==(const Outcome&) const = default;
};

impl::FeedLimits limits() {
    impl::FeedLimits out;
    out.page_bytes = out.event_bytes = 1U << 16U;
    out.objects = 50;
    return out;
}

template <class Feed>
bool write_all(Feed& feed, std::string_view bytes, std::size_t piece) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
        if (!feed.write(bytes.substr(0, piece)).has_value()) return false;
    }
    return true;
}

Outcome read(std::size_t which, bool watch, std::string_view bytes, std::size_t piece) {
    Tables tables;
    Table& table = tables.table(which);
    Outcome out;
    if (watch) {
        impl::WatchFeed feed(table, limits());
        out.good = write_all(feed, bytes, piece);
        out.version = feed.resource_version();
    } else {
        impl::PageFeed feed(table, limits());
        table.start_list();
        feed.begin_page();
        out.good = write_all(feed, bytes, piece) && feed.end().has_value();
        table.finish_list();
        out.version = feed.resource_version();
    }
    out.size = table.size();
    return out;
}

}  // namespace
}  // namespace instantstart::kube

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace instantstart;
    fuzz::Input input(data, size);
    const std::size_t which = input.number(3);
    const bool watch = input.number(2) == 1;
    const std::size_t piece = 1 + input.number(40);
    const kube::Outcome whole = kube::read(which, watch, input.rest(), size + 1);
    const kube::Outcome parts = kube::read(which, watch, input.rest(), piece);
    // What comes before a fault may have been taken or not.
    if (whole.good || parts.good) fuzz::require(whole == parts, "pieces come to the same as the whole");
    return 0;
}
