#include "runtime/launch/checkpoint_source.hpp"

#include "runtime/launch/small_files.hpp"

namespace amdahl::launch {
namespace {

bool same(const struct stat& a, const struct stat& b) {
  return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

std::optional<api::ReportCheckpoint> CheckpointMarker::poll() {
  struct stat now{};
  if (path_.empty() || ::stat(path_.c_str(), &now) != 0 || same(now, seen_)) return std::nullopt;
  const auto text = read_small_file(path_, kMarkerBytesMax);
  if (!text) return std::nullopt;
  seen_ = now;
  return read_marker(*text);
}

std::optional<api::ReportCheckpoint> EngineSource::poll() {
  std::optional<api::ReportCheckpoint> newest;
  for (int i = 0; i < kAtOnceMax && commits_.open(); ++i) {
    const auto packet = commits_.receive();
    if (!packet) commits_.close();  // it has ended
    if (!packet || !*packet) break;
    auto message = read_helper_line((*packet)->body);
    if (message && message->kind == HelperKind::kSaveFailed) failure_ = *message;
    if (!message || !message->checkpoint) continue;
    if (!newest || message->checkpoint->step >= newest->step)
      newest = std::move(message->checkpoint);
  }
  return newest;
}

}  // namespace amdahl::launch
