// Both stores behave alike; SQLite keeps what it says across opens.
#include "store/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "rt/task_group.h"

namespace instantstart::store {
namespace {

class TempFolder {
public:
    TempFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "store-test-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() { std::filesystem::remove_all(path_); }
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

Task<void> keep_outcome(Task<void> task, base::Result<void>& outcome) {
    outcome = co_await std::move(task);
    co_return base::ok();
}

class StoreTest : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { open(); }
    void TearDown() override { close(); }

    void open() {
        if (std::string(GetParam()) == "memory") {
            store_ = open_memory(io_.get_executor(), disk_, nullptr);
        } else {
            auto opened = open_sqlite(io_.get_executor(), folder_.file("store.db"));
            ASSERT_TRUE(opened) << opened.error().chain();
            store_ = std::move(*opened);
        }
    }

    void close() {
        if (store_) EXPECT_TRUE(run(stop_store()));
        store_.reset();
    }

    base::Result<void> run(Task<void> task) {
        base::Result<void> outcome;
        rt::TaskGroup group(io_.get_executor(), "test");
        group.spawn("test", keep_outcome(std::move(task), outcome));
        io_.restart();
        io_.run();
        return outcome;
    }

    Task<void> stop_store() {
        co_await store_->stop();
        co_return base::ok();
    }
    Task<void> commit(Batch batch) { co_return co_await store_->commit(Context(), std::move(batch)); }
    Task<void> read(std::string key, std::optional<Entry>& out) {
        CO_TRY(out, co_await store_->get(Context(), "t", key));
        co_return base::ok();
    }
    Task<void> read_keys(Scan scan, std::string& out) {
        CO_TRY(auto found, co_await store_->scan(Context(), std::move(scan)));
        for (const auto& entry : found) out += entry.key + " ";
        co_return base::ok();
    }

    base::Result<void> put(const std::string& key, JsonValue value) {
        Batch batch;
        batch.put("t", key, std::move(value));
        return run(commit(std::move(batch)));
    }
    std::optional<Entry> get(const std::string& key) {
        std::optional<Entry> found;
        auto outcome = run(read(key, found));
        EXPECT_TRUE(outcome) << outcome.error().chain();
        return found;
    }
    std::string keys(Scan scan) {
        std::string found;
        scan.table = "t";
        auto outcome = run(read_keys(std::move(scan), found));
        EXPECT_TRUE(outcome) << outcome.error().chain();
        return found;
    }

    TempFolder folder_;
    boost::asio::io_context io_;
    std::shared_ptr<MemoryDisk> disk_ = make_memory_disk();
    std::unique_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreTest, testing::Values("memory", "sqlite"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(StoreTest, what_was_committed_is_there_after_reopening) {
    ASSERT_TRUE(put("a", {{"n", 1}, {"text", "zwölf"}}));
    const auto before = get("a");
    ASSERT_TRUE(before);
    close();
    open();
    const auto after = get("a");
    ASSERT_TRUE(after);
    EXPECT_EQ(after->value, JsonValue({{"n", 1}, {"text", "zwölf"}}));
    EXPECT_EQ(after->revision, before->revision);
    EXPECT_FALSE(get("b"));
    ASSERT_TRUE(put("a", 2));
    EXPECT_GT(get("a")->revision, after->revision);
}

TEST_P(StoreTest, a_batch_whose_requirement_fails_writes_nothing) {
    ASSERT_TRUE(put("a", 1));
    Batch batch;
    batch.put("t", "b", 2);
    batch.remove("t", "a");
    batch.require_absent.push_back({"t", "a"});
    auto outcome = run(commit(batch));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, base::ErrorKind::conflict);
    EXPECT_EQ(outcome.error().code, "store_conflict");
    EXPECT_TRUE(get("a"));
    EXPECT_FALSE(get("b"));
}

TEST_P(StoreTest, a_revision_guards_against_lost_updates) {
    ASSERT_TRUE(put("a", 1));
    Batch batch;
    batch.put("t", "a", 2);
    batch.require_revision.push_back({"t", "a", get("a")->revision});
    EXPECT_TRUE(run(commit(batch)));
    auto again = run(commit(batch));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, "store_conflict");
    batch.require_revision.front() = {"t", "missing", 0};
    EXPECT_FALSE(run(commit(batch)));
}

TEST_P(StoreTest, scans_go_both_ways_within_a_prefix) {
    for (const char* key : {"a1", "b1", "b2", "b3", "c1"}) ASSERT_TRUE(put(key, 0));
    Scan scan;
    EXPECT_EQ(keys(scan), "a1 b1 b2 b3 c1 ");
    scan.prefix = "b";
    EXPECT_EQ(keys(scan), "b1 b2 b3 ");
    scan.after = "b1";
    scan.limit = 1;
    EXPECT_EQ(keys(scan), "b2 ");
    scan.descending = true;
    scan.after = "";
    scan.limit = 2;
    EXPECT_EQ(keys(scan), "b3 b2 ");
    scan.after = "b2";
    EXPECT_EQ(keys(scan), "b1 ");
    scan.prefix = "";
    scan.after = "";
    scan.limit = 9;
    EXPECT_EQ(keys(scan), "c1 b3 b2 b1 a1 ");
    scan.prefix = "zz";
    EXPECT_EQ(keys(scan), "");
}

TEST_P(StoreTest, many_concurrent_commits_all_land) {
    rt::TaskGroup group(io_.get_executor(), "test");
    std::vector<base::Result<void>> outcomes(500);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        Batch batch;
        batch.put("t", "key" + std::to_string(i), static_cast<std::int64_t>(i));
        // Every fifth asks for what cannot be: it fails alone.
        if (i % 5 == 0) batch.require_revision.push_back({"t", "nothing", 1});
        group.spawn("commit", keep_outcome(commit(std::move(batch)), outcomes[i]));
    }
    io_.restart();
    io_.run();
    for (std::size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i].has_value(), i % 5 != 0);
    EXPECT_TRUE(get("key499"));
    EXPECT_FALSE(get("key495"));
}

