#include "runtime/launch/ended_ranks.hpp"

#include <algorithm>

#include "operator/api/report.hpp"
#include "runtime/launch/world.hpp"

namespace amdahl::launch {

EndedRanks::EndedRanks(const Settings& settings)
    : size_(settings.runtime == Runtime::kPython ? 0 : settings.nodes * settings.slots),
      here_(static_cast<std::size_t>(settings.slots)) {}

EndedRanks::Seen EndedRanks::see(pid_t process, const ReadEnvironment& read) const {
  const auto environment = read(process);
  if (!environment) return {.mute = environment.error().code == Errc::kForbidden};
  const auto place = place_in(*environment);
  if (!place) return {.mute = !environment->empty()};
  // A script may start a world for itself, such as for an evaluation: its ranks are not these.
  if (place->size != size_) return {.elsewhere = true};
  return {.rank = place->rank && *place->rank < size_ ? place->rank : std::nullopt};
}

bool EndedRanks::unchanged(const ReadEnvironment& read) const {
  return runs_.size() == here_ && seen_.size() == here_ &&
         std::ranges::all_of(runs_, [&](const auto& one) {
           const Seen seen = see(one.second, read);
           return seen.mute || seen.rank == one.first;
         });
}

void EndedRanks::look(std::span<const pid_t> family, const ReadEnvironment& read, Monotonic now) {
  std::map<pid_t, std::int64_t> known;
  for (const auto& [rank, process] : runs_) known[process] = rank;
  std::map<std::int64_t, pid_t> runs;
  std::set<pid_t> elsewhere;
  for (const pid_t process : family) {
    const Seen seen = see(process, read);
    if (seen.elsewhere)
      elsewhere.insert(process);
    else if (seen.rank)
      runs.try_emplace(*seen.rank, process);
    else if (const auto before = known.find(process); seen.mute && before != known.end())
      runs.try_emplace(before->second, process);
  }
  const auto same = [&](const auto& one) {
    const auto before = runs_.find(one.first);
    return before != runs_.end() && before->second == one.second;
  };
  // A launcher ends all workers before it starts others, which may be other ranks.
  // A world that a rank had started for itself may outlive it.
  const bool replaced = runs.empty() ? !std::ranges::includes(elsewhere_, elsewhere)
                                     : std::ranges::none_of(runs, same);
  if (replaced) seen_.clear();
  elsewhere_ = std::move(elsewhere);
  for (const auto& [rank, process] : runs)
    if (seen_.size() < api::kReportEndedRanksMax) seen_.insert(rank);
  runs_ = std::move(runs);
  if (ranks().empty())
    since_.reset();
  else if (!since_)
    since_ = now;
}

std::vector<std::int64_t> EndedRanks::ranks() const {
  std::vector<std::int64_t> ended;
  for (const std::int64_t rank : seen_)
    if (!runs_.contains(rank)) ended.push_back(rank);
  return ended;
}

}  // namespace amdahl::launch
