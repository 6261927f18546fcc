// docs/reference/events.md lists the events that there are, and no others.
#include "operator/training/events.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

namespace amdahl::training {
namespace {

// "| `Queued` | Normal | ..." of the page, as "Queued Normal".
std::vector<std::string> rows_of_page() {
  std::ifstream page("docs/reference/events.md");
  REQUIRE(page);
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const auto end = line.find("` | ", 3);
    REQUIRE(end != std::string::npos);
    const auto type_end = line.find(" |", end + 4);
    REQUIRE(type_end != std::string::npos);
    rows.push_back(line.substr(3, end - 3) + " " + line.substr(end + 4, type_end - end - 4));
  }
  return rows;
}

TEST_CASE("The page of events lists every reason there is, with its type") {
  std::vector<std::string> rows;
  for (const EventKind& kind : event_kinds())
    rows.push_back(std::string(kind.reason) + (kind.warning ? " Warning" : " Normal"));
  CHECK(rows_of_page() == rows);
}

TEST_CASE("The outcomes of a pause have reasons of that list") {
  for (const auto& [outcome, name] : api::enum_names(api::PauseOutcome{}))
    if (outcome != api::PauseOutcome::kUnknown)
      CHECK(event_of("Pause" + std::string(name), "").reason == "Pause" + std::string(name));
}

}  // namespace
}  // namespace amdahl::training
