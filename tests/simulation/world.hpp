// One run: an API server, two operator processes, a user, a cluster and a plan of faults, in
// virtual time on one thread. The same options give the same run, to the last packet.
//
// Failure: what the oracles object to is in RunResult::violations; a run that does not end is one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/fault_plan.hpp"
#include "tests/simulation/ledger.hpp"
#include "tests/simulation/sim_server.hpp"
#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {

struct RunOptions {
  const Subject* subject = nullptr;
  std::uint64_t seed = 0;      // of latencies, jitter, victims
  std::uint64_t workload = 0;  // of what the user does
  FaultPlan plan = {};
  bool keep_trace = false;
  std::int64_t silence_ms = 180'000;
};

struct RunResult {
  EndState end = {};
  std::map<std::string, ObjectCounts> counts = {};
  std::vector<std::string> violations = {};  // of this run by itself: leases, silence
  std::uint64_t trace_hash = 0;
  std::vector<std::string> trace = {};
  std::uint64_t writes = 0;        // asked for by the operator, leases not included
  std::uint64_t lease_writes = 0;  // while faults may come
  std::uint64_t requests = 0;      // the same; watches and leases included
  std::int64_t active_ms = 0;      // when anything but a lease changed last
  std::int64_t virtual_ms = 0;
};

// `start` has the subject's definitions, and may be shared by all its runs of a thread.
RunResult run_world(const StartState& start, const RunOptions& options);

}  // namespace amdahl::simulation
