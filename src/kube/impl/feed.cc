#include "kube/impl/feed.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kube/impl/status.h"

namespace instantstart::kube::impl {

namespace {

// Tags of the feed's own; a table's are positive.
enum Own : int {
    kObject = -1,
    kName = -2,
    kNamespace = -3,
    kObjectVersion = -4,
    kListVersion = -5,
    kContinue = -6,
    kType = -7,
    kKind = -8,
    kCode = -9,
    kReason = -10,
    kMessage = -11,
    kRetryAfter = -12
};

base::Error broken(const std::string& why) {
    return {base::ErrorKind::unavailable, "WatchBroken", "the watch cannot go on: " + why};
}

base::Error bad_page(const std::string& why) {
    return {base::ErrorKind::unavailable, "InvalidAnswer",
            "the Kubernetes API server's list cannot be read: " + why};
}

// The member `key` of `all`, made where it is not there.
Wanted& member(std::vector<Wanted>& all, const std::string& key) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Wanted& w) { return w.key == key; });
    if (found != all.end()) return *found;
    return all.emplace_back(key, 0);
}

Wanted page_root(const Table& table) {
    Wanted metadata("metadata", 0, {{"resourceVersion", kListVersion}, {"continue", kContinue}});
    return {"", 0, {{"kind", kKind}, std::move(metadata), object_wanted(table, "items", kObject)}};
}

Wanted watch_root(const Table& table) {
    auto object = object_wanted(table, "object", kObject);
    // An ERROR event carries a Status.
    for (const auto& [key, tag] :
         std::map<std::string, int>{{"code", kCode}, {"reason", kReason}, {"message", kMessage}}) {
        auto& wanted = member(object.below, key);
        if (wanted.tag == 0) wanted.tag = tag;
    }
    auto& details = member(object.below, "details");
    details.below.emplace_back("retryAfterSeconds", kRetryAfter);
    return {"", 0, {{"type", kType}, std::move(object)}};
}

}  // namespace

Wanted object_wanted(const Table& table, std::string key, int tag) {
    Wanted object(std::move(key), tag, table.wanted());
    auto& metadata = member(object.below, "metadata");
    metadata.below.emplace_back("name", kName);
    metadata.below.emplace_back("namespace", kNamespace);
    metadata.below.emplace_back("resourceVersion", kObjectVersion);
    return object;
}

void ObjectFeed::begin_object() {
    in_object_ = true;
    ns_.clear();
    name_.clear();
    object_version_.clear();
    table_.begin();
}

void ObjectFeed::open(int tag) {
    if (tag == kObject) {
        begin_object();
    } else if (tag > 0 && in_object_) {
        table_.open(tag);
    }
}

void ObjectFeed::close(int tag) {
    if (tag == kObject) {
        in_object_ = false;
        end_object();
    } else if (tag > 0 && in_object_) {
        table_.close(tag);
    }
}

void ObjectFeed::text(int tag, std::string_view key, std::string_view value) {
    switch (tag) {
        case kName: name_ = value; return;
        case kNamespace: ns_ = value; return;
        case kObjectVersion: object_version_ = value; return;
        default: break;
    }
    if (tag < 0) {
        own_text(tag, value);
    } else if (in_object_) {
        table_.text(tag, key, value);
    }
}

void ObjectFeed::number(int tag, std::string_view key, std::int64_t value) {
    if (tag < 0) {
        own_number(tag, value);
    } else if (in_object_) {
        table_.number(tag, key, value);
    }
}

void ObjectFeed::flag(int tag, std::string_view key, bool value) {
    if (tag > 0 && in_object_) table_.flag(tag, key, value);
}

bool ObjectFeed::put() {
    if (name_.empty()) return false;
    if (table_.put(ns_, name_)) ++changes_;
    return true;
}

bool ObjectFeed::remove() {
    if (name_.empty()) return false;
    if (table_.remove(ns_, name_)) ++changes_;
    return true;
}

