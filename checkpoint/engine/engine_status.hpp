// What an engine has done so far, for reports and for people. Plain values; thread any.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "checkpoint/engine/cadence.hpp"

namespace amdahl::checkpoint {

struct EngineStatus {
  // The newest that this engine knows to be committed.
  std::optional<std::int64_t> committed_step = {};
  std::string committed_sha256 = {};  // of its manifest
  std::int64_t committed_bytes = 0;

  std::int64_t saves = 0;  // that were copied
  std::int64_t commits = 0;
  std::int64_t failures = 0;
  std::int64_t skipped = 0;  // the arena was full, and the caller did not want to wait
  std::int64_t waited = 0;   // it was full, and the caller waited
  std::int64_t retries = 0;
  std::string last_error = {};
  std::string collect_error = {};  // of the last collection; empty: it went well

  std::int64_t arena_bytes = 0;
  std::int64_t queued_bytes = 0;  // copied and not yet committed
  std::int64_t state_bytes = 0;   // of the last snapshot
  Seconds last_stall = Seconds(0);
  SaveMeasured last = {};
  SaveRates rates = {};
  std::optional<Seconds> pause_latency = {};

  std::int64_t checkpoints_kept = 0;
  std::int64_t objects_removed = 0;
  std::int64_t damaged = 0;  // checkpoints that cannot be read
};

nlohmann::json to_json(const EngineStatus& status);

}  // namespace amdahl::checkpoint
