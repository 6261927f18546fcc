#include "operator/training/checkpoint_interval.hpp"

#include <catch2/catch.hpp>

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

TrainingJobStatus ran(std::int64_t hours, std::int32_t restarts, std::optional<double> stall) {
  TrainingJobStatus status;
  status.elapsed.active_seconds = hours * 3600;
  status.restarts = restarts;
  if (stall) status.checkpoint = api::CheckpointStatus{.stall_seconds = stall};
  return status;
}

TEST_CASE("Auto interval: sqrt(2 x stall x MTBF), with a prior of one failure a day") {
  struct Row {
    std::int64_t hours;
    std::int32_t restarts;
    std::optional<double> stall;
    std::int64_t interval;
  };
  const Row rows[] = {
      {0, 0, std::nullopt, 416},    // sqrt(2 x 1 x 86400)
      {0, 0, 4.0, 831},             // twice that: a save costs four times as much
      {24, 1, 4.0, 831},            // one failure a day, as was believed
      {24, 7, 4.0, 416},            // four times as many failures for the time
      {24 * 30, 0, 4.0, 3600},      // hardly ever: not more than an hour is at stake
      {0, 0, 0.0, 60},              // saving is free
      {0, 0, 1e-6, 60},             // nearly so
      {1, 1000, 1.0, 60},           // fails all the time
      {24 * 365, 0, 3600.0, 3600},  // saving takes an hour
  };
  for (const Row& row : rows) {
    CAPTURE(row.hours, row.restarts, row.interval);
    CHECK(interval_seconds({}, ran(row.hours, row.restarts, row.stall)) == row.interval);
  }
}

TEST_CASE("An interval that is followed neither flaps nor jumps") {
  struct Row {
    std::int64_t told;
    double stall;
    std::int64_t next;
  };
  // The best is 416 x sqrt(stall).
  const Row rows[] = {
      {416, 1.0, 416},    {416, 2.2, 416},   {416, 0.5, 416},     // within the noise of a stall
      {416, 2.3, 630},    {416, 0.4, 263},                        // beyond it: the best
      {416, 16.0, 832},   {832, 16.0, 1663}, {1663, 16.0, 1663},  // far beyond: in steps
      {416, 400.0, 832},  {832, 1.0, 416},                        // one save that took long
      {1663, 0.0, 832},   {104, 0.0, 60},    {60, 0.0, 60},       // the lower bound
      {86400, 1.0, 1800}, {10, 1.0, 120},                         // was fixed before
  };
  for (const Row& row : rows) {
    CAPTURE(row.told, row.stall);
    CHECK(next_interval_seconds(row.told, {}, ran(0, 0, row.stall)) == row.next);
  }
}

TEST_CASE("A fixed interval is told as it is, and one that was told stays for the attempt") {
  api::TrainingJobSpec spec;
  spec.checkpoint.interval = 10min;
  TrainingJobStatus status = ran(24, 3, 4.0);
  CHECK(interval_seconds(spec, status) == 600);
  spec.checkpoint.interval = 30s;
  CHECK(interval_seconds(spec, status) == 30);
  CHECK(told_interval_seconds(spec, status) == 30);
  status.checkpoint->interval_seconds = 777;
  CHECK(told_interval_seconds(spec, status) == 777);
}

}  // namespace
}  // namespace amdahl::training
