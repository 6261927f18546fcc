#include "operator/training/diagnose/diagnose.hpp"

#include <algorithm>

#include "operator/api/fit_status.hpp"
#include "operator/training/diagnose/across_ranks.hpp"
#include "operator/training/diagnose/consequence.hpp"

namespace amdahl::training {
namespace {

using api::CauseClass;
using api::CauseRole;

constexpr std::int32_t kExitCodeMax = 255;
constexpr std::int32_t kSignalMax = 64;

void add_end(api::Cause& cause, const ContainerEnd& end) {
  const bool plain = end.exit_code >= 0 && end.exit_code <= kExitCodeMax;  // not of Windows
  if (plain) cause.exit_code = end.exit_code;
  // Runtimes leave the signal out and add 128 to the exit code instead.
  const std::int32_t signal = end.signal != 0 ? end.signal : plain ? end.exit_code - 128 : 0;
  if (signal >= 1 && signal <= kSignalMax) cause.signal = signal;
}

api::Cause cause_of(const Root& root) {
  const Consequence& row = consequence_of(root.finding.cause_class);
  api::Cause cause{.cause_class = root.finding.cause_class,
                   .role = CauseRole::kRoot,
                   .domain = row.domain,
                   .outlook = row.outlook,
                   .confidence = root.finding.confidence};
  const std::string_view hint = root.finding.hint.empty() ? row.hint : root.finding.hint;
  cause.message = api::fit_text(root.finding.message, api::kMessageMax);
  cause.hint = api::fit_text(hint, api::kHintMax);
  if (root.from == nullptr) return cause;
  const PodEvidence& pod = *root.from->pod;
  cause.rank = std::clamp<std::int32_t>(pod.rank, 0, static_cast<std::int32_t>(api::kRankMax));
  cause.pod = api::fit_text(pod.pod, api::kSubdomainMax);
  cause.node = api::fit_text(pod.node, api::kSubdomainMax);
  if (root.from->end != nullptr) add_end(cause, *root.from->end);
  return cause;
}

CauseRole role_of(const Examined& examined, const Root& root) {
  if (&examined == root.from) return CauseRole::kRoot;
  return examined.finding->weight == Weight::kTeardown ? CauseRole::kTeardown : CauseRole::kCascade;
}

std::vector<PodFinding> findings_of(std::span<const Examined> examined, const Root& root) {
  std::vector<PodFinding> findings;
  for (const Examined& one : examined) {
    if (!one.finding && &one != root.from) continue;
    const bool is_root = &one == root.from;
    findings.push_back(
        {.rank = one.pod->rank,
         .pod = one.pod->pod,
         .cause_class = is_root ? root.finding.cause_class : one.finding->cause_class,
         .role = role_of(one, root)});
  }
  const auto order = [](const PodFinding& row) {
    return std::tuple(row.role != CauseRole::kRoot, row.rank, row.pod);
  };
  std::ranges::sort(findings, {}, order);
  if (findings.size() > kFindingsMax) findings.resize(kFindingsMax);
  return findings;
}

// All nodes on which the same thing happened, not only the first one's.
std::vector<std::string> nodes_to_avoid(std::span<const Examined> examined, const Root& root) {
  std::vector<std::string> nodes;
  if (root.from != nullptr && !root.from->pod->node.empty()) nodes.push_back(root.from->pod->node);
  for (const Examined& one : examined) {
    if (!one.finding || one.finding->cause_class != root.finding.cause_class) continue;
    const bool known = std::ranges::find(nodes, one.pod->node) != nodes.end();
    if (!known && !one.pod->node.empty() && nodes.size() < kAvoidNodesMax)
      nodes.push_back(one.pod->node);
  }
  return nodes;
}

}  // namespace

Diagnosis diagnose(const AttemptEvidence& attempt) {
  const std::vector<Examined> examined = examine_all(attempt);
  const auto root = find_root(attempt, examined);
  if (!root) return {};
  const Consequence& row = consequence_of(root->finding.cause_class);
  Diagnosis diagnosis{.root = cause_of(*root),
                      .findings = findings_of(examined, *root),
                      .advice = root->finding.advice.value_or(row.advice),
                      .budget = row.budget,
                      .at = root->finding.at,
                      .too_early = root->too_early};
  if (!root->finding.over) diagnosis.advice = Advice::kCarryOn;
  if (root->finding.claimed) diagnosis.budget = Budget::kFailures;
  const bool on_request = std::ranges::any_of(attempt.pods, [](const PodEvidence& pod) {
    return pod.intent == Intent::kPause || pod.intent == Intent::kCancel;
  });
  if (on_request || diagnosis.advice == Advice::kCarryOn) diagnosis.budget = Budget::kNone;
  if (row.avoid_node && diagnosis.advice != Advice::kCarryOn)
    diagnosis.avoid = nodes_to_avoid(examined, *root);
  return diagnosis;
}

}  // namespace amdahl::training
