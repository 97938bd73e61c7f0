#include "twin/kube/object_store.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rt/testing.h"

namespace instantstart::twin::kube {
namespace {

const Kind kMaps("", "configmaps");

class ObjectStoreTest : public ::testing::Test {
protected:
    ObjectStoreTest() : clock_(io_, 7, base::from_epoch(1'800'000'000)), store_(clock_) {}

    void put(const std::string& ns, const std::string& name, int value) {
        JsonObject object{{"metadata", JsonObject{{"name", name}, {"namespace", ns}}}, {"value", value}};
        const bool there = store_.get(kMaps, ns, name) != nullptr;
        const auto stored =
            there ? store_.update(kMaps, std::move(object)) : store_.create(kMaps, std::move(object));
        EXPECT_TRUE(stored.has_value());
        model_[{ns, name}] = value;
    }
    void remove(const std::string& ns, const std::string& name) {
        EXPECT_TRUE(store_.remove(kMaps, ns, name).has_value());
        model_.erase({ns, name});
    }

    using Model = std::map<std::pair<std::string, std::string>, int>;
    // What a walk tells; at most `most` objects.
    Model walked(const MemoryObjectStore::Range& range, std::size_t most = 1000) {
        Model found;
        EXPECT_TRUE(store_.walk(kMaps, range, [&](const ObjectPtr& object) {
            const auto ns = base::get_string(*object, "metadata.namespace");
            EXPECT_TRUE(found.empty() ||
                        found.rbegin()->first < std::pair(ns, base::get_string(*object, "metadata.name")));
            found[{ns, base::get_string(*object, "metadata.name")}] =
                static_cast<int>(base::get_int(*object, "value"));
            return found.size() < most;
        }));
        return found;
    }
    static Model only(const Model& model, const MemoryObjectStore::Range& range) {
        Model out;
        for (const auto& [name, value] : model) {
            const std::pair<std::string, std::string> after(range.after_ns, range.after_name);
            if ((range.ns.empty() || name.first == range.ns) && name > after) out[name] = value;
        }
        return out;
    }

    boost::asio::io_context io_;
    rt::VirtualClock clock_;
    MemoryObjectStore store_;
    Model model_;
};

TEST_F(ObjectStoreTest, walk_shows_any_range_at_any_revision_that_is_known) {
    std::vector<std::pair<std::int64_t, Model>> history;
    const std::vector<std::string> spaces = {"a", "a-b", "b"};
    for (int i = 0; i < 400; ++i) {
        const auto& ns = spaces[clock_.random() % spaces.size()];
        const auto name = "n" + std::to_string(clock_.random() % 12);
        const bool there = model_.contains({ns, name});
        if (there && clock_.random() % 3 == 0) {
            remove(ns, name);
        } else {
            put(ns, name, i);
        }
        history.emplace_back(store_.revision(), model_);
    }
    for (const auto& [revision, then] : history) {
        for (const auto& ns : {std::string(), std::string("a"), std::string("b"), std::string("none")}) {
            MemoryObjectStore::Range range;
            range.ns = ns;
            range.revision = revision;
            const auto all = only(then, range);
            ASSERT_EQ(walked(range), all) << revision << " " << ns;
            ASSERT_EQ(store_.count(kMaps, range), all.size()) << revision << " " << ns;
            range.after_ns = "a-b";
            range.after_name = "n5";
            ASSERT_EQ(walked(range), only(then, range)) << revision << " " << ns;
        }
    }
    EXPECT_EQ(walked({}), model_);
    EXPECT_EQ(walked({}, 2).size(), 2U);
    EXPECT_EQ(store_.list(kMaps, "a").size(), walked([] {
                                                  MemoryObjectStore::Range range;
                                                  range.ns = "a";
                                                  return range;
                                              }())
                                                  .size());
}

TEST_F(ObjectStoreTest, past_that_is_forgotten_is_no_longer_walked) {
    put("a", "x", 1);
    MemoryObjectStore::Range range;
    range.revision = store_.revision();
    put("a", "x", 2);
    EXPECT_EQ(walked(range).begin()->second, 1);
    store_.compact();
    EXPECT_FALSE(store_.walk(kMaps, range, [](const ObjectPtr&) { return true; }));
    EXPECT_FALSE(store_.count(kMaps, range).has_value());
}

TEST_F(ObjectStoreTest, write_that_changes_nothing_makes_no_revision) {
    put("a", "x", 1);
    const auto before = store_.revision();
    put("a", "x", 1);
    EXPECT_EQ(store_.revision(), before);
    put("a", "x", 2);
    EXPECT_EQ(store_.revision(), before + 1);
}

TEST_F(ObjectStoreTest, text_for_another_thread_is_what_is_saved) {
    for (int i = 0; i < 5; ++i) put(i % 2 == 0 ? "a" : "b", "n" + std::to_string(i), i);
    const auto text = store_.saver()();
    const auto parsed = base::parse_json(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(*parsed, store_.save());
    MemoryObjectStore other(clock_);
    other.load(*parsed);
    EXPECT_EQ(other.list(kMaps).size(), 5U);
    EXPECT_EQ(MemoryObjectStore(clock_).saver()(), base::to_text(MemoryObjectStore(clock_).save()));
}

}  // namespace
}  // namespace instantstart::twin::kube
