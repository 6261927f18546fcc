#include "checkpoint/engine/later_saves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace amdahl::checkpoint {

// Receipts of the attempt, as one listing had them.
struct LaterSaves::Seen {
  std::vector<bool> there = {};                     // by rank: of the save
  std::map<std::int32_t, std::int64_t> later = {};  // the newest step after it
};

LaterSaves::LaterSaves(Store& store, Clock& clock, std::string attempt, SaveKey save)
    : store_(store),
      clock_(clock),
      attempt_(std::move(attempt)),
      save_(std::move(save)),
      next_(clock.monotonic() + kLookPauseMin) {}

std::optional<LaterSaves::Seen> LaterSaves::see(std::int32_t world_size, const StoreCall& call) {
  if (attempt_.empty() || clock_.monotonic() < next_) return std::nullopt;
  pause_ = std::min<std::chrono::nanoseconds>(2 * pause_, kLookPauseMax);
  const auto listed = list_all(store_, "receipts/", call);
  next_ = clock_.monotonic() + pause_;  // from its end: a listing may take long
  if (!listed) return std::nullopt;
  Seen seen{.there = std::vector<bool>(static_cast<std::size_t>(world_size))};
  std::map<SaveKey, bool> ours;  // an attempt has few saves, and each many receipts
  for (const StoredObject& object : *listed) {
    const auto name = parse_name(object.name);
    if (!name || name->rank >= world_size || name->step < save_.step) continue;
    const SaveKey key{.step = name->step, .save_id = name->save_id};
    if (key == save_) seen.there[static_cast<std::size_t>(name->rank)] = true;
    if (key.step == save_.step) continue;
    auto known = ours.find(key);
    if (known == ours.end()) known = ours.emplace(key, is_save_of(attempt_, key)).first;
    if (!known->second) continue;
    std::int64_t& step = seen.later[name->rank];
    step = std::max(step, key.step);
  }
  return seen;
}

std::optional<WentOn> LaterSaves::without_receipt(const Seen& seen, const StoreCall& call) {
  for (const auto& [rank, step] : seen.later) {
    if (seen.there[static_cast<std::size_t>(rank)]) continue;
    // The listing came in pages: the receipt may have appeared behind our back. Not any more, now
    // that a later one is known.
    const auto size = store_.size(write_name({.kind = ObjectKind::kReceipt,
                                              .step = save_.step,
                                              .save_id = save_.save_id,
                                              .rank = rank}),
                                  call);
    if (size || size.error().code != Errc::kNotFound) return std::nullopt;
    return WentOn{.rank = rank, .step = step};
  }
  return std::nullopt;
}

std::optional<WentOn> LaterSaves::look(std::int32_t world_size, const StoreCall& call) {
  const auto seen = see(world_size, call);
  return seen ? without_receipt(*seen, call) : std::nullopt;
}

std::optional<WentOn> LaterSaves::look_for_commit(std::int32_t world_size, const StoreCall& call) {
  const auto seen = see(world_size, call);
  if (!seen) return std::nullopt;
  if (const auto first = seen->later.find(0); first != seen->later.end() && seen->there[0])
    return WentOn{.rank = 0, .step = first->second, .wrote_first = true};
  return without_receipt(*seen, call);
}

std::string describe(const WentOn& went_on) {
  return fmt::format("rank {} has gone on to step {} without {} it", went_on.rank, went_on.step,
                     went_on.wrote_first ? "committing" : "writing");
}

}  // namespace amdahl::checkpoint
