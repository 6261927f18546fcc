#include "tests/simulation/world.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "tests/simulation/end_state.hpp"
#include "tests/simulation/launchers.hpp"
#include "tests/simulation/pods.hpp"
#include "tests/simulation/process.hpp"
#include "tests/simulation/rules_of_run.hpp"

namespace amdahl::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReplicas = 2;
constexpr std::int32_t kServerClock = 2;  // the replica number that means the server
constexpr std::uint64_t kStepsMax = 2'000'000;
constexpr std::chrono::minutes kDeathMax{3};
const Actor kUser{.name = "user"};
const Actor kMonkey{.name = "monkey"};

Monotonic at_ms(std::int64_t ms) {
  return Monotonic{} + milliseconds{ms};
}

class World {
 public:
  World(const StartState& start, const RunOptions& options)
      : options_(options),
        rng_(options.seed),
        trace_(options.keep_trace),
        ledger_(trace_),
        book_(options.plan),
        server_(start, rng_.split(), clock_, agenda_, ledger_),
        pods_(server_, agenda_, book_, rng_.split()),
        // A stream of its own, so that seeds of subjects without launchers stay what they are.
        launchers_(pods_, agenda_, Rng(~options.seed),
                   [this](const api::Report& report) { return deliver(report); }) {
    static constexpr std::array<controller::LeaseTimings, 2> kTimings{
        controller::LeaseTimings{milliseconds{15'000}, milliseconds{10'000}, milliseconds{2'000}},
        controller::LeaseTimings{milliseconds{30'000}, milliseconds{24'000}, milliseconds{12'000}}};
    timings_ = kTimings[rng_.chance(0.1) ? 0 : 1];
  }

  RunResult run();

 private:
  void set_up();
  void plan_faults();
  void play(const Fault& fault);
  void play_foreign(const Fault& fault);
  void start(std::size_t replica);
  void crash(std::size_t replica, std::int64_t restart_ms);
  void ended(std::size_t replica);
  std::optional<api::ReportReply> deliver(const api::Report& report);
  void run_until(Monotonic end);
  void bury();
  WireWorld wire_world() {
    return {.server = server_,
            .agenda = agenda_,
            .book = book_,
            .trace = trace_,
            .executor = io_.get_executor()};
  }

  RunOptions options_;
  boost::asio::io_context io_;
  ManualClock clock_;
  Rng rng_;
  Trace trace_;
  Ledger ledger_;
  Agenda agenda_{clock_};
  FaultBook book_;
  SimServer server_;
  Pods pods_;
  Launchers launchers_;
  controller::LeaseTimings timings_{};
  std::array<Process*, kReplicas> current_{};
  std::vector<std::unique_ptr<Process>> processes_;  // also dead ones: packets may be under way
  std::vector<std::string> problems_;
  std::uint64_t steps_ = 0;
  bool over_ = false;
};

void World::set_up() {
  server_.on_mutation([this](const local::Mutation& mutation) {
    pods_.on_mutation(mutation);
    launchers_.on_mutation();
  });
  for (const UserStep& step : options_.subject->script(options_.workload))
    agenda_.at(at_ms(step.at_ms), [this, step] {
      const int status = server_.write(kUser, step.method, step.target, step.body);
      trace_.add(clock_.monotonic(), "user {} {} -> {}", step.method, step.target, status);
    });
  for (std::size_t replica = 0; replica < kReplicas; ++replica)
    agenda_.in(milliseconds{rng_.below(3'000)}, [this, replica] { start(replica); });
}

void World::start(std::size_t replica) {
  if (over_) return;
  const std::string identity = fmt::format("operator-{}-{}", replica, processes_.size());
  trace_.add(clock_.monotonic(), "{} starts", identity);
  processes_.push_back(std::make_unique<Process>(
      *options_.subject, wire_world(), clock_, rng_.split(),
      Process::Options{
          .identity = identity,
          .replica = static_cast<std::int32_t>(replica),
          .timings = timings_,
          // Not from inside its own code: a coroutine cannot end itself.
          .on_crash =
              [this, replica] {
                current_[replica]->wire().cut();
                agenda_.in({}, [this, replica] {
                  crash(replica, 1'000 + static_cast<std::int64_t>(rng_.below(5'000)));
                });
              },
          .on_end = [this, replica] { agenda_.in({}, [this, replica] { ended(replica); }); }}));
  current_[replica] = processes_.back().get();
}

void World::crash(std::size_t replica, std::int64_t restart_ms) {
  Process* const process = current_[replica];
  if (process == nullptr) return;
  trace_.add(clock_.monotonic(), "replica {} crashes", replica);
  process->kill();
  current_[replica] = nullptr;
  agenda_.in(milliseconds{restart_ms}, [this, replica] { start(replica); });
}

// A program that ended by itself is started again, as a kubelet would.
void World::ended(std::size_t replica) {
  if (current_[replica] == nullptr || over_) return;
  trace_.add(clock_.monotonic(), "replica {} ended", replica);
  current_[replica] = nullptr;
  agenda_.in(milliseconds{1'000 + rng_.below(2'000)}, [this, replica] { start(replica); });
}

void World::plan_faults() {
  for (const Fault& fault : options_.plan)
    if (fault.kind >= FaultKind::kKill)
      agenda_.at(FaultBook::start(fault), [this, fault] { play(fault); });
}

void World::play(const Fault& fault) {
  trace_.add(clock_.monotonic(), "fault {}", to_text(fault));
  const auto replica = static_cast<std::size_t>(fault.replica);
  Process* const process = replica < kReplicas ? current_[replica] : nullptr;
  switch (fault.kind) {
    case FaultKind::kKill:
      crash(replica, std::min(fault.for_ms, kFaultsEndMs - fault.at));
      break;
    case FaultKind::kFreeze:
      if (process == nullptr) break;
      process->clock().freeze();
      agenda_.at(FaultBook::end(fault), [process] { process->clock().resume(); });
      break;
    case FaultKind::kWallJump:
      if (fault.replica == kServerClock) server_.jump_wall(std::chrono::seconds{fault.arg});
      if (process != nullptr) process->clock().jump_wall(std::chrono::seconds{fault.arg});
      break;
    case FaultKind::kBreakStreams:
      if (process != nullptr) process->wire().break_streams();
      break;
    case FaultKind::kDeafStreams:
      agenda_.at(FaultBook::end(fault), [this, replica] {
        if (current_[replica] != nullptr) current_[replica]->wire().break_streams();
      });
      break;
    case FaultKind::kCompact:
      server_.compact();
      break;
    case FaultKind::kPagedLists:
      server_.forget();
      if (process != nullptr) process->wire().break_streams();
      break;
    case FaultKind::kForeignEdit:
    case FaultKind::kForeignDelete:
      play_foreign(fault);
      break;
    case FaultKind::kPodKill:
    case FaultKind::kPodDelete:
    case FaultKind::kPreempt:
    case FaultKind::kNodeLoss:
      pods_.play(fault);
      break;
    default:
      break;  // windows: the wire asks the book
  }
}

void World::play_foreign(const Fault& fault) {
  std::vector<std::string> targets = child_paths(server_.table());
  if (targets.empty() || fault.arg > std::ssize(targets)) return;
  const std::size_t drawn = rng_.below(targets.size());
  const std::string& target =
      targets[fault.arg > 0 ? static_cast<std::size_t>(fault.arg) - 1 : drawn];
  if (fault.kind == FaultKind::kForeignDelete) {
    server_.write(kMonkey, "DELETE", target, "");
  } else {
    server_.write(kMonkey, "PATCH", target, options_.subject->monkey_edit);
  }
}

std::optional<api::ReportReply> World::deliver(const api::Report& report) {
  for (Process* const process : current_) {
    if (process == nullptr) continue;
    if (auto reply = process->report(report)) return reply;
  }
  return std::nullopt;
}

void World::run_until(Monotonic end) {
  for (;;) {
    io_.poll();
    io_.restart();
    const Monotonic next = std::min(clock_.next_deadline(), agenda_.next());
    if (next > end) break;
    if (++steps_ > kStepsMax) {
      problems_.push_back(
          fmt::format("no end: {} steps by {:.3f} s", kStepsMax, seconds(clock_.monotonic())));
      break;
    }
    clock_.advance(std::max(next, clock_.monotonic()) - clock_.monotonic());
    agenda_.run_due();
  }
}

void World::bury() {
  over_ = true;
  for (const auto& process : processes_) process->kill();
  steps_ = 0;
  const Monotonic last = clock_.monotonic() + kDeathMax;
  const auto all_gone = [this] {
    return std::ranges::all_of(processes_, [](const auto& process) { return process->gone(); });
  };
  while (!all_gone() && clock_.monotonic() < last)
    run_until(clock_.monotonic() + milliseconds{500});
  AMDAHL_CHECK(all_gone());
}

RunResult World::run() {
  set_up();
  plan_faults();
  const std::int64_t converge_ms = options_.subject->converge_ms(options_.workload);
  run_until(at_ms(converge_ms));
  ledger_.demand_silence();
  const std::int64_t end_ms = converge_ms + options_.silence_ms;
  run_until(at_ms(end_ms));
  RunResult result{.end = end_state(server_.table()),
                   .counts = ledger_.counts(),
                   .violations = problems_,
                   .trace_hash = trace_.hash(),
                   .trace = trace_.take_lines(),
                   .writes = book_.writes(),
                   .lease_writes = book_.lease_writes(),
                   .requests = book_.requests(),
                   .active_ms = ledger_.active_ms(),
                   .virtual_ms = end_ms};
  const auto& seen = ledger_.violations();
  result.violations.insert(result.violations.end(), seen.begin(), seen.end());
  bury();
  return result;
}

}  // namespace

RunResult run_world(const StartState& start, const RunOptions& options) {
  switch_off(options.subject->off);
  World world(start, options);
  RunResult result = world.run();
  switch_off({});
  return result;
}

}  // namespace amdahl::simulation
