#include "operator/process/checkpoint_finder.hpp"

#include <limits>
#include <map>
#include <set>
#include <string>

namespace amdahl {
namespace {

using checkpoint::Store;
using checkpoint::StoreCall;
using training::CheckpointFinding;

using Sizes = std::map<std::string, std::int64_t, std::less<>>;

// "data/STEP-SAVE-" of a data object, "blobs/" of a blob: one listing finds what belongs together.
std::string listing_of(std::string_view name) {
  const auto slash = name.find('/');
  const auto dash = name.find('-', name.find('-') + 1);
  const bool data = name.starts_with("data/") && dash != std::string_view::npos;
  return std::string(name.substr(0, data ? dash + 1 : slash + 1));
}

Sizes sizes_wanted(const checkpoint::Chain& chain) {
  Sizes wanted;
  for (const checkpoint::Checkpoint& one : chain)
    for (const checkpoint::ReadReceipt& receipt : one.receipts)
      for (const checkpoint::ObjectRecord& object : receipt.receipt.objects)
        wanted.emplace(object.name, object.bytes);
  return wanted;
}

// kCorrupt or kNotFound for an object that is not as its receipt says.
Result<void> check_sizes(Store& store, const checkpoint::Chain& chain, const StoreCall& call) {
  const Sizes wanted = sizes_wanted(chain);
  if (wanted.size() > kObjectsSizedMax) return {};
  std::set<std::string> listings;
  for (const auto& [name, bytes] : wanted) listings.insert(listing_of(name));
  Sizes listed;
  for (const std::string& prefix : listings) {
    TRY(auto objects, checkpoint::list_all(store, prefix, call));
    for (checkpoint::StoredObject& object : objects)
      listed.emplace(std::move(object.name), object.bytes);
  }
  for (const auto& [name, bytes] : wanted) {
    const auto found = listed.find(name);
    if (found == listed.end()) return fail(Errc::kNotFound, "{} is not there", name);
    if (found->second != bytes)
      return fail(Errc::kCorrupt, "{} has {} bytes instead of {}", name, found->second, bytes);
  }
  return {};
}

training::FoundCheckpoint found_in(const checkpoint::Checkpoint& newest) {
  const checkpoint::ReadManifest& read = newest.manifest;
  return {.step = newest.step(),
          .digest = "sha256:" + read.sha256,
          .bytes = read.manifest.bytes,
          .committed_at = read.manifest.committed_at};
}

void pass_over(CheckpointFinding& finding, std::int64_t step, std::string why) {
  if (finding.passed_over.size() < training::kPassedOverMax)
    finding.passed_over.push_back({.step = step, .why = std::move(why)});
}

// Whether there is anything of the job at all. kNotFound: no trace of it.
Result<bool> has_manifests(Store& store, const FindOptions& options, const StoreCall& call) {
  TRY(const auto steps, checkpoint::fetch_steps(store, call));
  const auto owner = checkpoint::check_owner(store, options.job_uid, call);
  if (!owner && steps.empty() && owner.error().code == Errc::kForbidden) {
    if (options.may_be_empty) return false;
    return fail(Errc::kNotFound, "{}: nothing is there, as seen from the operator",
                store.describe());
  }
  if (!owner) return std::unexpected<Error>(owner.error());
  return !steps.empty();
}

}  // namespace

Result<CheckpointFinding> find_checkpoint(Store& store, const FindOptions& options,
                                          const StoreCall& call) {
  CheckpointFinding finding;
  TRY(const bool any, has_manifests(store, options, call));
  if (!any) return finding;
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  while (finding.passed_over.size() < training::kPassedOverMax) {
    auto newest = checkpoint::fetch_newest(store, call, before);
    // All of the newest ones are damaged; who has so many wants to look at them himself.
    if (!newest && newest.error().code == Errc::kCorrupt) {
      pass_over(finding, before, newest.error().context);
      return finding;
    }
    if (!newest) return std::unexpected<Error>(std::move(newest).error());
    for (checkpoint::PassedOver& one : newest->passed_over)
      pass_over(finding, one.step, std::move(one.why));
    if (newest->chain.empty()) return finding;
    const checkpoint::Checkpoint& candidate = newest->chain.front();
    auto whole = check_sizes(store, newest->chain, call);
    if (whole) {
      finding.newest = found_in(candidate);
      return finding;
    }
    if (!checkpoint::is_damage(whole.error().code))
      return wrap(std::move(whole).error(), "step {}", candidate.step());
    pass_over(finding, candidate.step(), whole.error().context);
    before = candidate.step();
  }
  return finding;
}

}  // namespace amdahl
