#include "operator/process/training_sink.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_reader.hpp"

namespace amdahl {
namespace {

const report::JobPod kPod{.pod_uid = "p-uid",
                          .job = {.ns = "research", .name = "llama"},
                          .job_uid = "j-uid",
                          .attempt = 2,
                          .rank = 0};

const training::JobId kId{.key = kPod.job, .uid = "j-uid"};

api::Report a_report(std::int64_t sequence) {
  return {.job = "research/llama",
          .job_uid = "j-uid",
          .attempt = 2,
          .rank = 0,
          .sequence = sequence,
          .phase = api::ReportPhase::kTrain};
}

struct Site {
  explicit Site(std::size_t jobs_max = training::kReportedJobsMax) : reports(jobs_max) {}
  ManualClock clock;
  MetricsRegistry registry;
  training::Reports reports;
  std::set<std::string> gone;
  TrainingSink sink{reports, clock, registry,
                    [this](const training::JobId& job) { return !gone.contains(job.uid); }};

  std::vector<training::RankReport> seen() const {
    return reports.of(kId, 2, {{.uid = "p-uid", .owner_uid = "j-uid", .attempt = 2}},
                      training::moment_of(clock));
  }
};

TEST_CASE("TrainingSink: a report is kept, and the answer is what the controller wants") {
  Site site;
  CHECK(site.sink.take(kPod, a_report(1))->request == api::ReportRequest::kNone);
  REQUIRE(site.seen().size() == 1);
  site.reports.answer_with(kId, 2, {.request = api::ReportRequest::kPause, .deadline_seconds = 60},
                           site.clock.monotonic());
  const api::ReportReply reply = *site.sink.take(kPod, a_report(2));
  CHECK(reply.request == api::ReportRequest::kPause);
  CHECK(reply.deadline_seconds == 60);
}

TEST_CASE("TrainingSink: Kubeflow's progress fills the gaps of the next report") {
  Site site;
  site.sink.take_progress(
      kPod, {.step = 40, .total_steps = 100, .metrics = {{.name = "loss", .value = "1.5"}}});
  CHECK(site.seen().empty());
  REQUIRE(site.sink.take(kPod, a_report(1)));
  const api::Report filled = site.seen().at(0).report;
  CHECK(filled.step == 40);
  CHECK(filled.total_steps == 100);
  REQUIRE(filled.metrics.size() == 1);
  api::Report knows = a_report(2);
  knows.step = 41;
  REQUIRE(site.sink.take(kPod, knows));
  CHECK(site.seen().at(0).report.step == 41);
}

TEST_CASE("TrainingSink: what a script says itself outranks what a hook counted", "[D8]") {
  Site site;
  api::Report hooked = a_report(1);
  hooked.step = 4000;
  hooked.step_source = api::StepSource::kHook;
  REQUIRE(site.sink.take(kPod, hooked));
  CHECK(site.seen().at(0).report.step == 4000);
  site.sink.take_progress(kPod, {.step = 40, .total_steps = 100});
  hooked.sequence = 2;
  REQUIRE(site.sink.take(kPod, hooked));
  CHECK(site.seen().at(0).report.step == 40);
  CHECK(site.seen().at(0).report.step_source == api::StepSource::kUnknown);  // of the log
}

TEST_CASE("TrainingSink: jobs that are gone make room for others", "[A7]") {
  Site site(1);
  REQUIRE(site.sink.take(kPod, a_report(1)));
  report::JobPod other = kPod;
  other.job_uid = "other";
  api::Report report = a_report(1);
  report.job_uid = "other";
  site.clock.advance(std::chrono::seconds{2});
  const auto full = site.sink.take(other, report);
  REQUIRE_FALSE(full);
  CHECK(full.error().code == Errc::kUnavailable);
  site.gone.insert("j-uid");
  site.clock.advance(std::chrono::seconds{2});
  CHECK(site.sink.take(other, report));
  CHECK(site.reports.jobs() == 1);
  CHECK(site.registry.render().find("amdahl_reported_jobs 1") != std::string::npos);
}

// The cache of an operator, filled by hand.
class Cluster {
 public:
  Cluster() {
    caches_.jobs.begin_stage();
    caches_.jobs.publish("1");
    caches_.pods.begin_stage();
    caches_.pods.publish("1");
  }
  void job(const std::string& ns, std::int64_t attempt, std::int64_t nodes) {
    Json job = object(ns, "llama", "job-of-" + ns);
    job["spec"] = {
        {"runtime", "Torchrun"}, {"nodes", nodes}, {"template", {{"spec", Json::object()}}}};
    if (attempt > 0) job["status"] = {{"attempt", attempt}};
    see(caches_.jobs, job);
  }
  void pod(const std::string& ns, const std::string& name, const std::string& owner,
           std::pair<int, int> attempt_and_rank) {
    Json pod = object(ns, name, "uid-" + name);
    pod["metadata"]["labels"] = {{"amdahl.dev/job", "llama"},
                                 {"amdahl.dev/attempt", std::to_string(attempt_and_rank.first)},
                                 {"amdahl.dev/rank", std::to_string(attempt_and_rank.second)}};
    pod["metadata"]["ownerReferences"] = {{{"apiVersion", "amdahl.dev/v1alpha1"},
                                           {"kind", "TrainingJob"},
                                           {"name", "llama"},
                                           {"uid", owner},
                                           {"controller", true}}};
    see(caches_.pods, pod);
  }
  std::string verdict(const std::string& ns, const std::string& name) const {
    const auto found = find_job_pod(caches_, {.ns = ns, .name = name});
    return found ? "may report" : found.error().context;
  }
  const training::Caches& caches() const { return caches_; }

