// The hidden verb behind shell completion: `amdahl __complete WORDS...` prints the names of
// TrainingJobs that may stand in the place of the last word, one a line.
//
// Quick and silent: it has a deadline, and whatever goes wrong it prints nothing and gives kDone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster_access.hpp"
#include "cli/program.hpp"

namespace amdahl::cli {

inline constexpr std::string_view kCompleteVerb = "__complete";

// The verbs that may take names of TrainingJobs.
std::span<const std::string_view> job_verbs();

struct CompletionQuery {
  bool names = false;  // the last word is the name of a TrainingJob
  AccessOptions access = {};
  std::string prefix = {};              // what must stay before the name: "tj/"
  std::string begin = {};               // of the name
  std::vector<std::string> typed = {};  // names that are there already
};
// What is asked for; pure.
CompletionQuery completion_query(std::span<const char* const> words);

// The words to offer for these names; pure. A name with anything but letters, digits, dots and
// dashes is left out: shells expand what they are offered.
std::vector<std::string> offers(const CompletionQuery& query,
                                const std::vector<std::string>& names);

int complete_words(Program& program, std::span<const char* const> words);

}  // namespace amdahl::cli
