// The ends of logs that amdahl-launch left beside a job's checkpoints, for pods that are gone.
//
// Thread: one; calls block for at most kStoredLogMax. Lifetime: the program outlives it. Failure:
// kNotFound says why there is none and what to do; else the store's own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "cli/checkpoint_place.hpp"
#include "cli/program.hpp"
#include "cli/training_jobs.hpp"

namespace amdahl::cli {

inline constexpr std::chrono::seconds kStoredLogMax{30};

class StoredLogs {
 public:
  // `from`: where the job's checkpoints are as seen from here; empty: at its spec.checkpoint.uri.
  StoredLogs(Program& program, std::string from) : program_(program), from_(std::move(from)) {}

  Result<std::string> read(const TrainingJob& job, std::uint32_t attempt, std::uint32_t rank);
  std::string where() const;  // after a read that succeeded

 private:
  Result<void> open(const TrainingJob& job, std::uint32_t attempt);

  Program& program_;
  std::string from_;
  StorePtr store_;
};

// The last lines of a text; nullopt: all of them.
std::string_view last_lines(std::string_view text, std::optional<std::int64_t> count);

}  // namespace amdahl::cli
