// The run without faults that all others are compared with ends as the jobs of its script should.
#include "tests/simulation/training_subject.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/simulation/trial.hpp"

namespace amdahl::simulation {
namespace {

using Phases = std::map<std::string, std::string>;

Phases phases_of(const EndState& end, std::string_view storage) {
  Phases phases;
  for (const auto& [id, text] : end)
    if (id.starts_with(storage))
      phases[id.substr(id.rfind('/') + 1)] =
          Json::parse(text).value("/status/phase"_json_pointer, std::string());
  return phases;
}

TEST_CASE("Without faults every training job ends as its user means it", "[simulation]") {
  Trials trials;
  for (std::uint64_t workload = 0; workload < 4; ++workload) {
    CAPTURE(workload);
    const RunResult& run = trials.reference(*find_subject("training"), workload);
    CHECK(run.violations.empty());
    Phases jobs = phases_of(run.end, "trainingjobs");
    if (jobs.contains("doomed")) CHECK(jobs["doomed"] == "Failed");
    jobs.erase("doomed");
    CHECK(jobs == Phases{{"again", "Running"},
                         {"cancelled", "Cancelled"},
                         {"good", "Succeeded"},
                         {"paused", "Paused"},
                         {"resumed", "Succeeded"},
                         {"shaky", "Succeeded"}});
    const Phases pods = phases_of(run.end, "pods");
    CHECK(pods.at("again-2-0") == "Running");
    CHECK(pods.at("again-2-1") == "Running");
    CHECK_FALSE(pods.contains("again-1-0"));
    CHECK(pods.at("shaky-1-0") == "Failed");  // kept for its logs
    CHECK(pods.at("shaky-2-0") == "Succeeded");
    for (const auto& [name, phase] : pods) {
      CAPTURE(name, phase);
      CHECK_FALSE((name.starts_with("paused") || name.starts_with("cancelled")));
    }
    CHECK(phases_of(run.end, "podgroups").size() == 1);  // of the one that runs
    CHECK(phases_of(run.end, "services").size() == 1);
  }
}

TEST_CASE("Without faults each life of a job ends as it is called", "[simulation]") {
  Trials trials;
  const Subject& subject = *find_subject("job");
  const std::map<std::string, std::string> ends = {{"submit-to-success", "Succeeded"},
                                                   {"failure-restart", "Succeeded"},
                                                   {"pause-resume", "Succeeded"},
                                                   {"cancel", "Cancelled"},
                                                   {"delete", ""}};
  REQUIRE(subject.workload_names.size() == ends.size());
  for (std::uint64_t workload = 0; workload < subject.workloads; ++workload) {
    const std::string& life = subject.workload_names[workload];
    CAPTURE(life);
    const RunResult& run = trials.reference(subject, workload);
    CHECK(run.violations.empty());
    const Phases jobs = phases_of(run.end, "trainingjobs");
    CHECK((jobs.empty() ? "" : jobs.begin()->second) == ends.at(life));
    const Phases pods = phases_of(run.end, "pods");
    CHECK(pods.contains("job-2-0") == (life == "failure-restart"));
    CHECK(pods.contains("again-2-0") == (life == "pause-resume"));
    CHECK(phases_of(run.end, "services").empty());
  }
}

TEST_CASE("Without faults each life with a launcher ends as it is called", "[simulation][B10]") {
  Trials trials;
  const Subject& subject = *find_subject("launched");
  const std::map<std::string, std::string> ends = {
      {"pause-saved", R"({"pause":"nothing lost","phase":"Paused"})"},
      {"pause-resumed", R"({"phase":"Succeeded"})"},
      {"pause-refused", R"({"pause":"nothing lost","phase":"Paused"})"},
      {"hang-restart", R"({"phase":"Succeeded"})"},
      {"stubborn-cancel", R"({"phase":"Cancelled"})"}};
  REQUIRE(subject.workload_names.size() == ends.size());
  for (std::uint64_t workload = 0; workload < subject.workloads; ++workload) {
    const std::string& life = subject.workload_names[workload];
    CAPTURE(life);
    const RunResult& run = trials.reference(subject, workload);
    CHECK(run.violations.empty());
    const std::string job = life == "pause-resumed" ? "again" : "job";
    CHECK(Json::parse(run.end.at("trainingjobs.amdahl.dev sim/" + job))["status"].dump() ==
          ends.at(life));
    // A hang ends attempt 1, and so does a pause. A refused one stops at the next checkpoint.
    const Phases pods = phases_of(run.end, "pods");
    CHECK(pods.contains(job + "-2-0") == (life == "hang-restart" || life == "pause-resumed"));
    CHECK_FALSE(pods.contains(job + "-1-0"));
  }
}

}  // namespace
}  // namespace amdahl::simulation
