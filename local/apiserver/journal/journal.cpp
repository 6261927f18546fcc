#include "local/apiserver/journal/journal.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <utility>

#include "base/check.hpp"

namespace amdahl::local {
namespace {

constexpr int kApplicationId = 0x416d646c;  // "Amdl": the file is ours
constexpr int kBusyMs = 200;                // a process that is just ending may still hold it
constexpr int kWalPages = 4'000;            // SQLite moves the log into the file after these
constexpr std::string_view kNoFile = ":memory:";

// migrations[n] brings a file of schema n to n + 1; they never change once released.
constexpr std::array<const char*, kJournalSchema> kMigrations = {
    "CREATE TABLE object (storage TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL,"
    "  text TEXT NOT NULL, PRIMARY KEY (storage, key)) WITHOUT ROWID;"
    "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
    "INSERT INTO counter VALUES ('version', 0);",
    // Objects are large and keys short: with row numbers a page of the key index holds hundreds.
    "CREATE TABLE object2 (id INTEGER PRIMARY KEY, storage TEXT NOT NULL, key TEXT NOT NULL,"
    "  version INTEGER NOT NULL, text TEXT NOT NULL);"
    "INSERT INTO object2 (storage, key, version, text)"
    "  SELECT storage, key, version, text FROM object ORDER BY storage, key;"
    "DROP TABLE object;"
    "ALTER TABLE object2 RENAME TO object;"
    "CREATE UNIQUE INDEX object_place ON object (storage, key);",
};

constexpr const char* kPut =
    "INSERT INTO object (storage, key, version, text) VALUES (?1, ?2, ?3, ?4)"
    " ON CONFLICT (storage, key) DO UPDATE SET version = excluded.version, text = excluded.text";
constexpr const char* kRemove = "DELETE FROM object WHERE storage = ?1 AND key = ?2";
constexpr const char* kCount = "UPDATE counter SET value = max(value, ?1) WHERE name = 'version'";
constexpr const char* kAll = "SELECT storage, text FROM object ORDER BY storage, key";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// The text must live until the statement has run.
void bind_text(sqlite3_stmt* statement, int at, std::string_view text) {
  const int bound =
      sqlite3_bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  AMDAHL_CHECK(bound == SQLITE_OK);
}

std::string column_text(sqlite3_stmt* statement, int at) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, at));
  return text == nullptr
             ? std::string()
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, at)));
}

Errc errc_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Errc::kConflict;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Errc::kCorrupt;
    default:
      return Errc::kIo;
  }
}

std::string_view advice(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process has it open";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; it is left as it is, move it away to start with an empty one";
    case SQLITE_FULL:
      return "; make room and start again, what was acknowledged is safe";
    default:
      return "";
  }
}

}  // namespace

struct Journal::Statements {
  Statement put;
  Statement remove;
  Statement count;
};

Journal::Journal(std::string path) : path_(std::move(path)) {}

Journal::~Journal() {
  statements_.reset();
  if (db_ != nullptr) sqlite3_close_v2(db_);
}

bool Journal::on_disk() const {
  return path_ != kNoFile;
}

std::unexpected<Error> Journal::failed(std::string_view what) const {
  const int code = sqlite3_extended_errcode(db_);
  return fail(errc_of(code), "{} {}: {}{}", what, path_, sqlite3_errmsg(db_), advice(code));
}

Result<void> Journal::run(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failed("open");
  return {};
}

Result<std::int64_t> Journal::number(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v2(db_, sql, -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK || sqlite3_step(raw) != SQLITE_ROW) return failed("open");
  return sqlite3_column_int64(raw, 0);
}

Result<std::unique_ptr<Journal>> Journal::open(const std::string& path) {
  std::unique_ptr<Journal> journal(new Journal(path));
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const mode_t before = ::umask(077);  // the objects may be secrets, and so are the log's pages
  const int opened = sqlite3_open_v2(path.c_str(), &journal->db_, kFlags, nullptr);
  Result<void> ready;
  if (opened == SQLITE_OK) ready = journal->prepare();
  ::umask(before);
  if (opened != SQLITE_OK) return journal->failed("open");
  TRY(std::move(ready));
  return journal;
}

