// Where the launcher learns that a checkpoint is complete.
//
// The seam for a checkpoint engine. Until there is one, a trainer saves by its own means and then
// writes, by a rename, a small JSON file {"step":N,"path":"..."}: that file is the commit. Thread:
// one. Failure: a file that cannot be read or understood is no checkpoint.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "operator/api/report.hpp"

namespace amdahl::launch {

class CheckpointSource {
 public:
  virtual ~CheckpointSource() = default;
  // What has been committed since the last call.
  virtual std::optional<api::ReportCheckpoint> poll() = 0;
};

class CheckpointMarker final : public CheckpointSource {
 public:
  static constexpr std::size_t kMarkerBytesMax = 4096;

  explicit CheckpointMarker(std::string path) : path_(std::move(path)) {}
  std::optional<api::ReportCheckpoint> poll() override;

 private:
  std::string path_;
  struct stat seen_{};
};

}  // namespace amdahl::launch
