// The environment by which the operator tells amdahl-launch who it is and where to report, beyond
// the names in names.hpp. Both sides use these constants.
#pragma once

#include <string_view>

namespace amdahl::api::report_env {

inline constexpr std::string_view kJobUid = "AMDAHL_JOB_UID";
inline constexpr std::string_view kPod = "AMDAHL_POD";
inline constexpr std::string_view kPodUid = "AMDAHL_POD_UID";
inline constexpr std::string_view kRank = "AMDAHL_RANK";           // of the node
inline constexpr std::string_view kRuntime = "AMDAHL_RUNTIME";     // Torchrun, DeepSpeed or Python
inline constexpr std::string_view kHosts = "AMDAHL_HOST_PATTERN";  // "llama-1-{}.llama-gang"
// How long to wait for those names before the trainer is started all the same.
inline constexpr std::string_view kHostSeconds = "AMDAHL_HOST_SECONDS";
// terminationGracePeriodSeconds of the pod.
inline constexpr std::string_view kGraceSeconds = "AMDAHL_GRACE_SECONDS";
inline constexpr std::string_view kCheckpointUri = "AMDAHL_CHECKPOINT_URI";
// Of the trainer's image, sha256:HEX; absent when the template names it by a tag.
inline constexpr std::string_view kImageDigest = "AMDAHL_IMAGE_DIGEST";
inline constexpr std::string_view kCheckpointMarker = "AMDAHL_CHECKPOINT_MARKER";
// Where the memory of snapshots lies: the mount point of a memory volume, and its bytes, which the
// processes of a node share. Without a folder it is anonymous memory.
inline constexpr std::string_view kArenaDir = "AMDAHL_ARENA_DIR";
inline constexpr std::string_view kArenaBytes = "AMDAHL_ARENA_BYTES";
// Set by launch for the trainer: where its checkpointer takes snapshots over.
inline constexpr std::string_view kCheckpointSocket = "AMDAHL_CHECKPOINT_SOCKET";
// The same for all ranks of an attempt, and no other's.
inline constexpr std::string_view kAttemptId = "AMDAHL_ATTEMPT_ID";
// Which checkpoints stay, as JSON: options of a session (checkpoint/engine/session_options.hpp).
inline constexpr std::string_view kCheckpointRetention = "AMDAHL_CHECKPOINT_RETENTION";
// URI or URI@STEP: where a job without a checkpoint takes its first state from.
inline constexpr std::string_view kInitFrom = "AMDAHL_CHECKPOINT_INIT_FROM";
// How often to save.
inline constexpr std::string_view kCheckpointInterval = "AMDAHL_CHECKPOINT_INTERVAL_SECONDS";
inline constexpr std::string_view kUrl = "AMDAHL_REPORT_URL";
inline constexpr std::string_view kCa = "AMDAHL_REPORT_CA";        // file
inline constexpr std::string_view kToken = "AMDAHL_REPORT_TOKEN";  // file, read for every report
// Of a template that wants launchers to serve their metrics; the operator adds the address then.
inline constexpr std::string_view kMetricsPort = "AMDAHL_METRICS_PORT";
inline constexpr std::string_view kPodAddress = "AMDAHL_POD_ADDRESS";
// The container's terminationMessagePath; without it, TORCHELASTIC_ERROR_FILE as it was given.
inline constexpr std::string_view kTerminationLog = "AMDAHL_TERMINATION_LOG";
// "1": launch counts the steps of Python trainers by hooks; see runtime/launch/hooks.
inline constexpr std::string_view kHooks = "AMDAHL_HOOKS";
// Set by launch for the trainer: a hostfile for scripts that insist on the deepspeed launcher.
inline constexpr std::string_view kHostfile = "AMDAHL_HOSTFILE";
inline constexpr std::string_view kNodes = "AMDAHL_NODES";

}  // namespace amdahl::api::report_env
