#include "operator/process/checkpoint_finder.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "base/rng.hpp"
#include "checkpoint/engine/cadence.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/memory_store.hpp"
#include "operator/training/checkpoint_interval.hpp"

namespace amdahl {
namespace {

using checkpoint::MemoryStore;
using training::CheckpointFinding;

const checkpoint::RankIdentity kWho = checkpoint::test::identity("a");

void save(MemoryStore& store, std::initializer_list<std::int64_t> steps) {
  RealClock clock;
  checkpoint::RealWaiter waiter;
  auto options = checkpoint::test::small_options(kWho);
  options.retention.keep_last = 10;
  const auto engine = checkpoint::Engine::open(store, clock, waiter, std::move(options));
  REQUIRE(engine.has_value());
  for (const std::int64_t step : steps) REQUIRE(checkpoint::test::save_step(**engine, step));
}

Result<CheckpointFinding> find(MemoryStore& store, bool may_be_empty = true) {
  const RealClock clock;
  checkpoint::ReadBudget budget(clock, kLookBytesMax);
  return find_checkpoint(store, {.job_uid = kWho.job_uid, .may_be_empty = may_be_empty}, budget,
                         {});
}

// The first object of that kind and step.
std::string object_of(const MemoryStore& store, checkpoint::ObjectKind kind, std::int64_t step) {
  for (const auto& [name, content] : store.objects())
    if (const auto parsed = checkpoint::parse_name(name);
        parsed && parsed->kind == kind && parsed->step == step)
      return name;
  FAIL("there is none");
  return "";
}

void flip(MemoryStore& store, const std::string& name) {
  std::string content = store.objects().at(name);
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
  store.replace(name, std::move(content));
}

TEST_CASE("find_checkpoint: the newest, with its digest and size") {
  MemoryStore store;
  save(store, {60, 62});
  const auto found = find(store);
  REQUIRE(found);
  REQUIRE(found->newest);
  CHECK(found->newest->step == 62);
  CHECK(found->newest->digest.starts_with("sha256:"));
  CHECK(found->newest->digest.size() == 7 + 64);
  CHECK(found->newest->bytes > 0);
  CHECK(found->newest->committed_at);
  CHECK(found->passed_over.empty());
}

TEST_CASE("find_checkpoint: whatever of the newest is damaged, the one before is found") {
  using Kind = checkpoint::ObjectKind;
  for (const Kind kind : {Kind::kManifest, Kind::kReceipt, Kind::kData}) {
    for (const char* how : {"flipped", "cut", "gone"}) {
      CAPTURE(static_cast<int>(kind), how);
      MemoryStore store;
      save(store, {60, 62});
      const std::string name = object_of(store, kind, 62);
      const std::string content = store.objects().at(name);
      if (how == std::string_view("flipped")) flip(store, name);
      if (how == std::string_view("cut")) store.replace(name, content.substr(1));
      if (how == std::string_view("gone")) REQUIRE(store.remove(name, {}));
      const auto found = find(store);
      REQUIRE(found);
      REQUIRE(found->newest);
      // Bytes of tensors are not read here; a manifest that is gone was never a commit.
      const bool unseen = kind == Kind::kData && how == std::string_view("flipped");
      const bool uncommitted = kind == Kind::kManifest && how == std::string_view("gone");
      CHECK(found->newest->step == (unseen ? 62 : 60));
      REQUIRE(found->passed_over.size() == (unseen || uncommitted ? 0 : 1));
      if (unseen || uncommitted) continue;
      CHECK(found->passed_over[0].step == 62);
      CHECK_FALSE(found->passed_over[0].why.empty());
    }
  }
}

// Whatever is wrong with a record, what is found is a step whose records are all as they were.
TEST_CASE("find_checkpoint: random damage of records is never taken for sound") {
  MemoryStore whole;
  save(whole, {58, 60, 62});
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    MemoryStore store;
    std::set<std::int64_t> damaged;
    for (const auto& [name, content] : whole.objects()) {
      const auto parsed = checkpoint::parse_name(name);
      const bool record = parsed && (parsed->kind == checkpoint::ObjectKind::kManifest ||
                                     parsed->kind == checkpoint::ObjectKind::kReceipt);
      std::string kept = content;
      if (record && rng.chance(0.3)) {
        damaged.insert(parsed->step);
        const std::size_t at = rng.below(kept.size());
        if (rng.chance(0.5))
          kept.resize(at);
        else
          kept[at] = static_cast<char>(kept[at] ^ (1 << rng.below(8)));
      }
      store.replace(name, std::move(kept));
    }
    const auto found = find(store);
    REQUIRE(found);
    std::optional<std::int64_t> expected;
    for (const std::int64_t step : {58, 60, 62})
      if (!damaged.contains(step)) expected = step;
    CHECK((found->newest ? std::optional(found->newest->step) : std::nullopt) == expected);
    for (const training::PassedStep& one : found->passed_over) CHECK(damaged.contains(one.step));
  }
}

TEST_CASE("find_checkpoint: all are damaged, and each is named") {
  MemoryStore store;
  save(store, {58, 60, 62});
  for (const std::int64_t step : {58, 60, 62}) flip(store, checkpoint::manifest_name(step));
  const auto found = find(store);
  REQUIRE(found);
  CHECK_FALSE(found->newest);
  CHECK(found->passed_over.size() == 3);
}

TEST_CASE("find_checkpoint: a place without a trace of the job") {
  MemoryStore store;
  const auto found = find(store);
  REQUIRE(found);
  CHECK(*found == CheckpointFinding{});
  const auto folder = find(store, false);
  REQUIRE_FALSE(folder);
  CHECK(folder.error().code == Errc::kNotFound);
}

// The controller may not include the engine; the formula is the engine's all the same.
TEST_CASE("How often to save is what the engine would say") {
  for (const double stall : {0.0001, 0.1, 1.0, 17.0, 4000.0}) {
    for (const std::int32_t restarts : {0, 1, 40}) {
      api::TrainingJobStatus status;
      status.restarts = restarts;
      status.elapsed.active_seconds = 100'000;
      status.checkpoint = api::CheckpointStatus{.stall_seconds = stall};
      const checkpoint::Seconds expected = checkpoint::save_interval(
          checkpoint::Seconds(stall),
          checkpoint::Seconds(training::mean_seconds_between_failures(status)),
          {.min = checkpoint::Seconds(training::kIntervalSecondsMin),
           .max = checkpoint::Seconds(training::kIntervalSecondsMax)});
      CAPTURE(stall, restarts);
      CHECK(training::interval_seconds({}, status) == std::llround(expected.count()));
    }
  }
}

TEST_CASE("find_checkpoint: a prefix of another job is not read", "[A3][D4]") {
  struct Row {
    std::string_view owner;
    std::string_view words;
  };
  const Row rows[] = {
      {"research/llama", "TrainingJob research/llama"},
      {"research/second",
       "an earlier TrainingJob with the name research/second, which was deleted"},
      {"secret/plan", "another job"},
      {"researchers/x", "another job"},
      {"research/<b>\\n", "another job"},
      {"", "another job"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.owner);
    MemoryStore store;
    save(store, {60});
    store.replace("owner.jsonl", checkpoint::write_owner(
                                     {.job_uid = "uid-of-another", .job = std::string(row.owner)}));
    const RealClock clock;
    checkpoint::ReadBudget budget(clock, kLookBytesMax);
    const auto found =
        find_checkpoint(store, {.job_uid = kWho.job_uid, .job = "research/second"}, budget, {});
    REQUIRE(found);
    CHECK_FALSE(found->newest);
    CHECK(found->taken_by == row.words);
  }
}

}  // namespace
}  // namespace amdahl
