#include "checkpoint/engine/test_state.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/rng.hpp"

namespace amdahl::checkpoint::test {
namespace {

constexpr std::int64_t kSharedRows = 13;
constexpr std::int64_t kSharedColumns = 50;

std::string random_bytes(std::uint64_t seed, std::int64_t bytes) {
  Rng rng(seed);
  std::string text;
  while (std::cmp_less(text.size(), bytes)) {
    const std::uint64_t bits = rng.next();
    text.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  }
  text.resize(static_cast<std::size_t>(bytes));
  return text;
}

// Values near one another, as weights are, of which a step changes a few low bits.
std::string weights(std::int64_t step, std::int64_t count) {
  Rng rng(99);
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits =
        static_cast<std::uint16_t>(0x3f00U + rng.below(0x100) + (i % 7 == step % 7 ? 1 : 0));
    text += static_cast<char>(bits & 0xffU);
    text += static_cast<char>(bits >> 8U);
  }
  return text;
}

std::int64_t first_row(std::int32_t rank, std::int32_t world_size) {
  return kSharedRows * rank / world_size;
}

}  // namespace

std::vector<const std::byte*> TestState::pointers() const {
  std::vector<const std::byte*> all;
  for (const std::string& one : bytes) all.push_back(bytes_of(one).data());
  return all;
}

void TestState::add(TensorSpec spec, std::string content) {
  AMDAHL_CHECK(
      std::cmp_equal(content.size(), *element_count(spec.shape) * element_bytes(spec.dtype)));
  specs.push_back(std::move(spec));
  bytes.push_back(std::move(content));
}

TestState state_at(std::int64_t step, std::int32_t rank, std::int32_t world_size) {
  TestState state;
  const std::string own = "rank" + std::to_string(rank) + ".";
  const auto seed = static_cast<std::uint64_t>(step * 1000 + rank);
  state.add({.name = own + "weight", .dtype = Dtype::kF32, .shape = {9, 30}},
            random_bytes(seed + 1, 9 * 30 * 4));
  state.add({.name = own + "half", .dtype = Dtype::kBf16, .shape = {600}}, weights(step, 600));
  state.add({.name = own + "counter", .dtype = Dtype::kI64}, random_bytes(seed + 2, 8));
  state.add({.name = own + "frozen", .dtype = Dtype::kU8, .shape = {700}, .frozen = true},
            random_bytes(static_cast<std::uint64_t>(rank), 700));
  state.add({.name = own + "nothing", .dtype = Dtype::kF16, .shape = {0, 3}}, "");
  const std::int64_t begin = first_row(rank, world_size);
  const std::int64_t rows = first_row(rank + 1, world_size) - begin;
  const std::string whole =
      random_bytes(static_cast<std::uint64_t>(step * 1000) + 500, kSharedRows * kSharedColumns);
  state.add({.name = "shared",
             .dtype = Dtype::kU8,
             .shape = {rows, kSharedColumns},
             .global_shape = {kSharedRows, kSharedColumns},
             .offset = {begin, 0}},
            whole.substr(static_cast<std::size_t>(begin * kSharedColumns),
                         static_cast<std::size_t>(rows * kSharedColumns)));
  state.state =
      R"({"step":)" + std::to_string(step) + R"(,"weight":{"$tensor":")" + own + R"(weight"}})";
  return state;
}

RankIdentity identity(std::string attempt, std::int32_t rank, std::int32_t world_size) {
  return {.job_uid = "uid-1",
          .job = "tests/job",
          .rank = rank,
          .world_size = world_size,
          .attempt = std::move(attempt)};
}

EngineOptions small_options(RankIdentity who) {
  EngineOptions options{.who = std::move(who), .plan = {.part_bytes = 1500, .chunk_bytes = 512}};
  options.copy_threads = 1;
  options.upload_threads = 1;
  options.save_deadline = std::chrono::seconds(30);
  return options;
}

SaveRequest request_of(const TestState& state, std::int64_t step,
                       const std::vector<const std::byte*>& pointers) {
  return {.step = step, .specs = state.specs, .tensors = pointers, .state = state.state};
}

Result<void> save_step(Engine& engine, std::int64_t step) {
  const RankIdentity& who = engine.options().who;
  const TestState state = state_at(step, who.rank, who.world_size);
  const auto pointers = state.pointers();
  TRY(engine.save(request_of(state, step, pointers)));
  return engine.settle(std::chrono::minutes(1));
}

Result<std::map<std::string, std::string>> load_all(Store& store, const Chain& chain, int threads) {
  std::map<std::string, std::string> tensors;
  std::vector<TensorWanted> wanted;
  for (const TensorInfo& info : tensors_of(chain.at(0))) {
    const auto bytes = *element_count(info.shape) * element_bytes(info.dtype);
    auto& content = tensors[info.name];
    content.resize(static_cast<std::size_t>(bytes));
    wanted.push_back({.name = info.name,
                      .dtype = info.dtype,
                      .shape = info.shape,
                      .into = std::as_writable_bytes(std::span(content))});
  }
  Loader loader(store, chain, threads);
  TRY(loader.load(wanted, {}));
  return tensors;
}

std::map<std::string, std::string> expected_at(std::int64_t step, std::int32_t world_size) {
  std::map<std::string, std::string> tensors;
  for (std::int32_t rank = 0; rank < world_size; ++rank) {
    const TestState state = state_at(step, rank, world_size);
    for (std::size_t i = 0; i < state.specs.size(); ++i)
      tensors[state.specs[i].name] += state.bytes[i];  // rows of the shared one, in order
  }
  return tensors;
}

}  // namespace amdahl::checkpoint::test
