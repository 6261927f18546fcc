// The words of a Report. All are open: an older reader takes a newer word for the unknown one.
#pragma once

#include <array>
#include <cstdint>

#include "base/fields.hpp"

namespace amdahl::api {

// What a rank does with its time, as one process can tell. The operator adds what only it can see
// (queue, gang wait, image pull, lost work).
enum class ReportPhase : std::uint8_t {
  kUnattributed,
  kWaiting,     // for the names of its peers
  kRendezvous,  // torchrun is up, its workers are not
  kInit,        // imports, devices, model, until the first sign of work
  kDataWait,
  kTrain,
  kCheckpointSave,
  kCheckpointRestore,  // weights or a checkpoint being loaded
  kEval,
  kStopping,  // asked to end
};
inline constexpr std::size_t kReportPhaseCount = 10;
constexpr auto enum_names(ReportPhase) {
  return std::to_array<EnumName<ReportPhase>>(
      {{ReportPhase::kUnattributed, "Unattributed"},
       {ReportPhase::kWaiting, "Waiting"},
       {ReportPhase::kRendezvous, "Rendezvous"},
       {ReportPhase::kInit, "Init"},
       {ReportPhase::kDataWait, "DataWait"},
       {ReportPhase::kTrain, "Train"},
       {ReportPhase::kCheckpointSave, "CheckpointSave"},
       {ReportPhase::kCheckpointRestore, "CheckpointRestore"},
       {ReportPhase::kEval, "Eval"},
       {ReportPhase::kStopping, "Stopping"}});
}
constexpr ReportPhase enum_unknown(ReportPhase) {
  return ReportPhase::kUnattributed;
}

enum class ReportPauseState : std::uint8_t {
  kNone,
  kRequested,  // the trainer has been asked
  kSaving,     // it said that it heard; with an exit, that it stopped and did not save
  kCommitted,  // a checkpoint of a step no older than the request is complete
  kFailed,     // it cannot be asked, could not save, or ended and had not heard
  kTimedOut,
};
constexpr auto enum_names(ReportPauseState) {
  return std::to_array<EnumName<ReportPauseState>>({{ReportPauseState::kNone, "None"},
                                                    {ReportPauseState::kRequested, "Requested"},
                                                    {ReportPauseState::kSaving, "Saving"},
                                                    {ReportPauseState::kCommitted, "Committed"},
                                                    {ReportPauseState::kFailed, "Failed"},
                                                    {ReportPauseState::kTimedOut, "TimedOut"}});
}
constexpr ReportPauseState enum_unknown(ReportPauseState) {
  return ReportPauseState::kNone;
}

enum class ReportPauseWay : std::uint8_t { kNone, kHelper, kUserSignal, kTerminate };
constexpr auto enum_names(ReportPauseWay) {
  return std::to_array<EnumName<ReportPauseWay>>({{ReportPauseWay::kNone, "None"},
                                                  {ReportPauseWay::kHelper, "Helper"},
                                                  {ReportPauseWay::kUserSignal, "UserSignal"},
                                                  {ReportPauseWay::kTerminate, "Terminate"}});
}
constexpr ReportPauseWay enum_unknown(ReportPauseWay) {
  return ReportPauseWay::kNone;
}

enum class ReportErrorKind : std::uint8_t {
  kUnknown,
  kException,  // a Python exception that none of the others describes
  kGpuOutOfMemory,
  kGpuFault,  // CUDA error, Xid, ECC
  kCollectiveTimeout,
  kCollectiveError,
  kRendezvousTimeout,
  kWorkerKilled,     // torchrun saw a worker die by a signal
  kCommandNotFound,  // 127
  kNotExecutable,    // 126
  kNoWorld,          // the command ended with 0, and its processes were not one world
};
constexpr auto enum_names(ReportErrorKind) {
  return std::to_array<EnumName<ReportErrorKind>>(
      {{ReportErrorKind::kUnknown, "Unknown"},
       {ReportErrorKind::kException, "Exception"},
       {ReportErrorKind::kGpuOutOfMemory, "GpuOutOfMemory"},
       {ReportErrorKind::kGpuFault, "GpuFault"},
       {ReportErrorKind::kCollectiveTimeout, "CollectiveTimeout"},
       {ReportErrorKind::kCollectiveError, "CollectiveError"},
       {ReportErrorKind::kRendezvousTimeout, "RendezvousTimeout"},
       {ReportErrorKind::kWorkerKilled, "WorkerKilled"},
       {ReportErrorKind::kCommandNotFound, "CommandNotFound"},
       {ReportErrorKind::kNotExecutable, "NotExecutable"},
       {ReportErrorKind::kNoWorld, "NoWorld"}});
}
constexpr ReportErrorKind enum_unknown(ReportErrorKind) {
  return ReportErrorKind::kUnknown;
}

enum class ReportErrorSource : std::uint8_t { kUnknown, kLog, kErrorFile, kProcess };
constexpr auto enum_names(ReportErrorSource) {
  return std::to_array<EnumName<ReportErrorSource>>({{ReportErrorSource::kUnknown, "Unknown"},
                                                     {ReportErrorSource::kLog, "Log"},
                                                     {ReportErrorSource::kErrorFile, "ErrorFile"},
                                                     {ReportErrorSource::kProcess, "Process"}});
}
constexpr ReportErrorSource enum_unknown(ReportErrorSource) {
  return ReportErrorSource::kUnknown;
}

// Where the steps of a job come from.
enum class StepSource : std::uint8_t {
  kUnknown,    // no step was understood
  kHook,       // optimizers or DeepSpeed, counted inside an unchanged script
  kLog,        // a line or a bar that looks like steps
  kFramework,  // the lines of a framework that is known
  kScript,     // job.step(), or a hook that calls it
};
constexpr auto enum_names(StepSource) {
  return std::to_array<EnumName<StepSource>>({{StepSource::kUnknown, "Unknown"},
                                              {StepSource::kHook, "Hook"},
                                              {StepSource::kLog, "Log"},
                                              {StepSource::kFramework, "Framework"},
                                              {StepSource::kScript, "Script"}});
}
constexpr StepSource enum_unknown(StepSource) {
  return StepSource::kUnknown;
}

enum class ReportRequest : std::uint8_t { kNone, kPause, kStop };
constexpr auto enum_names(ReportRequest) {
  return std::to_array<EnumName<ReportRequest>>({{ReportRequest::kNone, "None"},
                                                 {ReportRequest::kPause, "Pause"},
                                                 {ReportRequest::kStop, "Stop"}});
}
constexpr ReportRequest enum_unknown(ReportRequest) {
  return ReportRequest::kNone;
}

}  // namespace amdahl::api
