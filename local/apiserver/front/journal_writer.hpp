// Appends to a journal without stopping the loop while the disk works.
//
// The only thread beside the loop: it lives as long as this object, runs nothing but
// Journal::append, and sees nothing but records that stay as they are (ADR 0014). A journal in
// memory is written at once, so that time that is simulated need not wait for a real thread.
// Thread: the loop's. Lifetime: the journal outlives it; append() has returned before it dies.
// Failure: append() gives what the journal said.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "base/task.hpp"
#include "local/apiserver/journal/journal.hpp"

namespace amdahl::local {

class JournalWriter {
 public:
  explicit JournalWriter(Journal& journal);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // One at a time. What the records view stays until it returns; being stopped does not end it
  // earlier.
  Task<Result<void>> append(std::vector<JournalRecord> records);

 private:
  struct Thread;
  Journal& journal_;
  std::unique_ptr<Thread> thread_;  // null: the journal is in memory
};

}  // namespace amdahl::local
