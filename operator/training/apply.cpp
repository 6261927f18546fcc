// Carries out plans: ordered steps, stop at the first error, at most one status.

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/json_member.hpp"
#include "operator/api/names.hpp"
#include "operator/training/decision_line.hpp"
#include "operator/training/events.hpp"
#include "operator/training/parallel.hpp"
#include "operator/training/pod_template.hpp"
#include "operator/training/reconciler.hpp"

namespace amdahl::training {
namespace {

using api::TrainingJobStatus;
using controller::DeleteChild;
using controller::Outcome;

// How soon to look again when a cache was behind what was read live.
constexpr std::chrono::seconds kCacheBehind{1};

kube::ObjectMeta meta_of(const GangPod& pod) {
  kube::ObjectMeta meta{.name = pod.metadata.name.str(),
                        .ns = pod.metadata.ns.str(),
                        .uid = pod.metadata.uid.str(),
                        .version = pod.metadata.version.str(),
                        .deleted = pod.metadata.deleted};
  for (const Text& finalizer : pod.metadata.finalizers) meta.finalizers.push_back(finalizer.str());
  return meta;
}

bool has_ended(const Json& pod) {
  const std::string_view phase = text_of(member_of(pod, "status"), "phase");
  return phase == "Succeeded" || phase == "Failed";
}

// With what ranks reported as it was before.
TrainingJobStatus without_reports(TrainingJobStatus next, const TrainingJobStatus& before) {
  next.progress = before.progress;
  next.checkpoint = before.checkpoint;
  for (api::AttemptStatus& attempt : next.attempts) {
    const auto old =
        std::ranges::find(before.attempts, attempt.number, &api::AttemptStatus::number);
    const bool known = old != before.attempts.end();
    attempt.worked_at = known ? old->worked_at : std::nullopt;
    attempt.first_step = known ? old->first_step : std::nullopt;
    attempt.last_step = known ? old->last_step : std::nullopt;
  }
  return next;
}

}  // namespace

Task<Result<bool>> TrainingReconciler::confirmed(Pass pass, std::vector<std::string> names) {
  if (names.empty()) co_return true;
  for (const std::string& name : names) {
    CO_TRY(kube::Request request,
           kube::get_request(kube::kPods, {.ns = pass.key.ns, .name = name}));
    auto found = co_await client_.send(std::move(request));
    if (!found && found.error().code == Errc::kNotFound) co_return true;  // one is enough
    if (!found) co_return std::unexpected<Error>(std::move(found).error());
  }
  co_return false;
}

// Other acts come after a write that a stale cache cannot make: a status of their attempt. Here
// there is none, so the job is read.
Task<Result<bool>> TrainingReconciler::still_unrecorded(Pass pass) {
  CO_TRY(kube::Request request,
         kube::get_request(kTrainingJobs, {.ns = pass.key.ns, .name = pass.key.name}));
  auto found = co_await client_.send(std::move(request));
  if (!found && found.error().code == Errc::kNotFound) co_return false;
  if (!found) co_return std::unexpected<Error>(std::move(found).error());
  CO_TRY(const TrainingJob live, decode<TrainingJob>(found->body));
  co_return live.metadata.uid == pass.seen.job->metadata.uid&& live.metadata.version ==
      pass.seen.job->metadata.version;
}

Task<Result<void>> TrainingReconciler::release_one(Pass pass, PodRelease which) {
  if (const auto done = released_.find(pass.key);
      done != released_.end() && done->second.contains(which.uid))
    co_return Result<void>{};
  CO_TRY(co_await pass.writer.remove_finalizer(kube::kPods, meta_of(*which.object),
                                               std::string(api::kFinalizer)));
  if (which.object->metadata.deleted) released_[pass.key].insert(which.uid);
  co_return Result<void>{};
}

Task<Result<void>> TrainingReconciler::delete_one(Pass pass, PodDelete which) {
  DeleteChild what{.resource = kube::kPods,
                   .key = {.ns = pass.key.ns, .name = which.name},
                   .uid = which.uid,
                   .version = which.version};
  // A cache of pods may be behind the cache of jobs; the event of its end brings the next pass.
  if (which.runs) what.still_wanted = has_ended;
  CO_TRY(co_await pass.writer.delete_child(std::move(what)));
  co_return Result<void>{};
}

Task<Result<void>> TrainingReconciler::create_one(Pass pass, std::uint32_t rank) {
  const TrainingJob& job = *pass.job;
  const api::AttemptStatus& record = job.status.attempts.back();
  Json pod = pod_of(job,
                    {.attempt = static_cast<std::uint32_t>(record.number),
                     .index = rank,
                     .nodes = job.status.workers->desired,
                     .resume_step = record.resumed_from_step},
                    options_);
  CO_TRY(co_await pass.writer.create_child(kube::kPods, std::move(pod),
                                           controller::owner_object(job)));
  co_return Result<void>{};
}

Task<Result<void>> TrainingReconciler::clear(Pass pass, Plan& plan) {
  // A release changes the version that a delete was decided upon, so it comes after it.
  CO_TRY(co_await in_parallel(client_.clock(), plan.delete_pods.size(), [&](std::size_t i) {
    return delete_one(pass, plan.delete_pods[i]);
  }));
  CO_TRY(co_await in_parallel(client_.clock(), plan.release_pods.size(), [&](std::size_t i) {
    return release_one(pass, plan.release_pods[i]);
  }));
  if (plan.delete_group)
    CO_TRY(co_await pass.writer.delete_child(
        {.resource = kube::kPodGroups,
         .key = {.ns = pass.key.ns, .name = plan.delete_group->name},
         .uid = plan.delete_group->uid,
         .version = plan.delete_group->version}));
  if (plan.delete_service)
    CO_TRY(co_await pass.writer.delete_child(
        {.resource = kube::kServices,
         .key = {.ns = pass.key.ns, .name = plan.delete_service->name},
         .uid = plan.delete_service->uid,
         .version = plan.delete_service->version}));
  co_return Result<void>{};
}

Task<Result<void>> TrainingReconciler::make_gang(Pass pass, Plan& plan) {
  const auto owner = controller::owner_object(*pass.seen.job);
  if (plan.create_service)
    CO_TRY(co_await pass.writer.create_child(kube::kServices, *plan.create_service, owner));
  if (plan.create_group)
    CO_TRY(co_await pass.writer.create_child(kube::kPodGroups, *plan.create_group, owner));
  if (!plan.update_group) co_return Result<void>{};
  // Not an apply, which leaves what was created and is no longer wanted.
  const kube::PodGroup& group = *pass.seen.group;
  Json change{{"spec", controller::merge_diff(encode(group.spec), (*plan.update_group)["spec"])}};
  CO_TRY(co_await pass.writer.patch(kube::kPodGroups, group.metadata.key(),
                                    std::string(group.metadata.version), std::move(change)));
  co_return Result<void>{};
}

Task<Result<void>> TrainingReconciler::make(Pass pass, Plan& plan) {
  if (!pass.seen.job) co_return Result<void>{};
  auto gang = co_await make_gang(pass, plan);
  if (!gang) {
    Error error = std::move(gang).error();
    // A group that is refused says nothing about the pods: the queue may open, Volcano may return.
    if (error.code == Errc::kInvalid) error.code = Errc::kForbidden;
    co_return std::unexpected<Error>(std::move(error));
  }
  if (plan.create_pods.empty()) co_return Result<void>{};
  // The first one alone: what the API server refuses is refused once and not a thousand times.
  CO_TRY(co_await create_one(pass, plan.create_pods.front()));
  co_return co_await in_parallel(client_.clock(), plan.create_pods.size() - 1, [&](std::size_t i) {
    return create_one(pass, plan.create_pods[i + 1]);
  });
}

Task<Result<bool>> TrainingReconciler::send_status(Pass pass, TrainingJobStatus status) {
  co_return co_await pass.writer.update_status({.resource = kTrainingJobs,
                                                .key = pass.key,
                                                .version = pass.seen.job->metadata.version,
                                                .before = encode(pass.seen.job->status),
                                                .after = encode(status)});
}

Task<Result<void>> TrainingReconciler::write_status(Pass pass, Plan& plan) {
  if (!plan.status) {
    if (pass.seen.job) record_events(pass, plan);
    co_return Result<void>{};
  }
  const TrainingJob& job = *pass.seen.job;
  auto written = co_await send_status(pass, *plan.status);
  if (!written && written.error().code == Errc::kInvalid) {
    // What ranks say must not keep the job from being paused or cancelled.
    status_refused_.increment();
    plan.status = without_reports(*std::move(plan.status), job.status);
    written = co_await send_status(pass, *plan.status);
  }
  if (!written && written.error().code == Errc::kNotFound) co_return Result<void>{};  // deleted
  if (!written) co_return std::unexpected<Error>(std::move(written).error());
  Known& known = known_[pass.key];
  known.uid = job.metadata.uid;
  known.status_written = pass.now.steady;
  known.pause.see(*plan.status, pass.now);
  record_events(pass, plan);
  log_decision(pass, plan);
  co_return Result<void>{};
}

Task<Result<void>> TrainingReconciler::remove_job(Pass pass) {
  CO_TRY(co_await pass.writer.delete_child(
      {.resource = kTrainingJobs, .key = pass.key, .uid = pass.seen.job->metadata.uid}));
  co_return Result<void>{};
}

void TrainingReconciler::record_events(const Pass& pass, const Plan& plan) {
  for (const PlannedEvent& event : plan.events)
    events_.record(
        {.subject = controller::event_subject(*pass.seen.job),
         .type = event.warning ? controller::EventType::kWarning : controller::EventType::kNormal,
         .reason = event.reason,
         .action = plan.move ? std::string(name(*plan.move)) : plan.policy,
         .note = event.note});
}

void TrainingReconciler::on_exception(const kube::ObjectKey& key, const Error& error) {
  const JobPtr job = caches_.jobs.find(key);
  if (!job) return;
  const PlannedEvent told = event_of(event::kReconcileFailed, error.context);
  events_.record({.subject = controller::event_subject(*job),
                  .type = controller::EventType::kWarning,
                  .reason = told.reason,
                  .action = "Reconcile",
                  .note = told.note});
}

// After the act: what failed is logged by whoever retries it.
void TrainingReconciler::log_decision(const Pass& pass, const Plan& plan) const {
  if (!pass.seen.job) return;
  if (const auto line = decision_of(plan, pass.seen.job->status))
    write_decision(log_, pass.key, pass.seen.job->metadata.uid, *line);
}

// The API server's words become evidence of a second decision, of which only the status counts.
Task<Result<Outcome>> TrainingReconciler::refused(Pass pass, Error error) {
  Observed seen = pass.seen;
  seen.refusal = refusal_of(error);
  if (!seen.refusal) co_return std::unexpected<Error>(std::move(error));
  Plan plan = decide(seen, pass.now.wall, options_);
  CO_TRY(co_await write_status(pass, plan));
  co_return Outcome{.requeue_after = plan.requeue_after};
}

Task<Result<Outcome>> TrainingReconciler::apply(Pass pass, Plan plan) {
  if (pass.seen.job)
    reports_.answer_with({.key = pass.key, .uid = pass.seen.job->metadata.uid},
                         pass.seen.job->status.attempt, plan.reply, pass.now.steady);
  if (plan.look_at_checkpoint) looks_.ask(pass.key, *plan.look_at_checkpoint);
  CO_TRY(const bool holds, co_await confirmed(pass, plan.confirm_absent));
  if (!holds) co_return Outcome{.requeue_after = kCacheBehind};
  if (plan.as_if && plan.acts()) {
    CO_TRY(const bool unrecorded, co_await still_unrecorded(pass));
    if (!unrecorded) co_return Outcome{.requeue_after = kCacheBehind};
  }
  CO_TRY(co_await clear(pass, plan));
  auto made = co_await make(pass, plan);
  if (!made) co_return co_await refused(pass, std::move(made).error());
  CO_TRY(co_await write_status(pass, plan));
  if (!plan.status) log_decision(pass, plan);
  if (plan.delete_job) CO_TRY(co_await remove_job(pass));
  co_return Outcome{.requeue_after = plan.requeue_after};
}

}  // namespace amdahl::training
