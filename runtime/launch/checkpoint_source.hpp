// Where the launcher learns that a checkpoint is complete.
//
// From the checkpointer, which has committed it. A trainer that saves by its own means writes
// afterwards, by a rename, a small JSON file {"step":N,"path":"..."}: that file is the commit.
// Thread: one. Failure: what cannot be read or understood is no checkpoint.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <utility>

#include "operator/api/report.hpp"
#include "runtime/launch/channel.hpp"
#include "runtime/launch/helper_message.hpp"

namespace amdahl::launch {

class CheckpointMarker {
 public:
  static constexpr std::size_t kMarkerBytesMax = 4096;

  explicit CheckpointMarker(std::string path) : path_(std::move(path)) {}
  // What has been committed since the last call.
  std::optional<api::ReportCheckpoint> poll();

 private:
  std::string path_;
  struct stat seen_{};
};

class EngineSource {
 public:
  static constexpr int kAtOnceMax = 64;  // commits that one call looks at

  explicit EngineSource(Channel commits) : commits_(std::move(commits)) {}
  // What has been committed since the last call.
  std::optional<api::ReportCheckpoint> poll();  // the newest of them
  // The last save that poll() heard has failed, once.
  std::optional<HelperMessage> take_failure() { return std::exchange(failure_, std::nullopt); }

 private:
  Channel commits_;
  std::optional<HelperMessage> failure_;
};

}  // namespace amdahl::launch
