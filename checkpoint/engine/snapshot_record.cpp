#include "checkpoint/engine/snapshot_record.hpp"

#include <utility>

#include "base/check.hpp"
#include "checkpoint/format/document.hpp"

namespace amdahl::checkpoint {
namespace {

Result<void> check_object(const SnapshotObject& object, std::int64_t arena_bytes) {
  TRY(sums_of(object.record));
  const bool named = !object.record.name.empty();
  if (named != (object.role == SnapshotRole::kStored))
    return fail(Errc::kInvalid, "a name is for objects that are stored, and for those alone");
  if (named) {
    const auto name = parse_name(object.record.name);
    if (!name || name->kind != ObjectKind::kBlob)
      return fail(Errc::kInvalid, "stored as {}, which is no blob", shown(object.record.name));
    return {};
  }
  if (object.begin > arena_bytes || object.record.bytes > arena_bytes - object.begin)
    return fail(Errc::kInvalid, "bytes {} to {} of an arena of {}", object.begin,
                object.begin + object.record.bytes, arena_bytes);
  return {};
}

// Encoding and sums read a tensor where its record says it lies.
Result<void> check_tensor(const TensorRecord& tensor, const std::vector<SnapshotObject>& objects) {
  if (std::cmp_greater_equal(tensor.object, objects.size()))
    return fail(Errc::kInvalid, "tensor {}: object {} of {}", shown(tensor.name), tensor.object,
                objects.size());
  const std::int64_t end = objects[static_cast<std::size_t>(tensor.object)].record.bytes;
  const auto count = element_count(tensor.shape);
  if (tensor.encoding != Encoding::kPlain || !count || tensor.begin > tensor.end ||
      tensor.end > end || *count > (tensor.end - tensor.begin) / element_bytes(tensor.dtype) ||
      *count * element_bytes(tensor.dtype) != tensor.end - tensor.begin)
    return fail(Errc::kInvalid, "tensor {}: bytes {} to {} of {}", shown(tensor.name), tensor.begin,
                tensor.end, end);
  return {};
}

}  // namespace

SnapshotRecord record_of(const SnapshotPlan& plan, const std::vector<ChunkSums>& sums,
                         std::int64_t memory_begin) {
  SnapshotRecord record = objects_of(plan, sums, memory_begin);
  record.tensors = tensor_records(plan);
  return record;
}

SnapshotRecord objects_of(const SnapshotPlan& plan, const std::vector<ChunkSums>& sums,
                          std::int64_t memory_begin) {
  AMDAHL_CHECK(sums.size() == plan.objects.size());
  SnapshotRecord record;
  for (std::size_t i = 0; i < sums.size(); ++i)
    record.objects.push_back(
        {.role = plan.objects[i].blob ? SnapshotRole::kBlob : SnapshotRole::kData,
         .begin = memory_begin + plan.objects[i].begin,
         .record = object_record("", sums[i])});
  return record;
}

std::string write_snapshot_record(const SnapshotRecord& record) {
  return seal_document(write_body(record));
}

std::string write_tensors(const SnapshotPlan& plan) {
  return dump_json(encode(tensor_records(plan)));
}

std::string write_snapshot_record(const SnapshotRecord& record, std::string_view tensors) {
  // Names are in the order of their bytes, and this one is the last.
  constexpr std::string_view kEnd = R"("tensors":[]})";
  std::string body = write_body(record);
  AMDAHL_CHECK(body.ends_with(kEnd));
  body.resize(body.size() - std::string_view("[]}").size());
  body += tensors;
  body += '}';
  return seal_document(std::move(body));
}

Result<SnapshotRecord> read_snapshot_record(std::string_view text, std::int64_t arena_bytes) {
  const auto read = [&]() -> Result<SnapshotRecord> {
    TRY(const OpenedDocument document, open_document(text, kSnapshotRecordBytesMax));
    if (document.seal.signature) return fail(Errc::kInvalid, "only a manifest is signed");
    TRY(SnapshotRecord record, read_body<SnapshotRecord>(document.body_line));
    for (std::size_t i = 0; i < record.objects.size(); ++i) {
      auto ok = check_object(record.objects[i], arena_bytes);
      if (!ok) return wrap(std::move(ok).error(), "object {}", i);
    }
    for (const TensorRecord& tensor : record.tensors) TRY(check_tensor(tensor, record.objects));
    return record;
  };
  auto record = read();
  if (!record) return wrap(std::move(record).error(), "snapshot record");
  return record;
}

}  // namespace amdahl::checkpoint
