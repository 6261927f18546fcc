// metadata.managedFields: who wrote which fields, when, and how.
//
// Plain values; pure functions, any thread.
// Failure: decode refuses what is not a list of entries (kCorrupt), in kube-apiserver's words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "local/apiserver/patch/field_set.hpp"

namespace amdahl::local {

// More entries than any object has; a body with more is refused.
inline constexpr std::size_t kManagedEntriesMax = 1'000;
// Update entries an object keeps; the oldest are merged into one of kAncientManager.
inline constexpr std::size_t kUpdateManagersMax = 10;
inline constexpr std::string_view kAncientManager = "ancient-changes";

enum class WriteOperation : std::uint8_t { kApply, kUpdate };

// Entries are told apart by all of these, but an applier keeps its entry when it changes versions.
struct FieldManager {
  std::string name = {};
  WriteOperation operation = WriteOperation::kUpdate;
  std::string api_version = {};
  std::string subresource = {};
  bool same_entry(const FieldManager& other) const;
  bool operator==(const FieldManager&) const = default;
};
// `"kubectl" using apps/v1`, `"deployer"` or `"kubelet" with subresource "status" using v1`.
std::string shown_manager(const FieldManager& manager);

struct ManagedEntry {
  FieldManager manager = {};
  std::optional<WallTime> time = std::nullopt;
  FieldSet fields = {};
  bool operator==(const ManagedEntry&) const = default;
};
using ManagedFields = std::vector<ManagedEntry>;

// Null and a missing list are no entries.
Result<ManagedFields> decode_managed_fields(const Json& list);
// Appliers first, each group by time; the list is empty when there are no entries.
Json encode_managed_fields(ManagedFields entries);
// One entry of that list, whose fields are known as FieldsV1.
Json encode_entry(const FieldManager& manager, const std::optional<WallTime>& time, Json fields_v1);

// The entry of a manager; null when it has none.
ManagedEntry* find_entry(ManagedFields& entries, const FieldManager& manager);
void drop_empty_entries(ManagedFields& entries);
// At most kUpdateManagersMax entries of updaters, as far as they share a version.
void cap_updaters(ManagedFields& entries);
// The same owners of the same fields, whatever the times and the order.
bool same_ownership(const ManagedFields& one, const ManagedFields& two);

}  // namespace amdahl::local
