// What a snapshot is, without the memory it lies in: enough for another process that has the same
// arena to finish the save.
//
// As text it is a sealed record like those of the store, but is never stored there: it lies in the
// arena. Plain values; thread any. Failure: kCorrupt, kInvalid, kTooLarge with the field.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "base/result.hpp"
#include "checkpoint/engine/snapshot_plan.hpp"
#include "checkpoint/format/chunks.hpp"
#include "checkpoint/format/receipt.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kSnapshotRecordBytesMax = kReceiptBytesMax;

enum class SnapshotRole : std::uint8_t {
  kData,
  kBlob,    // its name follows from its bytes
  kStored,  // a blob that is in the store already; there are no bytes
};
constexpr auto enum_names(SnapshotRole) {
  return std::to_array<EnumName<SnapshotRole>>({{SnapshotRole::kData, "data"},
                                                {SnapshotRole::kBlob, "blob"},
                                                {SnapshotRole::kStored, "stored"}});
}

struct SnapshotObject {
  SnapshotRole role = SnapshotRole::kData;
  std::int64_t begin = 0;    // in the arena
  ObjectRecord record = {};  // its name is empty unless it is stored
  bool operator==(const SnapshotObject&) const = default;
};
template <class V>
constexpr void fields(V& v, SnapshotObject& object) {
  v.required("role", object.role, {.doc = "Data object, blob, or a blob that is stored already."});
  v.required("begin", object.begin, {.doc = "Its first byte in the arena.", .min = 0});
  v.required("record", object.record, {.doc = "Size and sums, as in a receipt."});
}

struct SnapshotRecord {
  std::int32_t format = kFormatVersion;
  std::int64_t step = 0;
  std::vector<SnapshotObject> objects = {};
  std::vector<TensorRecord> tensors = {};  // `object` counts the objects above
  nlohmann::json state = nullptr;
  std::map<std::string, std::string> metrics = {};
  bool operator==(const SnapshotRecord&) const = default;
};
template <class V>
constexpr void fields(V& v, SnapshotRecord& record) {
  v.required("format", record.format,
             {.doc = "Version of this format.", .min = kFormatVersion, .max = kFormatVersion});
  v.required("step", record.step, {.doc = "Step that was saved.", .min = 0, .max = kStepMax});
  v.required("objects", record.objects, {.doc = "In their order.", .items_max = kObjectsMax});
  v.required("tensors", record.tensors, {.doc = "By object.", .items_max = kTensorsMax});
  v.optional("state", record.state, {.doc = "What is no tensor.", .any_type = true});
  v.optional("metrics", record.metrics, {.doc = "Values at this step."});
}

// Of what copy_tensors() gave; `memory_begin` is where the snapshot's memory begins in the arena.
// The second one leaves tensors out.
SnapshotRecord record_of(const SnapshotPlan& plan, const std::vector<ChunkSums>& sums,
                         std::int64_t memory_begin);
SnapshotRecord objects_of(const SnapshotPlan& plan, const std::vector<ChunkSums>& sums,
                          std::int64_t memory_begin);

std::string write_snapshot_record(const SnapshotRecord& record);
// The same for a record without tensors and the text of its plan's, which is made once: with
// thousands of tensors it is most of the record.
std::string write_tensors(const SnapshotPlan& plan);
std::string write_snapshot_record(const SnapshotRecord& record, std::string_view tensors);
// Refuses what does not lie in an arena of that size.
Result<SnapshotRecord> read_snapshot_record(std::string_view text, std::int64_t arena_bytes);

}  // namespace amdahl::checkpoint
