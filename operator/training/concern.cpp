#include "operator/training/concern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/duration.hpp"
#include "operator/training/breakage.hpp"
#include "operator/training/diagnose/across_ranks.hpp"
#include "operator/training/diagnose/failure_text.hpp"
#include "operator/training/pod_template.hpp"

namespace amdahl::training {
namespace {

using std::chrono::seconds;

// Ranks of a gang do not exit in the same second.
constexpr seconds kExitsApart{15};
// Shown as standing still: this long, and so many usual steps.
constexpr seconds kNoStep{45};
constexpr double kNoSteps = 10;
// Where some ranks wait for others: a minute, with the time that a report takes, or so many steps
// where steps are longer than that.
constexpr seconds kUneven{50};
constexpr double kUnevenSteps = 2;
// A save of all ranks may take long.
constexpr seconds kAllSave{300};
constexpr double kUsualMax = 1e6;  // seconds: whatever a rank calls a step

bool runs(const Situation& s) {
  return s.view.live() && s.view.whole() && s.view.running == s.view.desired;
}

Concern wait_for(std::chrono::nanoseconds rest) {
  return {.look_again = std::max<std::chrono::nanoseconds>(rest, seconds{1})};
}

// What to do about ranks that left: see the error of one, if there is one.
std::string left_advice(const api::ReportError* error) {
  if (error == nullptr || (error->type.empty() && error->message.empty()))
    return "All ranks must make the same number of steps: check uneven data shards and early "
           "returns.";
  std::string words = error->type.empty() ? "an error" : clean_line(error->type, kLineMax);
  if (!error->where.empty()) words += " at " + clean_line(error->where, kLineMax);
  if (!error->message.empty()) words += ": " + clean_line(error->message, kLineMax);
  return fmt::format("It reported {}", words);
}

const api::ReportError* error_in(const std::optional<api::Report>& report) {
  return report && report->error ? &*report->error : nullptr;
}

// Some ranks exited with 0 and others go on.
std::optional<Concern> ranks_left(const Situation& s) {
  if (s.view.succeeded == 0 || s.view.succeeded == s.view.desired) return std::nullopt;
  std::optional<WallTime> first;
  std::vector<std::int32_t> left;
  std::vector<std::int32_t> stay;
  const api::ReportError* error = nullptr;
  for (const PodSeen* pod : s.view.ranks) {
    if (ended_well(*pod) && error == nullptr) error = error_in(pod->last_words);
    (ended_well(*pod) ? left : stay).push_back(static_cast<std::int32_t>(pod->rank));
    if (ended_well(*pod) && pod->finished)
      first = std::min(first.value_or(*pod->finished), *pod->finished);
  }
  if (!first) return std::nullopt;
  if (s.now < *first + kExitsApart) return wait_for(*first + kExitsApart - s.now);
  return Concern{
      .shown = api::PendingStatus{
          .reason = std::string(concern::kRanksLeft),
          .message = fmt::format(
              "rank {} exited with code 0 at {}, and rank {} still runs. If it waits for the "
              "others, the attempt ends as EarlyExit. {}",
              rank_list(left), format_time(stamp(*first)), rank_list(stay), left_advice(error))}};
}

using Ranks = std::vector<std::int32_t>;

// "rank 1 is", "ranks 0, 2-3 are".
std::string those(const Ranks& ranks, std::string_view one, std::string_view many) {
  const bool single = ranks.size() == 1;
  return fmt::format("{} {} {}", single ? "rank" : "ranks", rank_list(ranks), single ? one : many);
}

// When the first rank of this report ended, as its launcher counted it.
WallTime ended_since(const RankReport& one) {
  return one.received - std::chrono::round<WallTime::duration>(std::chrono::duration<double>(
                            one.report.ended_age_seconds.value_or(0)));
}

// Processes of some ranks have ended and those of others go on, while all pods run: torchrun keeps
// its node until the other nodes are done, too.
std::optional<Concern> processes_left(const Situation& s) {
  const std::int32_t world = s.view.desired * processes_per_node(s.spec);
  std::optional<WallTime> first;
  std::set<std::int32_t> ended;
  const api::ReportError* error = nullptr;
  for (const RankReport& one : s.seen.reports) {
    if (!one.report.ended_ranks.empty() && one.report.error && error == nullptr)
      error = &*one.report.error;
    for (const std::int64_t rank : one.report.ended_ranks)
      if (rank >= 0 && rank < world) ended.insert(static_cast<std::int32_t>(rank));
    if (!one.report.ended_ranks.empty())
      first = std::min(first.value_or(ended_since(one)), ended_since(one));
  }
  if (ended.empty() || std::ssize(ended) == world) return std::nullopt;
  if (s.now < *first + kExitsApart) return wait_for(*first + kExitsApart - s.now);
  Ranks stay;
  for (std::int32_t rank = 0; rank < world; ++rank)
    if (!ended.contains(rank)) stay.push_back(rank);
  return Concern{
      .shown = api::PendingStatus{
          .reason = std::string(concern::kRanksLeft),
          .message = fmt::format("global {}, and global {}, perhaps waiting for what will not "
                                 "come. {}",
                                 those({ended.begin(), ended.end()}, "has ended", "have ended"),
                                 those(stay, "still runs", "still run"), left_advice(error))}};
}

struct Reported {
  std::optional<WallTime> last_step = {};
  double usual = 0;  // seconds of a step
  std::map<std::int64_t, Ranks> at_step = {};
  std::map<api::ReportPhase, Ranks> in_phase = {};

