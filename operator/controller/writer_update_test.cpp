// What the writer does to objects that exist: apply, status, patches, finalizers, epochs.
#include <catch2/catch.hpp>

#include "operator/controller/conditions.hpp"
#include "operator/controller/test_writer_bench.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using Bench = WriterBench;

TEST_CASE("Apply prunes what is no longer wanted and names the manager it conflicts with", "[W5]") {
  Bench bench;
  const ObjectKey key{.ns = "research", .name = "llama-svc"};
  const auto apply = [&](Json spec, bool force = false) {
    Json object = {{"metadata", {{"name", key.name}, {"namespace", key.ns}}},
                   {"spec", std::move(spec)}};
    return bench.run(bench.writer.apply_object(
        {.resource = kube::kServices, .object = std::move(object), .force = force}));
  };
  REQUIRE(apply({{"a", 1}, {"b", 2}}));
  REQUIRE(apply({{"a", 1}}));
  CHECK(bench.server.find(kube::kServices, key)["spec"] == Json{{"a", 1}});

  WriteGate gate;
  Writer other(bench.client, gate, kJob, {.field_manager = "somebody-else"});
  Json theirs = {{"metadata", {{"name", key.name}, {"namespace", key.ns}}}, {"spec", {{"c", 3}}}};
  REQUIRE(bench.run(other.apply_object({.resource = kube::kServices, .object = theirs})));
  const auto conflict = apply({{"a", 1}, {"c", 4}});
  REQUIRE_FALSE(conflict);
  CHECK(conflict.error().code == Errc::kConflict);
  CHECK_THAT(conflict.error().context, Catch::Contains("somebody-else"));
  REQUIRE(apply({{"a", 1}, {"c", 4}}, true));
  CHECK(bench.server.find(kube::kServices, key)["spec"]["c"] == 4);
}

TEST_CASE("Apply does not take over a name that was recreated by somebody else", "[W5][L11]") {
  Bench bench;
  bench.server.create(kube::kPods, object_named(kPod));
  const auto applied = bench.run(bench.writer.apply_object(
      {.resource = kube::kPods, .object = object_named(kPod), .uid = "uid-of-the-old-one"}));
  REQUIRE_FALSE(applied);
  CHECK(applied.error().code == Errc::kConflict);
}

TEST_CASE(
    "A status is written through its subresource, over the observed version, and only if it "
    "differs",
    "[W6][W4][Q7]") {
  Bench bench;
  const Json running = {{"phase", "Running"}, {"step", 5}};
  const auto update = [&](Json before, Json after, std::string version) {
    return bench.run(bench.writer.update_status({.resource = kJobs,
                                                 .key = kJob,
                                                 .version = std::move(version),
                                                 .before = std::move(before),
                                                 .after = std::move(after)}));
  };
  auto wrote = update(Json::object(), running, bench.meta(kJobs, kJob).version);
  REQUIRE(wrote);
  CHECK(*wrote);
  CHECK(bench.server.find(kJobs, kJob)["status"] == running);
  CHECK(bench.server.find(kJobs, kJob)["metadata"]["generation"] == 1);
  CHECK_THAT(bench.server.writes().back(), Catch::Contains("/trainingjobs/llama/status"));

  const auto version = bench.server.version();
  wrote = update(running, running, bench.meta(kJobs, kJob).version);
  REQUIRE(wrote);
  CHECK_FALSE(*wrote);
  CHECK(bench.server.version() == version);

  wrote = update(running, {{"phase", "Failed"}}, "1");
  REQUIRE_FALSE(wrote);
  CHECK(wrote.error().code == Errc::kConflict);
  REQUIRE(update(running, {{"phase", "Failed"}}, bench.meta(kJobs, kJob).version));
  CHECK(bench.server.find(kJobs, kJob)["status"] == Json{{"phase", "Failed"}});
}

TEST_CASE("A merge difference turns one document into the other", "[W6]") {
  const std::vector<std::pair<Json, Json>> rows = {
      {Json::parse(R"({})"), Json::parse(R"({"a":1})")},
      {Json::parse(R"({"a":1,"b":2})"), Json::parse(R"({"b":2})")},
      {Json::parse(R"({"a":{"x":1,"y":2},"l":[1,2]})"), Json::parse(R"({"a":{"y":3},"l":[2]})")},
      {Json::parse(R"({"a":1})"), Json::parse(R"({"a":{"b":{"c":1}}})")},
      {Json::parse(R"({"a":{"b":1}})"), Json::parse(R"({"a":7})")}};
  for (const auto& [before, after] : rows) {
    INFO(before << " -> " << after);
    Json result = before;
    result.merge_patch(merge_diff(before, after));
    CHECK(result == after);
  }
}

