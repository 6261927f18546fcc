#include "tests/simulation/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/fields.hpp"

namespace amdahl::simulation {
namespace {

// Random parts of names are cut off, so that such objects are counted together.
std::string canonical(const std::string& id) {
  const auto at = id.find("-copy-");
  return at == std::string::npos ? id : id.substr(0, at + 6) + "*";
}

std::map<std::string, ObjectCounts> canonical(const std::map<std::string, ObjectCounts>& counts) {
  std::map<std::string, ObjectCounts> joined;
  for (const auto& [id, count] : counts) {
    ObjectCounts& sum = joined[canonical(id)];
    sum.creates += count.creates;
    sum.operator_creates += count.operator_creates;
    sum.deletes += count.deletes;
    sum.operator_deletes += count.operator_deletes;
    sum.late_creates += count.late_creates;
    sum.stale_creates += count.stale_creates;
  }
  return joined;
}

EndState canonical(const EndState& state) {
  EndState renamed;
  for (const auto& [id, text] : state) {
    const std::string general = canonical(id);
    if (general == id) {
      renamed[id] = text;
    } else {
      renamed[general] += "+";  // how many, which is all that is the same
    }
  }
  return renamed;
}

// Faults after which a decision may rest on what was true a while ago, through no fault of the
// controller: nothing in Kubernetes tells it that its watch is late.
bool excuses_late(const FaultPlan& plan) {
  static constexpr std::array kKinds = {
      FaultKind::kLag,          FaultKind::kDeafStreams,   FaultKind::kCoalesce,
      FaultKind::kFreeze,       FaultKind::kFreezeAtWrite, FaultKind::kRefuse,
      FaultKind::kBreakStreams, FaultKind::kLoseReply,     FaultKind::kReorder,
      FaultKind::kPagedLists,   FaultKind::kResetBefore,   FaultKind::kResetAfter};
  return std::ranges::any_of(kKinds, [&](FaultKind kind) { return has(plan, kind); });
}

std::string excerpt(const std::string& text) {
  constexpr std::size_t kLength = 600;
  return text.size() <= kLength ? text : text.substr(0, kLength) + "...";
}

// Where two objects differ: "/spec/a: 1 should be 2", a few of them.
std::string differences(const std::string& run, const std::string& reference) {
  constexpr std::size_t kShown = 6, kValueLength = 120;
  const Json is = Json::parse(run, nullptr, false);
  const Json should = Json::parse(reference, nullptr, false);
  if (!is.is_object() || !should.is_object())
    return fmt::format("\n    is {}\n    and should be {}", excerpt(run), excerpt(reference));
  const Json changes = Json::diff(is, should);
  const auto brief = [](const Json& value) { return value.dump().substr(0, kValueLength); };
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), kShown); ++i) {
    const std::string path = changes[i].value("path", "");
    const Json::json_pointer at(path);
    const Json wanted = changes[i].value("value", Json());
    text += fmt::format("\n    {}: {} should be {}", path,
                        is.contains(at) && changes[i]["op"] != "add" ? brief(is[at]) : "nothing",
                        changes[i]["op"] == "remove" ? "nothing" : brief(wanted));
  }
  if (changes.size() > kShown) text += fmt::format("\n    and {} more", changes.size() - kShown);
  return text;
}

void compare_end(const EndState& run, const EndState& reference, std::vector<std::string>& found) {
  for (const auto& [id, text] : reference) {
    const auto here = run.find(id);
    if (here == run.end()) {
      found.push_back(fmt::format("end state: {} is missing", id));
    } else if (here->second != text) {
      found.push_back(fmt::format("end state: {}:{}", id, differences(here->second, text)));
    }
  }
  for (const auto& [id, text] : run)
    if (!reference.contains(id))
      found.push_back(fmt::format("end state: {} should not be there: {}", id, excerpt(text)));
}

void compare_counts(const RunOptions& options, const RunResult& run, const RunResult& reference,
                    std::vector<std::string>& found) {
  const auto allowed = canonical(reference.counts);
  const auto extra = static_cast<std::uint32_t>(disturbances(options.plan));
  for (const auto& [id, count] : canonical(run.counts)) {
    const auto there = allowed.find(id);
    // New attempts of a gang have new names.
    const ObjectCounts most = there != allowed.end() ? there->second
                              : extra > 0            ? ObjectCounts{.creates = 1, .deletes = 1}
                                                     : ObjectCounts{};
    if (count.stale_creates > 0 && !excuses_late(options.plan))
      found.push_back(fmt::format("counts: {} was created for an owner that had long gone", id));
    if (count.creates > most.creates + count.late_creates + extra)
      found.push_back(fmt::format("counts: {} was created {} times, {} in the reference", id,
                                  count.creates, most.creates));
    if (count.deletes > most.deletes + count.late_creates + extra)
      found.push_back(fmt::format("counts: {} was deleted {} times, {} in the reference", id,
                                  count.deletes, most.deletes));
  }
}

// A reference in which the operator did nothing is equalled by any run in which it does nothing.
void check_reference(const RunResult& reference, std::vector<std::string>& found) {
  const bool works = std::ranges::any_of(
      reference.counts, [](const auto& entry) { return entry.second.operator_creates > 0; });
  if (!works) found.emplace_back("reference: the operator has made nothing; it does not work");
  for (const std::string& violation : reference.violations)
    found.push_back(fmt::format("reference: {}", violation));
}

}  // namespace

std::vector<std::string> judge(const RunOptions& options, const RunResult& run,
                               const RunResult& reference) {
  std::vector<std::string> found = run.violations;
  check_reference(reference, found);
  compare_counts(options, run, reference, found);
  const auto general = options.subject->general;
  const EndState is = general != nullptr ? general(run.end) : canonical(run.end);
  const EndState should = general != nullptr ? general(reference.end) : canonical(reference.end);
  const auto essence = options.subject->essence;
  if (essence != nullptr && disturbances(options.plan) > 0) {
    compare_end(essence(is), essence(should), found);
  } else {
    compare_end(is, should, found);
  }
  return found;
}

}  // namespace amdahl::simulation
