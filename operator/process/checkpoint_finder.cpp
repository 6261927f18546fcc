#include "operator/process/checkpoint_finder.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace amdahl {
namespace {

using checkpoint::Glance;
using checkpoint::Store;
using checkpoint::StoreCall;
using checkpoint::StoredObject;
using training::CheckpointFinding;

// "data/STEP-SAVE-" of a data object, "blobs/" of a blob: one listing finds what belongs together.
std::string listing_of(std::string_view name) {
  const auto slash = name.find('/');
  const auto dash = name.find('-', name.find('-') + 1);
  const bool data = name.starts_with("data/") && dash != std::string_view::npos;
  return std::string(name.substr(0, data ? dash + 1 : slash + 1));
}

// What is listed against what is wanted: no name is kept twice.
class SizeCheck {
 public:
  explicit SizeCheck(const std::vector<StoredObject>& wanted)
      : wanted_(wanted), seen_(wanted.size(), false) {}

  void see(const StoredObject& listed) {
    // A blob may be wanted by several receipts.
    const auto [begin, end] =
        std::ranges::equal_range(wanted_, listed.name, {}, &StoredObject::name);
    for (auto at = begin; at != end; ++at) {
      seen_[static_cast<std::size_t>(at - wanted_.begin())] = true;
      if (at->bytes != listed.bytes && wrong_.empty())
        wrong_ = fmt::format("{} has {} bytes instead of {}", listed.name, listed.bytes, at->bytes);
    }
  }
  // kCorrupt or kNotFound for an object that is not as its receipt says.
  Result<void> verdict() const {
    if (!wrong_.empty()) return fail(Errc::kCorrupt, "{}", wrong_);
    const auto gone = std::ranges::find(seen_, false);
    if (gone == seen_.end()) return {};
    return fail(Errc::kNotFound, "{} is not there",
                wanted_[static_cast<std::size_t>(gone - seen_.begin())].name);
  }

 private:
  const std::vector<StoredObject>& wanted_;
  std::vector<bool> seen_;
  std::string wrong_;
};

Result<void> check_sizes(Store& store, const Glance& glance, const StoreCall& call) {
  std::set<std::string> listings;
  for (const StoredObject& object : glance.objects) listings.insert(listing_of(object.name));
  SizeCheck sizes(glance.objects);
  for (const std::string& prefix : listings)
    TRY(checkpoint::list_each(
        store, prefix, [&](const StoredObject& object) { sizes.see(object); }, call));
  return sizes.verdict();
}

Result<Glance> look_at(Store& store, std::int64_t step, checkpoint::ReadBudget& budget,
                       const StoreCall& call) {
  TRY(Glance glance,
      checkpoint::glance_at(store, step, {.budget = budget, .names_bytes_max = kLookNamesBytesMax},
                            call));
  TRY(check_sizes(store, glance, call));
  return glance;
}

training::FoundCheckpoint found_in(const Glance& newest) {
  return {.step = newest.step,
          .digest = "sha256:" + newest.sha256,
          .bytes = newest.bytes,
          .committed_at = newest.committed_at};
}

// Whether there is anything of the job to look at. kNotFound: no trace of it.
Result<bool> is_ours(Store& store, const FindOptions& options, bool has_manifests,
                     CheckpointFinding& finding, const StoreCall& call) {
  TRY(const auto owner, checkpoint::find_owner(store, call));
  if (owner && owner->job_uid != options.job_uid) {
    finding.taken_by = checkpoint::owner_in_words(*owner, options.job);
    return false;
  }
  if (owner) return true;
  if (has_manifests)
    return fail(Errc::kForbidden, "{}: it has checkpoints and no record of the job that owns them",
                store.describe());
  if (options.may_be_empty) return false;
  return fail(Errc::kNotFound, "{}: nothing is there, as seen from the operator", store.describe());
}

}  // namespace

Result<CheckpointFinding> find_checkpoint(Store& store, const FindOptions& options,
                                          checkpoint::ReadBudget& budget, const StoreCall& call) {
  CheckpointFinding finding;
  TRY(const auto steps, checkpoint::newest_steps(store, training::kPassedOverMax, call));
  TRY(const bool ours, is_ours(store, options, !steps.empty(), finding, call));
  if (!ours) return finding;
  for (const std::int64_t step : steps) {
    auto glance = look_at(store, step, budget, call);
    if (glance) {
      finding.newest = found_in(*glance);
      return finding;
    }
    if (!checkpoint::is_damage(glance.error().code))
      return wrap(std::move(glance).error(), "checkpoint step {}", step);
    finding.passed_over.push_back(
        {.step = step, .why = glance.error().context.substr(0, training::kWhyBytesMax)});
  }
  return finding;
}

}  // namespace amdahl
