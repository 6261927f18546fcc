// The command line of `simulate`.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "tests/simulation/fault_plan.hpp"
#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {

struct Options {
  std::uint64_t seeds = 1'000;
  std::uint64_t first = 1;
  std::vector<const Subject*> subjects = {};  // by default all right ones
  std::set<FaultKind> kinds = {};             // empty: those that make sense for the subject
  unsigned jobs = 0;                          // 0: one for each core
  bool exhaustive = false;
  std::optional<std::uint64_t> replay = {};
  std::string save = {};
  std::string scenario = {};
  std::int64_t silence_minutes = 3;
  bool help = false;
};
extern const std::string_view kHelp;

Result<Options> parse_options(std::span<char* const> words);

}  // namespace amdahl::simulation