  bool saves() const { return in_phase.contains(api::ReportPhase::kCheckpointSave); }
  // Some ranks wait for others that stand still: they are at different steps, or only some save.
  bool is_uneven() const { return at_step.size() > 1 || (saves() && in_phase.size() > 1); }
};

Reported reported_by(const std::vector<RankReport>& reports) {
  Reported all;
  for (const RankReport& one : reports) {
    all.in_phase[one.report.phase].push_back(one.report.rank);
    if (!one.report.step) continue;
    all.last_step = std::max(all.last_step.value_or(one.step_changed), one.step_changed);
    all.at_step[*one.report.step].push_back(one.report.rank);
    all.usual = std::max(all.usual, one.report.step_seconds.value_or(0));
  }
  return all;
}

// Which ranks hold the others up, as far as they differ.
std::string standing_words(const Reported& all, std::size_t pods) {
  std::string words;
  if (all.at_step.size() > 1) {
    const auto& [first, behind] = *all.at_step.begin();
    const auto& [last, ahead] = *all.at_step.rbegin();
    words =
        fmt::format("; {} at step {}, {} at step {}", those(behind, "stands still", "stand still"),
                    first, those(ahead, "is", "are"), last);
  } else {
    const auto& [step, ranks] = *all.at_step.begin();
    words = fmt::format("; {} at step {}", those(ranks, "stands still", "stand still"), step);
    if (ranks.size() < pods)
      words += ranks.size() == 1 ? ", the only one that reports steps: another may hold it up"
                                 : ", and others report no steps: one of them may hold it up";
  }
  if (all.in_phase.size() == 1) return words;
  for (std::string_view before = "; "; const auto& [phase, ranks] : all.in_phase) {
    words += fmt::format("{}{} in phase {}", before, those(ranks, "is", "are"), enum_name(phase));
    before = ", ";
  }
  return words;
}

std::string hang_words(const Situation& s, bool saves) {
  const auto& limit = s.spec.deadlines.step.fixed;
  if (!limit) return "spec.deadlines.step is empty, so it is never restarted for that.";
  const bool hooks_alone = std::ranges::none_of(s.seen.reports, [](const RankReport& one) {
    return one.report.step && one.report.step_source != api::StepSource::kHook;
  });
  if (hooks_alone)
    return "Hooks count these steps and cannot tell a long evaluation from a hang, so the job is "
           "not restarted for that. Call job.step() in the script to have spec.deadlines.step "
           "apply.";
  const std::chrono::nanoseconds span = limit->span * (saves ? kSavePatience : 1);
  return fmt::format("Without a step for {} ({}spec.deadlines.step{}) it counts as hung.",
                     format_duration(span), saves ? fmt::format("{} x ", kSavePatience) : "",
                     saves ? ", while a rank saves" : "");
}

// How long a gang may be without a step before that is shown.
seconds patience(const Reported& all) {
  const double usual = std::min(all.usual, kUsualMax);
  double most = kNoSteps * usual;
  // When only some save, the others may wait for them in vain.
  if (all.saves() && all.in_phase.size() == 1)
    return std::max(kAllSave, seconds(std::lround(most)));
  if (all.is_uneven())
    most = std::min(most, std::max(static_cast<double>(kUneven.count()), kUnevenSteps * usual));
  return std::max(kNoStep, seconds(static_cast<std::int64_t>(most)));
}

// No rank that reports steps has made one for a while.
std::optional<Concern> no_step(const Situation& s) {
  const Reported all = reported_by(s.seen.reports);
  if (!all.last_step) return std::nullopt;
  const WallTime due = *all.last_step + patience(all);
  if (s.now < due) return wait_for(due - s.now);
  std::string words = fmt::format("no step since {}", format_time(stamp(*all.last_step)));
  if (all.usual > 0) words += fmt::format("; one takes {:.3g} s", all.usual);
  words += standing_words(all, s.view.ranks.size()) + ". " + hang_words(s, all.saves());
  return Concern{.shown = api::PendingStatus{.reason = std::string(concern::kNoStep),
                                             .message = std::move(words)}};
}

// It is the evidence for what happens next, until the attempt is given up.
bool explains_the_end(const Situation& s) {
  return s.status.pending && s.status.pending->reason == concern::kRanksLeft &&
         std::ranges::any_of(s.view.ranks,
                             [](const PodSeen* pod) { return pod != nullptr && pod->ended(); });
}

}  // namespace

Concern concern_of(const Situation& s) {
  if (!runs(s)) return explains_the_end(s) ? Concern{.shown = s.status.pending} : Concern{};
  if (auto found = ranks_left(s)) return *std::move(found);
  if (auto found = processes_left(s)) return *std::move(found);
  if (auto found = no_step(s)) return *std::move(found);
  return {};
}

}  // namespace amdahl::training
