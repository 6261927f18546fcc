#include "operator/training/checkpoint_looks.hpp"

#include "operator/training/test_live.hpp"

namespace amdahl::training {
namespace {

using namespace std::chrono_literals;

const kube::ObjectKey kKey{.ns = "research", .name = "llama"};

struct Desk {
  boost::asio::io_context io;
  ManualClock clock;
  FakeReader reader{clock};
  CheckpointLooks looks{io.get_executor(), clock, &reader};
  std::vector<kube::ObjectKey> woken;

  Desk() {
    looks.on_news([this](const kube::ObjectKey& key) { woken.push_back(key); });
  }
  static Task<void> with_workers(Desk& desk, Task<void> steps) {
    TaskGroup group(desk.io.get_executor());
    for (int i = 0; i < kLookersMax; ++i) group.spawn("looker", desk.looks.work());
    co_await std::move(steps);
    group.stop();
    CHECK(co_await group.join(desk.clock, desk.clock.monotonic() + 1s));
  }
  void run(Task<void> steps) { run_simulated(io, clock, with_workers(*this, std::move(steps))); }
};

Task<void> asks_twice(Desk& desk) {
  desk.looks.ask(kKey, {.job_uid = "u", .attempt = 2, .uri = "gs://b/p"});
  desk.looks.ask(kKey, {.job_uid = "u", .attempt = 2, .uri = "gs://b/p"});
  CHECK_FALSE(desk.looks.of("u", 2));
  co_await desk.clock.sleep_for(2s);
  CHECK(desk.reader.asked.size() == 1);
  CHECK(desk.woken == std::vector{kKey});
  REQUIRE(desk.looks.of("u", 2));
  CHECK(desk.looks.of("u", 2)->finding == CheckpointFinding{});
  CHECK_FALSE(desk.looks.of("u", 3));  // another attempt has its own
  desk.looks.ask(kKey, {.job_uid = "u", .attempt = 2, .uri = "gs://b/p"});
  CHECK(desk.looks.of("u", 2));  // stays until the next one has ended
  co_await desk.clock.sleep_for(2s);
  CHECK(desk.reader.asked.size() == 2);
}

TEST_CASE("CheckpointLooks: one look at a time for an attempt, and again when asked again") {
  Desk desk;
  desk.run(asks_twice(desk));
}

Task<void> slow_store(Desk& desk) {
  desk.reader.takes = 1h;
  for (int i = 0; i < 2 * kLookersMax; ++i)
    desk.looks.ask(kKey, {.job_uid = std::to_string(i), .attempt = 1, .uri = "gs://b/p"});
  co_await desk.clock.sleep_for(kLookMax + 1s);
  for (int i = 0; i < 2 * kLookersMax; ++i) {
    const auto look = desk.looks.of(std::to_string(i), 1);
    REQUIRE(look);
    CHECK_FALSE(look->finding);
    CHECK_FALSE(look->unreadable.empty());
  }
  CHECK(desk.reader.asked.size() == kLookersMax);
}

TEST_CASE("CheckpointLooks: every ask is answered in time, however slow stores are") {
  Desk desk;
  desk.run(slow_store(desk));
}

Task<void> too_many(Desk& desk) {
  const std::size_t all = kLooksWaitingMax + 1;
  for (std::size_t i = 0; i < all; ++i)
    desk.looks.ask(kKey, {.job_uid = std::to_string(i), .attempt = 1, .uri = "gs://b/p"});
  CHECK(desk.looks.of(std::to_string(all - 1), 1));  // at once
  CHECK(desk.woken.size() == 1);
  co_return;
}

TEST_CASE("CheckpointLooks: what finds the line full is told so at once") {
  Desk desk;
  desk.run(too_many(desk));
}

Task<void> goes_meanwhile(Desk& desk) {
  desk.looks.ask(kKey, {.job_uid = "u", .attempt = 2, .uri = "gs://b/p"});
  co_await desk.clock.sleep_for(500ms);
  desk.looks.forget("u");
  co_await desk.clock.sleep_for(2s);
  CHECK(desk.woken.empty());
  CHECK(desk.looks.jobs() == 0);
}

TEST_CASE("CheckpointLooks: nothing is kept of a job that went meanwhile") {
  Desk desk;
  desk.run(goes_meanwhile(desk));
}

}  // namespace
}  // namespace amdahl::training
