#include "checkpoint/engine/loader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "checkpoint/engine/boxes.hpp"
#include "checkpoint/engine/planes_codec.hpp"
#include "checkpoint/engine/workers.hpp"
#include "checkpoint/format/canonical_text.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "kernels/delta.hpp"

namespace amdahl::checkpoint {
namespace {

const Shape& whole_shape(const TensorRecord& tensor) {
  return tensor.global_shape.empty() ? tensor.shape : tensor.global_shape;
}

// The origin, when no offset is given.
Shape offset_or_zeros(const Shape& offset, std::size_t dimensions) {
  return offset.empty() ? Shape(dimensions, 0) : offset;
}

Result<void> check_slice(const TensorWanted& wanted, const TensorRecord& record) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kInvalid, "load {}: {}", shown(wanted.name), what);
  };
  if (wanted.dtype != record.dtype)
    return bad(fmt::format("it is {}, {} was asked for", enum_name(record.dtype),
                           enum_name(wanted.dtype)));
  const Shape& whole = whole_shape(record);
  const Shape offset = offset_or_zeros(wanted.offset, wanted.shape.size());
  if (wanted.shape.size() != whole.size() || offset.size() != whole.size())
    return bad(
        fmt::format("it has {} dimensions, {} were asked for", whole.size(), wanted.shape.size()));
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (offset[d] < 0 || wanted.shape[d] < 0 || wanted.shape[d] > whole[d] - offset[d])
      return bad(fmt::format("dimension {} has {}, {} from {} on were asked for", d, whole[d],
                             wanted.shape[d], offset[d]));
  const std::int64_t bytes = *element_count(wanted.shape) * element_bytes(record.dtype);
  if (std::cmp_not_equal(wanted.into.size(), bytes))
    return bad(fmt::format("room for {} bytes, it takes {}", wanted.into.size(), bytes));
  return {};
}

bool same_part(const TensorRecord& a, const TensorRecord& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
         a.global_shape == b.global_shape && a.offset == b.offset;
}

// Calls `found` for every stretch of the part that the slice has.
template <class Found>
void for_each_stretch(const TensorRecord& record, const TensorWanted& wanted, const Found& found) {
  const Shape part_at = offset_or_zeros(record.offset, record.shape.size());
  const Shape slice_at = offset_or_zeros(wanted.offset, wanted.shape.size());
  for_each_common({.offset = part_at, .shape = record.shape},
                  {.offset = slice_at, .shape = wanted.shape}, element_bytes(record.dtype), found);
}

}  // namespace

std::vector<TensorInfo> tensors_of(const Checkpoint& checkpoint) {
  std::vector<const TensorRecord*> records;
  for (const ReadReceipt& read : checkpoint.receipts)
    for (const TensorRecord& tensor : read.receipt.tensors) records.push_back(&tensor);
  std::ranges::sort(records, {},
                    [](const TensorRecord* record) -> const std::string& { return record->name; });
  std::vector<TensorInfo> list;
  list.reserve(records.size());
  for (const TensorRecord* record : records)
    if (list.empty() || list.back().name != record->name)
      list.push_back({.name = record->name, .dtype = record->dtype, .shape = whole_shape(*record)});
  return list;
}

Loader::Loader(Store& store, const Chain& chain, int threads)
    : store_(store), chain_(chain), threads_(threads) {
  for (const Checkpoint& checkpoint : chain) {
    auto& parts = parts_.emplace_back();
    for (std::size_t rank = 0; rank < checkpoint.receipts.size(); ++rank)
      for (const TensorRecord& record : checkpoint.receipts[rank].receipt.tensors)
        parts.emplace(record.name, Part{.rank = rank, .record = &record});
  }
}

void Loader::add_part(const TensorWanted& wanted, const Part& part, Plan& plan) const {
  const TensorRecord& record = *part.record;
  auto& stretches =
      plan.plain[{.rank = part.rank, .object = static_cast<std::size_t>(record.object)}];
  bool any = false;
  for_each_stretch(record, wanted, [&](const Stretch& stretch) {
    any = true;
    if (record.encoding != Encoding::kPlain) return;
    stretches.push_back({.begin = record.begin + stretch.from,
                         .bytes = stretch.bytes,
                         .to = wanted.into.data() + stretch.to});
    ++plan.stretches;
  });
  if (any && record.encoding != Encoding::kPlain)
    plan.encoded.push_back({.part = part, .wanted = &wanted});
}

Result<void> Loader::add(const TensorWanted& wanted, Plan& plan) const {
  const auto [first, last] = parts_[0].equal_range(wanted.name);
  if (first == last)
    return fail(Errc::kInvalid, "load {}: step {} has no such tensor", shown(wanted.name),
                chain_[0].step());
  TRY(check_slice(wanted, *first->second.record));
  for (auto part = first; part != last; ++part) add_part(wanted, part->second, plan);
  if (plan.stretches > kStretchesMax)
    return fail(Errc::kTooLarge, "load {}: more than {} stretches; load fewer tensors at once",
                shown(wanted.name), kStretchesMax);
  return {};
}