class SqliteOpenTest : public testing::Test {
protected:
    TempFolder folder_;
    boost::asio::io_context io_;
};

TEST_F(SqliteOpenTest, the_file_is_private) {
    const std::string path = folder_.file("store.db");
    ASSERT_TRUE(open_sqlite(io_.get_executor(), path));
    struct stat info{};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(SqliteOpenTest, a_file_that_is_no_database_is_refused) {
    const std::string path = folder_.file("store.db");
    std::ofstream(path) << std::string(8192, 'x');
    auto opened = open_sqlite(io_.get_executor(), path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, "store_corrupt");
    EXPECT_FALSE(opened.error().hint.empty());
}

TEST_F(SqliteOpenTest, a_folder_that_does_not_exist_is_refused) {
    auto opened = open_sqlite(io_.get_executor(), folder_.file("no/such/store.db"));
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, "store_unusable");
}

class MemoryCrashTest : public testing::TestWithParam<CommitFault> {};
INSTANTIATE_TEST_SUITE_P(Faults, MemoryCrashTest,
                         testing::Values(CommitFault::crash_before, CommitFault::crash_after));

Task<void> commit_one(Store& store, bool& returned) {
    Batch batch;
    batch.put("t", "a", 1);
    auto outcome = co_await store.commit(Context(), std::move(batch));
    returned = outcome.has_value();
    co_return base::ok();
}

Task<void> read_one(Store& store, bool& found) {
    CO_TRY(auto entry, co_await store.get(Context(), "t", "a"));
    found = entry.has_value();
    co_return base::ok();
}

TEST_P(MemoryCrashTest, a_crashed_commit_never_returns_and_the_disk_tells_what_was_done) {
    boost::asio::io_context io;
    auto disk = make_memory_disk();
    auto store = open_memory(io.get_executor(), disk, [](const Batch&) { return GetParam(); });
    bool returned = false, found = false;
    rt::TaskGroup group(io.get_executor(), "test");
    group.spawn("commit", commit_one(*store, returned));
    io.poll();
    EXPECT_EQ(group.size(), 1U);
    group.cancel();
    io.restart();
    io.run();
    EXPECT_EQ(group.size(), 0U);
    EXPECT_FALSE(returned);

    auto reopened = open_memory(io.get_executor(), disk, nullptr);
    rt::TaskGroup second(io.get_executor(), "test");
    second.spawn("read", read_one(*reopened, found));
    io.restart();
    io.run();
    EXPECT_EQ(found, GetParam() == CommitFault::crash_after);
}

}  // namespace
}  // namespace instantstart::store
