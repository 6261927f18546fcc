// `simulate`: see options.cpp for its help.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <ranges>
#include <thread>

#include "tests/simulation/options.hpp"
#include "tests/simulation/single_faults.hpp"
#include "tests/simulation/trial.hpp"
#include "tests/simulation/workers.hpp"

namespace amdahl::simulation {
namespace {

constexpr std::size_t kFailuresShown = 10;

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(Errc::kNotFound, "cannot read {}", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) return fail(Errc::kIo, "cannot write {}", path);
  return {};
}

void show(const Tally& tally, const Subject& subject) {
  const double hours = static_cast<double>(tally.virtual_ms) / 3.6e6;
  print(fmt::format(
      "{}: {} runs, {} objected to; {:.0f} seeds/s, {:.1f} virtual hours per CPU-second "
      "({:.0f} virtual hours, {:.1f} s)\n",
      subject.name, tally.runs, tally.failures.size(),
      static_cast<double>(tally.runs) / tally.wall_seconds, hours / tally.cpu_seconds, hours,
      tally.wall_seconds));
  for (const auto& failure : tally.failures | std::views::take(kFailuresShown))
    print(fmt::format("  seed {}: {}\n", failure.seed, failure.first));
  if (!tally.failures.empty() && !subject.wrong)
    print(fmt::format("  replay: simulate --subject {} --replay {}\n", subject.name,
                      tally.failures.front().seed));
}

Result<bool> run_seeds(const Options& options, const Subject& subject) {
  TRY(const Tally tally, play_all(options.seeds, options.jobs, options.silence_minutes * 60'000,
                                  [&](std::uint64_t index) {
                                    return Trials::draw(subject, options.first + index,
                                                        options.kinds);
                                  }));
  show(tally, subject);
  return tally.failures.empty() != subject.wrong;
}

Result<bool> run_exhaustive(const Options& options, const Subject& subject) {
  std::vector<Scenario> all;
  Trials trials;
  for (std::uint64_t workload = 0; workload < subject.workloads; ++workload) {
    auto more = single_faults(subject, workload, trials.reference(subject, workload));
    if (!options.kinds.empty())
      std::erase_if(more, [&](const Scenario& one) {
        return !options.kinds.contains(one.plan.front().kind);
      });
    if (!subject.workload_names.empty())
      print(fmt::format("{} {}: {} plans\n", subject.name, subject.workload_names[workload],
                        more.size()));
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const auto& [kind, count] : by_kind(all)) print(fmt::format("{:>8} {}\n", count, kind));
  std::fflush(stdout);  // the workers would print it again
  TRY(const Tally tally, play_all(all.size(), options.jobs, options.silence_minutes * 60'000,
                                  [&](std::uint64_t index) { return all[index]; }));
  show(tally, subject);
  for (const auto& failure : tally.failures | std::views::take(kFailuresShown))
    print(fmt::format("# {}\n{}", failure.first, to_text(all[failure.index])));
  return tally.failures.empty() != subject.wrong;
}

Result<bool> run_one(const Options& options, Scenario scenario) {
  Trials trials;
  trials.silence_ms = options.silence_minutes * 60'000;
  const Verdict verdict = trials.play(scenario, /*keep_trace=*/true);
  for (const std::string& line : verdict.run.trace) print(line + "\n");
  print("\n" + to_text(scenario));
  print(fmt::format("trace hash {:016x}\n", verdict.run.trace_hash));
  for (const std::string& violation : verdict.violations) print(violation + "\n");
  if (verdict.violations.empty()) print("nothing to object to\n");
  if (!options.save.empty()) {
    if (!verdict.violations.empty()) scenario = trials.shrink(scenario);
    TRY(write_text(options.save, to_text(scenario)));
  }
  return verdict.violations.empty() != scenario.caught;
}

Result<bool> run(Options options) {
  if (options.jobs == 0) options.jobs = std::max(1U, std::thread::hardware_concurrency());
  if (!options.scenario.empty()) {
    TRY(const std::string text, read_text(options.scenario));
    TRY(Scenario scenario, parse_scenario(text));
    return run_one(options, std::move(scenario));
  }
  if (options.replay)
    return run_one(options,
                   Trials::draw(*options.subjects.front(), *options.replay, options.kinds));
  bool good = true;
  for (const Subject* subject : options.subjects) {
    TRY(const bool ended,
        options.exhaustive ? run_exhaustive(options, *subject) : run_seeds(options, *subject));
    good = good && ended;
  }
  return good;
}

}  // namespace
}  // namespace amdahl::simulation

int main(int argc, char** argv) {
  namespace simulation = amdahl::simulation;
  const auto options = simulation::parse_options({argv, static_cast<std::size_t>(argc)});
  if (options && options->help) {
    simulation::print(simulation::kHelp);
    return 0;
  }
  const auto good =
      options ? simulation::run(*options) : amdahl::Result<bool>(std::unexpected(options.error()));
  if (!good) std::fprintf(stderr, "simulate: %s\n", good.error().context.c_str());
  if (!good) return 2;
  return *good ? 0 : 1;
}
