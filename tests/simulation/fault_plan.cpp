#include "tests/simulation/fault_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace amdahl::simulation {
namespace {

constexpr std::array<std::string_view, kFaultKinds> kNames = {"crash-before-send",
                                                              "crash-after-send",
                                                              "crash-after-reply",
                                                              "freeze-at-write",
                                                              "refuse",
                                                              "reset-before",
                                                              "reset-after",
                                                              "lose-reply",
                                                              "kill",
                                                              "freeze",
                                                              "wall-jump",
                                                              "stale-start",
                                                              "lag",
                                                              "reorder",
                                                              "break-streams",
                                                              "deaf-streams",
                                                              "duplicate",
                                                              "coalesce",
                                                              "compact",
                                                              "paged-lists",
                                                              "slow-binding",
                                                              "foreign-edit",
                                                              "foreign-delete",
                                                              "pod-kill",
                                                              "pod-delete",
                                                              "preempt",
                                                              "node-loss"};

constexpr std::int64_t kLeaseWritesDrawn = 12;
constexpr double kLeaseChance = 0.2;          // that a crash is at a write of the lease
constexpr std::int64_t kWritesDrawn = 30;     // a fault at a later write rarely finds one
constexpr std::int64_t kRequestsDrawn = 120;  // leases included
constexpr std::int64_t kTimesDrawnMs = 120'000;
constexpr std::int64_t kWindowMs = 60'000;

std::int64_t between(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

Fault draw_fault(Rng& rng, FaultKind kind) {
  Fault fault{.kind = kind, .replica = static_cast<std::int32_t>(rng.below(2))};
  if (kind <= FaultKind::kFreezeAtWrite) {
    fault.arg = rng.chance(kLeaseChance) ? kAtLease : 0;
    fault.at = between(rng, 1, fault.arg == kAtLease ? kLeaseWritesDrawn : kWritesDrawn);
  } else if (kind <= FaultKind::kLoseReply) {
    fault.at = between(rng, 1, kRequestsDrawn);
  } else {
    fault.at = between(rng, 100, kTimesDrawnMs);
  }
  fault.for_ms = between(rng, 1'000, kWindowMs);
  if (kind == FaultKind::kRefuse) fault.arg = kRefusals[rng.below(kRefusals.size())];
  if (kind == FaultKind::kWallJump) {
    fault.arg = rng.chance(0.5) ? 3600 : -3600;
    fault.replica = static_cast<std::int32_t>(rng.below(3));
  }
  if (kind == FaultKind::kStaleStart) fault.arg = between(rng, 1, 20);
  if (kind == FaultKind::kLag || kind == FaultKind::kReorder) fault.arg = between(rng, 100, 90'000);
  if (kind == FaultKind::kCoalesce) fault.arg = between(rng, 100, 10'000);
  if (kind == FaultKind::kSlowBinding) fault.arg = between(rng, 1'000, 30'000);
  return fault;
}

}  // namespace

std::string_view name(FaultKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

Result<FaultKind> fault_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end())
    return fail(Errc::kInvalid, "unknown fault \"{}\"; known: {}", name, fmt::join(kNames, ", "));
  return static_cast<FaultKind>(std::distance(kNames.begin(), found));
}

FaultPlan draw_plan(Rng& rng, const PlanLimits& limits) {
  FaultPlan plan;
  if (limits.kinds.empty()) return plan;
  const std::vector<FaultKind> kinds(limits.kinds.begin(), limits.kinds.end());
  const std::size_t faults = 1 + rng.below(limits.faults_max);
  for (std::size_t i = 0; i < faults; ++i)
    plan.push_back(draw_fault(rng, kinds[rng.below(kinds.size())]));
  return plan;
}

bool has(const FaultPlan& plan, FaultKind kind) {
  return std::ranges::find(plan, kind, &Fault::kind) != plan.end();
}

std::size_t disturbances(const FaultPlan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan, [](const Fault& fault) { return fault.kind >= FaultKind::kForeignDelete; }));
}

std::string to_text(const Fault& fault) {
  return fmt::format("{} at={} replica={} arg={} for={}", name(fault.kind), fault.at, fault.replica,
                     fault.arg, fault.for_ms);
}

Result<Fault> parse_fault(std::string_view line) {
  Fault fault;
  const auto space = line.find(' ');
  TRY(fault.kind, fault_kind(line.substr(0, space)));
  std::string_view rest = space == std::string_view::npos ? "" : line.substr(space + 1);
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const auto equals = word.find('=');
    std::int64_t value = 0;
    const std::string_view digits = equals == word.npos ? "" : word.substr(equals + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      return fail(Errc::kInvalid, "\"{}\": \"{}\" is not NAME=NUMBER", line, word);
    const std::string_view field = word.substr(0, equals);
    if (field == "at") {
      fault.at = value;
    } else if (field == "replica") {
      fault.replica = static_cast<std::int32_t>(value);
    } else if (field == "arg") {
      fault.arg = value;
    } else if (field == "for") {
      fault.for_ms = value;
    } else {
      return fail(Errc::kInvalid, "\"{}\": a fault has no \"{}\"", line, field);
    }
  }
  return fault;
}

}  // namespace amdahl::simulation
