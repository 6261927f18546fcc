#include "operator/waste/fallback.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "base/rng.hpp"
#include "operator/waste/phase_rows.hpp"

namespace amdahl::waste {
namespace {

using Attempts = std::vector<api::AttemptStatus>;

api::AttemptStatus attempt(std::int32_t number, std::optional<std::int64_t> from, std::int64_t last,
                           std::int64_t trained) {
  return {.number = number,
          .last_step = last,
          .resumed_from_step = from,
          .held_gpu_seconds = trained,
          .trained_gpu_seconds = trained};
}

// As settling left it: `productive` of it kept.
api::GpuSecondsStatus settled(std::int32_t number, std::int64_t productive, std::int64_t lost) {
  PerPhase<std::int64_t> phases;
  phases[Phase::kInit] = 7;
  phases[Phase::kProductive] = productive;
  phases[Phase::kLostWork] = lost;
  return {.settled = api::SettledGpuSeconds{.attempt = number, .phases = to_rows(phases)}};
}

std::pair<std::int64_t, std::int64_t> kept_and_lost(const api::GpuSecondsStatus& account) {
  const auto phases = from_rows(account.settled->phases);
  CHECK(phases[Phase::kInit] == 7);
  return {phases[Phase::kProductive], phases[Phase::kLostWork]};
}

TEST_CASE("A fallback moves the seconds of the steps that are done again") {
  struct Row {
    std::string_view what;
    Attempts attempts;
    std::int64_t productive;
    std::int64_t lost;
    Fallback fallback;
    std::int64_t kept;
  };
  const Row rows[] = {
      {"one checkpoint back", {attempt(1, {}, 100, 1000)}, 800, 200, {80, 60}, 600},
      {"to the beginning", {attempt(1, {}, 100, 1000)}, 800, 200, {80, 0}, 0},
      {"the same one", {attempt(1, {}, 100, 1000)}, 800, 200, {80, 80}, 800},
      {"a newer one gives back", {attempt(1, {}, 100, 1000)}, 800, 200, {80, 95}, 950},
      {"beyond the last step", {attempt(1, {}, 100, 1000)}, 800, 200, {80, 120}, 1000},
      // Steps of the second attempt cost twice as much.
      {"within the newest",
       {attempt(1, {}, 50, 500), attempt(2, 50, 100, 1000)},
       1500,
       0,
       {100, 75},
       1000},
      {"beyond the newest",
       {attempt(1, {}, 50, 500), attempt(2, 50, 100, 1000)},
       1500,
       0,
       {100, 25},
       250},
      // The first had come to 60, the second did 40 to 60 again.
      {"steps that were lost stay lost",
       {attempt(1, {}, 60, 600), attempt(2, 40, 80, 400)},
       800,
       200,
       {80, 50},
       500},
      {"another place: the first is gone already",
       {attempt(1, {}, 60, 600), attempt(2, {}, 80, 800)},
       800,
       600,
       {80, 40},
       400},
      {"not settled: its own account says it",
       {attempt(1, {}, 50, 500), attempt(3, 50, 100, 1000)},
       500,
       0,
       {100, 75},
       500},
      {"and those before it",
       {attempt(1, {}, 50, 500), attempt(3, 50, 100, 1000)},
       500,
       0,
       {100, 25},
       250},
      {"forgotten attempts", {attempt(12, 50, 100, 1000)}, 1500, 0, {100, 25}, 250},
      {"forgotten attempts, to the beginning", {attempt(12, 50, 100, 1000)}, 1500, 0, {100, 0}, 0},
      {"no steps", {attempt(1, {}, 0, 1000)}, 800, 200, {80, 0}, 800},
      {"no attempts", {}, 800, 200, {80, 0}, 800},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const std::int32_t newest = row.attempts.empty() ? 2 : row.attempts.front().number + 1;
    api::GpuSecondsStatus account = settled(newest, row.productive, row.lost);
    recount(account, row.attempts, row.fallback);
    CHECK(kept_and_lost(account) == std::pair(row.kept, row.productive + row.lost - row.kept));
  }
}

TEST_CASE("Two fallbacks in a row lose what one of both would, and a way back gives it again") {
  const Attempts attempts = {attempt(1, {}, 100, 999)};
  api::GpuSecondsStatus once = settled(1, 799, 200);
  api::GpuSecondsStatus twice = once;
  const api::GpuSecondsStatus before = once;
  recount(once, attempts, {80, 20});
  recount(twice, attempts, {80, 60});
  recount(twice, attempts, {60, 20});
  CHECK(once == twice);
  recount(twice, attempts, {20, 80});
  CHECK(twice == before);
}

TEST_CASE("Without anything settled nothing is counted") {
  api::GpuSecondsStatus account{.held = 5};
  recount(account, Attempts{attempt(1, {}, 100, 1000)}, {80, 0});
  CHECK(account == api::GpuSecondsStatus{.held = 5});
}

TEST_CASE("Whatever a status says, seconds are neither made nor lost nor negative") {
  Rng rng(20261117);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto any = [&rng] {
    const std::int64_t values[] = {-kMost - 1, -1, 0, 1, 50, 80, 100, api::kIntegerMax, kMost};
    return values[rng.below(std::size(values))];
  };
  for (int round = 0; round < 5000; ++round) {
    Attempts attempts;
    const auto count = rng.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      attempts.push_back(attempt(static_cast<std::int32_t>(rng.below(5)), any(), any(), any()));
      if (rng.below(2) == 0) attempts.back().resumed_from_step.reset();
    }
    api::GpuSecondsStatus account = settled(3, static_cast<std::int64_t>(rng.below(1000)), 100);
    const std::int64_t sum = from_rows(account.settled->phases).sum();
    recount(account, attempts, {any(), any()});
    const auto after = from_rows(account.settled->phases);
    CHECK(after.sum() == sum);
    CHECK(*std::ranges::min_element(after.values) >= 0);
  }
}

}  // namespace
}  // namespace amdahl::waste
