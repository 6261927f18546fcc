// A snapshot that one process took and another one, which has the same arena, writes and commits.
#include <catch2/catch.hpp>
#include <cstring>

#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/memory_store.hpp"

namespace amdahl::checkpoint {
namespace {

// Where a trainer left a snapshot and its record.
struct LeftBehind {
  std::size_t record_begin = 0;
  std::size_t record_bytes = 0;
};

LeftBehind take_snapshot(const Arena& arena, std::int64_t step) {
  const test::TestState state = test::state_at(step);
  const auto plan = plan_snapshot(state.specs, {.part_bytes = 1500, .chunk_bytes = 512});
  const auto pointers = state.pointers();
  constexpr std::int64_t kBegin = 2 * kArenaAlignment;
  const auto sums =
      copy_tensors({.plan = **plan, .tensors = pointers, .memory = arena.memory().subspan(kBegin)});
  SnapshotRecord record = record_of(**plan, sums, kBegin);
  record.step = step;
  const std::string text = write_snapshot_record(record);
  LeftBehind left{.record_begin = static_cast<std::size_t>(kBegin + (*plan)->memory_bytes),
                  .record_bytes = text.size()};
  std::memcpy(arena.memory().data() + left.record_begin, text.data(), text.size());
  return left;
}

TEST_CASE("A record with the text of its plan's tensors is the same record") {
  const test::TestState state = test::state_at(3);
  const auto plan = *plan_snapshot(state.specs, {.part_bytes = 1500, .chunk_bytes = 512});
  const auto arena = *Arena::create({.bytes = 1 << 18});
  const auto pointers = state.pointers();
  const auto sums = copy_tensors({.plan = *plan, .tensors = pointers, .memory = arena.memory()});
  SnapshotRecord whole = record_of(*plan, sums, 4096);
  SnapshotRecord objects = objects_of(*plan, sums, 4096);
  whole.step = objects.step = 3;
  whole.state = objects.state = {{"lr", 1}};
  whole.metrics = objects.metrics = {{"loss", "1.5"}};
  CHECK(write_snapshot_record(objects, write_tensors(*plan)) == write_snapshot_record(whole));
}

TEST_CASE("A snapshot in a shared arena is finished by another process") {
  MemoryStore store;
  RealClock clock;
  RealWaiter waiter;
  std::optional<Arena> trainers =
      *Arena::create({.bytes = 1 << 18, .kind = ArenaKind::kAnonymousFile});
  const Arena agents = *Arena::adopt(trainers->fd());
  const LeftBehind left = take_snapshot(*trainers, 12);
  trainers.reset();  // the trainer is gone

  const Bytes memory = agents.memory();
  const auto record = read_snapshot_record(
      text_of(memory.subspan(left.record_begin, left.record_bytes)), agents.bytes());
  REQUIRE(record.has_value());
  std::vector<Bytes> bytes;
  for (const SnapshotObject& object : record->objects)
    bytes.push_back(memory.subspan(static_cast<std::size_t>(object.begin),
                                   static_cast<std::size_t>(object.record.bytes)));
  const RankIdentity who = test::identity("a");
  const SaveKey key{.step = record->step, .save_id = save_id(who.attempt, record->step, 0)};
  Saver saver(store, clock, who, 2);
  REQUIRE(saver.save({.record = *record, .bytes = bytes, .save_id = key.save_id}, {}).has_value());
  Committer committer(store, clock, waiter);
  REQUIRE(committer.commit({.job_uid = who.job_uid, .save = key}, {}).has_value());
  CHECK(*test::load_all(store, *fetch_chain(store, 12, {})) == test::expected_at(12));
}

}  // namespace
}  // namespace amdahl::checkpoint
