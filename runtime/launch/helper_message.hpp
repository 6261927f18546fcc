// One line that a process of the trainer writes to the launcher's socket, and the lines it gets.
//
//   {"type":"hello","pid":12,"localRank":0,"rank":8}
//   {"type":"state","phase":"Train","step":10,"total":100,"dataWait":0.12,"metrics":{"loss":1.5}}
//   {"type":"listening"}                  should_stop() is asked from time to time
//   {"type":"heard"}                      and has said yes
//   {"type":"committed","step":10,"path":"/ckpt/10","bytes":123}    and what our engine knows:
//      "manifestDigest", "stallSeconds", "uploadLagSeconds", "predictedPauseSeconds",
//      "failedSaves", "orphansCollected"
//   {"type":"failed","message":"disk full"}    the checkpoint for a pause could not be written
//   {"type":"saveFailed","failedSaves":3,"message":"disk full"}    any checkpoint; how many so far
// The hooks (hooks/sitecustomize.py) have a connection besides, and say on it
//   {"type":"hello","hook":true,"pid":12,"localRank":0,"rank":8}    before anything else
//   {"type":"hook","step":10}             optimizers or DeepSpeed have made so many steps
// and back: {"type":"stop","deadlineSeconds":110}, {"type":"continue"},
//   {"type":"interval","seconds":416}     how often to save from now on
//
// Pure. Failure: a line that is not one of these is nullopt; a member of a wrong type is absent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/report.hpp"

namespace amdahl::launch {

inline constexpr std::size_t kHelperLineBytesMax = std::size_t{16} << 10U;

enum class HelperKind : std::uint8_t {
  kHello,
  kState,
  kListening,
  kHeard,
  kCommitted,
  kFailed,
  kSaveFailed,
  kHook
};
constexpr auto enum_names(HelperKind) {
  return std::to_array<EnumName<HelperKind>>({{HelperKind::kHello, "hello"},
                                              {HelperKind::kState, "state"},
                                              {HelperKind::kListening, "listening"},
                                              {HelperKind::kHeard, "heard"},
                                              {HelperKind::kCommitted, "committed"},
                                              {HelperKind::kFailed, "failed"},
                                              {HelperKind::kSaveFailed, "saveFailed"},
                                              {HelperKind::kHook, "hook"}});
}

struct HelperMessage {
  HelperKind kind = HelperKind::kState;
  std::optional<std::int64_t> local_rank = {};
  bool hook = false;  // of kHello: the connection is one of the hooks
  std::optional<api::ReportPhase> phase = {};
  std::optional<std::int64_t> step = {};
  std::optional<std::int64_t> total = {};
  std::chrono::nanoseconds data_wait{0};  // since the last message
  std::vector<api::ReportMetric> metrics = {};
  std::optional<api::ReportCheckpoint> checkpoint = {};  // of kCommitted
  std::string message = {};
  std::int64_t failed_saves = 0;  // of kSaveFailed
};

std::optional<HelperMessage> read_helper_line(std::string_view line);

std::string stop_line(std::chrono::seconds deadline);
std::string continue_line();
std::string interval_line(std::chrono::seconds interval);

// The file that says that a checkpoint is complete: {"step":10,"path":"/ckpt/10"}.
std::optional<api::ReportCheckpoint> read_marker(std::string_view text);

}  // namespace amdahl::launch
