#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "base/rng.hpp"
#include "checkpoint/engine/arena.hpp"
#include "checkpoint/engine/snapshot_copy.hpp"
#include "checkpoint/engine/snapshot_record.hpp"

namespace amdahl::checkpoint {
namespace {

struct State {
  std::vector<TensorSpec> specs = {};
  std::vector<std::string> bytes = {};
  std::vector<const std::byte*> pointers() const {
    std::vector<const std::byte*> all;
    for (const std::string& one : bytes) all.push_back(bytes_of(one).data());
    return all;
  }
};

State random_state(Rng& rng) {
  State state;
  const std::size_t count = 1 + rng.below(12);
  constexpr std::array kDtypes = {Dtype::kU8, Dtype::kBf16, Dtype::kF32, Dtype::kI64};
  for (std::size_t i = 0; i < count; ++i) {
    TensorSpec spec{.name = "t" + std::to_string(i), .dtype = kDtypes[rng.below(4)]};
    if (rng.chance(0.9)) spec.shape = {static_cast<std::int64_t>(rng.below(40))};
    if (rng.chance(0.4)) spec.shape.push_back(static_cast<std::int64_t>(rng.below(30)));
    spec.frozen = rng.chance(0.3);
    std::string bytes(
        static_cast<std::size_t>(*element_count(spec.shape) * element_bytes(spec.dtype)), '\0');
    for (char& c : bytes) c = static_cast<char>(rng.below(256));
    state.specs.push_back(spec);
    state.bytes.push_back(bytes);
  }
  return state;
}

TEST_CASE("Snapshot's objects hold every tensor, and its sums are theirs") {
  const std::uint64_t seed = 7;
  INFO("seed " << seed);
  Rng rng(seed);
  for (int round = 0; round < 200; ++round) {
    INFO("round " << round);
    const State state = random_state(rng);
    const auto plan = plan_snapshot(
        state.specs,
        {.part_bytes = 1 + static_cast<std::int64_t>(rng.below(6000)), .chunk_bytes = 512});
    REQUIRE(plan.has_value());
    std::vector<std::byte> memory(static_cast<std::size_t>((*plan)->memory_bytes));
    const auto sums = copy_tensors({.plan = **plan,
                                    .tensors = state.pointers(),
                                    .memory = memory,
                                    .threads = static_cast<int>(1 + rng.below(3))});
    std::size_t seen = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const PlannedObject& object = (*plan)->objects[i];
      CHECK(object.begin % kArenaAlignment == 0);
      const Bytes bytes = Bytes(memory).subspan(static_cast<std::size_t>(object.begin),
                                                static_cast<std::size_t>(sums[i].bytes));
      ChunkSummer summer(512);
      summer.add(bytes);
      CHECK(summer.finish() == sums[i]);
      const auto header = read_header(bytes, sums[i].bytes);
      REQUIRE(header.has_value());
      for (std::size_t t = 0; t < header->tensors.size(); ++t, ++seen) {
        const HeaderTensor& tensor = header->tensors[t];
        const std::size_t spec = object.tensors[t];
        CHECK(tensor.name == state.specs[spec].name);
        CHECK(text_of(bytes.subspan(static_cast<std::size_t>(tensor.begin),
                                    static_cast<std::size_t>(tensor.end - tensor.begin))) ==
              state.bytes[spec]);
      }
    }
    CHECK(seen == state.specs.size());
  }
}

TEST_CASE("Snapshot sums without copying when told so") {
  Rng rng(3);
  State state = random_state(rng);
  for (TensorSpec& spec : state.specs) spec.frozen = true;
  state.specs.push_back({.name = "moving", .dtype = Dtype::kU8, .shape = {}});
  state.specs.back().frozen = false;
  state.bytes.emplace_back("x");
  const auto plan = plan_snapshot(state.specs, {.chunk_bytes = 512});
  REQUIRE((*plan)->objects.size() == 2);
  std::vector<std::byte> memory(static_cast<std::size_t>((*plan)->memory_bytes), std::byte{9});
  const auto pointers = state.pointers();
  const auto copied = copy_tensors({.plan = **plan, .tensors = pointers, .memory = memory});
  std::vector<std::byte> untouched(memory.size(), std::byte{9});
  const auto summed = copy_tensors(
      {.plan = **plan, .tensors = pointers, .memory = untouched, .sum_only = {false, true}});
  CHECK(summed == copied);
  CHECK(untouched.back() == std::byte{9});
  CHECK(std::memcmp(untouched.data() + (*plan)->objects[1].begin, memory.data(), 8) != 0);
}

TEST_CASE("Plan cuts parts, keeps shards apart and never freezes everything") {
  const auto spec = [](std::string name, bool frozen = false) {
    return TensorSpec{
        .name = std::move(name), .dtype = Dtype::kU8, .shape = {100}, .frozen = frozen};
  };
  const auto parts = [](std::vector<TensorSpec> specs) {
    const auto plan = plan_snapshot(std::move(specs), {.part_bytes = 250, .chunk_bytes = 512});
    std::vector<std::size_t> sizes;
    for (const PlannedObject& object : (*plan)->objects)
      sizes.push_back(object.tensors.size() + (object.blob ? 100 : 0));
    return sizes;
  };
  CHECK(parts({spec("a"), spec("b"), spec("c")}) == std::vector<std::size_t>{2, 1});
  CHECK(parts({spec("a"), spec("a")}) == std::vector<std::size_t>{1, 1});
  CHECK(parts({spec("a", true), spec("b", true)}) == std::vector<std::size_t>{1, 101});
  CHECK(parts({}).empty());
  CHECK(plan_snapshot({{.name = "x", .shape = {-1}}}, {}).error().code == Errc::kTooLarge);
  CHECK(plan_snapshot({}, {.chunk_bytes = 1000}).error().code == Errc::kInvalid);
}

TEST_CASE("Snapshot record survives being written into the arena") {
  Rng rng(11);
  const State state = random_state(rng);
  const auto plan = plan_snapshot(state.specs, {.chunk_bytes = 512});
  std::vector<std::byte> memory(static_cast<std::size_t>((*plan)->memory_bytes));
  const auto sums = copy_tensors({.plan = **plan, .tensors = state.pointers(), .memory = memory});
  SnapshotRecord record = record_of(**plan, sums, 8192);
  record.step = 12;
  record.state = {{"epoch", 3}};
  record.metrics = {{"loss", "0.5"}};
  const std::string text = write_snapshot_record(record);
  const std::int64_t arena = 8192 + (*plan)->memory_bytes;
  const auto read = read_snapshot_record(text, arena);
  INFO((read ? "" : read.error().context));
  REQUIRE(read.has_value());
  CHECK(*read == record);
  CHECK(read_snapshot_record(text, 8192).error().code == Errc::kInvalid);
  for (std::size_t at = 0; at < text.size(); at += 7) {
    std::string bad = text;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    CHECK_FALSE(read_snapshot_record(bad, arena).has_value());
  }
  record.objects[0].record.name = "owner.jsonl";
  record.objects[0].role = SnapshotRole::kStored;
  CHECK_FALSE(read_snapshot_record(write_snapshot_record(record), arena).has_value());
}

}  // namespace
}  // namespace amdahl::checkpoint
