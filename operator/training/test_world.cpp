#include "operator/training/test_world.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_decode.hpp"
#include "operator/api/fit_status.hpp"
#include "operator/api/names.hpp"
#include "operator/api/phase.hpp"
#include "operator/training/attempt_view.hpp"
#include "operator/training/events.hpp"
#include "operator/training/hook_steps.hpp"
#include "operator/training/pod_template.hpp"

namespace amdahl::training {
namespace {

constexpr int kPlansMax = 60;

kube::OwnerReference owner_of(const TrainingJob& job) {
  return {.api_version = kTrainingJobs.api_version(),
          .kind = kTrainingJobs.kind,
          .name = job.metadata.name,
          .uid = job.metadata.uid,
          .controller = true};
}

Json default_template() {
  return {{"spec",
           {{"containers",
             {{{"name", "trainer"},
               {"image", "registry.example/train:1"},
               {"command", {"python", "train.py"}},
               {"resources", {{"limits", {{"nvidia.com/gpu", 8}}}}}}}}}}};
}

}  // namespace

World::World() : now(std::chrono::seconds{1'760'000'000}) {
  auto fresh = std::make_shared<TrainingJob>();
  fresh->metadata.name = "train";
  fresh->metadata.ns = "research";
  fresh->metadata.uid = fresh_uid();
  fresh->metadata.generation = 1;
  fresh->metadata.created = now;
  fresh->spec.pod_template = default_template();
  fresh->spec.nodes = 2;
  job = fresh;
}

Observed World::observe() const {
  Observed seen{.job = job,
                .group = group,
                .service = service,
                .volcano_served = volcano_served,
                .queue = queue,
                .nodes = nodes,
                .refusal = refusal,
                .can_look = in_store.has_value(),
                .store_in_pods = store_in_pods,
                .status_written = status_written,
                .epoch = epoch,
                .leading_since = leading_since};
  if (pause.since()) seen.pause_since = moment().at(*pause.since());
  if (look && look->attempt == std::max(job ? job->status.attempt : 0, 1)) seen.look = look;
  for (const auto& [name, pod] : pods) {
    seen.pods.push_back(pod_seen(std::make_shared<GangPod>(pod)));
    const PodSeen& last = seen.pods.back();
    const auto report = reports.find(last.uid);
    if (report == reports.end()) continue;
    const std::int64_t age = (job ? job->status.attempt : 0) - std::int64_t{last.attempt};
    if (age == 0) seen.reports.push_back(report->second);
    if (age == 1) seen.reports_before.push_back(report->second);
  }
  leave_out_hook_steps(seen);
  return seen;
}

Plan World::decide() {
  if (job) pause.see(job->status, moment());
  Plan plan = training::decide(observe(), now, options);
  refusal.reset();
  check(plan);
  return plan;
}

void World::check(const Plan& plan) {
  const auto must = [&](bool holds, std::string what) {
    if (!holds) broken.push_back(std::move(what));
  };
  must(!plan.write_ahead || (plan.status && !plan.acts()), "a write ahead that also acts");
  must(!plan.look_at_checkpoint || (in_store && plan.create_pods.empty()),
       "looks where nobody can, or makes pods before the look has ended");
  for (const PodDelete& one : plan.delete_pods) {
    const auto found = pods.find(one.name);
    const bool ours =
        found != pods.end() && job && owned_by(found->second.metadata.owners, job->metadata.uid);
    must(ours, "deletes a pod that is not its own: " + one.name);
  }
  const JobPtr& acted_on = plan.as_if ? plan.as_if : job;
  must(!plan.as_if || ((job->status == api::TrainingJobStatus{} || is_parked(job->status)) &&
                       !job->spec.suspend && !job->spec.cancel),
       "acts as if something else were on record");
  must(!plan.as_if || acted_on->status.attempt == job->status.attempt + 1,
       "acts as if it were another attempt than the next");
  for (const std::uint32_t rank : plan.create_pods) {
    must(job && !job->spec.cancel && !is_finished(acted_on->status),
         "creates pods of an ended job");
    must(job && static_cast<std::int64_t>(rank) < acted_on->status.workers->desired,
         "creates a rank beyond the gang");
    must(job && acted_on->status.attempts.back().outcome == api::AttemptOutcome::kUnknown,
         "creates pods of an attempt that is over");
  }
  if (plan.acts() && job && !job->metadata.deleted && plan.policy != "release" &&
      plan.release_pods.empty())
    must(acted_on->status.epoch == epoch, "acts before the epoch is on record");
  if (plan.status) check_status(*plan.status, plan);
}

void World::check_status(const api::TrainingJobStatus& next, const Plan& plan) {
  const auto must = [&](bool holds, std::string what) {
    if (!holds) broken.push_back(std::move(what));
  };
  const api::Phase from =
      job->status.conditions.empty() ? api::Phase::kUnknown : api::summarize(job->status).phase;
  const api::Phase to = api::summarize(next).phase;
  must(plan.move && next_phases(from, *plan.move).contains(to),
       fmt::format("{} --{}--> {} is no legal move", enum_name(from),
                   plan.move ? name(*plan.move) : "?", enum_name(to)));
  // A save that failed is no decision; its event comes with whatever else is said.
  const auto events = std::ranges::count_if(plan.events, [](const PlannedEvent& one) {
    return one.reason != event::kCheckpointSaveFailing;
  });
  must(from == to || from == api::Phase::kUnknown || events == 1,
       fmt::format("{} -> {} has {} events", enum_name(from), enum_name(to), events));
  must(events <= 1, "two events of one decision");
  // What the policy Committed promises: no pause of it stops work that could still be saved.
  const bool ends = plan.move == Move::kEndAttempt && next.pause;
  const bool saves =
      !job->spec.checkpoint.uri.empty() || (next.checkpoint && next.checkpoint->last_committed);
  must(!ends || next.pause->outcome != api::PauseOutcome::kStepsLost || !saves ||
           job->spec.checkpoint.pause.policy != api::PausePolicy::kCommitted,
       "a pause with the policy Committed loses steps");
  must(api::status_bytes(next) <= api::kStatusBytesMax, "the status is too large");
  std::size_t terminal = 0;
  for (const std::string_view type :
       {api::condition::kSucceeded, api::condition::kFailed, api::condition::kCancelled}) {
    terminal += api::is_true(next.conditions, type) ? 1 : 0;
    must(!api::is_true(job->status.conditions, type) || api::is_true(next.conditions, type),
         "a terminal condition was taken back");
  }
  must(terminal <= 1, "more than one terminal condition");
  must(next.attempt == job->status.attempt || next.attempt == job->status.attempt + 1,
       "attempts are counted one by one");
  if (api::is_true(next.conditions, api::condition::kSuspended)) {
    const bool pods_left = std::ranges::any_of(pods, [&](const auto& entry) {
      return owned_by(entry.second.metadata.owners, job->metadata.uid);
    });
    must(!pods_left, "Suspended while a pod exists");
    must(!group || !owned_by(group->metadata.owners, job->metadata.uid),
         "Suspended while the PodGroup exists");
  }
}

bool World::may_write() {
  if (writes_left_ && *writes_left_ == 0) return false;
  if (writes_left_) --*writes_left_;
  ++writes;
  return true;
}

void World::write_status(const Plan& plan) {
  if (!may_write()) return;
  auto changed = std::make_shared<TrainingJob>(*job);
  changed->status = *plan.status;
  job = changed;
  status_written = now;
  pause.see(job->status, moment());
}

bool World::play(const Plan& plan) {
  if (!plan.confirm_absent.empty() &&
      std::ranges::all_of(plan.confirm_absent, [&](auto& name) { return pods.contains(name); }))
    return false;
  reply = plan.reply;
  if (plan.look_at_checkpoint) look_at(*plan.look_at_checkpoint);
  for (const PodDelete& one : plan.delete_pods) delete_pod(one);
  for (const PodRelease& one : plan.release_pods) release_pod(one);
  if (plan.delete_group && may_write()) group.reset();
  if (plan.delete_service && may_write()) service.reset();
  const auto owned = [&](auto object, const char* uid) {
    object.metadata.owners = {owner_of(*job)};
    object.metadata.uid = uid;
    return std::make_shared<const decltype(object)>(std::move(object));
  };
  if (plan.create_service && may_write())
    service = owned(*decode<kube::Service>(plan.create_service->dump()), "s");
  const auto& spec = plan.create_group ? plan.create_group : plan.update_group;
  if (spec && may_write()) group = owned(*decode<kube::PodGroup>(spec->dump()), "g");
  const JobPtr acted_on = plan.as_if ? plan.as_if : job;
  for (const std::uint32_t rank : plan.create_pods) create_pod(*acted_on, rank);
  if (plan.status) write_status(plan);
  if (plan.delete_job && may_write()) delete_job();
  writes_left_.reset();
  return true;
}

std::int32_t World::attempt() const {
  if (!job) return 0;
  if (job->status == api::TrainingJobStatus{}) return 1;
  const std::int32_t recorded = job->status.attempt;
  const auto next = static_cast<std::uint32_t>(recorded) + 1;
  const bool begun =
      is_parked(job->status) && pods.contains(api::pod_name(job->metadata.name, next, 0));
  return begun ? recorded + 1 : recorded;
}

// All pods of the attempt exist, and that is put on record a moment later.
bool World::record_is_due() const {
  if (!job || job->metadata.deleted || is_finished(job->status)) return false;
  const auto& attempts = job->status.attempts;
  if (!attempts.empty() && attempts.back().number == attempt() &&
      (attempts.back().outcome != api::AttemptOutcome::kUnknown || attempts.back().started_at))
    return false;
  for (std::int32_t rank = 0; rank < job->spec.nodes; ++rank)
    if (!pods.contains(api::pod_name(job->metadata.name, static_cast<std::uint32_t>(attempt()),
                                     static_cast<std::uint32_t>(rank))))
      return false;
  return true;
}

int World::settle() {
  for (int plans = 0; plans < kPlansMax; ++plans) {
    const Plan plan = decide();
    if (plan.empty() && record_is_due()) {
      now += std::chrono::ceil<std::chrono::seconds>(*plan.requeue_after);
      continue;
    }
    const bool looks = plan.look_at_checkpoint && !store_is_silent;
    if ((plan.empty() && !looks) || !play(plan)) return plans;
  }
  broken.push_back("does not settle");
  return kPlansMax;
}

void World::look_at(const CheckpointAsk& ask) {
  if (store_is_silent) return;
  look = CheckpointLook{.attempt = ask.attempt, .when = now};
  if (*in_store) {
    look->finding = **in_store;
  } else {
    look->unreadable = in_store->error().context;
  }
}

void World::create_pod(const TrainingJob& of, std::uint32_t rank) {
  if (!may_write()) return;
  const auto& record = of.status.attempts.back();
  const Json body = pod_of(of,
                           {.attempt = static_cast<std::uint32_t>(record.number),
                            .index = rank,
                            .nodes = of.status.workers->desired,
                            .resume_step = record.resumed_from_step},
                           options);
  GangPod pod = *decode<GangPod>(body.dump());
  pod.metadata.uid = fresh_uid();
  pod.metadata.ns = of.metadata.ns;
  pod.metadata.created = now;
  pod.metadata.owners = {owner_of(of)};
  pod.status.phase = kube::PodPhase::kPending;
  const std::string name = pod.metadata.name.str();
  if (!names_used_.insert(std::string(of.metadata.uid) + "/" + name).second)
    broken.push_back("creates pod " + name + " twice");
  pods.insert_or_assign(name, std::move(pod));
}

void World::delete_pod(const PodDelete& which) {
  GangPod* const found = pod(which.name);
  if (found == nullptr || found->metadata.uid != which.uid || !may_write()) return;
  const bool at_once =
      found->spec.node.empty() || pod_seen(std::make_shared<GangPod>(*found)).ended();
  if (!found->metadata.deleted) mark_deleted(*found, at_once ? 0 : kGraceSecondsDefault);
  collect(which.name);
}

void World::release_pod(const PodRelease& which) {
  GangPod* const found = pod(which.name);
  if (found == nullptr || found->metadata.uid != which.uid || !may_write()) return;
  found->metadata.finalizers.clear();
  collect(which.name);
}

void World::collect(const std::string& name) {
  const GangPod* const found = pod(name);
  if (found == nullptr || !found->metadata.deleted || !found->metadata.finalizers.empty()) return;
  const PodSeen seen = pod_seen(std::make_shared<GangPod>(*found));
  if (seen.ended() || seen.node.empty() || seen.deletion_grace == 0) pods.erase(name);
}

}  // namespace amdahl::training
