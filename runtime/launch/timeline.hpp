// How long a rank spent in which phase.
//
// The phases partition the time since the start: whatever is entered and claimed, they add up to
// the age. Pure. Thread: one. Failure: none; a time that goes back counts as no time.
#pragma once

#include <array>
#include <chrono>

#include "base/clock.hpp"
#include "operator/api/report_enums.hpp"

namespace amdahl::launch {

using api::ReportPhase;

class Timeline {
 public:
  using Spans = std::array<std::chrono::nanoseconds, api::kReportPhaseCount>;

  Timeline(Monotonic start, ReportPhase phase) : last_(start), phase_(phase) {}

  ReportPhase phase() const { return phase_; }
  void enter(ReportPhase phase, Monotonic now);
  // Part of what passed since the last enter() or claim() belonged to another phase. No more than
  // that can be claimed.
  void claim(ReportPhase phase, std::chrono::nanoseconds part, Monotonic now);
  Spans spans(Monotonic now) const;

 private:
  void settle(Monotonic now);

  Monotonic last_;
  ReportPhase phase_;
  std::chrono::nanoseconds open_{0};  // of the present phase, since the last enter() or claim()
  Spans spans_{};
};

}  // namespace amdahl::launch
