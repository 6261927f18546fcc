#include "operator/training/breakage.hpp"

#include <algorithm>

#include "operator/api/names.hpp"
#include "operator/training/diagnose/consequence.hpp"

namespace amdahl::training {
namespace {

using kube::PodPhase;

// One of them is enough to know, and a live read each is what it costs.
constexpr std::size_t kMissingMax = 4;
constexpr double kPatienceMax = 1e9;  // seconds: whatever a rank calls a step

bool is_waiting_badly(const GangPod& pod) {
  const auto bad = [](const kube::ContainerStatus& container) {
    const auto& waiting = container.state.waiting;
    return waiting && !waiting->reason.empty() && waiting->reason != "ContainerCreating" &&
           waiting->reason != "PodInitializing";
  };
  return std::ranges::any_of(pod.status.containers, bad) ||
         std::ranges::any_of(pod.status.init_containers, bad);
}

bool is_suspicious(const PodSeen& pod) {
  if (pod.phase == PodPhase::kFailed) return true;
  if (pod.deleting() && !ended_well(pod)) return true;
  return pod.phase == PodPhase::kPending && !pod.node.empty() && pod.object &&
         is_waiting_badly(*pod.object);
}

// All of it existed once, by the record; what is not there now is gone.
std::vector<std::string> lost_pods(const Situation& s) {
  std::vector<std::string> names;
  if (!s.status.workers || s.status.workers->created < s.view.desired) return names;
  for (const std::uint32_t rank : missing_ranks(s.view)) {
    if (names.size() == kMissingMax) break;
    names.push_back(
        api::pod_name(s.job().metadata.name, static_cast<std::uint32_t>(s.view.number), rank));
  }
  return names;
}

// How long a rank may stand still, in seconds; nullopt: it does not count now.
std::optional<std::int64_t> patience(const RankReport& one) {
  if (!one.report.step || one.report.phase == api::ReportPhase::kCheckpointSave) return {};
  const double usual = std::min(kHangSteps * one.report.step_seconds.value_or(0), kPatienceMax);
  return std::max(std::chrono::seconds{kHangMin}.count(), static_cast<std::int64_t>(usual));
}

// Every rank that ever made a step has stood still for too long.
std::optional<Standstill> standstill(const Situation& s) {
  std::optional<Standstill> still;
  for (const RankReport& one : s.seen.reports) {
    const auto limit = patience(one);
    const std::int64_t seconds = seconds_between(one.step_changed, s.now);
    if (!limit || seconds < *limit) return {};
    if (!still || seconds < still->seconds)
      still = Standstill{.seconds = seconds, .step_seconds = one.report.step_seconds};
  }
  return still;
}

AttemptEvidence evidence_of(const Situation& s, bool count_missing) {
  AttemptEvidence attempt{.ranks = s.view.desired, .now = s.now};
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank) {
    if (s.view.ranks[rank] == nullptr && !count_missing) continue;
    attempt.pods.push_back(rank_evidence(s, rank));
  }
  attempt.stepped = has_stepped(s.seen, s.view);
  attempt.standstill = standstill(s);
  return attempt;
}

// The rows of the diagnosis cover all this; should one not, a lost rank still ends the attempt.
Diagnosis at_least(Diagnosis diagnosis, const Situation& s, bool missing) {
  if (diagnosis.advice != Advice::kCarryOn && diagnosis.root) return diagnosis;
  const auto failed = std::ranges::find_if(s.view.ranks, [](const PodSeen* pod) {
    return pod != nullptr && pod->phase == PodPhase::kFailed;
  });
  const auto deleted = std::ranges::find_if(s.view.ranks, [](const PodSeen* pod) {
    return pod != nullptr && pod->deleting() && !ended_well(*pod);
  });
  const bool own = failed != s.view.ranks.end();
  if (!own && deleted == s.view.ranks.end() && !missing) return diagnosis;
  const auto cause_class = own ? api::CauseClass::kUnknown : api::CauseClass::kDrained;
  const Consequence& row = consequence_of(cause_class);
  api::Cause cause{
      .cause_class = cause_class,
      .role = api::CauseRole::kRoot,
      .domain = row.domain,
      .outlook = row.outlook,
      .confidence = own ? api::CauseConfidence::kUnknown : api::CauseConfidence::kSupported,
      .hint = std::string(row.hint)};
  cause.message = own       ? "a rank failed and left no trace"
                  : missing ? "a pod is gone, and nobody here deleted it"
                            : "a pod was deleted, and not by this operator";
  if (const auto which = own ? failed : deleted; which != s.view.ranks.end()) {
    cause.pod = (*which)->name;
    cause.node = (*which)->node;
    cause.rank = static_cast<std::int32_t>((*which)->rank);
  }
  diagnosis.root = std::move(cause);
  diagnosis.advice = Advice::kRestart;
  diagnosis.budget = own ? Budget::kFailures : Budget::kDisruptions;
  return diagnosis;
}

}  // namespace

