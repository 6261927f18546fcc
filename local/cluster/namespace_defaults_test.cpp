#include "local/cluster/namespace_defaults.hpp"

#include <catch2/catch.hpp>

namespace amdahl::local {
namespace {

TEST_CASE("A namespace gets what it lacks, unless it is on its way out") {
  struct Row {
    bool terminating, has_account, has_authority;
    NamespacePlan plan;
  };
  const Row rows[] = {
      {false, false, false, {"a", true, true}},  {false, true, false, {"a", false, true}},
      {false, false, true, {"a", true, false}},  {false, true, true, {"a", false, false}},
      {true, false, false, {"a", false, false}},
  };
  for (const Row& row : rows)
    CHECK(plan_namespace({.name = "a",
                          .terminating = row.terminating,
                          .has_account = row.has_account,
                          .has_authority = row.has_authority}) == row.plan);
}

}  // namespace
}  // namespace amdahl::local
