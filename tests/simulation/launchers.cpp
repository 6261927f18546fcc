#include "tests/simulation/launchers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_encode.hpp"
#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::chrono::seconds kReportEvery{2};
constexpr std::int64_t kSaveEverySteps = 7;
constexpr std::int64_t kStepsBeforeHang = 10;
constexpr std::chrono::seconds kExitAfterSave{3};
constexpr double kReportLost = 0.05;

bool runs(const PodView& pod) {
  return pod.reports && pod.phase == "Running" && !pod.deleting;
}

// The status of a pod whose launcher left these words in its termination message.
Json ended_with(const std::string& last_words) {
  const Json ended{{"exitCode", 0}, {"message", last_words}};
  const Json container{{"name", "trainer"}, {"image", "a"},
                       {"imageID", ""},     {"ready", false},
                       {"restartCount", 0}, {"state", {{"terminated", ended}}}};
  return {{"phase", "Succeeded"}, {"containerStatuses", {container}}};
}

}  // namespace

Launchers::Launchers(Pods& pods, Agenda& agenda, Rng rng, Deliver deliver)
    : pods_(pods), agenda_(agenda), rng_(rng), deliver_(std::move(deliver)) {}

void Launchers::on_mutation() {
  const bool any =
      std::ranges::any_of(pods_.views(), [](const auto& one) { return runs(one.second); });
  if (scheduled_ || !any) return;
  scheduled_ = true;
  agenda_.in(kReportEvery, [this] {
    scheduled_ = false;
    tick();
    on_mutation();
  });
}

std::int64_t Launchers::step_of(const Gang& gang, const PodView& pod) const {
  if (gang.exits) return gang.saved;
  if (!gang.began) return pod.resume_step;
  const auto made =
      std::chrono::duration_cast<std::chrono::seconds>(agenda_.now() - *gang.began).count();
  return pod.resume_step + (pod.hangs ? std::min<std::int64_t>(made, kStepsBeforeHang) : made);
}

void Launchers::advance(Gang& gang, const PodView& pod, bool whole) {
  if (!whole) return;
  if (!gang.began) {
    gang.began = agenda_.now();
    gang.saved = pod.resume_step;
  }
  const std::int64_t step = step_of(gang, pod);
  gang.saved = std::max(gang.saved, step - step % kSaveEverySteps);
  if (!gang.save_ends || agenda_.now() < *gang.save_ends || gang.exits) return;
  gang.saved = step;
  gang.exits = agenda_.now() + kExitAfterSave;
}

void Launchers::obey(Gang& gang, const PodView& pod, const api::ReportReply& reply) {
  if (pod.deaf || gang.exits || !gang.began) return;
  if (reply.request != api::ReportRequest::kPause) {
    gang.save_ends.reset();
  } else if (!gang.save_ends) {
    gang.save_ends = agenda_.now() + std::chrono::milliseconds{500 + rng_.below(4'000)};
  }
}

api::Report Launchers::report_of(const Gang& gang, const std::string& name, const PodView& pod) {
  using enum api::ReportPauseState;
  api::Report report{.job = fmt::format("{}/{}", kNamespace, pod.job),
                     .job_uid = pod.job_uid,
                     .pod = name,
                     .pod_uid = pod.uid,
                     .attempt = pod.attempt,
                     .rank = static_cast<std::int32_t>(pod.rank),
                     .sequence = ++sequences_[pod.uid],
                     .phase = api::ReportPhase::kTrain};
  if (!gang.began) return report;
  report.step = step_of(gang, pod);
  const Monotonic made = *gang.began + std::chrono::seconds{*report.step - pod.resume_step};
  report.step_age_seconds = std::chrono::duration<double>(agenda_.now() - made).count();
  if (gang.saved > 0)
    report.checkpoint = api::ReportCheckpoint{.step = gang.saved, .path = "/saved"};
  report.pause.state = gang.exits ? kCommitted : gang.save_ends ? kSaving : kNone;
  if (gang.exits) report.pause.step = gang.saved;
  return report;
}

void Launchers::tick() {
  std::map<std::string, std::size_t> running;
  for (const auto& [name, pod] : pods_.views()) running[pod.gang] += runs(pod) ? 1 : 0;
  std::map<std::string, std::string> done;  // to its last words
  const PodViews pods = pods_.views();      // what is delivered may change them
  for (const auto& [name, pod] : pods) {
    if (!runs(pod)) continue;
    Gang& gang = gangs_[pod.gang];
    advance(gang, pod, running[pod.gang] == pod.size);
    const bool worked = gang.began && pod.work > 0 && step_of(gang, pod) >= pod.work;
    const api::Report report = report_of(gang, name, pod);
    if (worked || (gang.exits && agenda_.now() >= *gang.exits)) done[name] = encode(report).dump();
    if (rng_.chance(kReportLost)) continue;
    if (const auto reply = deliver_(report)) obey(gang, pod, *reply);
  }
  for (const auto& [name, words] : done)
    pods_.set_status(name, pods.at(name).uid, ended_with(words));
}

}  // namespace amdahl::simulation