// Headers are read like tensors, so that their chunks are checked.
Result<std::vector<std::vector<std::byte>>> Loader::add_headers(Plan& plan, const StoreCall& call) {
  std::vector<std::pair<const ObjectRecord*, std::vector<Wanted>*>> objects;
  objects.reserve(plan.plain.size());
  for (auto& [index, wanted] : plan.plain)
    objects.emplace_back(&chain_[0].receipts[index.rank].receipt.objects[index.object], &wanted);
  std::vector<std::vector<std::byte>> headers(objects.size());
  TRY(run_on_workers(objects.size(), threads_, [&](std::size_t i) -> Result<void> {
    const ObjectRecord& object = *objects[i].first;
    std::array<std::byte, kHeaderLengthBytes> length{};
    TRY(store_.read(object.name, 0, length, call));
    TRY(const std::size_t bytes, header_bytes(length, object.bytes));
    headers[i].resize(bytes);
    return {};
  }));
  for (std::size_t i = 0; i < objects.size(); ++i)
    objects[i].second->push_back(
        {.bytes = static_cast<std::int64_t>(headers[i].size()), .to = headers[i].data()});
  return headers;
}

Result<void> Loader::read_objects(Plan plan, const StoreCall& call) {
  TRY(const auto headers, add_headers(plan, call));
  std::vector<ObjectReader> readers;
  for (auto& [index, wanted] : plan.plain) {
    const ObjectRecord& object = chain_[0].receipts[index.rank].receipt.objects[index.object];
    TRY(ChunkSums sums, sums_of(object));
    readers.emplace_back(object.name, std::move(sums), std::move(wanted));
  }
  std::vector<std::pair<const ObjectReader*, const ObjectReader::Unit*>> units;
  for (const ObjectReader& reader : readers)
    for (const ObjectReader::Unit& unit : reader.units()) units.emplace_back(&reader, &unit);
  TRY(run_on_workers(units.size(), threads_, [&](std::size_t i) {
    return units[i].first->read(store_, *units[i].second, buffers_, call);
  }));
  std::size_t i = 0;
  for (const auto& [index, wanted] : plan.plain) {
    const Receipt& receipt = chain_[0].receipts[index.rank].receipt;
    const std::vector<std::byte>& found = headers[i++];
    if (has_header_of(found, receipt, index.object)) continue;
    TRY(const Header header, read_header(found, receipt.objects[index.object].bytes));
    TRY(check_header(receipt, index.object, header));
  }
  return {};
}

Result<std::vector<std::byte>> Loader::base_of(std::size_t level, const TensorRecord& record,
                                               const StoreCall& call) {
  if (level + 1 < chain_.size()) {
    const auto [first, last] = parts_[level + 1].equal_range(record.name);
    for (auto part = first; part != last; ++part)
      if (same_part(*part->second.record, record)) return decoded(level + 1, part->second, call);
  }
  return fail(Errc::kInvalid, "load {}: a delta against nothing", shown(record.name));
}

Result<std::vector<std::byte>> Loader::decoded(std::size_t level, const Part& part,
                                               const StoreCall& call) {
  const TensorRecord& record = *part.record;
  const Receipt& receipt = chain_[level].receipts[part.rank].receipt;
  const ObjectRecord& object = receipt.objects[static_cast<std::size_t>(record.object)];
  std::vector<std::byte> bytes(static_cast<std::size_t>(record.end - record.begin));
  TRY(ChunkSums sums, sums_of(object));
  const ObjectReader reader(
      object.name, std::move(sums),
      {{.begin = record.begin, .bytes = record.end - record.begin, .to = bytes.data()}});
  for (const ObjectReader::Unit& unit : reader.units())
    TRY(reader.read(store_, unit, buffers_, call));
  if (has_planes(record.encoding)) {
    const auto count = static_cast<std::size_t>(*element_count(record.shape));
    std::vector<std::byte> plain(2 * count);
    auto ok = decode_planes(bytes, plain);
    if (!ok) return wrap(std::move(ok).error(), "load {}", shown(record.name));
    bytes = std::move(plain);
  }
  if (needs_base(record.encoding)) {
    TRY(const std::vector<std::byte> base, base_of(level, record, call));
    kernels::xor_delta(bytes, bytes, base);
  }
  return bytes;
}

Result<void> Loader::read_encoded(const Encoded& encoded, const StoreCall& call) {
  TRY(const std::vector<std::byte> bytes, decoded(0, encoded.part, call));
  for_each_stretch(*encoded.part.record, *encoded.wanted, [&](const Stretch& stretch) {
    std::memcpy(encoded.wanted->into.data() + stretch.to, bytes.data() + stretch.from,
                static_cast<std::size_t>(stretch.bytes));
  });
  return {};
}

Result<void> Loader::load(std::span<const TensorWanted> wanted, const StoreCall& call) {
  Plan plan;
  for (const TensorWanted& one : wanted) TRY(add(one, plan));
  const std::vector<Encoded> encoded = std::move(plan.encoded);
  TRY(read_objects(std::move(plan), call));
  return run_on_workers(encoded.size(), threads_,
                        [&](std::size_t i) { return read_encoded(encoded[i], call); });
}

}  // namespace amdahl::checkpoint
