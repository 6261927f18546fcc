#include "checkpoint/engine/engine_options.hpp"

#include <string_view>

#include "checkpoint/engine/save_id.hpp"
#include "checkpoint/format/manifest.hpp"

namespace amdahl::checkpoint {

Result<void> check(const EngineOptions& options) {
  const RankIdentity& who = options.who;
  const auto bad = [](std::string_view what) {
    return fail(Errc::kInvalid, "checkpoints: {}", what);
  };
  if (who.job_uid.empty() || who.job_uid.size() > kUidMax) return bad("a job UID is needed");
  if (who.attempt.empty() || who.attempt.size() > kAttemptIdMax)
    return bad("an attempt id is needed: random, and the same on all ranks");
  if (who.world_size < 1 || who.world_size > kRanksMax || who.rank < 0 ||
      who.rank >= who.world_size)
    return bad(fmt::format("rank {} of {}", who.rank, who.world_size));
  if (options.deltas && who.world_size > 1)
    return bad("deltas are for jobs with one rank: ranks cannot tell whether they have one parent");
  if (options.deltas && !options.alone)
    return bad("deltas are not for several attempts at once: a parent may be gone at the commit");
  if (!options.signing_key_file.empty() && options.image_digest.empty())
    return bad("signed checkpoints need the digest of the trainer's image (AMDAHL_IMAGE_DIGEST)");
  if (options.full_every < 1 || options.full_every > kChainMax)
    return bad(fmt::format("full_every is 1 to {}", kChainMax));
  return {};
}

}  // namespace amdahl::checkpoint
