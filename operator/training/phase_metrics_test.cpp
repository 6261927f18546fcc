#include "operator/training/phase_metrics.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace amdahl::training {
namespace {

struct Watched {
  void becomes(api::Phase phase, int seconds) {
    job.status.phase = phase;
    job.spec.suspend = phase == api::Phase::kPaused || phase == api::Phase::kPausing;
    metrics.note(job, Monotonic{} + std::chrono::seconds{seconds});
  }
  void is_to_go_on(int seconds) {
    job.spec.suspend = false;
    metrics.note(job, Monotonic{} + std::chrono::seconds{seconds});
  }
  bool shows(std::string_view line) { return registry.render().find(line) != std::string::npos; }

  MetricsRegistry registry;
  PhaseMetrics metrics{registry};
  TrainingJob job = [] {
    TrainingJob made;
    made.metadata.uid = "u";
    return made;
  }();
};

}  // namespace

TEST_CASE("PhaseMetrics measures phases whose beginning it saw", "[B9]") {
  Watched watched;
  watched.becomes(api::Phase::kQueued, 0);  // begun before we looked
  watched.becomes(api::Phase::kRunning, 10);
  watched.becomes(api::Phase::kRunning, 20);
  watched.becomes(api::Phase::kSucceeded, 40);
  CHECK_FALSE(watched.shows(R"(phase_duration_seconds_count{phase="Queued"})"));
  CHECK(watched.shows(R"(phase_duration_seconds_sum{phase="Running"} 30)"));
}

TEST_CASE("PhaseMetrics measures a resume until all ranks run", "[B9]") {
  Watched watched;
  watched.becomes(api::Phase::kUnknown, 0);
  watched.becomes(api::Phase::kPaused, 1);
  watched.becomes(api::Phase::kPending, 100);
  watched.becomes(api::Phase::kStarting, 103);
  CHECK_FALSE(watched.shows("amdahl_resume_latency_seconds_count 1"));
  watched.becomes(api::Phase::kRunning, 107);
  CHECK(watched.shows("amdahl_resume_latency_seconds_sum 7"));
  watched.becomes(api::Phase::kRestarting, 200);  // a failure is no resume
  watched.becomes(api::Phase::kRunning, 300);
  CHECK(watched.shows("amdahl_resume_latency_seconds_count 1"));
}

TEST_CASE("PhaseMetrics counts a resume from the wish, before the status tells of it", "[B9]") {
  Watched watched;
  watched.becomes(api::Phase::kUnknown, 0);
  watched.becomes(api::Phase::kPaused, 1);
  watched.is_to_go_on(100);
  watched.becomes(api::Phase::kRunning, 105);
  CHECK(watched.shows("amdahl_resume_latency_seconds_sum 5"));
}

TEST_CASE("PhaseMetrics forgets a resume that was taken back", "[B9]") {
  Watched watched;
  watched.becomes(api::Phase::kUnknown, 0);
  watched.becomes(api::Phase::kPaused, 1);
  watched.becomes(api::Phase::kPending, 2);
  watched.becomes(api::Phase::kPausing, 3);
  watched.becomes(api::Phase::kPaused, 4);
  watched.becomes(api::Phase::kPending, 50);
  watched.becomes(api::Phase::kRunning, 52);
  CHECK(watched.shows("amdahl_resume_latency_seconds_sum 2"));
}

}  // namespace amdahl::training
