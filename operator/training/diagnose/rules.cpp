#include "operator/training/diagnose/rules.hpp"

#include <algorithm>
#include <array>

namespace amdahl::training {
namespace {

// The order in which evidence counts. Text comes after exit codes, but for two kinds of text that
// explain an exit code: a GPU that broke, and a collective that was aborted.
constexpr auto kRules = std::to_array<rules::Rule>({
    // our own intent
    rules::stopped_by_us,
    // what the platform says of the pod
    rules::preempted,
    rules::evicted,
    rules::node_shut_down,
    rules::drained,
    rules::node_lost,
    rules::admission_refused,
    // what the kubelet says of its containers
    rules::image_not_pulled,
    rules::configuration_missing,
    rules::container_out_of_memory,
    rules::command_not_found,
    rules::container_lost,
    // exit codes
    rules::gpu_fault_on_node,
    rules::node_out_of_memory,
    rules::deleted_by_others,
    rules::killed,
    rules::told_to_stop,
    rules::agreed_exit_code,
    rules::gpu_fault_in_text,
    rules::collective_timeout,
    rules::native_crash,
    // text
    rules::gpu_out_of_memory,
    rules::worker_killed,
    rules::diverged,
    rules::rendezvous_timeout,
    rules::peer_lost,
    rules::user_exception,
    rules::ended_without_a_word,
    // nothing has ended
    rules::unschedulable,
    rules::node_not_ready,
});

const ContainerEnd* last_end(const ContainerEvidence& container) {
  if (container.ended) return &*container.ended;
  return container.ended_before ? &*container.ended_before : nullptr;
}

bool bad(const ContainerEnd* end) {
  return end != nullptr && (end->exit_code != 0 || end->reason == "OOMKilled");
}

// The trainer's end; the end of another container only where the trainer has none that is bad.
void choose_end(PodFacts& facts) {
  for (const ContainerEvidence& container : facts.pod->containers) {
    const ContainerEnd* const end = last_end(container);
    const bool better = facts.end == nullptr || (bad(end) && !bad(facts.end));
    // A sidecar that restarts is its own business until the pod fails.
    const bool counts = &container == &facts.pod->containers.front() || container.init ||
                        facts.pod->phase == kube::PodPhase::kFailed;
    if (end == nullptr || !better || !counts) continue;
    if (container.init && !bad(end)) continue;
    facts.container = &container;
    facts.end = end;
  }
}

FailureText text_of(const PodFacts& facts) {
  FailureText text;
  if (facts.end != nullptr) text = scan_failure(facts.end->message);
  if (!facts.pod->report.error.empty())
    text = merge_failure(std::move(text), scan_failure(facts.pod->report.error));
  return text;
}

}  // namespace

PodFacts facts_of(const AttemptEvidence& attempt, const PodEvidence& pod) {
  PodFacts facts{.attempt = &attempt, .pod = &pod};
  choose_end(facts);
  if (facts.failed()) facts.text = text_of(facts);
  return facts;
}

std::optional<Finding> examine(const PodFacts& facts) {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    auto finding = kRules[i](facts);
    if (!finding) continue;
    finding->rule = i;
    return finding;
  }
  return std::nullopt;
}

bool succeeded(const PodEvidence& pod) {
  if (pod.containers.empty() || pod.deleting || pod.gone) return false;
  const ContainerEvidence& trainer = pod.containers.front();
  return trainer.ended && !bad(&*trainer.ended);
}

std::string told(std::string_view artifact, std::string_view words) {
  std::string text = clean_line(artifact, kLineMax);
  for (std::size_t at = text.find(": "); at != std::string::npos; at = text.find(": ", at))
    text.erase(at + 1, 1);
  const std::string said = clean_line(words, kLineMax);
  if (!said.empty()) text += ": " + said;
  return text;
}

}  // namespace amdahl::training