TEST_CASE("lastTransitionTime moves only when the status flips", "[W6][Q7]") {
  std::vector<kube::Condition> conditions;
  const WallTime t0{1000s};
  const auto set = [&](kube::ConditionStatus status, std::string reason, WallTime now) {
    kube::Condition next;
    next.type = "Running";
    next.status = status;
    next.reason = std::move(reason);
    next.observed_generation = 2;
    return set_condition(conditions, std::move(next), now);
  };
  CHECK(set(kube::ConditionStatus::kFalse, "Waiting", t0));
  CHECK_FALSE(set(kube::ConditionStatus::kFalse, "Waiting", t0 + 5s));
  CHECK(set(kube::ConditionStatus::kFalse, "StillWaiting", t0 + 6s));
  CHECK(*find_condition(conditions, "Running")->changed == t0);
  CHECK(set(kube::ConditionStatus::kTrue, "Started", t0 + 7s));
  CHECK(*find_condition(conditions, "Running")->changed == t0 + 7s);
  CHECK(conditions.size() == 1);
  CHECK(find_condition(conditions, "Failed") == nullptr);
}

TEST_CASE("A patch needs the version it was decided upon", "[W4]") {
  Bench bench;
  const Json change = {{"metadata", {{"labels", {{"a", "b"}}}}}};
  CHECK(bench.run(bench.writer.patch(kJobs, kJob, "", change)).error().code == Errc::kInvalid);
  CHECK(bench.run(bench.writer.patch(kJobs, kJob, "7", change)).error().code == Errc::kConflict);
  CHECK(bench.run(bench.writer.patch(kJobs, kJob, bench.meta(kJobs, kJob).version, change)));
  CHECK(bench.server.find(kJobs, kJob)["metadata"]["labels"]["a"] == "b");
}

TEST_CASE("Finalizers are added once, never to what is going, and removed only if they are there",
          "[W8]") {
  Bench bench;
  const std::string ours = "amdahl.dev/cleanup";
  auto added = bench.run(bench.writer.add_finalizer(kJobs, bench.meta(kJobs, kJob), ours));
  REQUIRE(added);
  CHECK(*added);
  CHECK(bench.meta(kJobs, kJob).finalizers == std::vector{ours});
  added = bench.run(bench.writer.add_finalizer(kJobs, bench.meta(kJobs, kJob), ours));
  REQUIRE(added);
  CHECK_FALSE(*added);
  const kube::ObjectMeta stale = bench.meta(kJobs, kJob);
  bench.server.merge(kJobs, kJob, {{"metadata", {{"finalizers", {"other/first", ours}}}}});

  SECTION("a place that moved is a conflict, not somebody else's finalizer") {
    const auto removed = bench.run(bench.writer.remove_finalizer(kJobs, stale, ours));
    REQUIRE_FALSE(removed);
    CHECK(removed.error().code == Errc::kConflict);
    CHECK(bench.meta(kJobs, kJob).finalizers.size() == 2);
  }
  SECTION("removing ours leaves the others") {
    REQUIRE(bench.run(bench.writer.remove_finalizer(kJobs, bench.meta(kJobs, kJob), ours)));
    CHECK(bench.meta(kJobs, kJob).finalizers == std::vector<std::string>{"other/first"});
    const auto again =
        bench.run(bench.writer.remove_finalizer(kJobs, bench.meta(kJobs, kJob), ours));
    REQUIRE(again);
    CHECK_FALSE(*again);
  }
  SECTION("what is being deleted gets no new one") {
    bench.server.remove(kJobs, kJob);
    const auto late =
        bench.run(bench.writer.add_finalizer(kJobs, bench.meta(kJobs, kJob), "amdahl.dev/late"));
    REQUIRE_FALSE(late);
    CHECK(late.error().code == Errc::kConflict);
  }
  SECTION("the last one lets the object go, and removing it again finds nothing") {
    bench.server.merge(kJobs, kJob, {{"metadata", {{"finalizers", {ours}}}}});
    bench.server.remove(kJobs, kJob);
    const kube::ObjectMeta going = bench.meta(kJobs, kJob);
    REQUIRE(bench.run(bench.writer.remove_finalizer(kJobs, going, ours)));
    CHECK(bench.server.find(kJobs, kJob).is_null());
    const auto again = bench.run(bench.writer.remove_finalizer(kJobs, going, ours));
    REQUIRE(again);
    CHECK_FALSE(*again);
  }
}

TEST_CASE("A new term marks the object first, and an old leader's conditional writes then fail",
          "[E3]") {
  Bench bench;
  const kube::ObjectMeta seen_by_both = bench.meta(kJobs, kJob);
  auto claimed = bench.run(bench.writer.claim_epoch(kJobs, seen_by_both));
  REQUIRE(claimed);
  CHECK(*claimed);
  claimed = bench.run(bench.writer.claim_epoch(kJobs, bench.meta(kJobs, kJob)));
  REQUIRE(claimed);
  CHECK_FALSE(*claimed);

  Writer old_leader(bench.client, bench.gate, kJob, {.epoch = {2}});
  const auto written = bench.run(old_leader.update_status({.resource = kJobs,
                                                           .key = kJob,
                                                           .version = seen_by_both.version,
                                                           .before = Json::object(),
                                                           .after = {{"phase", "Failed"}}}));
  REQUIRE_FALSE(written);
  CHECK(written.error().code == Errc::kConflict);
  CHECK(bench.run(old_leader.claim_epoch(kJobs, seen_by_both)).error().code == Errc::kConflict);
  const auto stale = bench.run(old_leader.claim_epoch(kJobs, bench.meta(kJobs, kJob)));
  REQUIRE_FALSE(stale);
  CHECK(stale.error().code == Errc::kFenced);
}

}  // namespace
}  // namespace amdahl::controller
