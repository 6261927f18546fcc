#include "tests/simulation/trial.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/check.hpp"
#include "tests/simulation/judge.hpp"

namespace amdahl::simulation {
namespace {

Result<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(Errc::kInvalid, "\"{}\" is no number", text);
  return value;
}

}  // namespace

std::string to_text(const Scenario& scenario) {
  std::string text = fmt::format("subject {}\nseed {}\nworkload {}\n", scenario.subject,
                                 scenario.seed, scenario.workload);
  for (const Fault& fault : scenario.plan) text += fmt::format("fault {}\n", to_text(fault));
  text += scenario.caught ? "expect caught\n" : "expect nothing\n";
  return text;
}

Result<Scenario> parse_scenario(std::string_view text) {
  Scenario scenario;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line.starts_with('#')) continue;
    const auto space = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, space);
    const std::string_view value = line.substr(std::min(line.size(), space + 1));
    if (word == "subject") {
      scenario.subject = value;
    } else if (word == "seed") {
      TRY(scenario.seed, number(value));
    } else if (word == "workload") {
      TRY(scenario.workload, number(value));
    } else if (word == "fault") {
      TRY(Fault fault, parse_fault(value));
      scenario.plan.push_back(fault);
    } else if (word == "expect" && (value == "caught" || value == "nothing")) {
      scenario.caught = value == "caught";
    } else {
      return fail(Errc::kInvalid,
                  "\"{}\": a line begins with subject, seed, workload, fault or expect "
                  "(caught or nothing)",
                  line);
    }
  }
  if (find_subject(scenario.subject) == nullptr)
    return fail(Errc::kInvalid, "there is no subject \"{}\"", scenario.subject);
  return scenario;
}

Scenario Trials::draw(const Subject& subject, std::uint64_t seed,
                      const std::set<FaultKind>& kinds) {
  Rng rng(seed);
  Scenario scenario{.subject = subject.name,
                    .seed = seed,
                    .workload = seed % subject.workloads,
                    .caught = subject.wrong};
  if (subject.draw != nullptr && kinds.empty()) {
    scenario.plan = subject.draw(rng);
  } else {
    scenario.plan = draw_plan(rng, {.kinds = kinds.empty() ? subject.kinds : kinds});
  }
  return scenario;
}

const StartState& Trials::start_of(const Subject& subject) {
  return starts_.try_emplace(subject.name, schemas_, subject.definitions).first->second;
}

const RunResult& Trials::reference(const Subject& subject, std::uint64_t workload) {
  const std::string name = subject.reference.empty() ? subject.name : subject.reference;
  const auto [place, fresh] = references_.try_emplace({name, workload});
  if (fresh)
    place->second = run_world(start_of(subject), {.subject = find_subject(name),
                                                  .seed = workload,
                                                  .workload = workload,
                                                  .silence_ms = silence_ms});
  return place->second;
}

Verdict Trials::play(const Scenario& scenario, bool keep_trace) {
  const Subject* const subject = find_subject(scenario.subject);
  AMDAHL_CHECK(subject != nullptr);
  const RunResult& right = reference(*subject, scenario.workload);
  const RunOptions options{.subject = subject,
                           .seed = scenario.seed,
                           .workload = scenario.workload,
                           .plan = scenario.plan,
                           .keep_trace = keep_trace,
                           .silence_ms = silence_ms};
  Verdict verdict{.run = run_world(start_of(*subject), options)};
  verdict.violations = judge(options, verdict.run, right);
  return verdict;
}

Scenario Trials::shrink(const Scenario& scenario) {
  Scenario least = scenario;
  for (std::size_t i = 0; i < least.plan.size();) {
    Scenario smaller = least;
    smaller.plan.erase(smaller.plan.begin() + static_cast<std::ptrdiff_t>(i));
    if (play(smaller).violations.empty()) {
      ++i;
    } else {
      least = std::move(smaller);
    }
  }
  for (Fault& fault : least.plan) {
    for (std::int64_t* value : {&fault.for_ms, &fault.arg}) {
      const std::int64_t before = *value;
      if (before <= 1) continue;
      *value = before / 2;
      if (fault.kind == FaultKind::kRefuse || play(least).violations.empty()) *value = before;
    }
  }
  return least;
}

}  // namespace amdahl::simulation
