// Bounds of the diagnosis; what it says of each kind of end is in fixtures_test.cpp.
#include "operator/training/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <limits>

#include "operator/training/diagnose/across_ranks.hpp"
#include "operator/training/diagnose/consequence.hpp"

namespace amdahl::training {
namespace {

TEST_CASE("diagnose of nothing is nothing") {
  const Diagnosis diagnosis = diagnose({});
  CHECK_FALSE(diagnosis.root);
  CHECK(diagnosis.advice == Advice::kCarryOn);
  CHECK(diagnosis.budget == Budget::kNone);
}

TEST_CASE("diagnose names a bounded number of pods and nodes of a large gang") {
  AttemptEvidence attempt{.ranks = 4096};
  for (std::int32_t rank = 0; rank < 4096; ++rank)
    attempt.pods.push_back({.rank = rank,
                            .pod = fmt::format("p-{}", rank),
                            .node = fmt::format("n-{}", rank),
                            .bound = true,
                            .node_gone = true});
  const Diagnosis diagnosis = diagnose(attempt);
  REQUIRE(diagnosis.root);
  CHECK(diagnosis.root->cause_class == api::CauseClass::kNodeLost);
  CHECK(diagnosis.findings.size() == kFindingsMax);
  CHECK(diagnosis.findings[0].role == api::CauseRole::kRoot);
  CHECK(diagnosis.avoid.size() == kAvoidNodesMax);
}

TEST_CASE("diagnose keeps every text within the bounds of the status") {
  const std::string huge(std::size_t{1} << 20U, '"');
  AttemptEvidence attempt{.ranks = 1};
  attempt.pods.push_back(
      {.rank = -7,
       .pod = huge,
       .node = huge,
       .phase = kube::PodPhase::kFailed,
       .reason = "Evicted",
       .message = huge,
       .containers = {{.name = huge, .ended = ContainerEnd{.exit_code = 100'000, .signal = -3}}}});
  const auto root = diagnose(attempt).root;
  REQUIRE(root);
  CHECK(root->message.size() <= api::kMessageMax);
  CHECK(root->hint.size() <= api::kHintMax);
  CHECK(root->pod.size() <= api::kSubdomainMax);
  CHECK(root->rank == 0);
  CHECK_FALSE(root->exit_code);
  CHECK_FALSE(root->signal);
}

TEST_CASE("diagnose takes any exit code that a kubelet may write", "[A1]") {
  for (const std::int32_t code :
       {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), -1}) {
    AttemptEvidence attempt{.ranks = 1};
    attempt.pods.push_back(
        {.pod = "a",
         .phase = kube::PodPhase::kFailed,
         .containers = {{.name = "trainer", .ended = ContainerEnd{.exit_code = code}}}});
    const auto root = diagnose(attempt).root;
    REQUIRE(root);
    CHECK_FALSE(root->exit_code);
    CHECK_FALSE(root->signal);
  }
}

TEST_CASE("consequences restart nothing for free, and spend nothing without a restart") {
  for (const auto& [value, name] : enum_names(api::CauseClass{})) {
    CAPTURE(name);
    const Consequence& row = consequence_of(value);
    CHECK((row.advice == Advice::kCarryOn) == (row.budget == Budget::kNone));
    if (row.avoid_node) CHECK(row.advice == Advice::kRestartElsewhere);
    if (row.advice == Advice::kStop)
      CHECK(row.outlook == api::CauseOutlook::kCannotRecoverUnchanged);
  }
}

TEST_CASE("rank_list writes ranges, and counts what is too long") {
  CHECK(rank_list({}).empty());
  CHECK(rank_list({3}) == "3");
  CHECK(rank_list({2, 0, 1, 5, 5}) == "0-2, 5");
  std::vector<std::int32_t> odd;
  for (std::int32_t rank = 1; rank < 100; rank += 2) odd.push_back(rank);
  CHECK(rank_list(odd) == "1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 38 more");
}

}  // namespace
}  // namespace amdahl::training