PodEvidence rank_evidence(const Situation& s, std::uint32_t rank) {
  const PodSeen* const pod = s.view.ranks[rank];
  if (pod == nullptr || !pod->object) {
    PodEvidence gone{.gone = true};
    gone.rank = static_cast<std::int32_t>(rank);
    gone.pod =
        api::pod_name(s.job().metadata.name, static_cast<std::uint32_t>(s.view.number), rank);
    return gone;
  }
  const kube::CacheMeta& metadata = pod->object->metadata;  // without what is ours in it
  PodEvidence evidence = evidence_of(
      kube::Pod{.metadata = metadata, .spec = pod->object->spec, .status = pod->object->status},
      nullptr);
  evidence.rank = static_cast<std::int32_t>(rank);
  for (const RankReport& one : s.seen.reports) {
    if (one.report.pod_uid != pod->uid) continue;
    evidence.report.step = one.report.step;
    evidence.report.phase = enum_name(one.report.phase);
    evidence.report.changed = one.step_changed;
    if (one.report.error) evidence.report.error = one.report.error->message;
  }
  return evidence;
}

std::optional<std::chrono::nanoseconds> next_hang_check(const Situation& s) {
  if (!s.view.live() || s.seen.reports.empty()) return std::nullopt;
  std::int64_t longest = kSuspicionCheck.count();
  for (const RankReport& one : s.seen.reports) {
    const std::int64_t still = seconds_between(one.step_changed, s.now);
    const std::int64_t left =
        patience(one).value_or(still + std::chrono::seconds{kHangMin}.count());
    longest = std::max(longest, left - still);
  }
  return std::chrono::seconds{longest};
}

bool looks_wrong(const Situation& s) {
  if (!s.view.live()) return false;
  const bool pods = std::ranges::any_of(
      s.view.ranks, [](const PodSeen* pod) { return pod != nullptr && is_suspicious(*pod); });
  // Some ended well and others go on: usual for a moment, and wrong after a while.
  const bool uneven = s.view.succeeded > 0 && s.view.succeeded < s.view.desired;
  return pods || uneven || !lost_pods(s).empty() || standstill(s).has_value();
}

std::optional<Breakage> find_breakage(const Situation& s) {
  if (!looks_wrong(s)) return std::nullopt;
  Breakage broken{.missing = lost_pods(s)};
  const bool missing = !broken.missing.empty();
  Diagnosis diagnosis = diagnose(evidence_of(s, missing));
  if (diagnosis.too_early) return std::nullopt;
  broken.diagnosis = at_least(std::move(diagnosis), s, missing);
  if (broken.diagnosis.advice == Advice::kCarryOn || !broken.diagnosis.root) return std::nullopt;
  // What is proven by pods that are there needs no live read.
  const bool proven = std::ranges::any_of(s.view.ranks, [](const PodSeen* pod) {
    return pod != nullptr && (pod->phase == PodPhase::kFailed || pod->deleting());
  });
  if (proven) broken.missing.clear();
  return broken;
}

}  // namespace amdahl::training
