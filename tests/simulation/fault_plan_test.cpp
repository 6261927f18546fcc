#include "tests/simulation/fault_plan.hpp"

#include <catch2/catch.hpp>

#include "tests/simulation/sim_stream.hpp"
#include "tests/simulation/trial.hpp"

namespace amdahl::simulation {

TEST_CASE("A scenario reads back as it was written") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Scenario drawn = Trials::draw(*find_subject("gang"), seed);
    const auto read = parse_scenario(to_text(drawn));
    REQUIRE(read);
    CHECK(to_text(*read) == to_text(drawn));
    CHECK(read->plan == drawn.plan);
  }
}

TEST_CASE("A scenario that cannot be read says which line") {
  const auto context = [](std::string_view text) { return parse_scenario(text).error().context; };
  CHECK_THAT(context("subject nobody\n"), Catch::Contains("nobody"));
  CHECK_THAT(context("subject mirror\nfault flood at=1\n"), Catch::Contains("flood"));
  CHECK_THAT(context("subject mirror\nfault kill at=x\n"), Catch::Contains("at=x"));
  CHECK_THAT(context("subject mirror\nfault kill when=1\n"), Catch::Contains("when"));
  CHECK_THAT(context("subject mirror\nexpect rain\n"), Catch::Contains("expect"));
}

TEST_CASE("Every kind of fault has a name of its own") {
  for (const FaultKind kind : all_faults()) CHECK(fault_kind(name(kind)).value() == kind);
}

TEST_CASE("Coalescing keeps the last of several updates and every creation and deletion") {
  const auto line = [](std::string_view type, std::string_view uid, int version) {
    return fmt::format(
        "{{\"type\":\"{}\",\"object\":{{\"metadata\":{{\"uid\":\"{}\",\"resourceVersion\":\"{}\"}}"
        "}}}}\n",
        type, uid, version);
  };
  const std::string all = line("ADDED", "a", 1) + line("MODIFIED", "a", 2) +
                          line("MODIFIED", "b", 3) + line("MODIFIED", "a", 4) +
                          line("DELETED", "a", 5);
  CHECK(coalesced(all) == line("ADDED", "a", 1) + line("MODIFIED", "b", 3) +
                              line("MODIFIED", "a", 4) + line("DELETED", "a", 5));
  CHECK(duplicated("x\ny\n") == "x\nx\ny\ny\n");
}

}  // namespace amdahl::simulation
