#include "checkpoint/engine/collection.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace amdahl::checkpoint {
namespace {

enum class Fate : std::uint8_t { kStays, kWaits, kGoes };

class Judge {
 public:
  explicit Judge(const CollectionInput& input)
      : input_(input), kept_(steps_to_keep(input.policy, input.committed)) {
    if (!input.damaged.empty())
      for (const CommittedCheckpoint& checkpoint : input.committed)
        if (checkpoint.step < *input.damaged.rbegin()) kept_.insert(checkpoint.step);
    for (const CommittedCheckpoint& checkpoint : input.committed) {
      saves_.emplace(checkpoint.step, checkpoint.save_id);
      if (!kept_.contains(checkpoint.step)) continue;
      for (const StoredObject& object : checkpoint.holds) needed_.insert(object.name);
    }
    for (const StoredObject& object : input.listed)
      if (const auto name = parse_name(object.name)) note_unfinished(*name);
  }

  const std::set<std::int64_t>& kept() const { return kept_; }

  Fate of(const ObjectName& name, const std::string& text) const {
    switch (name.kind) {
      case ObjectKind::kOwner:
      case ObjectKind::kPin:
        return Fate::kStays;
      case ObjectKind::kManifest:
        return saves_.contains(name.step) && !kept_.contains(name.step) ? Fate::kGoes
                                                                        : Fate::kStays;
      case ObjectKind::kBlob:
        return of_blob(text);
      case ObjectKind::kData:
      case ObjectKind::kEncoded:
      case ObjectKind::kReceipt:
        break;
    }
    if (needed_.contains(text) || input_.damaged.contains(name.step)) return Fate::kStays;
    return is_over({.step = name.step, .save_id = name.save_id}) ? Fate::kGoes : Fate::kWaits;
  }

 private:
  // A save may have put up a blob that its manifest will refer to. It writes a data object before,
  // so that it is seen here.
  Fate of_blob(const std::string& text) const {
    if (needed_.contains(text) || !input_.damaged.empty()) return Fate::kStays;
    return input_.saves.alone && !unfinished_ ? Fate::kGoes : Fate::kWaits;
  }

  void note_unfinished(const ObjectName& name) {
    const bool of_save = name.kind == ObjectKind::kReceipt || name.kind == ObjectKind::kData ||
                         name.kind == ObjectKind::kEncoded;
    if (of_save && !is_over({.step = name.step, .save_id = name.save_id})) unfinished_ = true;
  }

  bool is_over(const SaveKey& key) const {
    const auto committed = saves_.find(key.step);
    if (committed != saves_.end() && committed->second == key.save_id) return true;
    const SavesKnown& known = input_.saves;
    if (known.attempt.empty() || !is_save_of(known.attempt, key)) return known.alone;
    // A rank saves one step after another, and all ranks had written that one.
    return key.step <= known.committed_step;
  }

  const CollectionInput& input_;
  std::set<std::int64_t> kept_;
  std::map<std::int64_t, std::string> saves_;  // committed
  std::set<std::string> needed_;
  bool unfinished_ = false;
};

// A manifest before what it names, a delta's before its parent's.
std::pair<int, std::int64_t> order_of(const ObjectName& name) {
  switch (name.kind) {
    case ObjectKind::kManifest:
      return {0, -name.step};
    case ObjectKind::kReceipt:
      return {1, name.step};
    case ObjectKind::kData:
    case ObjectKind::kEncoded:
      return {2, name.step};
    default:
      return {3, 0};
  }
}

}  // namespace

CollectionPlan plan_collection(const CollectionInput& input) {
  const Judge judge(input);
  CollectionPlan plan{.kept = judge.kept()};
  std::vector<std::pair<std::pair<int, std::int64_t>, StoredObject>> going;
  for (const StoredObject& object : input.listed) {
    const auto name = parse_name(object.name);
    if (!name) {
      ++plan.foreign;
      continue;
    }
    const Fate fate = judge.of(*name, object.name);
    if (fate == Fate::kWaits) ++plan.waiting;
    if (fate != Fate::kGoes) continue;
    going.emplace_back(order_of(*name), object);
    plan.remove_bytes += object.bytes;
  }
  std::ranges::sort(going, [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.name) < std::tie(b.first, b.second.name);
  });
  for (auto& [order, object] : going) plan.remove.push_back(std::move(object));
  return plan;
}

}  // namespace amdahl::checkpoint
