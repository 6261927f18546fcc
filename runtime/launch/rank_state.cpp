#include "runtime/launch/rank_state.hpp"

#include <algorithm>
#include <utility>

#include "runtime/launch/save_error.hpp"

namespace amdahl::launch {

using api::ReportErrorSource;

namespace {

bool is_work(ReportPhase phase) {
  return phase == ReportPhase::kDataWait || phase == ReportPhase::kTrain ||
         phase == ReportPhase::kCheckpointSave || phase == ReportPhase::kEval;
}

bool is_before_work(ReportPhase phase) {
  return phase == ReportPhase::kInit || phase == ReportPhase::kUnattributed ||
         phase == ReportPhase::kWaiting || phase == ReportPhase::kRendezvous;
}

api::StepSource source_of(StepRank rank) {
  if (rank == StepRank::kFramework) return api::StepSource::kFramework;
  return rank == StepRank::kHook ? api::StepSource::kHook : api::StepSource::kLog;
}

// Of metrics without a step: a loss of the training says that it trains.
bool shows_training(const std::vector<api::ReportMetric>& metrics) {
  return std::ranges::any_of(metrics, [](const api::ReportMetric& metric) {
    return metric.name == "loss" || metric.name == "train_loss";
  });
}

}  // namespace

void RankState::enter(ReportPhase phase, Moment at) {
  worked_ = worked_ || is_work(phase);
  // Stopping is final: what a trainer does after it was asked to end is the cost of ending it.
  if (timeline_.phase() == ReportPhase::kStopping || timeline_.phase() == phase) return;
  if (phase == ReportPhase::kInit) init_since_ = at.now;
  timeline_.enter(phase, at.now);
}

void RankState::started(Runtime runtime, Moment at) {
  started_ = true;
  enter(runtime == Runtime::kPython ? ReportPhase::kInit : ReportPhase::kRendezvous, at);
}

void RankState::workers_seen(Moment at) {
  if (timeline_.phase() == ReportPhase::kRendezvous) enter(ReportPhase::kInit, at);
}

void RankState::made_step(std::int64_t step, std::optional<std::int64_t> total, Moment at) {
  if (total || (total_ && step > *total_)) total_ = total;
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
  survive_error(at);
}

void RankState::survive_error(Moment at) {
  if (!error_ || error_->source != ReportErrorSource::kLog) return;
  if (source_ == api::StepSource::kHook && at.now - error_at_ < kHookLagMax) return;
  error_.reset();
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
    error_at_ = at.now;
    return;
  }
  if (const auto* seen = std::get_if<StepSeen>(&fact)) {
    log_step(*seen, at);
  } else if (const auto* seen_metrics = std::get_if<MetricsSeen>(&fact)) {
    if (source_ == api::StepSource::kScript) return;
    keep_metrics(seen_metrics->metrics);
    if (is_before_work(timeline_.phase()) && shows_training(seen_metrics->metrics))
      enter(ReportPhase::kTrain, at);
  } else if (const auto* seen_phase = std::get_if<PhaseSeen>(&fact)) {
    if (!helper_phases_) enter(seen_phase->phase, at);
  }
}

void RankState::log_step(const StepSeen& seen, Moment at) {
  if (source_ == api::StepSource::kScript) return;
  const bool first = source_ == api::StepSource::kUnknown;
  if (!first && seen.rank < rank_) return keep_metrics(seen.metrics);
  if (first || seen.rank > rank_) {
    forget_steps();
    rank_ = seen.rank;
    source_ = source_of(seen.rank);
  }
  // A script that names its phases leaves them itself.
  if (!helper_phases_ || is_before_work(timeline_.phase())) enter(seen.phase, at);
  made_step(seen.step, seen.total, at);
  keep_metrics(seen.metrics);
}

// Another source counts something else.
void RankState::forget_steps() {
  step_.reset();
  total_.reset();
  step_seconds_.reset();
}

void RankState::helper(const HelperMessage& message, bool leads, Moment at) {
  if (!leads) return;
  if (message.kind == HelperKind::kHook && message.step)
    log_step({.step = *message.step, .rank = StepRank::kHook}, at);
  if (message.kind != HelperKind::kState) return;
  if (message.data_wait > std::chrono::nanoseconds{0})
    timeline_.claim(ReportPhase::kDataWait, message.data_wait, at.now);
  if (message.phase) enter(*message.phase, at);
  if (message.step) {
    if (source_ != api::StepSource::kScript) forget_steps();
    source_ = api::StepSource::kScript;
    if (!message.phase) enter(ReportPhase::kTrain, at);
    made_step(*message.step, message.total, at);
  }
  helper_phases_ = helper_phases_ || message.step || message.phase;
  keep_metrics(message.metrics);
}

std::optional<std::int64_t> RankState::own_step() const {
  return source_ == api::StepSource::kHook ? std::nullopt : step_;
}

std::optional<std::int64_t> RankState::safe_step() const {
  const auto step = own_step();
  if (!step || !checkpoint_ || checkpoint_->step < *step) return std::nullopt;
  return checkpoint_->step;
}

std::optional<std::int64_t> RankState::known_step() const {
  return std::max(saved_, own_step());
}

void RankState::save_failed(std::int64_t total, std::string_view why, Moment at) {
  if (!failed_saves_) failed_saves_.emplace();
  failed_saves_->count = std::max({failed_saves_->count, total, std::int64_t{1}});
  failed_saves_->message = save_error(why);
  failed_saves_->at = at.wall;
}

bool RankState::committed(api::ReportCheckpoint checkpoint, Moment at) {
  if (started_) saved_ = std::max(saved_.value_or(0), checkpoint.step);
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
  constexpr auto kInitAt = static_cast<std::size_t>(ReportPhase::kInit);
  constexpr auto kUnknownAt = static_cast<std::size_t>(ReportPhase::kUnattributed);
  report.phase = timeline_.phase();
  Timeline::Spans spans = timeline_.spans(now);
  // A script that says nothing may have trained from its first second.
  if (!worked_) {
    spans[kUnknownAt] += std::exchange(spans[kInitAt], {});
    if (report.phase == ReportPhase::kInit) report.phase = ReportPhase::kUnattributed;
  }
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (spans[i] > std::chrono::nanoseconds{0})
      report.phases.push_back({.name = static_cast<ReportPhase>(i),
                               .seconds = std::chrono::duration<double>(spans[i]).count()});
  report.step = step_;
  report.total_steps = total_;
  report.step_seconds = step_seconds_;
  if (step_) report.step_age_seconds = std::chrono::duration<double>(now - step_at_).count();
  report.step_source = source_;
  report.metrics = metrics_;
  report.checkpoint = checkpoint_;
  report.failed_saves = failed_saves_;
  report.error = error_;
  report.exit = exit_;
}

}  // namespace amdahl::launch
