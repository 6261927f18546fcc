// What an engine has done so far, for reports and for people. Plain values; thread any.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "checkpoint/engine/cadence.hpp"

namespace amdahl::checkpoint {

// Of the half that writes.
struct WriteStatus {
  // The newest that is known to be committed.
  std::optional<std::int64_t> committed_step = {};
  std::string committed_sha256 = {};  // of its manifest
  std::int64_t committed_bytes = 0;

  std::int64_t commits = 0;
  std::int64_t failures = 0;
  std::int64_t retries = 0;
  std::string last_error = {};
  std::string collect_error = {};  // of the last collection; empty: it went well

  SaveMeasured last = {};
  SaveRates rates = {};

  std::int64_t checkpoints_kept = 0;
  std::int64_t objects_removed = 0;
  std::int64_t damaged = 0;  // checkpoints that cannot be read
};

struct EngineStatus : WriteStatus {
  std::int64_t saves = 0;    // that were copied
  std::int64_t skipped = 0;  // the arena was full, and the caller did not want to wait
  std::int64_t waited = 0;   // it was full, and the caller waited

  std::int64_t arena_bytes = 0;
  std::int64_t queued_bytes = 0;  // copied and not yet committed
  std::int64_t state_bytes = 0;   // of the last snapshot
  Seconds last_stall = Seconds(0);
  std::optional<Seconds> pause_latency = {};

  bool by_agent = false;        // another process writes: agent.hpp
  std::string agent_lost = {};  // why it no longer does
};

nlohmann::json to_json(const EngineStatus& status);

}  // namespace amdahl::checkpoint
