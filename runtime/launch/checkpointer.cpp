#include "runtime/launch/checkpointer.hpp"

#include <nlohmann/json.hpp>

#include "base/json_dump.hpp"
#include "base/rng.hpp"
#include "checkpoint/engine/agent.hpp"
#include "checkpoint/engine/session.hpp"
#include "checkpoint/store/open_store.hpp"
#include "operator/api/report_env.hpp"
#include "runtime/launch/save_error.hpp"

namespace amdahl::launch {

// Neither side may include the other's header.
static_assert(checkpoint::kAgentSocketVariable == api::report_env::kCheckpointSocket);
static_assert(checkpoint::kArenaFolderVariable == api::report_env::kArenaDir);
static_assert(checkpoint::kArenaBytesVariable == api::report_env::kArenaBytes);

std::string committed_line(const checkpoint::AgentSaved& saved) {
  const checkpoint::EngineStatus& status = saved.status;
  nlohmann::json line = {{"type", "committed"},
                         {"step", status.committed_step.value_or(0)},
                         {"path", saved.uri},
                         {"bytes", status.committed_bytes},
                         {"manifestDigest", "sha256:" + status.committed_sha256},
                         {"stallSeconds", saved.stall.count()},
                         {"uploadLagSeconds", (status.last.upload + status.last.commit).count()},
                         {"failedSaves", status.failures},
                         {"orphansCollected", status.objects_removed}};
  if (status.pause_latency) line["predictedPauseSeconds"] = status.pause_latency->count();
  return dump_json(line);
}

std::string save_failed_line(const checkpoint::AgentSaved& saved) {
  return dump_json({{"type", "saveFailed"},
                    {"failedSaves", saved.status.failures},
                    {"message", save_error(saved.status.last_error)}});
}

int run_checkpointer(Clock& clock, CheckpointerOptions options) {
  checkpoint::RealWaiter waiter;
  Rng rng(options.seed);
  const auto variable = [&](std::string_view name) {
    return std::string(options.variables.get(name));
  };
  checkpoint::Agent agent(
      {.clock = clock,
       .waiter = waiter,
       .listener = std::move(options.listener),
       .control = std::move(options.control),
       .open_store =
           [&](const std::string& uri) {
             return checkpoint::open_store(
                 uri, {.clock = clock, .rng = Rng(rng.next()), .variable = variable});
           },
       .on_done =
           [&](const checkpoint::AgentSaved& saved) {
             // From the threads of several trainers: each message is one call to the kernel.
             options.commits.send(Message::kCommitted, saved.committed ? committed_line(saved)
                                                                       : save_failed_line(saved));
             if (!saved.committed)
               options.complain("a checkpoint was not written: " + saved.status.last_error);
           },
       .complain = options.complain});
  const auto ran = agent.run();
  if (!ran) options.complain("checkpointer: " + ran.error().context);
  return ran ? 0 : 1;
}

}  // namespace amdahl::launch
