#include "checkpoint/engine/collector.hpp"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

#include "checkpoint/engine/workers.hpp"

namespace amdahl::checkpoint {
namespace {

CommittedCheckpoint summary_of(const Checkpoint& read) {
  const Manifest& manifest = read.manifest.manifest;
  CommittedCheckpoint checkpoint{
      .step = manifest.step, .save_id = manifest.save_id, .metrics = manifest.metrics};
  if (manifest.parent) checkpoint.parent = manifest.parent->step;
  for (const ReadReceipt& receipt : read.receipts) {
    checkpoint.holds.push_back({.name = receipt_name(receipt.receipt), .bytes = receipt.bytes});
    for (const ObjectRecord& object : receipt.receipt.objects)
      checkpoint.holds.push_back({.name = object.name, .bytes = object.bytes});
  }
  return checkpoint;
}

// Objects from the start that may be deleted side by side: those of one kind, for a manifest goes
// before what it names, and manifests one by one, a delta's before its parent's.
std::size_t side_by_side(std::span<const StoredObject> objects) {
  const auto kind = [](const StoredObject& object) { return parse_name(object.name)->kind; };
  if (kind(objects[0]) == ObjectKind::kManifest) return 1;
  std::size_t count = 1;
  while (count < objects.size() && kind(objects[count]) == kind(objects[0])) ++count;
  return count;
}

}  // namespace

Result<CommittedCheckpoint> Collector::read_checkpoint(std::int64_t step, const StoreCall& call) {
  TRY(ReadManifest manifest, fetch_manifest(store_, step, call));
  const auto known = known_.find(step);
  if (known != known_.end() && known->second.sha256 == manifest.sha256)
    return known->second.checkpoint;
  std::string sha256 = manifest.sha256;
  TRY(const Checkpoint read, fetch_receipts(store_, std::move(manifest), call));
  CommittedCheckpoint checkpoint = summary_of(read);
  known_[step] = {.sha256 = std::move(sha256), .checkpoint = checkpoint};
  return checkpoint;
}

Result<CollectionInput> Collector::gather(const CollectOptions& options, const StoreCall& call,
                                          Collected& collected) {
  CollectionInput input{.policy = options.policy, .saves = options.saves};
  // Blobs before data, and manifests last: a save that wrote a blob is seen, and so is a commit.
  for (const std::string_view folder : {"blobs/", "data/", "receipts/", "manifests/", "pins/"}) {
    // A manifest that is missing makes its save look unfinished, and a pin its checkpoint free: a
    // listing that leaves one out must stop this, or everything they protect would be deleted.
    const bool protects = folder == "manifests/" || folder == "pins/";
    TRY(auto listed,
        protects ? list_complete(store_, folder, call) : list_all(store_, folder, call));
    std::ranges::move(listed, std::back_inserter(input.listed));
  }
  std::set<std::int64_t> pinned;
  std::set<std::int64_t> steps;
  for (const StoredObject& object : input.listed) {
    const auto name = parse_name(object.name);
    if (name && name->kind == ObjectKind::kPin) pinned.insert(name->step);
    if (name && name->kind == ObjectKind::kManifest) steps.insert(name->step);
  }
  std::erase_if(known_, [&](const auto& known) { return !steps.contains(known.first); });
  for (const std::int64_t step : steps) {
    auto checkpoint = read_checkpoint(step, call);
    if (checkpoint) {
      checkpoint->pinned = pinned.contains(step);
      input.committed.push_back(*std::move(checkpoint));
      continue;
    }
    if (!is_damage(checkpoint.error().code)) return wrap(std::move(checkpoint).error(), "collect");
    input.damaged.insert(step);
    collected.damaged.push_back({.step = step, .why = checkpoint.error().context});
  }
  return input;
}

Result<void> Collector::remove(Collected& collected, int threads, const StoreCall& call) {
  std::atomic<std::int64_t> removed = 0;
  std::span<const StoredObject> left = collected.plan.remove;
  Result<void> result;
  while (!left.empty() && result) {
    const auto batch = left.first(side_by_side(left));
    result = run_on_workers(batch.size(), threads, [&](std::size_t i) -> Result<void> {
      TRY(store_.remove(batch[i].name, call));
      ++removed;
      return {};
    });
    left = left.subspan(batch.size());
  }
  collected.removed = removed;
  return result;
}

Result<Collected> Collector::collect(const CollectOptions& options, const StoreCall& call) {
  TRY(check_owner(store_, job_uid_, call));
  Collected collected;
  TRY(const CollectionInput input, gather(options, call, collected));
  collected.plan = plan_collection(input);
  if (options.dry_run) return collected;
  TRY(remove(collected, options.threads, call));
  TRY(collected.leftovers, store_.remove_leftovers(options.leftovers_before, call));
  return collected;
}

}  // namespace amdahl::checkpoint
