// Options of a session as JSON, one line a field. Numbers are integers; what is 0 or 1 is a switch.
// Plain values; thread any. Failure: kInvalid with the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "checkpoint/engine/engine_options.hpp"
#include "checkpoint/engine/save_id.hpp"
#include "checkpoint/format/manifest.hpp"

namespace amdahl::checkpoint {

struct SessionOptions {
  std::string uri = {};
  std::string job_uid = {};
  std::string job = {};
  std::string attempt = {};
  std::int32_t rank = 0;
  std::int32_t world_size = 1;
  std::string image_digest = {};
  std::int32_t keep_last = 3;
  std::int64_t keep_every_steps = 0;
  std::int64_t keep_bytes_max = 0;
  std::int32_t keep_best = 0;
  std::string best_metric = {};
  std::int32_t best_is_highest = 0;
  std::int32_t others_alive = 0;
  std::int64_t arena_bytes = 0;
  std::string arena_path = {};
  std::string agent = {};
  std::int32_t snapshots_max = 2;
  std::int64_t part_bytes = kPartBytesDefault;
  std::int64_t chunk_bytes = kChunkBytesDefault;
  std::int32_t copy_threads = 2;
  std::int32_t io_threads = 4;
  std::int64_t save_deadline_ms = 1'800'000;
  std::int32_t find_frozen = 1;
  std::int32_t planes = 0;
  std::int32_t deltas = 0;
  std::int32_t full_every = 8;
  std::string signing_key_file = {};
  std::int32_t sha256 = 0;
  std::string trusted_keys_file = {};
  std::int32_t own_prefix = 0;
};
template <class V>
constexpr void fields(V& v, SessionOptions& o) {
  v.required("uri", o.uri, {.doc = "Where checkpoints lie.", .length_min = 1});
  v.optional("jobUid", o.job_uid, {.doc = "Needed to save.", .length_max = kUidMax});
  v.optional("job", o.job, {.doc = "Namespace and name.", .length_max = kJobNameMax});
  v.optional("attempt", o.attempt,
             {.doc = "Random, the same on all ranks; absent: one of its own, for one rank.",
              .length_max = kAttemptIdMax});
  v.optional("rank", o.rank, {.doc = "This process.", .min = 0, .max = kRanksMax - 1});
  v.optional("worldSize", o.world_size, {.doc = "How many save.", .min = 1, .max = kRanksMax});
  v.optional("imageDigest", o.image_digest, {.doc = "sha256:HEX."});
  v.optional("keepLast", o.keep_last, {.doc = "Newest to keep.", .min = 0});
  v.optional("keepEverySteps", o.keep_every_steps, {.doc = "And multiples of it.", .min = 0});
  v.optional("keepBytesMax", o.keep_bytes_max, {.doc = "0: no quota.", .min = 0});
  v.optional("keepBest", o.keep_best, {.doc = "And so many by a metric.", .min = 0});
  v.optional("bestMetric", o.best_metric, {.doc = "Its name.", .length_max = kMetricNameMax});
  v.optional("bestIsHighest", o.best_is_highest, {.doc = "Else lowest.", .min = 0, .max = 1});
  v.optional("othersAlive", o.others_alive,
             {.doc = "Other attempts may be at work.", .min = 0, .max = 1});
  v.optional("arenaBytes", o.arena_bytes,
             {.doc = "0: as the first snapshots need.", .min = 0, .max = kArenaBytesMax});
  v.optional("arenaPath", o.arena_path, {.doc = "A file on a memory volume."});
  v.optional(
      "agent", o.agent,
      {.doc = "Socket of the checkpoint agent; absent: AMDAHL_CHECKPOINT_SOCKET; off: none."});
  v.optional("snapshotsMax", o.snapshots_max,
             {.doc = "Copied and not yet written.", .min = 1, .max = kLeasesMax - 1});
  v.optional("partBytes", o.part_bytes, {.doc = "Of a data object.", .min = 1});
  v.optional("chunkBytes", o.chunk_bytes, {.doc = "Of a checksum.", .min = kChunkBytesMin});
  v.optional("copyThreads", o.copy_threads, {.doc = "Of a snapshot.", .min = 1, .max = 64});
  v.optional("ioThreads", o.io_threads, {.doc = "Of writing and loading.", .min = 1, .max = 64});
  v.optional("saveDeadlineMs", o.save_deadline_ms, {.doc = "From copy to commit.", .min = 1});
  v.optional("findFrozen", o.find_frozen, {.doc = "frozen.hpp.", .min = 0, .max = 1});
  v.optional("planes", o.planes, {.doc = "bf16 in planes.", .min = 0, .max = 1});
  v.optional("deltas", o.deltas, {.doc = "And as differences.", .min = 0, .max = 1});
  v.optional("fullEvery", o.full_every, {.doc = "Without.", .min = 1, .max = kChainMax});
  v.optional("signingKeyFile", o.signing_key_file, {.doc = "A private Ed25519 key, PEM."});
  v.optional("sha256", o.sha256, {.doc = "As a signature by rank 0 needs.", .min = 0, .max = 1});
  v.optional("trustedKeysFile", o.trusted_keys_file,
             {.doc = "Public keys, PEM: only what one of them has signed is loaded."});
  v.optional("ownPrefix", o.own_prefix,
             {.doc = "The prefix is jobUid's: another job's is not loaded.", .min = 0, .max = 1});
}

inline constexpr std::string_view kNoAgent = "off";

// From JSON.
Result<SessionOptions> read_session_options(std::string_view json);
EngineOptions engine_options(const SessionOptions& session);

}  // namespace amdahl::checkpoint
