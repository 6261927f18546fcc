// A bounded part of `make simulate`: enough to notice a broken operator, harness or oracle.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/simulation/single_faults.hpp"
#include "tests/simulation/trial.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::uint64_t kSeeds = 8;           // of each right subject
constexpr std::uint64_t kSeedsToCatch = 60;   // of each wrong one, at most
constexpr std::size_t kMirrorStride = 3'001;  // of single faults of a kind
constexpr std::size_t kJobStride = 601;
constexpr std::size_t kLaunchedStride = 3'601;
constexpr std::size_t kKindStep = 5;
constexpr std::uint64_t kSlices = 1'000;

// Another part of all plans and seeds for every day and commit; .ci/run sets it. What fails is
// printed as a scenario and can be played again.
std::uint64_t slice() {
  const char* const text = std::getenv("AMDAHL_SIMULATION_SLICE");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

std::string described(const Scenario& scenario, const Verdict& verdict) {
  std::string text = to_text(scenario);
  for (const std::string& violation : verdict.violations) text += violation + "\n";
  return text;
}

void play_seeds(std::string_view name) {
  const Subject& subject = *find_subject(name);
  Trials trials;
  const std::uint64_t first = 1 + slice() % kSlices * kSeeds;
  for (std::uint64_t seed = first; seed < first + kSeeds; ++seed) {
    const Scenario scenario = Trials::draw(subject, seed);
    const Verdict verdict = trials.play(scenario);
    INFO(described(scenario, verdict));
    CHECK(verdict.violations.empty());
  }
}

// The whole is `make simulate-all`. Each kind begins at another place, so that times differ.
void survive_single_faults(std::string_view name, std::size_t stride) {
  const Subject& subject = *find_subject(name);
  Trials trials;
  std::map<FaultKind, std::vector<Scenario>> all;
  for (std::uint64_t workload = 0; workload < subject.workloads; ++workload)
    for (Scenario& scenario : single_faults(subject, workload, trials.reference(subject, workload)))
      all[scenario.plan.front().kind].push_back(std::move(scenario));
  std::set<FaultKind> played;
  for (const auto& [kind, plans] : all) {
    const std::uint64_t wanted = kKindStep * static_cast<std::size_t>(kind) + slice();
    for (std::size_t i = wanted % std::min(stride, plans.size()); i < plans.size(); i += stride) {
      const Verdict verdict = trials.play(plans[i]);
      played.insert(kind);
      INFO(described(plans[i], verdict));
      CHECK(verdict.violations.empty());
    }
  }
  CHECK(played == subject.kinds);
}

}  // namespace

TEST_CASE("The mirror survives whatever the seeds bring", "[simulation]") {
  play_seeds("mirror");
}

TEST_CASE("The gang survives whatever the seeds bring", "[simulation]") {
  play_seeds("gang");
}

TEST_CASE("Training jobs survive whatever the seeds bring", "[simulation]") {
  play_seeds("training");
}

TEST_CASE("Jobs with launchers survive whatever the seeds bring", "[simulation][B10]") {
  play_seeds("launched");
}

TEST_CASE("The controllers that wrong ones are made from are right themselves", "[simulation]") {
  play_seeds("replace");
  play_seeds("counted");
}

TEST_CASE("Every wrong controller is caught", "[simulation][L1][W1][W2][W3][E2]") {
  for (const Subject& subject : subjects()) {
    if (!subject.wrong) continue;
    Trials trials;
    std::string caught;
    // One seed in forty shows a stale start; the first that does saves the sanitizers the rest.
    std::uint64_t seed = subject.off == Rule::kL1 ? 38 : 0;
    while (caught.empty() && ++seed <= kSeedsToCatch) {
      const Verdict verdict = trials.play(Trials::draw(subject, seed));
      if (!verdict.violations.empty()) caught = verdict.violations.front();
    }
    INFO(subject.name << ": " << subject.about << "; by seed " << seed << ": " << caught);
    CHECK_FALSE(caught.empty());
  }
}

TEST_CASE("A seed replays to the last packet", "[simulation]") {
  for (const char* name : {"mirror", "gang", "job", "no-w3"}) {
    const Subject& subject = *find_subject(name);
    for (std::uint64_t seed = 1; seed <= 1; ++seed) {
      Trials one;
      Trials other;
      const Scenario scenario = Trials::draw(subject, seed);
      const Verdict first = one.play(scenario);
      const Verdict second = other.play(scenario, /*keep_trace=*/true);
      CHECK(first.run.trace_hash == second.run.trace_hash);
      CHECK(first.run.end == second.run.end);
      CHECK(second.run.trace.size() > 50);
    }
  }
}

TEST_CASE("The mirror survives single faults, wherever they come", "[simulation][W7][E2]") {
  survive_single_faults("mirror", kMirrorStride);
}

TEST_CASE("A job survives single faults, wherever they come", "[simulation][W7][E2][B10]") {
  survive_single_faults("job", kJobStride);
}

TEST_CASE("A job with launchers survives single faults", "[simulation][W7][E2][B10]") {
  survive_single_faults("launched", kLaunchedStride);
}

TEST_CASE("A failing plan shrinks to the faults that matter", "[simulation]") {
  const Subject& subject = *find_subject("no-e2");
  Trials trials;
  for (std::uint64_t seed = 15; seed <= kSeedsToCatch; ++seed) {
    Scenario scenario = Trials::draw(subject, seed);
    if (trials.play(scenario).violations.empty()) continue;
    const Fault noise{.kind = FaultKind::kBreakStreams, .at = 150'000, .replica = 1};
    scenario.plan.insert(scenario.plan.begin(), noise);
    if (trials.play(scenario).violations.empty()) continue;
    const Scenario least = trials.shrink(scenario);
    CHECK(least.plan.size() == 1);
    CHECK(has(least.plan, FaultKind::kFreezeAtWrite));
    return;
  }
  FAIL("no seed failed");
}

TEST_CASE("Kept scenarios end as they say", "[simulation]") {
  std::size_t played = 0;
  Trials trials;
  for (const auto& file : std::filesystem::directory_iterator("tests/simulation/scenarios")) {
    std::ifstream text(file.path());
    const std::string content(std::istreambuf_iterator<char>(text), {});
    const auto scenario = parse_scenario(content);
    INFO(file.path() << "\n" << (scenario ? "" : scenario.error().context));
    REQUIRE(scenario);
    const Verdict verdict = trials.play(*scenario);
    INFO(described(*scenario, verdict));
    CHECK(verdict.violations.empty() != scenario->caught);
    ++played;
  }
  CHECK(played > 0);
}

}  // namespace amdahl::simulation
