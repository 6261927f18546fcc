#include "checkpoint/engine/engine_status.hpp"

#include <nlohmann/json.hpp>

namespace amdahl::checkpoint {

nlohmann::json to_json(const EngineStatus& status) {
  nlohmann::json json = {
      {"saves", status.saves},
      {"commits", status.commits},
      {"failures", status.failures},
      {"skipped", status.skipped},
      {"waited", status.waited},
      {"retries", status.retries},
      {"arenaBytes", status.arena_bytes},
      {"queuedBytes", status.queued_bytes},
      {"stateBytes", status.state_bytes},
      {"stallSeconds", status.last_stall.count()},
      {"copySeconds", status.last.snapshot.count()},
      {"uploadSeconds", status.last.upload.count()},
      {"uploadedBytes", status.last.uploaded_bytes},
      {"commitSeconds", status.last.commit.count()},
      {"checkpointsKept", status.checkpoints_kept},
      {"objectsRemoved", status.objects_removed},
      {"damaged", status.damaged},
  };
  if (status.committed_step) {
    json["committedStep"] = *status.committed_step;
    json["committedSha256"] = status.committed_sha256;
    json["committedBytes"] = status.committed_bytes;
  }
  if (!status.last_error.empty()) json["lastError"] = status.last_error;
  if (!status.collect_error.empty()) json["collectError"] = status.collect_error;
  if (status.by_agent) json["byAgent"] = 1;
  if (!status.agent_lost.empty()) json["agentLost"] = status.agent_lost;
  if (status.pause_latency) json["pauseSeconds"] = status.pause_latency->count();
  return json;
}

}  // namespace amdahl::checkpoint
