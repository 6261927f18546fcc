#include "operator/controller/writer.hpp"

#include <catch2/catch.hpp>

#include "operator/controller/test_writer_bench.hpp"

namespace amdahl::controller {
namespace {
using namespace std::chrono_literals;
using Bench = WriterBench;
using testkit::Fault;

TEST_CASE("A child's name is made of what tells it apart, and of nothing else", "[W1]") {
  CHECK(child_name("llama", {.attempt = 2, .index = 0}) == "llama-2-0");
  CHECK(child_name("llama", {.role = "svc"}) == "llama-svc");
  CHECK(child_name("llama", {.role = "eval", .attempt = 1, .index = 7}) == "llama-eval-1-7");
  CHECK(child_name("llama", {}) == "llama");
  const std::string long_owner(60, 'x');
  const std::string cut = child_name(long_owner, {.attempt = 1, .index = 10});
  CHECK(cut.size() == kChildNameMax);
  CHECK(cut == child_name(long_owner, {.attempt = 1, .index = 10}));
  CHECK(cut != child_name(long_owner, {.attempt = 1, .index = 11}));
  CHECK(cut != child_name(std::string(61, 'x'), {.attempt = 1, .index = 10}));
}

TEST_CASE("A create whose answer was lost is met again by its own name, and makes no second child",
          "[W1]") {
  Bench bench;
  bench.server.inject(Fault::kLoseAnswer, "POST");
  const auto lost =
      bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == Errc::kIo);
  const auto again =
      bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
  REQUIRE(again);
  CHECK(bench.server.list(kube::kPods).size() == 1);
  CHECK((*again)["metadata"]["uid"] == bench.server.find(kube::kPods, kPod)["metadata"]["uid"]);
}

TEST_CASE(
    "A name that belongs to another owner is a conflict that names both, and nothing is adopted",
    "[W1][W9]") {
  Bench bench;
  Json taken = object_named(kPod);
  taken["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "v1"},
                                                       {"kind", "Job"},
                                                       {"name", "stranger"},
                                                       {"uid", "u-9"},
                                                       {"controller", true}}});
  bench.server.create(kube::kPods, taken);
  const Json before = bench.server.find(kube::kPods, kPod);
  const auto made =
      bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Errc::kConflict);
  CHECK_THAT(made.error().context, Catch::Contains("stranger") && Catch::Contains("u-9") &&
                                       Catch::Contains("research/llama") &&
                                       Catch::Contains(bench.owner.uid));
  CHECK(bench.server.find(kube::kPods, kPod) == before);
}

TEST_CASE("An object without an owner is not adopted either", "[W1][W9]") {
  Bench bench;
  bench.server.create(kube::kPods, object_named(kPod));
  const auto made =
      bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Errc::kConflict);
  CHECK_THAT(made.error().context, Catch::Contains("nobody"));
}

TEST_CASE("A child of an owner that is going, or one that is itself going, is no success",
          "[W1][W9]") {
  Bench bench;
  SECTION("the owner") {
    bench.owner.deleting = true;
    const auto made =
        bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
    REQUIRE_FALSE(made);
    CHECK(made.error().code == Errc::kConflict);
    CHECK(bench.server.list(kube::kPods).empty());
  }
  SECTION("the child") {
    Json pod = object_named(kPod);
    pod["metadata"]["finalizers"] = {"example.com/hold"};
    REQUIRE(bench.run(bench.writer.create_child(kube::kPods, pod, bench.owner)));
    bench.server.remove(kube::kPods, kPod);
    const auto made =
        bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
    REQUIRE_FALSE(made);
    CHECK(made.error().code == Errc::kConflict);
    CHECK_THAT(made.error().context, Catch::Contains("still being deleted"));
  }
}

