#include "store/sqlite_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "store/requirements.h"

namespace instantstart::store {

namespace {

// Schema changes, oldest first; the number of those applied is the file's user_version. Append only: a
// changed entry would never run where it has run before.
constexpr const char* kMigrations[] = {
    "CREATE TABLE entries (tbl TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, revision INTEGER NOT "
    "NULL,"
    " PRIMARY KEY (tbl, key)) WITHOUT ROWID;"
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO counters VALUES ('revision', 0);",
};
constexpr std::int64_t kSchemaVersion = std::size(kMigrations);

void bind_text(sqlite3_stmt* statement, int index, std::string_view text) {
    sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// SQLite orders every blob after every text: an upper bound that nothing reaches.
void bind_no_bound(sqlite3_stmt* statement, int index) {
    sqlite3_bind_zeroblob(statement, index, 0);
}

std::string column(sqlite3_stmt* statement, int index) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, index));
    return text == nullptr
               ? std::string()
               : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, index)));
}

// Resets a statement when its use ends, so that it holds no read transaction.
struct Use {
    explicit Use(sqlite3_stmt* statement) : statement(statement) {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
    sqlite3_stmt* statement;
};

base::Result<Entry> read_entry(sqlite3_stmt* statement) {
    Entry entry;
    entry.key = column(statement, 0);
    auto value = base::parse_json(column(statement, 1), 256);
    if (!value) {
        return base::Error(base::ErrorKind::internal, "store_corrupt",
                           "the value of " + entry.key + " in the store is damaged")
            .with_detail(value.error().message);
    }
    entry.value = std::move(*value);
    entry.revision = sqlite3_column_int64(statement, 2);
    return entry;
}

base::Result<void> make_private_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        return base::Error(base::ErrorKind::unavailable, "store_unusable",
                           "cannot open " + path + ": " + std::strerror(errno));
    }
    ::fchmod(file,
             0600);  // an older file may be readable by others; SQLite gives its side files the same mode
    ::close(file);
    return base::ok();
}

}  // namespace

void SqliteFile::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}
void SqliteFile::Close::operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
}

SqliteFile::SqliteFile(sqlite3* database) : database_(database) {}
SqliteFile::~SqliteFile() = default;

base::Error SqliteFile::failure(const char* trying) const {
    const int code = sqlite3_errcode(database_.get());
    const bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    base::Error error(base::ErrorKind::unavailable, damaged ? "store_corrupt" : "store_unusable",
                      std::string(trying) + ": " + sqlite3_errmsg(database_.get()));
    error.hint = damaged ? "The state file is damaged: restore it from a copy, or start with an empty data "
                           "folder and import the clusters."
                         : "Check that the data folder's disk is writable and has room.";
    return error;
}

base::Result<std::unique_ptr<SqliteFile>> SqliteFile::open(const std::string& path) {
    CHECK_OK(make_private_file(path));
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(
        path.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    std::unique_ptr<SqliteFile> file(new SqliteFile(database));
    if (code != SQLITE_OK) return file->failure("opening the store");
    CHECK_OK(file->prepare_file());
    CHECK_OK(file->migrate());
    CHECK_OK(file->prepare_statements());
    return file;
}

base::Result<void> SqliteFile::prepare_file() {
    sqlite3_busy_timeout(database_.get(), 5000);
    CHECK_OK(execute("PRAGMA journal_mode=WAL"));
    CHECK_OK(execute("PRAGMA synchronous=FULL"));
    Statement check;
    CHECK_OK(prepare("PRAGMA quick_check(1)", check));
    if (sqlite3_step(check.get()) != SQLITE_ROW) return failure("checking the store");
    if (column(check.get(), 0) != "ok") {
        return base::Error(base::ErrorKind::unavailable, "store_corrupt",
                           "the state file is damaged: " + column(check.get(), 0));
    }
    return base::ok();
}

base::Result<void> SqliteFile::migrate() {
    TRY(std::int64_t version, number("PRAGMA user_version"));
    if (version > kSchemaVersion) {
        return base::Error(base::ErrorKind::unsupported, "store_newer",
                           "the state file was written by a newer version of this program")
            .with_hint("Start that version, or use another data folder.");
    }
    for (; version < kSchemaVersion; ++version) {
        const std::string sql = std::string("BEGIN IMMEDIATE;") + kMigrations[version] +
                                "PRAGMA user_version=" + std::to_string(version + 1) + ";COMMIT;";
        auto done = execute(sql.c_str());
        if (!done) {
            rollback();
            return done;
        }
    }
    TRY(last_revision_, number("SELECT value FROM counters WHERE name='revision'"));
    committed_revision_ = last_revision_;
    return base::ok();
}

base::Result<void> SqliteFile::prepare_statements() {
    CHECK_OK(
        prepare("INSERT INTO entries VALUES (?1, ?2, ?3, ?4) ON CONFLICT (tbl, key) DO UPDATE SET value=?3, "
                "revision=?4",
                put_));
    CHECK_OK(prepare("DELETE FROM entries WHERE tbl=?1 AND key=?2", remove_));
    CHECK_OK(prepare("SELECT key, value, revision FROM entries WHERE tbl=?1 AND key=?2", get_));
    CHECK_OK(prepare("SELECT revision FROM entries WHERE tbl=?1 AND key=?2", revision_));
    CHECK_OK(
        prepare("SELECT key, value, revision FROM entries WHERE tbl=?1 AND key>=?2 AND key>?3 AND key<?4 "
                "ORDER BY key LIMIT ?5",
                scan_up_));
    CHECK_OK(
        prepare("SELECT key, value, revision FROM entries WHERE tbl=?1 AND key>=?2 AND key<?3 AND key<?4 "
                "ORDER BY key DESC LIMIT ?5",
                scan_down_));
    return prepare("UPDATE counters SET value=?1 WHERE name='revision'", counter_);
}

base::Result<void> SqliteFile::execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
        return failure("writing to the store");
    return base::ok();
}

