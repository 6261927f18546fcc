#include "checkpoint/engine/saver.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/engine/workers.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {
namespace {

std::string part_name(const ToSave& save, const RankIdentity& who, std::size_t object, int turn) {
  const bool encoded = std::ranges::any_of(save.record.tensors, [&](const TensorRecord& tensor) {
    return std::cmp_equal(tensor.object, object) && tensor.encoding != Encoding::kPlain;
  });
  const auto objects = static_cast<std::int32_t>(save.record.objects.size());
  return write_name({.kind = encoded ? ObjectKind::kEncoded : ObjectKind::kData,
                     .step = save.record.step,
                     .save_id = save.save_id,
                     .rank = who.rank,
                     .part = static_cast<std::int32_t>(object) + turn * objects});
}

// Another name may help against these; against a deadline or missing rights it does not.
bool worth_another_name(Errc code) {
  return code == Errc::kIo || code == Errc::kUnavailable || code == Errc::kAlreadyExists ||
         code == Errc::kCorrupt || code == Errc::kConflict;
}

Receipt receipt_of(const ToSave& save, const RankIdentity& who, std::vector<std::string> names) {
  Receipt receipt;
  receipt.job_uid = who.job_uid;
  receipt.step = save.record.step;
  receipt.save_id = save.save_id;
  receipt.rank = who.rank;
  receipt.world_size = who.world_size;
  for (std::size_t i = 0; i < names.size(); ++i) {
    receipt.objects.push_back(save.record.objects[i].record);
    receipt.objects.back().name = std::move(names[i]);
  }
  receipt.tensors = save.record.tensors;
  receipt.state = save.record.state;
  complete(receipt);
  return receipt;
}

// Two writers of one snapshot may differ in the names that its objects got.
bool same_content(const Receipt& one, const Receipt& other) {
  const auto roots_of = [](const Receipt& receipt) {
    std::vector<std::string> roots;
    roots.reserve(receipt.objects.size());
    for (const ObjectRecord& object : receipt.objects) roots.push_back(object.root);
    std::ranges::sort(roots);
    return roots;
  };
  return one.job_uid == other.job_uid && one.world_size == other.world_size &&
         one.state == other.state && roots_of(one) == roots_of(other);
}

}  // namespace

// Where objects went; each piece of work has its own row.
struct Saver::Placed {
  std::set<std::string> newest_blobs = {};
  std::vector<std::string> names = {};
  std::vector<std::int64_t> uploaded = {};
};

Result<void> Saver::place_data(const ToSave& save, std::size_t object, const StoreCall& call,
                               Placed& placed) {
  for (int turn = 0;; ++turn) {
    std::string name = part_name(save, who_, object, turn);
    auto created = store_.create(name, save.bytes.subspan(object, 1), call);
    if (created) {
      placed.names[object] = std::move(name);
      placed.uploaded[object] = save.record.objects[object].record.bytes;
      return {};
    }
    if (turn + 1 == kPartTriesMax || !worth_another_name(created.error().code)) return created;
  }
}

Result<void> Saver::place(const ToSave& save, std::size_t object, const StoreCall& call,
                          Placed& placed) {
  const SnapshotObject& what = save.record.objects[object];
  if (what.role == SnapshotRole::kData) return place_data(save, object, call, placed);
  std::string name = what.record.name;
  if (what.role == SnapshotRole::kBlob)
    name = write_name({.kind = ObjectKind::kBlob, .sha256 = hex(sha256(save.bytes[object]))});
  if (!placed.newest_blobs.contains(name)) {
    if (what.role == SnapshotRole::kStored)
      return fail(Errc::kGone, "{}: the newest checkpoint does not refer to it", name);
    auto created = store_.create(name, save.bytes.subspan(object, 1), call);
    // Somebody's orphan, which may be collected at any time: not to be relied on (rule 8).
    if (!created && worth_another_name(created.error().code))
      return place_data(save, object, call, placed);
    if (!created) return created;
    placed.uploaded[object] = what.record.bytes;
  }
  placed.names[object] = std::move(name);
  return {};
}

Result<Receipt> Saver::write_receipt_of(Receipt receipt, const StoreCall& call) {
  const std::string name = receipt_name(receipt);
  const std::string text = write_receipt(receipt);
  TRY(read_receipt(name, text));  // as others will
  const Bytes bytes = bytes_of(text);
  auto created = store_.create(name, {&bytes, 1}, call);
  if (created) return receipt;
  const auto found = read_whole(store_, name, kReceiptBytesMax, call);
  if (found && *found == text) return receipt;  // ours: only the answer was lost
  auto earlier =
      found ? read_receipt(name, *found) : Result<ReadReceipt>(fail(Errc::kNotFound, ""));
  if (earlier && same_content(earlier->receipt, receipt)) return std::move(earlier->receipt);
  return std::unexpected<Error>(std::move(created).error());
}

Result<SavedRank> Saver::save(const ToSave& save, const StoreCall& call) {
  AMDAHL_CHECK(save.bytes.size() == save.record.objects.size());
  if (!claimed_) {
    TRY(claim_prefix(
        store_, {.job_uid = who_.job_uid, .job = who_.job, .created_at = clock_.wall()}, call));
    claimed_ = true;
  }
  Placed placed;
  placed.names.resize(save.bytes.size());
  placed.uploaded.resize(save.bytes.size());
  std::vector<std::size_t> data;
  std::vector<std::size_t> blobs;
  for (std::size_t i = 0; i < save.bytes.size(); ++i)
    (save.record.objects[i].role == SnapshotRole::kData ? data : blobs).push_back(i);
  if (!blobs.empty()) {
    TRY(placed.newest_blobs, fetch_newest_blobs(store_, who_.rank, call));
  }
  // Data first: by it a collector sees that this save is under way and leaves its blobs alone.
  for (const auto* objects : {&data, &blobs})
    TRY(run_on_workers(objects->size(), threads_,
                       [&](std::size_t i) { return place(save, (*objects)[i], call, placed); }));
  SavedRank saved;
  TRY(saved.receipt, write_receipt_of(receipt_of(save, who_, std::move(placed.names)), call));
  for (std::size_t i = 0; i < save.bytes.size(); ++i) {
    saved.uploaded_bytes += placed.uploaded[i];
    if (placed.uploaded[i] == 0) saved.reused_bytes += save.record.objects[i].record.bytes;
  }
  return saved;
}

}  // namespace amdahl::checkpoint
