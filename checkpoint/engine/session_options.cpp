#include "checkpoint/engine/session_options.hpp"

#include "base/validate.hpp"
#include "checkpoint/format/tree_fields.hpp"

namespace amdahl::checkpoint {

Result<SessionOptions> read_session_options(std::string_view json) {
  constexpr int kOptionsDepthMax = 4;
  TRY(const Json tree, parse_strict(json, kOptionsDepthMax));
  TRY(SessionOptions options, from_tree<SessionOptions>(tree));
  TRY(validate(options));
  if (options.attempt.empty() && options.world_size > 1)
    return fail(Errc::kInvalid,
                "attempt: several ranks need one id, random, and the same on all of them");
  if (options.attempt.empty()) options.attempt = random_attempt_id();
  return options;
}

EngineOptions engine_options(const SessionOptions& session) {
  EngineOptions options;
  options.who = {.job_uid = session.job_uid,
                 .job = session.job,
                 .rank = session.rank,
                 .world_size = session.world_size,
                 .attempt = session.attempt};
  options.plan = {.part_bytes = session.part_bytes, .chunk_bytes = session.chunk_bytes};
  options.retention = {.keep_last = session.keep_last,
                       .keep_every_steps = session.keep_every_steps,
                       .bytes_max = session.keep_bytes_max,
                       .best_count = session.keep_best,
                       .best_metric = session.best_metric,
                       .lower_is_better = session.best_is_highest == 0};
  options.alone = session.others_alive == 0;
  options.arena = {.bytes = session.arena_bytes, .path = session.arena_path};
  if (!session.arena_path.empty()) options.arena.kind = ArenaKind::kFile;
  options.snapshots_max = static_cast<std::size_t>(session.snapshots_max);
  options.copy_threads = session.copy_threads;
  options.upload_threads = session.io_threads;
  options.signing_key_file = session.signing_key_file;
  options.sha256 = session.sha256 != 0;
  options.save_deadline = std::chrono::milliseconds(session.save_deadline_ms);
  options.find_frozen = session.find_frozen != 0;
  options.planes = session.planes != 0 || session.deltas != 0;
  options.deltas = session.deltas != 0;
  options.full_every = session.full_every;
  options.image_digest = session.image_digest;
  return options;
}

}  // namespace amdahl::checkpoint
