#include "operator/api/training_job.hpp"

#include <catch2/catch.hpp>

#include "base/json_decode.hpp"
#include "base/json_encode.hpp"
#include "base/validate.hpp"

namespace amdahl::api {
namespace {

struct NameOnly {
  std::string name = {};
  bool operator==(const NameOnly&) const = default;
};
template <class V>
constexpr void fields(V& v, NameOnly& meta) {
  v.required("name", meta.name);
}
using Job = TrainingJobOf<NameOnly>;

TEST_CASE("TrainingJob read without options has the defaults of a fresh spec") {
  const auto job = decode<Job>(
      R"({"metadata":{"name":"j"},"spec":{"runtime":"Torchrun","nodes":1,"template":{}}})");
  REQUIRE(job);
  CHECK(job->spec == TrainingJobSpec{});
  CHECK(job->status == TrainingJobStatus{});
  CHECK(validate(job->spec));
}

TEST_CASE("TrainingJob is written with every default and read back the same") {
  Job job{.metadata = {.name = "j"}};
  job.spec.pod_template = {{"spec", {{"anything", {1, 2.5, nullptr, "x"}}}}};
  job.spec.processes_per_node = 8;
  job.spec.scheduling.network_topology = NetworkTopology{.highest_tier_allowed = 2};
  job.spec.checkpoint.interval = AutoDuration{90s};
  const Json written = encode(job);
  CHECK(written["spec"]["scheduling"].dump() ==
        R"({"admission":"Autoscaled","gang":"Volcano","networkTopology":)"
        R"({"highestTierAllowed":2,"mode":"soft"},"queue":"default"})");
  CHECK(written["spec"]["deadlines"].dump() ==
        R"({"active":"","queue":"","start":"30m","step":"15m"})");
  CHECK(written["spec"]["ttlAfterFinished"] == "24h");
  CHECK(written["spec"]["checkpoint"]["interval"] == "1m30s");
  const auto again = decode<Job>(written.dump());
  REQUIRE(again);
  CHECK(*again == job);
}

TEST_CASE("TrainingJob refuses words of the spec that it does not know") {
  const auto job =
      decode<Job>(R"({"metadata":{"name":"j"},"spec":{"runtime":"Jax","nodes":1,"template":{}}})");
  REQUIRE_FALSE(job);
  CHECK(job.error().context.starts_with("spec.runtime: "));
}

TEST_CASE("TrainingJob reads words of a newer status as Unknown") {
  const auto status = decode<TrainingJobStatus>(
      R"({"phase":"Hibernating","pause":{"outcome":"Archived"},"attempts":[{"number":1,
          "outcome":"Merged","cause":{"class":"SolarFlare","role":"Bystander","domain":"Sun",
          "outlook":"Grim","confidence":"Total"}}],"somethingNew":{"x":1}})");
  REQUIRE(status);
  CHECK(status->phase == Phase::kUnknown);
  CHECK(status->pause->outcome == PauseOutcome::kUnknown);
  CHECK(status->attempts[0].outcome == AttemptOutcome::kUnknown);
  CHECK(status->attempts[0].cause == Cause{});
}

TEST_CASE("cause_classes has one sentence for each class, in order") {
  const auto names = enum_names(CauseClass{});
  REQUIRE(cause_classes().size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(cause_classes()[i].value == names.at(i).value);
    CHECK(cause_classes()[i].meaning.ends_with('.'));
  }
}

}  // namespace
}  // namespace amdahl::api
