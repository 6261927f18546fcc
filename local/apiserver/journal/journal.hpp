// The objects of the embedded API server on disk: one SQLite file.
//
// append() is one transaction and returns when it is on the disk (WAL, synchronous=FULL), so what
// it accepted survives SIGKILL and power loss; what it refused left no trace. The newest version
// ever given out is kept too, also when its object is gone, so that versions never repeat.
//
// Thread: any, one at a time. Lifetime: the file is locked while the journal lives; a second
// process is refused. Failure: Errc::kConflict when another process has the file, kCorrupt when it
// is no journal or damaged, kInvalid when a newer program wrote it, kIo for the disk (full,
// read-only). Texts name the file and what to do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

struct sqlite3;

namespace amdahl::local {

// Of the file; a program reads this one and, by migration, every older one.
inline constexpr int kJournalSchema = 2;

struct JournalRecord {
  std::uint64_t version = 0;
  std::string_view storage = {};  // "pods", "deployments.apps"
  std::string_view key = {};      // "namespace/name" or "name"
  std::string_view text = {};     // JSON; empty: removed
};

struct JournalObject {
  std::string storage = {};
  std::string text = {};
};

struct JournalContents {
  std::vector<JournalObject> objects = {};  // by storage and key
  std::uint64_t last_version = 0;
};

class Journal {
 public:
  // Makes the file, mode 0600, if it is not there. ":memory:" keeps nothing.
  static Result<std::unique_ptr<Journal>> open(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  bool on_disk() const;  // false: ":memory:"

  Result<JournalContents> read();
  // Records in the order of their versions; all of them, or none.
  Result<void> append(std::span<const JournalRecord> records);

 private:
  struct Statements;
  explicit Journal(std::string path);
  Result<void> prepare();
  Result<void> migrate();
  Result<void> write(const JournalRecord& record);
  Result<void> run(const char* sql);
  Result<std::int64_t> number(const char* sql);
  std::unexpected<Error> failed(std::string_view what) const;

  std::string path_;
  sqlite3* db_ = nullptr;
  std::unique_ptr<Statements> statements_;
};

}  // namespace amdahl::local
