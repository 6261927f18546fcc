// One seed: its workload, its plan, its run, its verdict; and what to do with a seed that failed.
//
// Thread: one. Lifetime: holds the references of the workloads it has met. Failure: a scenario file
// that cannot be read is Errc::kInvalid with its line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "local/apiserver/kinds/builtin_schemas.hpp"
#include "tests/simulation/world.hpp"

namespace amdahl::simulation {

// What a scenario file holds.
struct Scenario {
  std::string subject = {};
  std::uint64_t seed = 0;
  std::uint64_t workload = 0;
  FaultPlan plan = {};
  bool caught = false;  // the run must be objected to: of a wrong subject
};
std::string to_text(const Scenario& scenario);
Result<Scenario> parse_scenario(std::string_view text);

struct Verdict {
  RunResult run = {};
  std::vector<std::string> violations = {};
};

class Trials {
 public:
  // `kinds` empty: those of the subject.
  static Scenario draw(const Subject& subject, std::uint64_t seed,
                       const std::set<FaultKind>& kinds = {});
  Verdict play(const Scenario& scenario, bool keep_trace = false);
  const RunResult& reference(const Subject& subject, std::uint64_t workload);
  // The same failure with as few faults as possible: leaves out one at a time, then shortens.
  Scenario shrink(const Scenario& scenario);
  std::int64_t silence_ms = RunOptions{}.silence_ms;

 private:
  const StartState& start_of(const Subject& subject);

  local::BuiltinSchemas schemas_;
  std::map<std::string, StartState> starts_;  // by subject
  std::map<std::pair<std::string, std::uint64_t>, RunResult> references_;
};

}  // namespace amdahl::simulation
