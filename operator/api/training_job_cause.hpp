// Why an attempt ended: one cause, found from the evidence of all its pods.
//
// Plain values, any thread. The classes are the rows of the diagnosis; each has a sentence for
// people in cause_classes().
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/fields.hpp"
#include "operator/api/bounds.hpp"

namespace amdahl::api {

enum class CauseClass : std::uint8_t {
  kUnknown,
  kStoppedOnRequest,
  kDidNotStopInTime,
  kContainerOutOfMemory,
  kNodeOutOfMemory,
  kKilled,
  kWorkerProcessKilled,
  kGpuOutOfMemory,
  kEvicted,
  kPreempted,
  kNodeLost,
  kNodeShutdown,
  kDrained,
  kImageNotFound,
  kImagePullDenied,
  kImagePullFailed,
  kConfigurationMissing,
  kUnschedulable,
  kDeviceAllocationFailed,
  kGpuFault,
  kCollectiveTimeout,
  kPeerConnectionLost,
  kDiverged,
  kNativeCrash,
  kUserException,
  kCommandNotFound,
  kRendezvousTimeout,
  kHang,
  kEarlyExit,
};
constexpr auto enum_names(CauseClass) {
  using enum CauseClass;
  return std::to_array<EnumName<CauseClass>>({{kUnknown, "Unknown"},
                                              {kStoppedOnRequest, "StoppedOnRequest"},
                                              {kDidNotStopInTime, "DidNotStopInTime"},
                                              {kContainerOutOfMemory, "ContainerOutOfMemory"},
                                              {kNodeOutOfMemory, "NodeOutOfMemory"},
                                              {kKilled, "Killed"},
                                              {kWorkerProcessKilled, "WorkerProcessKilled"},
                                              {kGpuOutOfMemory, "GpuOutOfMemory"},
                                              {kEvicted, "Evicted"},
                                              {kPreempted, "Preempted"},
                                              {kNodeLost, "NodeLost"},
                                              {kNodeShutdown, "NodeShutdown"},
                                              {kDrained, "Drained"},
                                              {kImageNotFound, "ImageNotFound"},
                                              {kImagePullDenied, "ImagePullDenied"},
                                              {kImagePullFailed, "ImagePullFailed"},
                                              {kConfigurationMissing, "ConfigurationMissing"},
                                              {kUnschedulable, "Unschedulable"},
                                              {kDeviceAllocationFailed, "DeviceAllocationFailed"},
                                              {kGpuFault, "GpuFault"},
                                              {kCollectiveTimeout, "CollectiveTimeout"},
                                              {kPeerConnectionLost, "PeerConnectionLost"},
                                              {kDiverged, "Diverged"},
                                              {kNativeCrash, "NativeCrash"},
                                              {kUserException, "UserException"},
                                              {kCommandNotFound, "CommandNotFound"},
                                              {kRendezvousTimeout, "RendezvousTimeout"},
                                              {kHang, "Hang"},
                                              {kEarlyExit, "EarlyExit"}});
}
constexpr CauseClass enum_unknown(CauseClass) {
  return CauseClass::kUnknown;
}

// What each class means, for people: one sentence, in the order of the enum.
struct CauseClassText {
  CauseClass value = CauseClass::kUnknown;
  std::string_view meaning = {};
};
std::span<const CauseClassText> cause_classes();

enum class CauseRole : std::uint8_t { kUnknown, kRoot, kCascade, kTeardown };
constexpr auto enum_names(CauseRole) {
  return std::to_array<EnumName<CauseRole>>({{CauseRole::kUnknown, "Unknown"},
                                             {CauseRole::kRoot, "Root"},
                                             {CauseRole::kCascade, "Cascade"},
                                             {CauseRole::kTeardown, "Teardown"}});
}
constexpr CauseRole enum_unknown(CauseRole) {
  return CauseRole::kUnknown;
}

enum class CauseDomain : std::uint8_t {
  kUnknown,
  kWorkload,
  kInfrastructure,
  kConfiguration,
  kOperator,
};
constexpr auto enum_names(CauseDomain) {
  return std::to_array<EnumName<CauseDomain>>({{CauseDomain::kUnknown, "Unknown"},
                                               {CauseDomain::kWorkload, "Workload"},
                                               {CauseDomain::kInfrastructure, "Infrastructure"},
                                               {CauseDomain::kConfiguration, "Configuration"},
                                               {CauseDomain::kOperator, "Operator"}});
}
constexpr CauseDomain enum_unknown(CauseDomain) {
  return CauseDomain::kUnknown;
}

enum class CauseOutlook : std::uint8_t { kUnknown, kMayRecover, kCannotRecoverUnchanged };
constexpr auto enum_names(CauseOutlook) {
  return std::to_array<EnumName<CauseOutlook>>(
      {{CauseOutlook::kUnknown, "Unknown"},
       {CauseOutlook::kMayRecover, "MayRecover"},
       {CauseOutlook::kCannotRecoverUnchanged, "CannotRecoverUnchanged"}});
}
constexpr CauseOutlook enum_unknown(CauseOutlook) {
  return CauseOutlook::kUnknown;
}

enum class CauseConfidence : std::uint8_t { kUnknown, kSupported, kConfirmed };
constexpr auto enum_names(CauseConfidence) {
  return std::to_array<EnumName<CauseConfidence>>({{CauseConfidence::kUnknown, "Unknown"},
                                                   {CauseConfidence::kSupported, "Supported"},
                                                   {CauseConfidence::kConfirmed, "Confirmed"}});
}
constexpr CauseConfidence enum_unknown(CauseConfidence) {
  return CauseConfidence::kUnknown;
}

struct Cause {
  CauseClass cause_class = CauseClass::kUnknown;
  CauseRole role = CauseRole::kUnknown;
  CauseDomain domain = CauseDomain::kUnknown;
  CauseOutlook outlook = CauseOutlook::kUnknown;
  CauseConfidence confidence = CauseConfidence::kUnknown;
  std::optional<std::int32_t> rank = {};
  std::string pod = {};
  std::string node = {};
  std::optional<std::int32_t> exit_code = {};
  std::optional<std::int32_t> signal = {};
  std::string message = {};
  std::string hint = {};
  bool operator==(const Cause&) const = default;
};
template <class V>
constexpr void fields(V& v, Cause& cause) {
  v.required("class", cause.cause_class, {.doc = "What happened."});
  v.optional("role", cause.role,
             {.doc = "Whether this started it (Root), followed from it (Cascade), or is only how "
                     "the rest was stopped (Teardown)."});
  v.optional("domain", cause.domain, {.doc = "Whose it is to change."});
  v.optional("outlook", cause.outlook,
             {.doc = "Whether the same job may get through when it is tried again."});
  v.optional("confidence", cause.confidence,
             {.doc = "Confirmed: the platform says so. Supported: the evidence fits."});
  v.optional("rank", cause.rank,
             {.doc = "The first rank on which it was observed.", .min = 0, .max = kRankMax});
  v.optional("pod", cause.pod, {.doc = "Its pod.", .length_max = kSubdomainMax});
  v.optional("node", cause.node, {.doc = "The node of that pod.", .length_max = kSubdomainMax});
  v.optional("exitCode", cause.exit_code,
             {.doc = "The exit code of the trainer container.", .min = 0, .max = 255});
  v.optional("signal", cause.signal,
             {.doc = "The signal that ended it, if one did.", .min = 1, .max = 64});
  v.optional("message", cause.message,
             {.doc = "The evidence, as the platform or the workload worded it.",
              .length_max = kMessageMax});
  v.optional("hint", cause.hint, {.doc = "What to try.", .length_max = kHintMax});
}

}  // namespace amdahl::api
