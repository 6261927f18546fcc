#include "checkpoint/format/receipt.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "checkpoint/format/canonical_text.hpp"
#include "checkpoint/format/document.hpp"

namespace amdahl::checkpoint {
namespace {

Bytes bytes_of_numbers(const std::vector<std::uint32_t>& numbers) {
  static_assert(std::endian::native == std::endian::little);
  return std::as_bytes(std::span(numbers));
}

// An array of `count` items from base64; nothing when it has another size.
template <class Item>
std::optional<std::vector<Item>> items_of(std::string_view text, std::int64_t count) {
  const auto bytes = base64_decoded(text);
  if (!bytes || std::cmp_not_equal(bytes->size(), count * static_cast<std::int64_t>(sizeof(Item))))
    return std::nullopt;
  std::vector<Item> items(static_cast<std::size_t>(count));
  if (count > 0) std::memcpy(items.data(), bytes->data(), bytes->size());
  return items;
}

// Nothing: it is for the reader of any JSON.
std::optional<Receipt> read_split(SplitReceipt split) {
  const bool valid = std::ranges::all_of(
      split.tensors, [](const TensorRecord& tensor) { return validate(tensor).has_value(); });
  auto receipt = read_body<Receipt>(split.rest);
  if (!valid || !receipt) return std::nullopt;
  if (!split.state.empty()) {
    auto state = parse_strict(split.state, kDocumentDepthMax - 1);
    if (!state || state->is_null() || dump_json(*state) != split.state) return std::nullopt;
    receipt->state = *std::move(state);
  }
  receipt->tensors = std::move(split.tensors);
  return *std::move(receipt);
}

// Both ways say the same of a receipt; the long one also says what is wrong with it.
Result<Receipt> read_receipt_body(std::string_view body_line) {
  if (auto split = split_receipt(body_line))
    if (auto receipt = read_split(*std::move(split))) return *std::move(receipt);
  return read_body<Receipt>(body_line);
}

}  // namespace

Sha256Digest rank_root(std::span<const Sha256Digest> object_roots) {
  Sha256 root;
  root.add(std::string_view("amdahl-rank-1\n"));
  root.add_u64(object_roots.size());
  for (const Sha256Digest& object : object_roots) root.add(Bytes(object));
  return root.finish();
}

ObjectRecord object_record(std::string name, const ChunkSums& sums) {
  ObjectRecord record{.name = std::move(name),
                      .bytes = sums.bytes,
                      .chunk_bytes = sums.chunk_bytes,
                      .crc32c = base64(bytes_of_numbers(sums.crc32c)),
                      .root = hex(object_root(sums))};
  if (!sums.sha256.empty()) record.sha256 = base64(std::as_bytes(std::span(sums.sha256)));
  return record;
}

Result<ChunkSums> sums_of(const ObjectRecord& object) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kInvalid, "object {}: {}", shown(object.name), what);
  };
  if (!is_chunk_size(object.chunk_bytes)) return bad("chunkBytes is not a power of two in bounds");
  const std::int64_t count = chunk_count(object.bytes, object.chunk_bytes);
  if (object.bytes < 0 || count > kChunksMax)
    return bad(fmt::format("{} chunks, at most {}", count, kChunksMax));
  ChunkSums sums{.bytes = object.bytes, .chunk_bytes = object.chunk_bytes};
  auto crc32c = items_of<std::uint32_t>(object.crc32c, count);
  if (!crc32c) return bad(fmt::format("crc32c is not the base64 of {} sums", count));
  sums.crc32c = *std::move(crc32c);
  if (!object.sha256.empty()) {
    auto sha256 = items_of<Sha256Digest>(object.sha256, count);
    if (!sha256) return bad(fmt::format("sha256 is not the base64 of {} digests", count));
    sums.sha256 = *std::move(sha256);
  }
  if (hex(object_root(sums)) != object.root) return bad("its root does not fit its sums");
  return sums;
}

std::string receipt_name(const Receipt& receipt) {
  return write_name({.kind = ObjectKind::kReceipt,
                     .step = receipt.step,
                     .save_id = receipt.save_id,
                     .rank = receipt.rank});
}

void complete(Receipt& receipt) {
  std::vector<std::size_t> order(receipt.objects.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto& objects = receipt.objects;
  std::ranges::sort(order, {},
                    [&](std::size_t i) -> const std::string& { return objects[i].name; });
  std::vector<std::int32_t> moved(order.size());
  std::vector<ObjectRecord> sorted;
  std::vector<Sha256Digest> roots;
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved[order[i]] = static_cast<std::int32_t>(i);
    sorted.push_back(objects[order[i]]);
    roots.push_back(digest_of_hex(sorted.back().root).value_or(Sha256Digest{}));
  }
  receipt.objects = std::move(sorted);
  for (TensorRecord& tensor : receipt.tensors)
    tensor.object = moved.at(static_cast<std::size_t>(tensor.object));
  std::ranges::sort(receipt.tensors, {}, [](const TensorRecord& tensor) {
    return std::tie(tensor.object, tensor.name);
  });
  receipt.root = hex(rank_root(roots));
}

std::string write_receipt(const Receipt& receipt) {
  return seal_document(write_body(receipt));
}

Result<ReadReceipt> read_receipt(std::string_view name, std::string_view text) {
  const auto read = [&]() -> Result<ReadReceipt> {
    TRY(const OpenedDocument document, open_document(text, kReceiptBytesMax));
    if (document.seal.signature) return fail(Errc::kInvalid, "only a manifest is signed");
    TRY(Receipt receipt, read_receipt_body(document.body_line));
    TRY(check_receipt(receipt));
    if (receipt_name(receipt) != name)
      return fail(Errc::kInvalid, "its content is that of {}", receipt_name(receipt));
    return ReadReceipt{.receipt = std::move(receipt),
                       .bytes = static_cast<std::int64_t>(text.size()),
                       .sha256 = hex(sha256(text))};
  };
  auto receipt = read();
  if (!receipt) return wrap(std::move(receipt).error(), "receipt {}", shown(name));
  return receipt;
}

}  // namespace amdahl::checkpoint