Result<void> Journal::prepare() {
  sqlite3_busy_timeout(db_, kBusyMs);
  // Exclusive before WAL: the log then needs no shared memory, and nobody else can write.
  TRY(run(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  TRY(run(fmt::format("PRAGMA wal_autocheckpoint = {};", kWalPages).c_str()));
  TRY(migrate());
  statements_ = std::make_unique<Statements>();
  const auto compile = [this](const char* sql, Statement& into) -> Result<void> {
    sqlite3_stmt* raw = nullptr;
    const int prepared = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    into.reset(raw);
    if (prepared != SQLITE_OK) return failed("open");
    return {};
  };
  TRY(compile(kPut, statements_->put));
  TRY(compile(kRemove, statements_->remove));
  return compile(kCount, statements_->count);
}

Result<void> Journal::migrate() {
  TRY(const std::int64_t id, number("PRAGMA application_id"));
  TRY(std::int64_t schema, number("PRAGMA user_version"));
  TRY(const std::int64_t tables, number("SELECT count(*) FROM sqlite_schema"));
  if (id != kApplicationId && tables > 0)
    return fail(Errc::kCorrupt, "open {}: a database of another program", path_);
  if (schema > kJournalSchema)
    return fail(Errc::kInvalid,
                "open {}: written by a newer amdahl (schema {}, this one knows {}); use that one",
                path_, schema, kJournalSchema);
  for (; schema < kJournalSchema; ++schema) {
    const std::string sql = fmt::format(
        "BEGIN EXCLUSIVE; {} PRAGMA user_version = {}; PRAGMA application_id = {}; COMMIT;",
        kMigrations.at(static_cast<std::size_t>(schema)), schema + 1, kApplicationId);
    TRY(run(sql.c_str()));
  }
  return {};
}

Result<JournalContents> Journal::read() {
  JournalContents contents;
  TRY(const std::int64_t last, number("SELECT value FROM counter WHERE name = 'version'"));
  contents.last_version = static_cast<std::uint64_t>(last);
  sqlite3_stmt* raw = nullptr;
  const int prepared = sqlite3_prepare_v2(db_, kAll, -1, &raw, nullptr);
  const Statement statement(raw);
  if (prepared != SQLITE_OK) return failed("read");
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(raw)) == SQLITE_ROW)
    contents.objects.push_back({.storage = column_text(raw, 0), .text = column_text(raw, 1)});
  if (step != SQLITE_DONE) return failed("read");
  return contents;
}

Result<void> Journal::append(std::span<const JournalRecord> records) {
  if (records.empty()) return {};
  if (sqlite3_exec(db_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK)
    return failed("write to");
  Result<void> written;
  for (const JournalRecord& record : records)
    if (written) written = write(record);
  if (written) {
    sqlite3_stmt* count = statements_->count.get();
    sqlite3_bind_int64(count, 1, static_cast<std::int64_t>(records.back().version));
    if (sqlite3_step(count) != SQLITE_DONE) written = failed("write to");
    sqlite3_reset(count);
  }
  if (written && sqlite3_exec(db_, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  if (written) written = failed("write to");
  sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);  // none is open after some failures
  return written;
}

Result<void> Journal::write(const JournalRecord& record) {
  const bool removed = record.text.empty();
  sqlite3_stmt* statement = removed ? statements_->remove.get() : statements_->put.get();
  bind_text(statement, 1, record.storage);
  bind_text(statement, 2, record.key);
  if (!removed) {
    sqlite3_bind_int64(statement, 3, static_cast<std::int64_t>(record.version));
    bind_text(statement, 4, record.text);
  }
  const int step = sqlite3_step(statement);
  Result<void> result;
  if (step != SQLITE_DONE) result = failed("write to");
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return result;
}

}  // namespace amdahl::local
