// A process that is killed while it saves, and what looks at the prefix after it.
//
//   checkpoint_victim save DIR STEP    saves STEP, STEP + 1, ... until it is killed; says each
//   commit checkpoint_victim check DIR STEP   the newest is sound, at least STEP, and as it was
//   saved; then
//                                      a last save and its collection; prints "newest N unneeded M"
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/file_store.hpp"
#include "tests/checkpoint/prefix_check.hpp"

namespace amdahl::checkpoint::test {
namespace {

constexpr std::int64_t kBigBytes = std::int64_t{6} << 20U;

// Values that follow from the step, so that a mixture of two steps is seen.
std::string big_at(std::int64_t step) {
  std::string bytes(static_cast<std::size_t>(kBigBytes), '\0');
  Rng rng(static_cast<std::uint64_t>(step));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = rng.next();
    std::copy_n(reinterpret_cast<const char*>(&bits), sizeof(bits), bytes.data() + at);
  }
  return bytes;
}

Result<void> save(Engine& engine, std::int64_t step) {
  TestState state = state_at(step);
  state.add({.name = "big", .dtype = Dtype::kU8, .shape = {kBigBytes}}, big_at(step));
  const auto pointers = state.pointers();
  TRY(engine.save(request_of(state, step, pointers)));
  return engine.settle(std::chrono::minutes(5));
}

Result<std::unique_ptr<Engine>> engine_on(Store& store, Clock& clock, Waiter& waiter) {
  EngineOptions options = small_options(identity(random_attempt_id()));
  options.plan = {.part_bytes = std::int64_t{2} << 20U, .chunk_bytes = 65'536};
  options.upload_threads = 3;
  options.retention.keep_last = 2;
  return Engine::open(store, clock, waiter, std::move(options));
}

Result<void> run_saves(Store& store, std::int64_t step) {
  RealClock clock;
  RealWaiter waiter;
  TRY(const auto engine, engine_on(store, clock, waiter));
  for (;; ++step) {
    TRY(save(*engine, step));
    fmt::print("committed {}\n", step);
    std::fflush(stdout);
  }
}

Result<void> check(Store& store, std::int64_t at_least) {
  RealClock clock;
  RealWaiter waiter;
  TRY(const Newest newest, fetch_newest(store, {}));
  if (!newest.passed_over.empty())
    return fail(Errc::kCorrupt, "step {}: {}", newest.passed_over[0].step,
                newest.passed_over[0].why);
  std::int64_t step = -1;
  if (!newest.chain.empty()) {
    step = newest.chain[0].step();
    auto expected = expected_at(step);
    expected["big"] = big_at(step);
    TRY(const auto tensors, load_all(store, newest.chain));
    if (tensors != expected) return fail(Errc::kCorrupt, "step {} has other bytes", step);
  }
  if (step < at_least) return fail(Errc::kCorrupt, "newest {}, {} was committed", step, at_least);
  TRY(const auto engine, engine_on(store, clock, waiter));
  TRY(save(*engine, step + 1));
  fmt::print("newest {} unneeded {}\n", step, unneeded_objects(store));
  return {};
}

}  // namespace

int victim_main(std::string_view verb, std::string folder, std::string_view step_text) {
  std::int64_t step = 0;
  std::from_chars(step_text.data(), step_text.data() + step_text.size(), step);
  RealClock clock;
  FileStore store({.root = std::move(folder)}, clock,
                  Rng(std::hash<std::string>()(random_attempt_id())));
  const auto done = verb == "save" ? run_saves(store, step) : check(store, step);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().context);
  return 1;
}

}  // namespace amdahl::checkpoint::test

int main(int count, char** words) {
  if (count != 4) return 2;
  return amdahl::checkpoint::test::victim_main(words[1], words[2], words[3]);
}
