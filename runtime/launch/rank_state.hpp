// Everything that is known of one rank, from its processes, its log and the Python package.
//
// The Python package outranks the log: once it has spoken of steps or phases, lines are not asked
// for them. Of lines that count different things, and of the hooks, the one of the highest rank
// counts. Steps of hooks need not be those that the script's checkpoints name, so no pause waits
// for a checkpoint of such a step. Time before the first sign of work is Init only if such a sign
// comes; until then nobody can tell. An error that is followed by a step was survived, and is
// forgotten. Pure: time comes with each event. Thread: one. Failure: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "operator/api/report.hpp"
#include "runtime/launch/helper_message.hpp"
#include "runtime/launch/log_facts.hpp"
#include "runtime/launch/settings.hpp"
#include "runtime/launch/timeline.hpp"

namespace amdahl::launch {

struct Moment {
  Monotonic now = {};
  WallTime wall = {};
};

class RankState {
 public:
  // Without any sign of work for this long, the time is no longer called Init.
  static constexpr std::chrono::minutes kInitMax{30};

  explicit RankState(Monotonic start) : timeline_(start, ReportPhase::kWaiting) {}

  void started(Runtime runtime, Moment at);
  void workers_seen(Moment at);  // torchrun has children: the rendezvous is over
  void log(const LogFact& fact, Moment at);
  // `leads`: of the helpers on this node, the one that speaks for the node.
  void helper(const HelperMessage& message, bool leads, Moment at);
  // False when it is known already or older.
  bool committed(api::ReportCheckpoint checkpoint, Moment at);
  // `total`: how many have failed so far, as the engine counts; 0: it does not say.
  void save_failed(std::int64_t total, std::string_view why, Moment at);
  void stopping(Moment at);
  void failed(api::ReportError error, Moment at);  // what is known for certain replaces a claim
  void ended(api::ReportExit end, Moment at);
  void tick(Moment at);

  // A step that a hook counted is known a moment after the lines that were printed before it.
  static constexpr std::chrono::seconds kHookLagMax{5};

  std::optional<std::int64_t> step() const { return step_; }
  // The last step that is known of, by itself or by a checkpoint since the trainer started.
  std::optional<std::int64_t> known_step() const;
  // The last step, if a checkpoint holds it.
  std::optional<std::int64_t> safe_step() const;
  // It has made all the steps that it announced.
  bool is_through() const { return step_ && total_ && *step_ >= *total_; }
  ReportPhase phase() const { return timeline_.phase(); }
  Timeline::Spans spans(Monotonic now) const { return timeline_.spans(now); }
  const std::optional<api::ReportError>& error() const { return error_; }
  // Fills all that this class knows.
  void write(api::Report& report, Monotonic now) const;

 private:
  void enter(ReportPhase phase, Moment at);
  void log_step(const StepSeen& seen, Moment at);
  void survive_error(Moment at);
  std::optional<std::int64_t> own_step() const;
  void forget_steps();
  void made_step(std::int64_t step, std::optional<std::int64_t> total, Moment at);
  void keep_metrics(const std::vector<api::ReportMetric>& metrics);

  Timeline timeline_;
  Monotonic init_since_{};
  bool helper_phases_ = false;
  bool worked_ = false;  // there was a sign of work
  api::StepSource source_ = api::StepSource::kUnknown;
  StepRank rank_ = StepRank::kEpoch;  // of a source in the log
  std::optional<std::int64_t> step_;
  std::optional<std::int64_t> total_;
  Monotonic step_at_{};
  std::optional<double> step_seconds_;
  std::vector<api::ReportMetric> metrics_;
  std::optional<api::ReportCheckpoint> checkpoint_;
  std::optional<std::int64_t> saved_;  // by this trainer
  std::optional<api::ReportFailedSaves> failed_saves_;
  bool started_ = false;
  std::optional<api::ReportError> error_;
  Monotonic error_at_{};
  std::optional<api::ReportExit> exit_;
};

}  // namespace amdahl::launch
