#include "operator/training/breakage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "operator/api/names.hpp"
#include "operator/training/concern.hpp"
#include "operator/training/diagnose/consequence.hpp"
#include "operator/training/pod_resources.hpp"

namespace amdahl::training {
namespace {

using kube::PodPhase;

// One of them is enough to know, and a live read each is what it costs.
constexpr std::size_t kMissingMax = 4;
constexpr double kPatienceMax = 1e9;  // seconds: whatever a rank calls a step
// A cache of nodes may be behind the cache of pods.
constexpr std::chrono::minutes kNodeMissing{1};

bool is_waiting_badly(const GangPod& pod) {
  const auto bad = [](const kube::ContainerStatus& container) {
    const auto& waiting = container.state.waiting;
    return waiting && !waiting->reason.empty() && waiting->reason != "ContainerCreating" &&
           waiting->reason != "PodInitializing";
  };
  return std::ranges::any_of(pod.status.containers, bad) ||
         std::ranges::any_of(pod.status.init_containers, bad);
}

bool node_is_gone(const PodSeen& pod, WallTime now) {
  return pod.node_missing && pod.bound && *pod.bound + kNodeMissing <= now;
}

bool is_suspicious(const PodSeen& pod, WallTime now) {
  if (pod.phase == PodPhase::kFailed) return true;
  if (!pod.ended() && node_is_gone(pod, now)) return true;
  if (pod.deleting() && !ended_well(pod)) return true;
  if (pod.phase != PodPhase::kPending || pod.node.empty()) return false;
  return pod.events != nullptr || (pod.object && is_waiting_badly(*pod.object));
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

// How long a rank may stand still, in seconds; nullopt: it is no measure of the gang's steps.
std::optional<std::int64_t> patience(const RankReport& one, const Situation& s) {
  // Hooks see optimizers only: nobody knows whether a script without steps evaluates or hangs.
  if (one.report.step_source == api::StepSource::kHook) return {};
  if (!one.report.step || !s.spec.deadlines.step.fixed) return {};
  const double usual = std::min(kHangSteps * one.report.step_seconds.value_or(0), kPatienceMax);
  const auto least = std::chrono::ceil<std::chrono::seconds>(s.spec.deadlines.step.fixed->span);
  return std::max(least.count(), static_cast<std::int64_t>(usual));
}

// While a rank saves, the others wait for it: the gang is given more time, not all the time.
bool a_rank_saves(const Situation& s) {
  return std::ranges::any_of(s.seen.reports, [](const RankReport& one) {
    return one.report.phase == api::ReportPhase::kCheckpointSave;
  });
}

// How long the gang may still go on without a step, in seconds; negative: it stands still for too
// long. Ranks that never reported a step do not count: in many scripts only rank 0 prints. nullopt:
// nobody reports steps.
std::optional<std::int64_t> time_left(const Situation& s) {
  std::optional<std::int64_t> left;
  const bool saves = a_rank_saves(s);
  for (const RankReport& one : s.seen.reports)
    if (const auto limit = patience(one, s)) {
      const std::int64_t most = saves ? *limit * kSavePatience : *limit;
      const std::int64_t rest = most - seconds_between(one.step_changed, s.now);
      const auto hearing =
          std::chrono::ceil<std::chrono::seconds>(hearing_left(s, std::chrono::seconds{most}));
      left = std::max({left.value_or(rest), rest, std::int64_t{hearing.count()}});
    }
  return left;
}

// Every rank that ever made a step has stood still for too long.
std::optional<Standstill> standstill(const Situation& s) {
  const auto left = time_left(s);
  if (!left || *left > 0) return {};
  std::optional<Standstill> still;
  for (const RankReport& one : s.seen.reports) {
    const std::int64_t seconds = seconds_between(one.step_changed, s.now);
    if (one.report.step && (!still || seconds < still->seconds))
      still = Standstill{.seconds = seconds, .step_seconds = one.report.step_seconds};
  }
  still->quiet_seconds = quiet_seconds(s);
  return still;
}

AttemptEvidence evidence_of(const Situation& s, bool count_missing) {
  AttemptEvidence attempt{.ranks = s.view.desired, .now = s.now};
  // The first sentence says who; the others what to do.
  if (const auto& pending = s.status.pending; pending && pending->reason == concern::kRanksLeft)
    attempt.left_early = pending->message.substr(0, pending->message.find(". "));
  for (std::uint32_t rank = 0; rank < s.view.ranks.size(); ++rank) {
    if (s.view.ranks[rank] == nullptr && !count_missing) continue;
    attempt.pods.push_back(rank_evidence(s, rank));
  }
  attempt.stepped = has_stepped(s.seen, s.view);
  attempt.standstill = standstill(s);
  return attempt;
}

void add_events(PodEvidence& evidence, const EventNotesPtr& notes) {
  if (!notes) return;
  for (const EventNote& note : *notes)
    if (evidence.events.size() < kEventsMax)
      evidence.events.push_back({.reason = note.reason, .message = note.message, .at = note.at});
}

// As the end of a traceback, which is how the diagnosis reads errors.
std::string as_printed(const api::ReportError& error) {
  if (error.type.empty()) return error.message;
  std::string line = fmt::format("{}: {}", error.type, error.message);
  const std::size_t colon = error.where.rfind(':');
  if (colon == std::string::npos) return line;
  const std::string_view rest = std::string_view(error.where).substr(colon + 1);
  const std::string_view number = rest.substr(0, rest.find(' '));
  const std::size_t in = rest.find(" in ");
  return fmt::format("Traceback (most recent call last):\n  File \"{}\", line {}, in {}\n{}\n",
                     error.where.substr(0, colon), number,
                     in == std::string_view::npos ? "?" : rest.substr(in + 4), line);
}

// Phases in which no step is expected for long.
bool takes_its_time(api::ReportPhase phase) {
  return phase == api::ReportPhase::kEval || phase == api::ReportPhase::kCheckpointSave;
}

// What the rank said to the report endpoint and in its last words: neither is sure to have come.
void add_reports(PodEvidence& evidence, const PodSeen& pod, const std::vector<RankReport>& all) {
  ReportEvidence& known = evidence.report;
  const auto take = [&](const api::Report& report) {
    known.step = std::max(known.step, report.step);
    known.memory_peak = std::max(known.memory_peak, report.memory_peak_bytes);
  };
  if (pod.last_words) take(*pod.last_words);
  for (const RankReport& one : all) {
    if (one.report.pod_uid != pod.uid) continue;
    take(one.report);
    known.phase = enum_name(one.report.phase);
    if (one.report.step && !takes_its_time(one.report.phase)) known.changed = one.step_changed;
    if (one.report.error) known.error = as_printed(*one.report.error);
  }
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
      pod->node_object.get());
  evidence.rank = static_cast<std::int32_t>(rank);
  evidence.node_gone = node_is_gone(*pod, s.now);
  add_events(evidence, pod->events);
  add_events(evidence, pod->node_events);
  evidence.memory_limit = memory_limit(s.spec.pod_template);
  add_reports(evidence, *pod, s.seen.reports);
  return evidence;
}

std::chrono::nanoseconds hearing_left(const Situation& s, std::chrono::nanoseconds waited_for) {
  if (!s.seen.leading_since) return {};
  const std::chrono::nanoseconds led = s.now - *s.seen.leading_since;
  return std::max(std::min<std::chrono::nanoseconds>(waited_for, kHearingMax) - led,
                  std::chrono::nanoseconds{0});
}

std::optional<std::int64_t> quiet_seconds(const Situation& s) {
  std::optional<std::int64_t> quiet;
  for (const RankReport& one : s.seen.reports) {
    if (!one.report.quiet_seconds) continue;
    const auto said = static_cast<std::int64_t>(*one.report.quiet_seconds);
    const std::int64_t now = said + seconds_between(one.received, s.now);
    quiet = std::min(quiet.value_or(now), now);
  }
  return quiet;
}

std::optional<std::chrono::nanoseconds> next_hang_check(const Situation& s) {
  if (!s.view.live()) return std::nullopt;
  const auto left = time_left(s);
  if (!left) return std::nullopt;
  return std::chrono::seconds{std::max<std::int64_t>(*left, kSuspicionCheck.count())};
}

bool looks_wrong(const Situation& s) {
  if (!s.view.live()) return false;
  const bool pods = std::ranges::any_of(s.view.ranks, [&](const PodSeen* pod) {
    return pod != nullptr && is_suspicious(*pod, s.now);
  });
  // Some ended well and others go on: usual for a moment, and wrong after a while.
  const bool uneven = s.view.succeeded > 0 && s.view.succeeded < s.view.desired;
  return pods || uneven || !lost_pods(s).empty() || standstill(s).has_value();
}

std::optional<api::Cause> why_not_further(const Situation& s) {
  return diagnose(evidence_of(s, false)).root;
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
