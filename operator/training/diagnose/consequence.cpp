#include "operator/training/diagnose/consequence.hpp"

#include <algorithm>
#include <array>

namespace amdahl::training {
namespace {

using enum api::CauseClass;
constexpr auto kNoDomain = api::CauseDomain::kUnknown;
constexpr auto kWorkload = api::CauseDomain::kWorkload;
constexpr auto kInfrastructure = api::CauseDomain::kInfrastructure;
constexpr auto kConfiguration = api::CauseDomain::kConfiguration;
constexpr auto kOperator = api::CauseDomain::kOperator;
constexpr auto kNoOutlook = api::CauseOutlook::kUnknown;
constexpr auto kMayRecover = api::CauseOutlook::kMayRecover;
constexpr auto kCannotRecoverUnchanged = api::CauseOutlook::kCannotRecoverUnchanged;
constexpr auto kOnce = Advice::kRestartOnce;
constexpr auto kAgain = Advice::kRestart;
constexpr auto kElsewhere = Advice::kRestartElsewhere;
constexpr auto kStop = Advice::kStop;
constexpr auto kCarryOn = Advice::kCarryOn;
constexpr auto kFailures = Budget::kFailures;
constexpr auto kDisruptions = Budget::kDisruptions;
constexpr auto kNothing = Budget::kNone;

constexpr auto kConsequences = std::to_array<Consequence>({
    {api::CauseClass::kUnknown, kNoDomain, kNoOutlook, kOnce, kFailures, false,
     "Look at the end of the log of this rank; let the script print why it exits."},
    {kStoppedOnRequest, kOperator, kNoOutlook, kCarryOn, kNothing, false,
     "Nothing to do: it was asked to stop, and did."},
    {kDidNotStopInTime, kWorkload, kNoOutlook, kCarryOn, kNothing, false,
     "Its last checkpoint is unverified. Save faster on SIGTERM, or raise "
     "terminationGracePeriodSeconds (spot machines do not wait for it)."},
    {kContainerOutOfMemory, kWorkload, kCannotRecoverUnchanged, kOnce, kFailures, false,
     "Raise the container's memory limit to about 1.3 times its peak, or lower the number of data "
     "loader workers."},
    {kNodeOutOfMemory, kInfrastructure, kMayRecover, kElsewhere, kDisruptions, true,
     "Request as much memory as the limit allows, so that the node is not promised twice."},
    {kKilled, kNoDomain, kNoOutlook, kOnce, kFailures, false,
     "Somebody sent SIGKILL: look at the node's kernel log, and at liveness probes."},
    {kWorkerProcessKilled, kWorkload, kNoOutlook, kOnce, kFailures, false,
     "Mount an emptyDir with medium Memory at /dev/shm, or use fewer data loader workers; check "
     "the memory limit."},
    {kGpuOutOfMemory, kWorkload, kCannotRecoverUnchanged, kStop, kFailures, false,
     "Use a smaller batch with gradient accumulation, activation checkpointing or sharding, or "
     "GPUs with more memory."},
    {kEvicted, kWorkload, kMayRecover, kOnce, kDisruptions, false,
     "Request what the pod really uses of the resource that was short."},
    {kPreempted, kInfrastructure, kMayRecover, kAgain, kDisruptions, false,
     "It waits in its queue again. A higher priority class keeps its place."},
    {kNodeLost, kInfrastructure, kMayRecover, kElsewhere, kDisruptions, true,
     "It resumes from the last checkpoint on other nodes."},
    {kNodeShutdown, kInfrastructure, kMayRecover, kElsewhere, kDisruptions, true,
     "It resumes from the last checkpoint. On spot machines, checkpoint more often."},
    {kDrained, kInfrastructure, kMayRecover, kAgain, kDisruptions, false,
     "A PodDisruptionBudget, or the autoscaler's safe-to-evict annotation, keeps long jobs from "
     "being drained."},
    {kImageNotFound, kWorkload, kCannotRecoverUnchanged, kStop, kFailures, false,
     "Correct the image's name or tag, or push it."},
    {kImagePullDenied, kConfiguration, kCannotRecoverUnchanged, kAgain, kFailures, false,
     "Let the nodes' service account read the registry, or name an imagePullSecret."},
    {kImagePullFailed, kInfrastructure, kMayRecover, kAgain, kDisruptions, false,
     "Check that the nodes reach the registry."},
    {kConfigurationMissing, kConfiguration, kCannotRecoverUnchanged, kAgain, kFailures, false,
     "Create what the message names, or correct its name in the template."},
    {kUnschedulable, kNoDomain, kMayRecover, kCarryOn, kNothing, false,
     "See status.pending for what is asked for and what is free."},
    {kDeviceAllocationFailed, kInfrastructure, kMayRecover, kElsewhere, kDisruptions, true,
     "Check the device plugin of this node."},
    {kGpuFault, kInfrastructure, kMayRecover, kElsewhere, kDisruptions, true,
     "Take the node out of service and follow NVIDIA's action; the job resumes elsewhere."},
    {kCollectiveTimeout, kNoDomain, kNoOutlook, kAgain, kFailures, false,
     "Look at the ranks that did not report the timeout: they left the collective, or hang. "
     "TORCH_NCCL_TRACE_BUFFER_SIZE records what each rank was at."},
    {kPeerConnectionLost, kInfrastructure, kMayRecover, kAgain, kFailures, false,
     "No rank with an earlier failure is known. Check the network between the nodes."},
    {kDiverged, kWorkload, kCannotRecoverUnchanged, kStop, kFailures, false,
     "Go back to the last good checkpoint with a lower learning rate, gradient clipping or other "
     "data."},
    {kNativeCrash, kNoDomain, kNoOutlook, kOnce, kFailures, false,
     "Keep the log; PYTHONFAULTHANDLER=1 prints the Python stack of a crash."},
    {kUserException, kWorkload, kCannotRecoverUnchanged, kOnce, kFailures, false,
     "Correct the script; the message has the place."},
    {kCommandNotFound, kConfiguration, kCannotRecoverUnchanged, kStop, kFailures, false,
     "Correct the command of the trainer container; it must exist in the image and be executable."},
    {kRendezvousTimeout, kInfrastructure, kMayRecover, kAgain, kDisruptions, false,
     "See which rank did not join: its node, its image pull, its way to rank 0."},
    {kHang, kNoDomain, kNoOutlook, kAgain, kFailures, false,
     "Take stacks of the rank that is behind (py-spy dump) before it is restarted."},
    {kEarlyExit, kWorkload, kNoOutlook, kOnce, kFailures, false,
     "All ranks must make the same number of steps: check uneven data shards and early returns."},
});

constexpr bool every_class_in_order() {
  const auto names = enum_names(api::CauseClass{});
  if (names.size() != kConsequences.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].value != kConsequences[i].cause_class) return false;
  return true;
}
static_assert(every_class_in_order());
static_assert(std::ranges::all_of(kConsequences, [](const Consequence& row) {
  return !row.hint.empty() && row.hint.size() <= api::kHintMax;
}));

}  // namespace

const Consequence& consequence_of(api::CauseClass cause_class) {
  const auto index = static_cast<std::size_t>(cause_class);
  return kConsequences[index < kConsequences.size() ? index : 0];
}

}  // namespace amdahl::training