TEST_CASE("A child has exactly one controller, in its owner's namespace, and carries the epoch",
          "[W9][E3]") {
  Bench bench;
  Json pod = object_named(kPod);
  pod["metadata"].erase("namespace");
  REQUIRE(bench.run(bench.writer.create_child(kube::kPods, pod, bench.owner)));
  const Json made = bench.server.find(kube::kPods, kPod)["metadata"];
  REQUIRE(made["ownerReferences"].size() == 1);
  CHECK(made["ownerReferences"][0]["controller"] == true);
  CHECK(made["ownerReferences"][0]["uid"] == bench.owner.uid);
  CHECK(made["ownerReferences"][0]["kind"] == "TrainingJob");
  CHECK(made["labels"]["amdahl.dev/epoch"] == "3");

  Json elsewhere = object_named({.ns = "other", .name = "p"});
  CHECK(bench.run(bench.writer.create_child(kube::kPods, elsewhere, bench.owner)).error().code ==
        Errc::kInvalid);
  Json owned = object_named({.ns = "research", .name = "q"});
  owned["metadata"]["ownerReferences"] =
      Json::array({{{"kind", "Job"}, {"name", "x"}, {"uid", "u"}, {"controller", true}}});
  CHECK(bench.run(bench.writer.create_child(kube::kPods, owned, bench.owner)).error().code ==
        Errc::kInvalid);
  CHECK(bench.server.list(kube::kPods).size() == 1);
}

TEST_CASE("Every write holds the owner's next reconcile back until the cache has seen it", "[W2]") {
  Bench bench;
  const std::string before = std::to_string(bench.server.version());
  REQUIRE(bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner)));
  CHECK(bench.gate_for_pods(before) == GateVerdict::kWait);
  CHECK(bench.gate_for_pods(std::to_string(bench.server.version())) == GateVerdict::kReady);
  REQUIRE(bench.run(bench.writer.update_status({.resource = kJobs,
                                                .key = kJob,
                                                .version = bench.meta(kJobs, kJob).version,
                                                .before = Json::object(),
                                                .after = {{"phase", "Running"}}})));
  CHECK(bench.gate_for_pods(std::to_string(bench.server.version() - 1)) == GateVerdict::kWait);
}

TEST_CASE("A delete decided on a stale cache does not touch the object that took the name since",
          "[W3][L11]") {
  Bench bench;
  const auto first =
      bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
  REQUIRE(first);
  const std::string old_uid = (*first)["metadata"]["uid"];
  bench.server.remove(kube::kPods, kPod);
  REQUIRE(bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner)));
  const auto deleted =
      bench.run(bench.writer.delete_child({.resource = kube::kPods, .key = kPod, .uid = old_uid}));
  REQUIRE(deleted);
  CHECK(*deleted == DeleteOutcome::kNotOurs);
  CHECK_FALSE(bench.server.find(kube::kPods, kPod).is_null());
}

TEST_CASE("A delete asks again whether the live object should go", "[W3]") {
  Bench bench;
  const auto pod =
      bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
  REQUIRE(pod);
  const std::string uid = (*pod)["metadata"]["uid"];
  bench.server.merge(kube::kPods, kPod, {{"status", {{"phase", "Succeeded"}}}}, "status");
  const auto finished = [](const Json& live) {
    return live.contains("status") && live["status"]["phase"] == "Succeeded";
  };
  const auto kept = bench.run(bench.writer.delete_child(
      {.resource = kube::kPods, .key = kPod, .uid = uid, .still_wanted = finished}));
  REQUIRE(kept);
  CHECK(*kept == DeleteOutcome::kStillWanted);
  CHECK_FALSE(bench.server.find(kube::kPods, kPod).is_null());
  const auto gone =
      bench.run(bench.writer.delete_child({.resource = kube::kPods, .key = kPod, .uid = uid}));
  REQUIRE(gone);
  CHECK(*gone == DeleteOutcome::kDeleted);
  CHECK(bench.server.find(kube::kPods, kPod).is_null());
  const auto again =
      bench.run(bench.writer.delete_child({.resource = kube::kPods, .key = kPod, .uid = uid}));
  REQUIRE(again);
  CHECK(*again == DeleteOutcome::kGone);
}

// Counts what is sent.
class Counting final : public kube::Transport {
 public:
  explicit Counting(kube::Transport& wire) : wire_(wire) {}
  Task<Result<kube::Response>> send(kube::Request request, Monotonic deadline) override {
    sent.push_back(request.method);
    return wire_.send(std::move(request), deadline);
  }
  Task<Result<kube::StreamResponse>> open(kube::Request request, Monotonic deadline) override {
    return wire_.open(std::move(request), deadline);
  }
  void set_fence(const kube::WriteFence* fence) override { wire_.set_fence(fence); }
  std::vector<std::string> sent;

