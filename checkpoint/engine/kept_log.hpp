// The end of what one rank of an attempt printed, beside the checkpoints of its job: readable after
// the pod is gone.
//
//   PREFIX/.amdahl-logs/JOB_UID/RANK/ATTEMPT.log     RANK: 5 digits, ATTEMPT: 10 digits
//
// parse_name() (names.hpp) refuses these names, so nothing that saves, lists, verifies or collects
// checkpoints reads or deletes them. The UID keeps the logs of two jobs apart where a prefix has no
// owner yet. Thread: any; calls block. Failure: as store.hpp says; kForbidden when the prefix
// belongs to another job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::string_view kKeptLogsFolder = ".amdahl-logs";
inline constexpr std::size_t kKeptLogBytesMax = std::size_t{64} << 10U;
inline constexpr std::size_t kKeptLogAttemptsMax = 3;   // of one rank
inline constexpr std::size_t kKeptLogsDroppedMax = 16;  // by one call of keep_log()

struct KeptLogPlace {
  std::string job_uid = {};
  std::string job = {};  // namespace/name, for messages
  std::int64_t attempt = 0;
  std::int64_t rank = 0;  // of the node
};
// kInvalid: a UID that Kubernetes does not give.
Result<std::string> kept_log_name(const KeptLogPlace& place);

// Writes the last kKeptLogBytesMax of `text`, in place of what an earlier container of the same
// attempt left. Then removes this rank's logs of older attempts, but for the newest
// kKeptLogAttemptsMax.
Result<void> keep_log(Store& store, const KeptLogPlace& place, std::string_view text,
                      const StoreCall& call);

// At most the last kKeptLogBytesMax, whatever the size of the object. kNotFound.
Result<std::string> read_kept_log(Store& store, const KeptLogPlace& place, const StoreCall& call);

}  // namespace amdahl::checkpoint
