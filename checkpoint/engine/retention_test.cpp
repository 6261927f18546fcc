#include "checkpoint/engine/retention.hpp"

#include <catch2/catch.hpp>

namespace amdahl::checkpoint {
namespace {

CommittedCheckpoint at(std::int64_t step, std::string loss = "", std::int64_t parent = -1) {
  CommittedCheckpoint checkpoint{.step = step};
  if (!loss.empty()) checkpoint.metrics["loss"] = std::move(loss);
  if (parent >= 0) checkpoint.parent = parent;
  checkpoint.holds = {{.name = "own-" + std::to_string(step), .bytes = 10},
                      {.name = "shared", .bytes = 100}};
  return checkpoint;
}
using Steps = std::set<std::int64_t>;

TEST_CASE("Retention keeps the newest whatever the policy says") {
  CHECK(steps_to_keep({.keep_last = 0}, std::vector{at(1), at(2), at(3)}) == Steps{3});
  CHECK(steps_to_keep({.keep_last = 0, .bytes_max = 1}, std::vector{at(1), at(2)}) == Steps{2});
  CHECK(steps_to_keep({}, std::vector<CommittedCheckpoint>{}).empty());
}

TEST_CASE("Retention keeps for each of its reasons") {
  const std::vector all = {at(10, "3"), at(20, "1"), at(30, "2"), at(40, "nan"), at(50)};
  struct Row {
    const char* what;
    RetentionPolicy policy;
    Steps kept;
  };
  const std::vector<Row> rows = {
      {"last", {.keep_last = 2}, {40, 50}},
      {"more than there are", {.keep_last = 9}, {10, 20, 30, 40, 50}},
      {"every 20", {.keep_last = 1, .keep_every_steps = 20}, {20, 40, 50}},
      {"best lowest", {.keep_last = 1, .best_count = 2, .best_metric = "loss"}, {20, 30, 50}},
      {"best highest",
       {.keep_last = 1, .best_count = 1, .best_metric = "loss", .lower_is_better = false},
       {10, 50}},
      {"a metric that nobody has", {.keep_last = 1, .best_count = 2, .best_metric = "f1"}, {50}},
      {"all fit", {.keep_last = 3, .bytes_max = 130}, {30, 40, 50}},
      {"one too many", {.keep_last = 3, .bytes_max = 129}, {40, 50}},
      {"best go last",
       {.keep_last = 3, .bytes_max = 125, .best_count = 1, .best_metric = "loss"},
       {20, 50}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(steps_to_keep(row.policy, all) == row.kept);
  }
}

TEST_CASE("Retention keeps pinned checkpoints and what deltas stand on") {
  std::vector all = {at(10), at(20, "", 10), at(30, "", 20), at(40)};
  all[0].pinned = true;
  CHECK(steps_to_keep({.keep_last = 1}, all) == Steps{10, 40});
  CHECK(steps_to_keep({.keep_last = 2}, all) == Steps{10, 20, 30, 40});
  all[0].pinned = false;
  CHECK(steps_to_keep({.keep_last = 2}, all) == Steps{10, 20, 30, 40});
  all[2].pinned = true;
  CHECK(steps_to_keep({.keep_last = 1, .bytes_max = 1}, all) == Steps{10, 20, 30, 40});
}

}  // namespace
}  // namespace amdahl::checkpoint
