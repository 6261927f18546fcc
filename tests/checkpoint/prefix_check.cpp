#include "tests/checkpoint/prefix_check.hpp"

#include <map>
#include <set>

#include "checkpoint/engine/test_state.hpp"

namespace amdahl::checkpoint::test {

PrefixSeen look_at(Store& store, std::int32_t world_size) {
  PrefixSeen seen;
  const auto steps = fetch_steps(store, {});
  if (!steps) return {.wrong = steps.error().context};
  for (const std::int64_t step : *steps) {
    const auto chain = fetch_chain(store, step, {});
    if (!chain) return {.wrong = chain.error().context};
    const auto tensors = load_all(store, *chain, 1);
    if (!tensors) return {.wrong = tensors.error().context};
    static std::map<std::pair<std::int64_t, std::int32_t>, std::map<std::string, std::string>>
        known;
    auto& expected = known[{step, world_size}];
    if (expected.empty()) expected = expected_at(step, world_size);
    if (*tensors != expected) return {.wrong = "step " + std::to_string(step) + " has other bytes"};
    if (seen.newest < 0) seen.newest = step;
  }
  return seen;
}

std::int64_t unneeded_objects(Store& store) {
  std::set<std::string> needed = {"owner.jsonl"};
  const auto steps = fetch_steps(store, {});
  for (const std::int64_t step : *steps) {
    needed.insert(manifest_name(step));
    const auto chain = fetch_chain(store, step, {});
    for (const Checkpoint& checkpoint : *chain)
      for (const ReadReceipt& read : checkpoint.receipts) {
        needed.insert(receipt_name(read.receipt));
        for (const ObjectRecord& object : read.receipt.objects) needed.insert(object.name);
      }
  }
  std::int64_t unneeded = 0;
  const auto listed = list_all(store, "", {});
  for (const StoredObject& object : *listed)
    if (object.name != kForeignName && !needed.contains(object.name)) ++unneeded;
  return unneeded;
}

}  // namespace amdahl::checkpoint::test
