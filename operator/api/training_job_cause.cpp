#include "operator/api/training_job_cause.hpp"

namespace amdahl::api {
namespace {

using enum CauseClass;

constexpr auto kTexts = std::to_array<CauseClassText>({
    {kUnknown, "The evidence does not say."},
    {kStoppedOnRequest, "It was paused or cancelled, and stopped by itself."},
    {kDidNotStopInTime, "It was paused or cancelled, and had to be killed after its grace period."},
    {kContainerOutOfMemory, "The container went over its memory limit."},
    {kNodeOutOfMemory, "The node ran out of memory and killed a container within its limit."},
    {kKilled, "A process was killed (SIGKILL), and nothing says by whom."},
    {kWorkerProcessKilled,
     "A child of the trainer, such as a data loader, was killed; often shared memory."},
    {kGpuOutOfMemory, "The memory of a GPU was exhausted."},
    {kEvicted, "The kubelet evicted a pod because the node was short of a resource."},
    {kPreempted, "Pods of a higher priority took the place."},
    {kNodeLost, "The node went away or no longer answered."},
    {kNodeShutdown, "The node was shut down; for spot machines, reclaimed."},
    {kDrained, "Somebody drained the node, or the autoscaler removed it."},
    {kImageNotFound, "The image or its tag does not exist."},
    {kImagePullDenied, "The registry refused the node's credentials."},
    {kImagePullFailed, "The registry could not be reached."},
    {kConfigurationMissing, "A secret, config map or volume that the pod names is not there."},
    {kUnschedulable, "No set of nodes fits the gang, or its queue is full."},
    {kDeviceAllocationFailed, "The node could not hand out the GPUs it had promised."},
    {kGpuFault, "A GPU reported a hardware error."},
    {kCollectiveTimeout, "A collective operation timed out while other ranks were silent."},
    {kPeerConnectionLost, "The connection to another rank broke."},
    {kDiverged, "The loss became NaN or infinite."},
    {kNativeCrash, "A process crashed in native code (segmentation fault, abort)."},
    {kUserException, "The script ended with an exception."},
    {kCommandNotFound, "The command of the container does not exist or cannot be executed."},
    {kRendezvousTimeout, "Not all ranks found each other in time."},
    {kHang, "No step was made for much longer than usual, by any rank that reports steps."},
    {kEarlyExit, "Some ranks ended with success while others were still at work."},
});
static_assert(kTexts.size() == enum_names(CauseClass{}).size());

}  // namespace

std::span<const CauseClassText> cause_classes() {
  return kTexts;
}

}  // namespace amdahl::api
