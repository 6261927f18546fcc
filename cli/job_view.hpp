// A TrainingJob as text: everything that is known of it, the short form that is redrawn, and the
// lines that tell what changed.
//
// Pure, any thread. Failure: none.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/job_seen.hpp"

namespace amdahl::cli {

inline constexpr std::size_t kEventLinesMax = 10;
inline constexpr std::size_t kLiveEventLinesMax = 3;

// All of it, for `describe`.
std::string describe_text(const JobSeen& seen);
// What matters while it runs: phase, progress, trouble, the gang, the newest events.
std::string live_view(const JobSeen& seen);

// "step 1200 of 5000 (24%), 0.52 s per step, about 33m left", or "..., no step for 6m"; empty when
// nothing was reported.
std::string progress_text(const JobSeen& seen);
// "loss 2.31, lr 0.0001"
std::string metrics_text(const api::ProgressStatus& progress);

// One thing that may change, and how it is now.
struct Fact {
  std::string key = {};
  std::string text = {};
};
std::vector<Fact> facts_of(const JobSeen& seen);

// Remembers facts and gives those that are new or differ, a line each. What is no longer there is
// forgotten.
class ChangedLines {
 public:
  std::string take(const std::vector<Fact>& facts);

 private:
  std::map<std::string, std::string> known_;
};

}  // namespace amdahl::cli
