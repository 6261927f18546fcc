// Every file in testdata, and that every class of cause and every reason to wait has one.
// AMDAHL_UPDATE=1 writes what the code says into the files; commit only differences you understand.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>

#include "operator/training/diagnose/test_fixture.hpp"

namespace amdahl::training {
namespace {

constexpr const char* kAttempts = "operator/training/diagnose/testdata";
constexpr const char* kPending = "operator/training/diagnose/testdata/pending";

bool updating() {
  return std::getenv("AMDAHL_UPDATE") != nullptr;
}

void compare(const Fixture& fixture, const std::string& actual) {
  if (updating()) write_expected(fixture, actual);
  const std::string expected = updating() ? actual : fixture.expected;
  CHECK(actual == expected);
}

TEST_CASE("diagnose says what its fixtures say") {
  const auto fixtures = read_fixtures(kAttempts);
  CHECK(fixtures.size() >= 45);
  for (const Fixture& fixture : fixtures) {
    CAPTURE(fixture.path);
    AttemptEvidence attempt = read_attempt(fixture);
    compare(fixture, render(diagnose(attempt)));
    // The answer does not depend on the order in which pods are listed.
    const std::string forwards = render(diagnose(attempt));
    std::reverse(attempt.pods.begin(), attempt.pods.end());
    CHECK(render(diagnose(attempt)) == forwards);
  }
}

TEST_CASE("diagnose has a fixture for every class of cause") {
  std::set<api::CauseClass> seen;
  for (const Fixture& fixture : read_fixtures(kAttempts))
    if (const auto root = diagnose(read_attempt(fixture)).root) seen.insert(root->cause_class);
  for (const auto& [value, name] : enum_names(api::CauseClass{})) {
    CAPTURE(name);
    CHECK(seen.contains(value));
  }
}

TEST_CASE("explain_pending says what its fixtures say") {
  const auto fixtures = read_fixtures(kPending);
  for (const Fixture& fixture : fixtures) {
    CAPTURE(fixture.path);
    compare(fixture, render(explain_pending(read_pending(fixture))));
  }
}

TEST_CASE("explain_pending has a fixture for every reason to wait") {
  std::set<std::string> seen;
  for (const Fixture& fixture : read_fixtures(kPending))
    seen.insert(explain_pending(read_pending(fixture)).reason);
  for (const std::string_view reason :
       {pending::kPodsRefused, pending::kQuotaExceeded, pending::kQueueMissing,
        pending::kQueueClosed, pending::kQueueTooSmall, pending::kQueueFull,
        pending::kHeldByEnqueue, pending::kGangShort, pending::kUnschedulable, pending::kImage,
        pending::kConfiguration, pending::kPodsMissing, pending::kStarting, pending::kWaiting}) {
    CAPTURE(reason);
    CHECK(seen.contains(std::string(reason)));
  }
}

// What a script prints may be wrong; what the platform says may not be overruled by it.
TEST_CASE("diagnose confirms nothing that only text says") {
  for (const Fixture& fixture : read_fixtures(kAttempts)) {
    CAPTURE(fixture.path);
    AttemptEvidence attempt = read_attempt(fixture);
    for (PodEvidence& pod : attempt.pods) {
      pod.intent = Intent::kNone;
      pod.reason = pod.disruption_reason = pod.unready_reason = pod.scheduled_reason = {};
      pod.deleting = pod.gone = pod.node_gone = false;
      pod.node_troubles.clear();
      pod.events.clear();
      for (ContainerEvidence& container : pod.containers) {
        container.waiting_reason.clear();
        for (auto* const end : {&container.ended, &container.ended_before})
          if (*end) (*end)->reason.clear();
      }
    }
    if (const auto root = diagnose(attempt).root)
      CHECK(root->confidence != api::CauseConfidence::kConfirmed);
  }
}

}  // namespace
}  // namespace amdahl::training