 private:
  kube::Transport& wire_;
};

TEST_CASE("A delete of the version that was decided upon needs no look, any other does", "[W3]") {
  Bench bench;
  Counting wire(bench.wire);
  kube::Client client(wire, bench.clock, Rng(2));
  Writer writer(client, bench.gate, kJob, {});
  const auto doubted = [](const Json&) { return true; };
  for (const bool stale : {false, true}) {
    const auto pod =
        bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
    REQUIRE(pod);
    if (stale) bench.server.merge(kube::kPods, kPod, {{"metadata", {{"labels", {{"a", "b"}}}}}});
    wire.sent.clear();
    const auto deleted =
        bench.run(writer.delete_child({.resource = kube::kPods,
                                       .key = kPod,
                                       .uid = (*pod)["metadata"]["uid"],
                                       .version = (*pod)["metadata"]["resourceVersion"],
                                       .still_wanted = doubted}));
    REQUIRE(deleted);
    CHECK(*deleted == (stale ? DeleteOutcome::kStillWanted : DeleteOutcome::kDeleted));
    CHECK(wire.sent ==
          (stale ? std::vector<std::string>{"DELETE", "GET"} : std::vector<std::string>{"DELETE"}));
    CHECK(bench.server.find(kube::kPods, kPod).is_null() == !stale);
  }
}

// Changes the object between the live read and the delete.
class ChangeAfterRead final : public kube::Transport {
 public:
  ChangeAfterRead(kube::Transport& wire, testkit::MemoryServer& server)
      : wire_(wire), server_(server) {}
  Task<Result<kube::Response>> send(kube::Request request, Monotonic deadline) override {
    const bool read = request.method == "GET";
    auto response = co_await wire_.send(std::move(request), deadline);
    if (read) server_.merge(kube::kPods, kPod, {{"metadata", {{"labels", {{"seen", "yes"}}}}}});
    co_return response;
  }
  Task<Result<kube::StreamResponse>> open(kube::Request request, Monotonic deadline) override {
    return wire_.open(std::move(request), deadline);
  }
  void set_fence(const kube::WriteFence* fence) override { wire_.set_fence(fence); }

 private:
  kube::Transport& wire_;
  testkit::MemoryServer& server_;
};

TEST_CASE("A delete hits exactly what was read: a change in between is a conflict", "[W3]") {
  Bench bench;
  const auto pod =
      bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner));
  REQUIRE(pod);
  ChangeAfterRead racy(bench.wire, bench.server);
  kube::Client client(racy, bench.clock, Rng(2));
  Writer writer(client, bench.gate, kJob, {});
  const auto deleted = bench.run(writer.delete_child(
      {.resource = kube::kPods, .key = kPod, .uid = (*pod)["metadata"]["uid"]}));
  REQUIRE_FALSE(deleted);
  CHECK(deleted.error().code == Errc::kConflict);
  CHECK_FALSE(bench.server.find(kube::kPods, kPod).is_null());
}

TEST_CASE("An object over the size limit is refused by name before it is sent", "[W12]") {
  Bench bench;
  Json pod = object_named(kPod);
  pod["spec"]["big"] = std::string(kObjectBytesMax, 'x');
  const auto made = bench.run(bench.writer.create_child(kube::kPods, pod, bench.owner));
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Errc::kTooLarge);
  CHECK_THAT(made.error().context, Catch::Contains("research/llama-1-0"));
  CHECK(bench.server.writes().empty());
}

TEST_CASE("Each call of the writer makes one write at most", "[W7]") {
  Bench bench;
  const auto writes = [&] { return bench.server.writes().size(); };
  REQUIRE(bench.run(bench.writer.create_child(kube::kPods, object_named(kPod), bench.owner)));
  CHECK(writes() == 1);
  REQUIRE(bench.run(bench.writer.add_finalizer(kJobs, bench.meta(kJobs, kJob), "amdahl.dev/x")));
  CHECK(writes() == 2);
  REQUIRE(bench.run(bench.writer.delete_child(
      {.resource = kube::kPods, .key = kPod, .uid = bench.meta(kube::kPods, kPod).uid})));
  CHECK(writes() == 3);
}

}  // namespace
}  // namespace amdahl::controller