PageFeed::PageFeed(Table& table, FeedLimits limits)
    : ObjectFeed(table, limits), root_(page_root(table)), projection_(root_, *this) {}

void PageFeed::begin_page() {
    projection_.reset();
    next_.clear();
    kind_.clear();
}

base::Result<void> PageFeed::write(std::string_view bytes) {
    while (!bytes.empty()) {
        if (projection_.is_done()) {
            if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) return base::ok();
            return bad_page("something stands after its end");
        }
        auto taken = projection_.write(bytes);
        if (!taken.has_value()) return bad_page(taken.error().message);
        bytes.remove_prefix(*taken);
        if (projection_.taken() > limits_.page_bytes) return bad_page("a page is too large");
        if (!too_many_) continue;
        return base::Error(base::ErrorKind::unsupported, "too_many_items",
                           "more than " + std::to_string(limits_.objects) + " objects of one kind")
            .with_hint("So many objects of one kind are not kept; delete what is not needed any more.");
    }
    return base::ok();
}

base::Result<void> PageFeed::end() {
    if (!projection_.is_done()) return bad_page("it ends in the middle");
    // Some proxies answer anything with an object of their own.
    if (!kind_.ends_with("List")) return bad_page("it is no list");
    return base::ok();
}

void PageFeed::end_object() {
    if (table_.size() >= limits_.objects) {
        too_many_ = true;
        return;
    }
    put();
}

void PageFeed::own_text(int tag, std::string_view value) {
    if (tag == kKind) kind_ = value;
    if (tag == kContinue) next_ = value;
    // All pages show the collection as it was at the first.
    if (tag == kListVersion && version_.empty()) version_ = value;
}

WatchFeed::WatchFeed(Table& table, FeedLimits limits)
    : ObjectFeed(table, limits), root_(watch_root(table)), projection_(root_, *this) {
    reason_tag_ = member(root_.below.back().below, "reason").tag;
    message_tag_ = member(root_.below.back().below, "message").tag;
}

void WatchFeed::text(int tag, std::string_view key, std::string_view value) {
    ObjectFeed::text(tag, key, value);
    if (tag == reason_tag_) status_["reason"] = value;
    if (tag == message_tag_) status_["message"] = value;
}

void WatchFeed::begin_object() {
    ObjectFeed::begin_object();
    status_.clear();
    complete_ = false;
}

void WatchFeed::own_text(int tag, std::string_view value) {
    if (tag == kType) type_ = value;
}

void WatchFeed::own_number(int tag, std::int64_t value) {
    if (tag == kCode) status_["code"] = value;
    if (tag == kRetryAfter) status_["details"] = base::JsonObject{{"retryAfterSeconds", value}};
}

base::Result<void> WatchFeed::write(std::string_view bytes) {
    while (!bytes.empty()) {
        auto taken = projection_.write(bytes);
        if (!taken.has_value()) return broken(taken.error().message);
        bytes.remove_prefix(*taken);
        if (projection_.taken() > limits_.event_bytes) return broken("an event is too large");
        if (!projection_.is_done()) continue;
        projection_.reset();
        CHECK_OK(apply());
    }
    return base::ok();
}

base::Result<void> WatchFeed::apply() {
    const auto type = std::exchange(type_, {});
    if (!std::exchange(complete_, false)) return broken("an event without an object");
    if (type == "ERROR") return error_of_status(status_);
    ++events_;
    if (type == "ADDED" || type == "MODIFIED") {
        if (table_.size() >= limits_.objects) {
            return base::Error(base::ErrorKind::unsupported, "too_many_items",
                               "more than " + std::to_string(limits_.objects) + " objects of one kind");
        }
        if (!put()) return broken("an object without a name");
    } else if (type == "DELETED") {
        if (!remove()) return broken("an object without a name");
    } else if (type != "BOOKMARK") {
        return broken("an event of an unknown type");
    }
    if (!object_version_.empty()) version_ = object_version_;
    return base::ok();
}

}  // namespace instantstart::kube::impl
