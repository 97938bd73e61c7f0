// SqliteFile: one SQLite database with the entries of all tables. Synchronous; used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

struct sqlite3;
struct sqlite3_stmt;

namespace instantstart::store {

class SqliteFile {
public:
    // Creates the file (0600) where absent and brings its schema up to date. Errors: store_unusable (cannot
    // be opened), store_corrupt (not a database, damaged), store_newer (written by a newer version of the
    // program).
    static base::Result<std::unique_ptr<SqliteFile>> open(const std::string& path);
    ~SqliteFile();
    SqliteFile(const SqliteFile&) = delete;
    SqliteFile& operator=(const SqliteFile&) = delete;

    base::Result<void> begin();
    // Durable when it returns well.
    base::Result<void> commit();
    void rollback();

    // Inside a transaction. A batch that fails leaves nothing of itself behind.
    base::Result<void> apply(const Batch& batch);
    base::Result<std::optional<Entry>> get(const std::string& table, const std::string& key);
    base::Result<std::vector<Entry>> scan(const Scan& scan);

private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    struct Close {
        void operator()(sqlite3* database) const;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

    explicit SqliteFile(sqlite3* database);
    base::Result<void> execute(const char* sql);
    base::Result<std::int64_t> number(const char* sql);
    base::Result<void> prepare_file();
    base::Result<void> migrate();
    base::Result<void> prepare_statements();
    base::Result<void> prepare(const char* sql, Statement& out);
    base::Result<void> step(sqlite3_stmt* statement);
    base::Result<std::int64_t> revision_of(const std::string& table, const std::string& key);
    base::Result<void> check_requirements(const Batch& batch);
    base::Result<void> write(const Batch& batch);
    base::Error failure(const char* trying) const;

    std::unique_ptr<sqlite3, Close> database_;
    Statement put_, remove_, get_, revision_, scan_up_, scan_down_, counter_;
    std::int64_t last_revision_ = 0;
    std::int64_t committed_revision_ = 0;
};

}  // namespace instantstart::store
