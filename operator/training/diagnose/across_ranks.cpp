#include "operator/training/diagnose/across_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <tuple>

namespace amdahl::training {
namespace {

using api::CauseClass;
using std::chrono::seconds;

// torchrun's agents wait this long for each other at the end.
constexpr seconds kEarlyExit{300};
// A rank that never reports may be at its last evaluation.
constexpr seconds kEarlyExitUnreported{1800};
constexpr std::int64_t kQuietSecondsMin = 60;
constexpr std::size_t kRangesMax = 12;
constexpr std::chrono::seconds kRootWait{5};
// torchrun ends a node whose ranks have left when it has lost the others.
constexpr std::chrono::seconds kKeptAfterVictims{10};

WallTime effective_time(const Examined& examined) {
  const Finding& finding = *examined.finding;
  if (!finding.at) return WallTime::max();
  const bool late = finding.cause_class == CauseClass::kNodeLost;
  return late ? *finding.at - kNodeSilence : *finding.at;
}

// Better evidence first; then the order of the rules, of time and of ranks, so that the choice does
// not depend on the order in which pods were listed.
auto preference(const Examined& examined) {
  const Finding& finding = *examined.finding;
  return std::tuple(-static_cast<int>(finding.confidence),
                    finding.cause_class == CauseClass::kUnknown, finding.rule,
                    effective_time(examined), examined.pod->rank, examined.pod->pod);
}

const Examined* first_of(std::span<const Examined> all, auto counts) {
  WallTime earliest = WallTime::max();
  for (const Examined& one : all)
    if (one.finding && counts(*one.finding)) earliest = std::min(earliest, effective_time(one));
  const bool timed = earliest != WallTime::max();
  const Examined* best = nullptr;
  for (const Examined& one : all) {
    if (!one.finding || !counts(*one.finding)) continue;
    if (timed && effective_time(one) > earliest + kSameTime) continue;
    if (best == nullptr || preference(one) < preference(*best)) best = &one;
  }
  return best;
}

std::vector<std::int32_t> ranks_where(std::span<const Examined> all, auto counts) {
  std::vector<std::int32_t> ranks;
  for (const Examined& one : all)
    if (counts(one)) ranks.push_back(one.pod->rank);
  return ranks;
}

// Whoever broke a connection may end a moment after those who noticed.
bool may_be_too_early(const Finding& victim, WallTime now, std::span<const Examined> all) {
  if (!victim.at || now - *victim.at >= kRootWait) return false;
  return std::ranges::any_of(
      all, [](const Examined& one) { return !one.finding && !one.end && !one.pod->gone; });
}

bool is_victim(const Finding& finding) {
  return finding.weight == Weight::kVictim;
}

// Who leaves when the training is done, or was asked to end, does not leave early.
bool may_leave(const Examined& one) {
  const ReportEvidence& report = one.pod->report;
  const bool done =
      report.last_step && report.total_steps && *report.last_step >= *report.total_steps;
  return done || report.pause_asked;
}

bool is_done(const Examined& one) {
  return !one.finding && succeeded(*one.pod);
}

// Of those that are done, the first.
const Examined* first_done(std::span<const Examined> all) {
  const Examined* first = nullptr;
  for (const Examined& one : all)
    if (is_done(one) && one.end != nullptr && one.end->finished &&
        (first == nullptr || *one.end->finished < *first->end->finished))
      first = &one;
  return first;
}

// The step is that of the last words: a rank that leaves without a word may have made more.
std::string heard_at(const Examined& one) {
  const ReportEvidence& report = one.pod->report;
  if (!report.last_step) return {};
  if (!report.total_steps) return fmt::format(", last heard at step {},", *report.last_step);
  return fmt::format(", last heard at step {} of {},", *report.last_step, *report.total_steps);
}

Root left_early(const Examined& first, std::span<const Examined> all,
                std::vector<std::int32_t> others, WallTime at) {
  return Root{
      .from = &first,
      .finding = {.cause_class = CauseClass::kEarlyExit,
                  .message = told("ranks left early",
                                  fmt::format("rank {} exited with 0{} while rank {} "
                                              "did not",
                                              rank_list(ranks_where(all, is_done)), heard_at(first),
                                              rank_list(std::move(others)))),
                  .at = at}};
}

// Ranks that left with success while others were still at work.
std::optional<Root> early_exit(const AttemptEvidence& attempt, std::span<const Examined> all) {
  const Examined* const first = first_done(all);
  if (first == nullptr) return std::nullopt;
  const WallTime left = *first->end->finished;
  const bool over = std::ranges::any_of(all, may_leave);
  const auto stuck = [&](const Examined& one) {
    if (one.finding) return is_victim(*one.finding) && effective_time(one) > left && !over;
    if (is_done(one)) return false;
    const auto& changed = one.pod->report.changed;
    if (!changed) return attempt.now - left >= kEarlyExitUnreported;
    return attempt.now - std::max(left, *changed) >= kEarlyExit;
  };
  auto late = ranks_where(all, stuck);
  const auto pending = ranks_where(all, [](const Examined& one) { return !is_done(one); });
  if (late.empty() || late.size() != pending.size()) return std::nullopt;
  return left_early(*first, all, std::move(late), left);
}

// Others lost a rank that exited with 0 in the middle of the training. Its pod may end after
// theirs: its launcher keeps it until then.
std::optional<Root> left_before_victims(const AttemptEvidence& attempt,
                                        std::span<const Examined> all, const Examined& victim) {
  const Examined* const first = first_done(all);
  if (first == nullptr || !victim.finding->at || std::ranges::any_of(all, may_leave))
    return std::nullopt;
  const WallTime ended = *victim.finding->at;
  const bool stepped = std::ranges::any_of(
      all, [](const Examined& one) { return one.pod->report.step || one.pod->report.last_step; });
  if (!stepped || *first->end->finished > ended + kKeptAfterVictims) return std::nullopt;
  Root root =
      left_early(*first, all, ranks_where(all, [](const Examined& one) { return !is_done(one); }),
                 std::min(*first->end->finished, ended));
  root.too_early = may_be_too_early(*victim.finding, attempt.now, all);
  return root;
}

// A process has ended, and its launcher keeps the pod: what it reported before says why.
std::optional<Root> process_failed(const AttemptEvidence& attempt, std::span<const Examined> all) {
  if (attempt.left_early.empty()) return std::nullopt;
  for (const Examined& one : all) {
    if (one.finding || one.end != nullptr || one.pod->gone || one.pod->report.error.empty())
      continue;
    PodEvidence as_failed = *one.pod;
    as_failed.phase = kube::PodPhase::kFailed;
    auto finding = examine(facts_of(attempt, as_failed));
    if (finding && finding->weight == Weight::kInitiating && finding->claimed)
      return Root{.from = &one, .finding = *std::move(finding)};
  }
  return std::nullopt;
}

// The same inside pods: a launcher keeps the pod of a rank that has left until the others break.
std::optional<Root> process_left_early(const AttemptEvidence& attempt, const Examined& victim) {
  if (attempt.left_early.empty()) return std::nullopt;
  return Root{.finding = {.cause_class = CauseClass::kEarlyExit,
                          .message = told("ranks left early", attempt.left_early),
                          .at = victim.finding->at}};
}

// Who did not print the timeout is who the others waited for.
void name_silent_ranks(Finding& finding, const AttemptEvidence& attempt,
                       std::span<const Examined> all) {
  const auto same = [&](const Examined& one) {
    return one.finding && one.finding->cause_class == finding.cause_class;
  };
  std::vector<std::int32_t> silent =
      ranks_where(all, [&](const Examined& one) { return !same(one); });
  for (std::int32_t rank = 0; rank < attempt.ranks && rank < api::kNodesMax; ++rank)
    if (std::ranges::none_of(all, [&](const Examined& one) { return one.pod->rank == rank; }))
      silent.push_back(rank);
  finding.message += fmt::format("; seen on rank {}", rank_list(ranks_where(all, same)));
  if (!silent.empty()) finding.message += fmt::format(", not on rank {}", rank_list(silent));
}

std::optional<Root> standing_still(const AttemptEvidence& attempt, std::span<const Examined> all) {
  if (!attempt.standstill || all.empty()) return std::nullopt;
  const Standstill& still = *attempt.standstill;
  const auto behind = [](const Examined& one) {
    const ReportEvidence& report = one.pod->report;
    return std::tuple(report.step.value_or(-1), report.changed.value_or(WallTime::min()),
                      one.pod->rank);
  };
  // Ranks that never print a step are not behind: in many scripts only rank 0 prints.
  const auto speaks = [](const Examined& one) { return one.pod->report.step.has_value(); };
  auto speaking = all | std::views::filter(speaks);
  const Examined& rank =
      speaking.empty() ? all.front() : *std::ranges::min_element(speaking, {}, behind);
  const auto step = rank.pod->report.step;
  const auto same = [&](const Examined& one) { return one.pod->report.step == step; };
  const auto count = std::ranges::count_if(all, speaks);
  const std::string who = !std::ranges::all_of(speaking, same)
                              ? fmt::format("rank {} is behind", rank.pod->rank)
                          : static_cast<std::size_t>(count) == all.size()
                              ? std::string("every rank is")
                              : fmt::format("rank {}, which reports steps, is", rank.pod->rank);
  const bool quiet = still.quiet_seconds.value_or(0) >= kQuietSecondsMin;
  const std::string silence =
      quiet ? fmt::format(", and no rank printed anything for {} s", *still.quiet_seconds) : "";
  return Root{
      .from = &rank,
      .finding = {
          .cause_class = CauseClass::kHang,
          .confidence = quiet ? api::CauseConfidence::kSupported : api::CauseConfidence::kUnknown,
          .message = told("no step",
                          fmt::format("for {} s, {}{}{}", still.seconds, who,
                                      step ? fmt::format(" at step {}", *step) : "", silence))}};
}

std::optional<Root> root_of(const Examined* examined) {
  if (examined == nullptr) return std::nullopt;
  return Root{.from = examined, .finding = *examined->finding};
}

}  // namespace

std::vector<Examined> examine_all(const AttemptEvidence& attempt) {
  std::vector<Examined> examined;
  examined.reserve(attempt.pods.size());
  for (const PodEvidence& pod : attempt.pods) {
    const PodFacts facts = facts_of(attempt, pod);
    examined.push_back({.pod = &pod, .end = facts.end, .finding = examine(facts)});
  }
  return examined;
}

std::optional<Root> find_root(const AttemptEvidence& attempt, std::span<const Examined> all) {
  const auto initiating = [](const Finding& finding) {
    return finding.weight == Weight::kInitiating && finding.over;
  };
  if (auto root = root_of(first_of(all, initiating))) return root;
  const auto late = [](const Finding& finding) {
    return finding.cause_class == CauseClass::kDidNotStopInTime;
  };
  if (auto root = root_of(first_of(all, late))) return root;
  if (auto root = early_exit(attempt, all)) return root;
  if (const Examined* const victim = first_of(all, is_victim)) {
    if (auto root = process_failed(attempt, all)) return root;
    if (auto root = process_left_early(attempt, *victim)) return root;
    const auto lost = [](const Finding& finding) {
      return finding.weight == Weight::kSuspect && finding.cause_class == CauseClass::kNodeLost;
    };
    if (auto root = root_of(first_of(all, lost))) {
      root->finding.over = true;
      return root;
    }
    if (auto root = left_before_victims(attempt, all, *victim)) return root;
    Root root{.from = victim, .finding = *victim->finding};
    root.too_early = may_be_too_early(root.finding, attempt.now, all);
    name_silent_ranks(root.finding, attempt, all);
    return root;
  }
  const auto stopped = [](const Finding& finding) { return finding.weight == Weight::kTeardown; };
  if (auto root = root_of(first_of(all, stopped))) return root;
  const auto waiting = [](const Finding& finding) { return !finding.over; };
  if (auto root = root_of(first_of(all, waiting))) {
    // A hang that a node without a word explains is that node's.
    if (attempt.standstill && root->finding.cause_class == CauseClass::kNodeLost)
      root->finding.over = true;
    return root;
  }
  return standing_still(attempt, all);
}

std::string rank_list(std::vector<std::int32_t> ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < ranks.size(); ++ranges) {
    if (ranges == kRangesMax) return text + fmt::format(" and {} more", ranks.size() - i);
    std::size_t end = i;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
    if (end != i) text += fmt::format("-{}", ranks[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace amdahl::training
