// Random worlds: whatever happens in whatever order, and wherever the operator dies, some things
// stay true (World::check), and when the world calms down the job comes to rest.
#include <catch2/catch.hpp>

#include "base/json_encode.hpp"
#include "base/rng.hpp"
#include "operator/api/fit_status.hpp"
#include "operator/api/names.hpp"
#include "operator/training/attempt_view.hpp"
#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSeeds = 150;
constexpr int kSteps = 60;

GangPod* any_pod(World& world, Rng& rng) {
  const auto names = world.pod_names();
  return names.empty() ? nullptr : world.pod(names[rng.below(names.size())]);
}

void pod_event(World& world, Rng& rng) {
  GangPod* const pod = any_pod(world, rng);
  if (pod == nullptr) return;
  const bool ended = pod->status.phase == kube::PodPhase::kSucceeded ||
                     pod->status.phase == kube::PodPhase::kFailed;
  switch (rng.below(6)) {
    case 0:
      if (!ended)
        world.end(*pod, kube::PodPhase::kFailed, 1 + static_cast<int>(rng.below(200)), "");
      return;
    case 1:
      if (!ended) world.end(*pod, kube::PodPhase::kSucceeded, 0, "Completed");
      return;
    case 2:
      if (!pod->metadata.deleted) world.mark_deleted(*pod, static_cast<int>(rng.below(2)) * 30);
      return;
    case 3:
      world.kubelets();
      return;
    case 4:  // somebody takes the finalizer off, and the pod is gone
      if (world.job && world.job->status.workers &&
          world.job->status.workers->created == world.job->status.workers->desired)
        world.remove(pod->metadata.name.str());
      return;
    default:
      for (auto& [name, one] : world.pods)
        if (!one.metadata.deleted) world.run(one);
  }
}

void user_event(World& world, Rng& rng) {
  if (!world.job) return;
  switch (rng.below(12)) {
    case 0:
      world.edit().spec.cancel = true;
      return;
    case 1:
      world.delete_job(rng.chance(0.5));
      return;
    case 2:
      world.group.reset();
      return;
    case 3:
      world.volcano_served = !world.volcano_served;
      if (!world.volcano_served) world.group.reset();
      return;
    default: {
      TrainingJob& job = world.edit();
      job.spec.suspend = !job.spec.suspend;
    }
  }
}

void report_event(World& world, Rng& rng) {
  if (world.pod(0U) == nullptr) return;
  api::Report& report = world.report(0);
  report.step = report.step.value_or(0) + static_cast<std::int64_t>(rng.below(5));
  if (rng.chance(0.3)) report.checkpoint = api::ReportCheckpoint{.step = *report.step};
  if (report.checkpoint && world.in_store) {
    report.checkpoint->path = world.job->spec.checkpoint.uri;
    report.checkpoint->manifest_digest = "sha256:" + std::to_string(report.checkpoint->step);
  }
  if (rng.chance(0.3)) report.pause = {.state = static_cast<api::ReportPauseState>(rng.below(6))};
}

CheckpointFinding found(std::int64_t step) {
  return {.newest = FoundCheckpoint{.step = step, .digest = "sha256:" + std::to_string(step)}};
}

void store_event(World& world, Rng& rng) {
  if (!world.in_store) return;
  const auto step = static_cast<std::int64_t>(rng.below(200));
  CheckpointFinding finding = rng.chance(0.5) ? found(step) : CheckpointFinding{};
  if (rng.chance(0.5)) finding.passed_over.push_back({.step = step + 1, .why = "checksum"});
  world.in_store = std::move(finding);
  if (rng.chance(0.3)) world.in_store = fail(Errc::kForbidden, "{}", std::string(step * 10, 'x'));
}

void step(World& world, Rng& rng) {
  switch (rng.below(9)) {
    case 0:
      pod_event(world, rng);
      break;
    case 1:
      user_event(world, rng);
      break;
    case 2:
      report_event(world, rng);
      break;
    case 3:
      world.now += std::chrono::seconds{rng.below(400)};
      break;
    case 4:
      ++world.epoch;
      world.status_written.reset();
      world.look.reset();
      break;
    case 8:
      store_event(world, rng);
      break;
    case 5:  // dies after any write
      world.crash_after(rng.below(4));
      (void)world.play(world.decide());
      break;
    default:
      (void)world.play(world.decide());
  }
}

// The cluster works again and nobody does anything.
void calm_down(World& world) {
  world.volcano_served = true;
  if (world.in_store) world.in_store = found(7);
  for (int i = 0; i < 30; ++i) {
    world.settle();
    world.kubelets();
    for (auto& [name, pod] : world.pods)
      if (!pod.metadata.deleted) world.run(pod);
    world.now += 3min;
  }
  world.settle();
}

