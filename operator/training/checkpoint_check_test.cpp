#include "operator/training/checkpoint_check.hpp"

#include <catch2/catch.hpp>

#include "operator/training/test_world.hpp"

namespace amdahl::training {
namespace {

TEST_CASE("as_address: a path of an older launcher has the scheme that it stands for") {
  CHECK(as_address("/c/7") == "file:///c/7");
  CHECK(as_address("file:///c/7") == "file:///c/7");
  CHECK(as_address("gs://b/p") == "gs://b/p");
  CHECK(as_address("").empty());
}

TEST_CASE("lies_below: the same place, or one below it") {
  struct Row {
    std::string_view part;
    std::string_view whole;
    bool below;
  };
  const Row rows[] = {
      {"gs://b/p", "gs://b/p", true},       {"gs://b/p/", "gs://b/p", true},
      {"gs://b/p", "gs://b/p/", true},      {"gs://b/p/run-1", "gs://b/p", true},
      {"gs://b/prefix", "gs://b/p", false}, {"gs://b", "gs://b/p", false},
      {"s3://b/p", "gs://b/p", false},      {"/ckpt", "file:///ckpt", true},
      {"/ckpt/a", "file:///ckpt/", true},   {"file:///ckpt", "/ckpt", true},
      {"/ckpt2", "file:///ckpt", false},    {"/ckpt/../etc", "file:///ckpt", false},
      {"gs://b/p/..", "gs://b/p", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.part, row.whole);
    CHECK(lies_below(row.part, row.whole) == row.below);
  }
}

// A job of one rank whose last words tell of a checkpoint of step 62.
World ended(std::string uri, std::string path, std::string digest) {
  World world;
  TrainingJob& job = world.edit();
  job.spec.nodes = 1;
  job.spec.checkpoint.uri = std::move(uri);
  world.reach(api::Phase::kRunning);
  world.report(0).step = 64;
  world.report(0).checkpoint = api::ReportCheckpoint{
      .step = 62, .path = std::move(path), .manifest_digest = std::move(digest)};
  world.end(*world.pod(0U), kube::PodPhase::kFailed, 1, "Error");
  (void)world.play(world.decide());
  return world;
}

TEST_CASE("Where a checkpoint is looked at: where the report says, below the spec's place") {
  struct Row {
    const char* uri;
    const char* path;
    const char* asked;  // "": nobody looks
  };
  const Row rows[] = {
      {"gs://b/p", "gs://b/p", "gs://b/p"},
      {"gs://b/p", "gs://b/p/run-1", "gs://b/p/run-1"},
      {"gs://b/p", "", "gs://b/p"},  // a last report has no room for it
      {"file:///ckpt", "/ckpt", "file:///ckpt"},
      {"file:///ckpt", "/etc", ""},
      {"gs://b/p", "gs://secret/p", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.uri, row.path);
    World world = ended(row.uri, row.path, "sha256:62");
    world.in_store = CheckpointFinding{};
    CHECK(world.job->status.attempts.back().resumed_from_step == 62);
    const Plan plan = world.decide();
    CHECK((plan.look_at_checkpoint ? plan.look_at_checkpoint->uri : "") == row.asked);
    CHECK(world.broken.empty());
  }
}

TEST_CASE("A checkpoint without a digest is another trainer's, and nobody looks") {
  World world = ended("gs://b/p", "gs://b/p", "");
  world.in_store = CheckpointFinding{};
  CHECK_FALSE(world.decide().look_at_checkpoint);
  CHECK(world.job->status.attempts.back().resumed_from_step == 62);
}

}  // namespace
}  // namespace amdahl::training