base::Result<std::int64_t> SqliteFile::number(const char* sql) {
    Statement statement;
    CHECK_OK(prepare(sql, statement));
    if (sqlite3_step(statement.get()) != SQLITE_ROW) return failure("reading the store");
    return static_cast<std::int64_t>(sqlite3_column_int64(statement.get(), 0));
}

base::Result<void> SqliteFile::prepare(const char* sql, Statement& out) {
    sqlite3_stmt* statement = nullptr;
    const int code =
        sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    out.reset(statement);
    if (code != SQLITE_OK) return failure("opening the store");
    return base::ok();
}

base::Result<void> SqliteFile::step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) return failure("writing to the store");
    return base::ok();
}

base::Result<void> SqliteFile::begin() {
    return execute("BEGIN IMMEDIATE");
}

base::Result<void> SqliteFile::commit() {
    {
        Use use(counter_.get());
        sqlite3_bind_int64(counter_.get(), 1, last_revision_);
        CHECK_OK(step(counter_.get()));
    }
    CHECK_OK(execute("COMMIT"));
    committed_revision_ = last_revision_;
    return base::ok();
}

void SqliteFile::rollback() {
    last_revision_ = committed_revision_;
    if (sqlite3_get_autocommit(database_.get()) == 0)
        sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

base::Result<std::int64_t> SqliteFile::revision_of(const std::string& table, const std::string& key) {
    Use use(revision_.get());
    bind_text(revision_.get(), 1, table);
    bind_text(revision_.get(), 2, key);
    const int code = sqlite3_step(revision_.get());
    if (code == SQLITE_DONE) return std::int64_t{0};
    if (code != SQLITE_ROW) return failure("reading the store");
    return static_cast<std::int64_t>(sqlite3_column_int64(revision_.get(), 0));
}

base::Result<void> SqliteFile::check_requirements(const Batch& batch) {
    for (const auto& name : batch.require_absent) {
        TRY(const std::int64_t revision, revision_of(name.table, name.key));
        if (revision != 0) return exists_error(name.table, name.key);
    }
    for (const auto& wanted : batch.require_revision) {
        TRY(const std::int64_t revision, revision_of(wanted.table, wanted.key));
        if (revision == 0 || revision != wanted.revision) return changed_error(wanted.table, wanted.key);
    }
    return base::ok();
}

base::Result<void> SqliteFile::write(const Batch& batch) {
    const std::int64_t revision = ++last_revision_;
    for (const auto& put : batch.puts) {
        Use use(put_.get());
        const std::string text = base::to_text(put.value);
        bind_text(put_.get(), 1, put.table);
        bind_text(put_.get(), 2, put.key);
        bind_text(put_.get(), 3, text);
        sqlite3_bind_int64(put_.get(), 4, revision);
        CHECK_OK(step(put_.get()));
    }
    for (const auto& name : batch.removes) {
        Use use(remove_.get());
        bind_text(remove_.get(), 1, name.table);
        bind_text(remove_.get(), 2, name.key);
        CHECK_OK(step(remove_.get()));
    }
    return base::ok();
}

base::Result<void> SqliteFile::apply(const Batch& batch) {
    CHECK_OK(check_requirements(batch));
    CHECK_OK(execute("SAVEPOINT batch"));
    auto written = write(batch);
    if (!written) {
        // The error is told with its cause; where the rollback fails too, the transaction's commit will.
        sqlite3_exec(database_.get(), "ROLLBACK TO batch", nullptr, nullptr, nullptr);
    }
    CHECK_OK(execute("RELEASE batch"));
    return written;
}

base::Result<std::optional<Entry>> SqliteFile::get(const std::string& table, const std::string& key) {
    Use use(get_.get());
    bind_text(get_.get(), 1, table);
    bind_text(get_.get(), 2, key);
    const int code = sqlite3_step(get_.get());
    if (code == SQLITE_DONE) return std::optional<Entry>();
    if (code != SQLITE_ROW) return failure("reading the store");
    TRY(Entry entry, read_entry(get_.get()));
    return std::optional<Entry>(std::move(entry));
}

base::Result<std::vector<Entry>> SqliteFile::scan(const Scan& scan) {
    sqlite3_stmt* statement = scan.descending ? scan_down_.get() : scan_up_.get();
    Use use(statement);
    const std::string beyond = key_after_prefix(scan.prefix);
    bind_text(statement, 1, scan.table);
    bind_text(statement, 2, scan.prefix);
    if (scan.descending && scan.after.empty()) {
        bind_no_bound(statement, 3);
    } else {
        bind_text(statement, 3, scan.after);
    }
    if (beyond.empty()) {
        bind_no_bound(statement, 4);
    } else {
        bind_text(statement, 4, beyond);
    }
    sqlite3_bind_int64(statement, 5, static_cast<std::int64_t>(scan.limit));
    std::vector<Entry> found;
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
        TRY(Entry entry, read_entry(statement));
        found.push_back(std::move(entry));
    }
    if (code != SQLITE_DONE) return failure("reading the store");
    return found;
}

}  // namespace instantstart::store