 private:
  Json object(const std::string& ns, const std::string& name, const std::string& uid) {
    return {{"metadata",
             {{"name", name},
              {"namespace", ns},
              {"uid", uid},
              {"resourceVersion", std::to_string(++version_)}}}};
  }
  template <class T>
  void see(controller::Store<T>& store, const Json& object) {
    const std::string text = object.dump();
    const std::string padded = text + std::string(kJsonPadding, ' ');
    const auto decoded = store.decode({.bytes = std::string_view(padded).substr(0, text.size())});
    if (!decoded) FAIL(decoded.error().context);
    store.apply(kube::EventKind::kAdded);
  }

  training::Caches caches_;
  int version_ = 1;
};

TEST_CASE("A pod may report as the rank that its own job made", "[A2]") {
  Cluster cluster;
  cluster.job("research", 0, 2);  // attempt 1 runs, and is not on record yet
  cluster.pod("research", "llama-1-0", "job-of-research", {1, 0});
  cluster.pod("research", "llama-1-1", "job-of-research", {1, 1});
  CHECK(cluster.verdict("research", "llama-1-0") == "may report");
  CHECK(cluster.verdict("research", "llama-1-1") == "may report");
  using report::PodKnown;
  const auto known = [&](const char* ns, const char* uid) {
    return knows_pod(cluster.caches(), {ns, "llama-1-0", uid});
  };
  CHECK(known("research", "uid-llama-1-0") == PodKnown::kMade);
  CHECK(known("research", "older") == PodKnown::kNo);
  CHECK(known("elsewhere", "uid-llama-1-0") == PodKnown::kNo);
  cluster.job("research", 2, 2);
  CHECK(cluster.verdict("research", "llama-1-0") ==
        "pod research/llama-1-0 is labelled as attempt 1 of TrainingJob llama, which is at attempt "
        "2");
  CHECK(known("research", "uid-llama-1-0") == PodKnown::kClaimant);
  CHECK(has_job(cluster.caches(), {{"research", "llama"}, "job-of-research"}));
  CHECK_FALSE(has_job(cluster.caches(), {{"research", "llama"}, "older"}));
}

TEST_CASE("A pod that claims somebody else's job may not report", "[A2]") {
  Cluster cluster;
  cluster.job("research", 1, 2);
  cluster.pod("attacker", "llama-1-0", "job-of-research", {1, 0});
  CHECK(cluster.verdict("attacker", "llama-1-0") ==
        "pod attacker/llama-1-0 is labelled for TrainingJob attacker/llama, which does not exist");
  CHECK(knows_pod(cluster.caches(), {"attacker", "llama-1-0", "uid-llama-1-0"}) ==
        report::PodKnown::kClaimant);  // its labels alone win it nothing
  cluster.job("attacker", 1, 2);
  CHECK(cluster.verdict("attacker", "llama-1-0") ==
        "pod attacker/llama-1-0 is not owned by TrainingJob attacker/llama");
  cluster.pod("research", "llama-1000000000-0", "job-of-research", {1'000'000'000, 0});
  CHECK(cluster.verdict("research", "llama-1000000000-0").find("which is at attempt 1") !=
        std::string::npos);
  cluster.pod("research", "llama-1-2", "job-of-research", {1, 2});
  CHECK(cluster.verdict("research", "llama-1-2").ends_with("which has 2 nodes"));
  cluster.pod("research", "mine", "job-of-research", {1, 0});
  CHECK(cluster.verdict("research", "mine") ==
        "rank 0 of TrainingJob llama is pod llama-1-0, not mine");
  CHECK(cluster.verdict("research", "none") == "pod research/none belongs to no TrainingJob");
}

}  // namespace
}  // namespace amdahl