void check_rest(World& world) {
  const Plan plan = world.decide();
  CHECK(plan.empty());
  const bool owned = world.job && !world.job->metadata.deleted;
  const bool over = owned && is_finished(world.job->status);
  const bool parked = owned && !over && is_parked(world.job->status);
  for (const auto& [name, pod] : world.pods) {
    INFO(name);
    const bool live = owned && !over && !parked &&
                      owned_by(pod.metadata.owners, world.job->metadata.uid) &&
                      api::pod_identity(pod.metadata.labels)->attempt ==
                          static_cast<std::uint32_t>(world.attempt());
    if (!live) CHECK(pod.metadata.finalizers.empty());
    if (owned && !live) {
      const PodSeen seen = pod_seen(std::make_shared<GangPod>(pod));
      CHECK(seen.ended());  // kept for its logs: holds nothing
    }
  }
  if (!owned) CHECK(world.pods.empty());
  if (over || parked) CHECK(world.group == nullptr);
  if (over) CHECK(world.service == nullptr);  // over a pause it stays
  if (parked) CHECK(world.pod_names() == std::vector<std::string>{});
}

TEST_CASE("A training job comes to rest from every world and leaks nothing") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    INFO("seed " << seed);
    Rng rng(seed);
    World world;
    TrainingJob& job = world.edit();
    job.spec.nodes = 1 + static_cast<std::int32_t>(rng.below(4));
    job.spec.restart.failures_max = 5;
    if (rng.chance(0.5)) job.spec.checkpoint.uri = "gs://bucket/prefix";
    if (rng.chance(0.5)) world.in_store = found(1);
    if (rng.chance(0.3)) job.spec.scheduling.gang = api::GangScheduler::kNone;
    if (rng.chance(0.3)) job.spec.checkpoint.pause.policy = api::PausePolicy::kBestEffort;
    job.spec.ttl_after_finished = {};
    for (int i = 0; i < kSteps; ++i) step(world, rng);
    calm_down(world);
    check_rest(world);
    CHECK(world.broken == std::vector<std::string>{});
    if (!world.broken.empty()) break;
  }
}

TEST_CASE("The status of a thousand pods stays small, whatever they write") {
  World world;
  TrainingJob& job = world.edit();
  job.spec.nodes = 1000;
  job.spec.restart.failures_max = 1000;
  job.spec.restart.backoff = {};
  const std::string hostile(4000, '"');
  for (int attempt = 0; attempt < 12 && !is_finished(world.job->status); ++attempt) {
    world.reach(api::Phase::kRunning);
    for (auto& [name, pod] : world.pods) {
      if (pod.metadata.deleted || pod.status.phase != kube::PodPhase::kRunning) continue;
      world.end(pod, kube::PodPhase::kFailed, 1, std::string(200, '\\'));
      pod.status.containers[0].state.terminated->message =
          fmt::format("Error{}: {}", attempt, hostile);
      pod.spec.node = std::string(250, 'n') + std::to_string(attempt);
    }
    world.settle();
    world.now += 10min;
    CHECK(api::status_bytes(world.job->status) <= api::kStatusBytesMax);
  }
  CHECK(world.job->status.attempts.size() <= api::kAttemptsMax);
  CHECK(world.broken == std::vector<std::string>{});
}

// Names and UIDs of other namespaces come in through what is shared: nodes, queues, and objects
// that were made to look like ours.
TEST_CASE("A status does not name the owner of an object that has our name") {
  constexpr std::string_view kForeign = "tenant-b";
  const kube::OwnerReference foreign{.api_version = "amdahl.dev/v1alpha1",
                                     .kind = "TrainingJob",
                                     .name = "tenant-b-secret",
                                     .uid = "tenant-b-uid",
                                     .controller = true};
  for (const bool service : {false, true}) {
    World world;
    while (world.pods.empty()) REQUIRE(world.play(world.decide()));
    world.reach(api::Phase::kRunning);
    if (service) {
      auto taken = std::make_shared<kube::Service>(*world.service);
      taken->metadata.owners = {foreign};
      world.service = taken;
    } else {
      auto taken = std::make_shared<kube::PodGroup>(*world.group);
      taken->metadata.owners = {foreign};
      world.group = taken;
    }
    for (auto& [name, pod] : world.pods) world.end(pod, kube::PodPhase::kFailed, 1, "Error");
    for (int i = 0; i < 10; ++i) {
      world.settle();
      world.kubelets();
      world.now += 3min;
    }
    CHECK(world.job->status.pending->reason == "NameTaken");
    CHECK(encode(world.job->status).dump().find(kForeign) == std::string::npos);
  }
}

TEST_CASE("A gang costs pods + 4 writes until it exists, and none while nothing changes") {
  World world;
  world.edit().spec.nodes = 8;
  while (world.pods.size() < 8) REQUIRE(world.play(world.decide()));
  CHECK(world.writes <= 8 + 4);
  world.reach(api::Phase::kRunning);
  const std::size_t before = world.writes;
  for (int i = 0; i < 100; ++i) {
    world.now += 1h;
    CHECK(world.settle() == 0);
  }
  CHECK(world.writes == before);
}

}  // namespace
}  // namespace amdahl::training
