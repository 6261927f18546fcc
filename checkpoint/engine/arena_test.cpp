#include "checkpoint/engine/arena.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

namespace amdahl::checkpoint {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

Arena arena_of(std::int64_t bytes) {
  auto arena = Arena::create({.bytes = bytes});
  REQUIRE(arena.has_value());
  return *std::move(arena);
}

TEST_CASE("Arena of another process shows the same bytes") {
  auto mine = Arena::create({.bytes = 3 * kArenaAlignment, .kind = ArenaKind::kAnonymousFile});
  REQUIRE(mine.has_value());
  std::memcpy(mine->memory().data() + 5000, "snapshot", 8);
  auto other = Arena::adopt(mine->fd());
  REQUIRE(other.has_value());
  CHECK(other->bytes() == 3 * kArenaAlignment);
  CHECK(std::memcmp(other->memory().data() + 5000, "snapshot", 8) == 0);
}

TEST_CASE("Arena refuses what cannot be had, with the number of bytes") {
  CHECK(Arena::create({.bytes = 0}).error().code == Errc::kInvalid);
  CHECK(Arena::create({.bytes = kArenaBytesMax + 1}).error().code == Errc::kInvalid);
  const auto shared =
      Arena::create({.bytes = kArenaBytesMax, .kind = ArenaKind::kFile, .path = "/dev/shm/"});
  CHECK(shared.error().code == Errc::kIo);
}

TEST_CASE("Arena space gives out ranges that do not overlap, and takes them back") {
  const auto space = ArenaSpace::make(arena_of(10 * kArenaAlignment), 3);
  CHECK(space->take(10 * kArenaAlignment + 1, 0s).error().code == Errc::kTooLarge);
  auto first = space->take(3 * kArenaAlignment, 0s);
  auto second = space->take(1, 0s);
  REQUIRE(second.has_value());
  CHECK(second->begin() == 3 * kArenaAlignment);
  CHECK(space->take(7 * kArenaAlignment, 0s).error().code == Errc::kThrottled);
  *first = ArenaSpace::Lease();
  auto third = space->take(2 * kArenaAlignment, 0s);
  REQUIRE(third.has_value());
  CHECK(third->begin() == 0);
  auto fourth = space->take(6 * kArenaAlignment, 0s);
  REQUIRE(fourth.has_value());
  CHECK(fourth->begin() == 4 * kArenaAlignment);
  CHECK(space->take(1, 0s).error().code == Errc::kThrottled);  // three at most
}

TEST_CASE("Arena space waits for a lease to end, no longer than asked") {
  const auto space = ArenaSpace::make(arena_of(kArenaAlignment), 2);
  auto first = space->take(1, 0s);
  REQUIRE(first.has_value());
  CHECK(space->take(1, 10ms).error().code == Errc::kThrottled);
  std::jthread other([&] { *first = ArenaSpace::Lease(); });
  CHECK(space->take(1, 60s).has_value());
  other.join();
  CHECK(space->idle());
}

}  // namespace
}  // namespace amdahl::checkpoint
