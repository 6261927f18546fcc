#include "runtime/launch/rank_state.hpp"

#include <algorithm>

namespace amdahl::launch {

using api::ReportErrorSource;

void RankState::enter(ReportPhase phase, Moment at) {
  // Stopping is final: what a trainer does after it was asked to end is the cost of ending it.
  if (timeline_.phase() == ReportPhase::kStopping || timeline_.phase() == phase) return;
  if (phase == ReportPhase::kInit) init_since_ = at.now;
  timeline_.enter(phase, at.now);
}

void RankState::started(Runtime runtime, Moment at) {
  enter(runtime == Runtime::kPython ? ReportPhase::kInit : ReportPhase::kRendezvous, at);
}

void RankState::workers_seen(Moment at) {
  if (timeline_.phase() == ReportPhase::kRendezvous) enter(ReportPhase::kInit, at);
}

void RankState::made_step(std::int64_t step, std::optional<std::int64_t> total, Moment at) {
  if (total) total_ = total;
  const std::int64_t made = step_ ? step - *step_ : 0;
  if (step_ && made <= 0) return;
  if (step_) {
    const double each =
        std::chrono::duration<double>(at.now - step_at_).count() / static_cast<double>(made);
    constexpr double kWeight = 0.3;  // of the newest; the rest is memory
    step_seconds_ = step_seconds_ ? *step_seconds_ + kWeight * (each - *step_seconds_) : each;
  }
  step_ = step;
  step_at_ = at.now;
  if (error_ && error_->source == ReportErrorSource::kLog) error_.reset();
}

void RankState::keep_metrics(const std::vector<api::ReportMetric>& metrics) {
  for (const api::ReportMetric& metric : metrics) {
    const auto same = [&](const api::ReportMetric& kept) { return kept.name == metric.name; };
    const auto place = std::ranges::find_if(metrics_, same);
    if (place != metrics_.end())
      place->value = metric.value;
    else if (metrics_.size() < api::kReportMetricsMax)
      metrics_.push_back(metric);
  }
}

void RankState::log(const LogFact& fact, Moment at) {
  if (const auto* seen = std::get_if<ErrorSeen>(&fact)) {
    // The first one; but that a worker was killed is why the others lost it.
    const bool killed = seen->error.kind == api::ReportErrorKind::kWorkerKilled;
    if (error_ && (!killed || error_->kind == api::ReportErrorKind::kWorkerKilled)) return;
    error_ = seen->error;
    error_->at = at.wall;
    return;
  }
  if (helper_speaks_) return;
  if (const auto* seen = std::get_if<StepSeen>(&fact)) {
    enter(ReportPhase::kTrain, at);
    made_step(seen->step, seen->total, at);
    keep_metrics(seen->metrics);
  } else if (const auto* seen_metrics = std::get_if<MetricsSeen>(&fact)) {
    keep_metrics(seen_metrics->metrics);
  } else if (const auto* seen_phase = std::get_if<PhaseSeen>(&fact)) {
    enter(seen_phase->phase, at);
  }
}

void RankState::helper(const HelperMessage& message, bool leads, Moment at) {
  if (!leads || message.kind != HelperKind::kState) return;
  if (message.data_wait > std::chrono::nanoseconds{0})
    timeline_.claim(ReportPhase::kDataWait, message.data_wait, at.now);
  if (message.phase) enter(*message.phase, at);
  if (message.step) {
    if (!message.phase) enter(ReportPhase::kTrain, at);
    made_step(*message.step, message.total, at);
  }
  helper_speaks_ = helper_speaks_ || message.step || message.phase;
  keep_metrics(message.metrics);
}

std::optional<std::int64_t> RankState::safe_step() const {
  if (!step_ || !checkpoint_ || checkpoint_->step < *step_) return std::nullopt;
  return checkpoint_->step;
}

bool RankState::committed(api::ReportCheckpoint checkpoint, Moment at) {
  const bool news = !checkpoint_ || checkpoint.step > checkpoint_->step ||
                    (checkpoint.step == checkpoint_->step && checkpoint.path != checkpoint_->path);
  if (!news) return false;
  checkpoint.committed_at = at.wall;
  checkpoint_ = std::move(checkpoint);
  return true;
}

void RankState::stopping(Moment at) {
  enter(ReportPhase::kStopping, at);
}

void RankState::failed(api::ReportError error, Moment at) {
  if (!error.at) error.at = at.wall;
  if (error_ && !error.rank) error.rank = error_->rank;
  error_ = std::move(error);
}

void RankState::ended(api::ReportExit end, Moment at) {
  enter(ReportPhase::kStopping, at);
  exit_ = end;
  // Whatever was printed on the way, a trainer that ends well has not failed.
  if (end.code == 0 && error_ && error_->source == ReportErrorSource::kLog) error_.reset();
}

void RankState::tick(Moment at) {
  if (timeline_.phase() == ReportPhase::kInit && at.now - init_since_ > kInitMax)
    enter(ReportPhase::kUnattributed, at);
}

void RankState::write(api::Report& report, Monotonic now) const {
  report.phase = timeline_.phase();
  const Timeline::Spans spans = timeline_.spans(now);
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (spans[i] > std::chrono::nanoseconds{0})
      report.phases.push_back({.name = static_cast<ReportPhase>(i),
                               .seconds = std::chrono::duration<double>(spans[i]).count()});
  report.step = step_;
  report.total_steps = total_;
  report.step_seconds = step_seconds_;
  report.metrics = metrics_;
  report.checkpoint = checkpoint_;
  report.error = error_;
  report.exit = exit_;
}

}  // namespace amdahl::launch
