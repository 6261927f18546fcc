#include "checkpoint/engine/collection.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/rng.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {
namespace {

const std::string kAttempt = "attempt-a";

// A prefix as names: which save put up what, and what manifests say. The oracle below looks at
// nothing else.
struct Model {
  CollectionInput input = {};
  std::map<std::int64_t, std::vector<std::string>> named = {};  // by manifests

  void list(const std::string& name) { input.listed.push_back({.name = name, .bytes = 7}); }
  std::vector<std::string> save(std::int64_t step, const std::string& id, int parts) {
    std::vector<std::string> names;
    for (std::int32_t part = 0; part < parts; ++part)
      names.push_back(write_name(
          {.kind = ObjectKind::kData, .step = step, .save_id = id, .rank = 0, .part = part}));
    names.push_back(write_name({.kind = ObjectKind::kReceipt, .step = step, .save_id = id}));
    for (const std::string& name : names) list(name);
    return names;
  }
  void commit(std::int64_t step, const std::string& id, std::vector<std::string> names,
              std::optional<std::int64_t> parent = {}) {
    CommittedCheckpoint checkpoint{.step = step, .save_id = id, .parent = parent};
    for (const std::string& name : names) checkpoint.holds.push_back({.name = name, .bytes = 7});
    input.committed.push_back(std::move(checkpoint));
    named[step] = std::move(names);
    list(manifest_name(step));
  }
};

std::string blob(int number) {
  return write_name(
      {.kind = ObjectKind::kBlob, .sha256 = hex(sha256("blob " + std::to_string(number)))});
}
std::vector<std::string> removed(const CollectionPlan& plan) {
  std::vector<std::string> names;
  for (const StoredObject& object : plan.remove) names.push_back(object.name);
  return names;
}
bool goes(const CollectionPlan& plan, const std::string& name) {
  return std::ranges::count(removed(plan), name) == 1;
}

TEST_CASE("Collection takes the manifest first, and what it named after it") {
  Model model;
  model.commit(1, save_id("x", 1, 0), model.save(1, save_id("x", 1, 0), 2));
  model.commit(2, save_id("x", 2, 0), model.save(2, save_id("x", 2, 0), 1), 1);
  model.commit(3, save_id("x", 3, 0), model.save(3, save_id("x", 3, 0), 1));
  model.input.policy.keep_last = 1;
  const auto names = removed(plan_collection(model.input));
  REQUIRE(names.size() == 7);
  CHECK(names[0] == manifest_name(2));
  CHECK(names[1] == manifest_name(1));
  CHECK(parse_name(names[2])->kind == ObjectKind::kReceipt);
  CHECK(parse_name(names[6])->kind == ObjectKind::kData);
}

TEST_CASE("Collection leaves saves that may still be committed") {
  struct Row {
    const char* what;
    std::string id;
    std::int64_t step;
    SavesKnown known;
    bool goes;
  };
  const std::string ours = save_id(kAttempt, 5, 1);
  const std::vector<Row> rows = {
      {"nothing is known", save_id("b", 5, 0), 5, {}, false},
      {"lost, but who knows when it looks", save_id("b", 10, 0), 10, {}, false},
      {"lost, and ended", save_id("b", 10, 0), 10, {kAttempt, 10, true}, true},
      {"ours, of the same step", save_id(kAttempt, 10, 1), 10, {kAttempt, 10, false}, true},
      {"another attempt, somewhere", save_id("b", 5, 0), 5, {kAttempt, 10, false}, false},
      {"another attempt, ended", save_id("b", 5, 0), 5, {kAttempt, 10, true}, true},
      {"another attempt, ended, newer", save_id("b", 50, 0), 50, {kAttempt, 10, true}, true},
      {"ours, and older", ours, 5, {kAttempt, 10, false}, true},
      {"ours, and newer: a rank is ahead",
       save_id(kAttempt, 11, 0),
       11,
       {kAttempt, 10, true},
       false},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Model model;
    model.commit(10, save_id(kAttempt, 10, 0), model.save(10, save_id(kAttempt, 10, 0), 1));
    const auto names = model.save(row.step, row.id, 1);
    model.list(blob(1));
    model.input.saves = row.known;
    const CollectionPlan plan = plan_collection(model.input);
    CHECK(goes(plan, names[0]) == row.goes);
    CHECK(goes(plan, names[1]) == row.goes);
    CHECK(goes(plan, blob(1)) == (row.goes && row.known.alone));
  }
}

TEST_CASE("Collection takes a part that its own committed save did not name") {
  Model model;
  auto names = model.save(10, save_id(kAttempt, 10, 0), 2);
  const std::string burnt = names[0];
  names.erase(names.begin());
  model.commit(10, save_id(kAttempt, 10, 0), names);
  const CollectionPlan plan = plan_collection(model.input);
  CHECK(removed(plan) == std::vector{burnt});
}

TEST_CASE("Collection leaves what a checkpoint that cannot be read may stand on") {
  Model model;
  for (const std::int64_t step : {1, 2, 4, 5, 6})
    model.commit(step, save_id("x", step, 0), model.save(step, save_id("x", step, 0), 1));
  const auto of_damaged = model.save(3, save_id("x", 3, 0), 1);
  model.list(manifest_name(3));
  model.list(blob(1));
  model.input.damaged = {3};
  model.input.policy.keep_last = 1;
  model.input.saves = {.alone = true};
  const CollectionPlan plan = plan_collection(model.input);
  CHECK(plan.kept == std::set<std::int64_t>{1, 2, 6});
  CHECK_FALSE(goes(plan, manifest_name(3)));
  CHECK_FALSE(goes(plan, of_damaged[0]));
  CHECK_FALSE(goes(plan, blob(1)));
  CHECK(goes(plan, manifest_name(4)));
}

Model random_model(Rng& rng) {
  Model model;
  std::vector<std::int64_t> committed;
  for (std::int64_t step = 1; step <= 12; ++step) {
    const std::string id = save_id(rng.chance(0.5) ? kAttempt : "other", step, 0);
    auto names = model.save(step, id, 1 + static_cast<int>(rng.below(3)));
    if (rng.chance(0.3)) continue;  // an orphan
    if (rng.chance(0.5)) names.push_back(blob(static_cast<int>(rng.below(4))));
    std::optional<std::int64_t> parent;
    if (!committed.empty() && rng.chance(0.4)) parent = committed[rng.below(committed.size())];
    model.commit(step, id, names, parent);
    model.input.committed.back().pinned = rng.chance(0.1);
    model.input.committed.back().metrics["loss"] = std::to_string(rng.below(50));
    committed.push_back(step);
  }
  for (int number = 0; number < 5; ++number) model.list(blob(number));
  for (const char* name : {"owner.jsonl", "README", "data/notes.txt", "manifests/latest"})
    model.list(name);
  model.input.policy = {
      .keep_last = static_cast<std::int32_t>(rng.below(4)),
      .keep_every_steps = static_cast<std::int64_t>(rng.below(6)),
      .bytes_max = rng.chance(0.3) ? static_cast<std::int64_t>(rng.below(200)) : 0,
      .best_count = static_cast<std::int32_t>(rng.below(3)),
      .best_metric = "loss"};
  model.input.saves = {.attempt = kAttempt, .committed_step = 12, .alone = true};
  return model;
}

// Everything that kept manifests reach; computed by walking, not by judging names.
std::set<std::string> reachable(const Model& model, std::set<std::int64_t> steps) {
  std::set<std::string> names = {"owner.jsonl"};
  while (!steps.empty()) {
    const std::int64_t step = *steps.begin();
    steps.erase(steps.begin());
    if (!names.insert(manifest_name(step)).second) continue;
    for (const std::string& name : model.named.at(step)) names.insert(name);
    for (const auto& checkpoint : model.input.committed)
      if (checkpoint.step == step && checkpoint.parent) steps.insert(*checkpoint.parent);
  }
  return names;
}

TEST_CASE("Collection leaves all that kept manifests reach, and nothing else of ours") {
  const std::uint64_t seed = 20261117;
  INFO("seed " << seed);
  Rng rng(seed);
  for (int round = 0; round < 500; ++round) {
    INFO("round " << round);
    const Model model = random_model(rng);
    const CollectionPlan plan = plan_collection(model.input);
    std::set<std::string> left;
    for (const StoredObject& object : model.input.listed) left.insert(object.name);
    if (!model.named.empty()) CHECK(plan.kept.contains(model.named.rbegin()->first));
    for (const std::string& name : removed(plan)) {
      CHECK(left.erase(name) == 1);
      // Whenever it stops: a manifest that is still there has all that it names.
      for (const auto& [step, names] : model.named)
        if (left.contains(manifest_name(step))) CHECK(std::ranges::count(names, name) == 0);
    }
    std::set<std::string> ours;
    for (const std::string& name : left)
      if (parse_name(name)) ours.insert(name);
    CHECK(ours == reachable(model, plan.kept));
    CHECK(left.size() == ours.size() + 3);  // the foreign ones
    CHECK(plan.foreign == 3);
  }
}

}  // namespace
}  // namespace amdahl::checkpoint
