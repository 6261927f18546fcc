#include "operator/training/observed.hpp"

#include <algorithm>
#include <charconv>

#include "base/json_decode.hpp"
#include "base/validate.hpp"
#include "operator/api/names.hpp"
#include "operator/api/report_lists.hpp"
#include "operator/training/pod_resources.hpp"
#include "operator/training/pod_template.hpp"

namespace amdahl::training {
namespace {

std::int64_t gpus_label(const PackedMap& labels) {
  const std::string_view text = labels.find(kGpusLabel).value_or("");
  std::int64_t gpus = 0;
  std::from_chars(text.data(), text.data() + text.size(), gpus);
  return std::clamp<std::int64_t>(gpus, 0, kPodGpusMax);  // a label can say anything
}

void read_conditions(PodSeen& seen, const GangPod& pod) {
  for (const kube::PodCondition& condition : pod.status.conditions) {
    if (condition.status != kube::ConditionStatus::kTrue) continue;
    if (condition.type == kube::PodConditionType::kReady) seen.ready = true;
    if (condition.type == kube::PodConditionType::kScheduled) seen.bound = condition.changed;
  }
  if (!seen.bound && !seen.node.empty())
    seen.bound = pod.status.started ? pod.status.started : pod.metadata.created;
}

// Only what the pod may say of itself, within the bounds of a report.
std::optional<api::Report> last_words_of(const PodSeen& seen, std::string_view message) {
  if (!message.starts_with('{') || message.size() > api::kTerminationMessageBytesMax)
    return std::nullopt;
  auto report = decode<api::Report>(message);
  if (!report) return std::nullopt;
  api::keep_last_of_each_name(*report);
  if (!validate(*report)) return std::nullopt;
  if (report->pod_uid != seen.uid) return std::nullopt;
  return *std::move(report);
}

void read_end(PodSeen& seen, const GangPod& pod) {
  const bool only = pod.status.containers.size() == 1;
  for (const kube::ContainerStatus& container : pod.status.containers) {
    if (!container.state.terminated) continue;
    const kube::ContainerTerminated& end = *container.state.terminated;
    if (end.finished)
      seen.finished = std::max(seen.finished.value_or(*end.finished), *end.finished);
    if (only || container.name == api::kTrainerContainer)
      seen.last_words = last_words_of(seen, end.message);
  }
}

}  // namespace

PodSeen pod_seen(GangPodPtr pod) {
  PodSeen seen{.name = pod->metadata.name.str(),
               .uid = pod->metadata.uid.str(),
               .gpus = gpus_label(pod->metadata.labels),
               .phase = pod->status.phase,
               .node = pod->spec.node.str(),
               .created = pod->metadata.created,
               .deleted = pod->metadata.deleted,
               .deletion_grace = pod->metadata.deletion_grace};
  if (const auto* owner = kube::controller_of(pod->metadata.owners))
    seen.owner_uid = owner->uid.str();
  if (const auto identity = api::pod_identity(pod->metadata.labels)) {
    seen.attempt = identity->attempt;
    seen.rank = identity->node_rank;
  }
  seen.has_finalizer = std::ranges::any_of(pod->metadata.finalizers,
                                           [](const Text& one) { return one == api::kFinalizer; });
  read_conditions(seen, *pod);
  if (seen.ended()) read_end(seen, *pod);
  seen.object = std::move(pod);
  return seen;
}

std::optional<CreateRefusal> refusal_of(const Error& error) {
  const auto says = [&](std::string_view words) {
    return error.context.find(words) != std::string::npos;
  };
  switch (error.code) {
    case Errc::kInvalid:
      return CreateRefusal{.kind = CreateRefusalKind::kInvalid, .words = error.context};
    case Errc::kTooLarge:
      // The API server's words about the pod; bounds of our own client are no fault of the job.
      if (says("ntity too large") || says("request is too large") || says("the body is larger"))
        return CreateRefusal{.kind = CreateRefusalKind::kInvalid, .words = error.context};
      return std::nullopt;
    case Errc::kConflict:
      if (says("the name is taken by"))
        return CreateRefusal{.kind = CreateRefusalKind::kNameTaken, .words = error.context};
      return std::nullopt;
    case Errc::kForbidden:
      // The API server has one status for a full quota, a policy and missing rights; only its words
      // tell them apart. What is not known to be for good is tried again.
      if (says("exceeded quota"))
        return CreateRefusal{.kind = CreateRefusalKind::kQuota, .words = error.context};
      if (says("violates PodSecurity") || says("ValidatingAdmissionPolicy") ||
          says("denied the request"))
        return CreateRefusal{.kind = CreateRefusalKind::kInvalid, .words = error.context};
      return CreateRefusal{.kind = CreateRefusalKind::kDenied, .words = error.context};
    default:
      return std::nullopt;
  }
}

}  // namespace amdahl::training
