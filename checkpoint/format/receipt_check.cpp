#include <algorithm>
#include <tuple>
#include <utility>

#include "checkpoint/format/receipt.hpp"
#include "checkpoint/format/state.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

Result<void> check_object(const Receipt& receipt, const ObjectRecord& object) {
  const auto name = parse_name(object.name);
  if (!name || !holds_tensors(name->kind))
    return fail(Errc::kInvalid, "object {}: not a name of ours", shown(object.name));
  if (name->kind != ObjectKind::kBlob &&
      (name->step != receipt.step || name->save_id != receipt.save_id ||
       name->rank != receipt.rank))
    return fail(Errc::kInvalid, "object {}: of another save or rank", object.name);
  TRY(sums_of(object));
  return {};
}

Result<void> check_objects(const Receipt& receipt) {
  std::vector<Sha256Digest> roots;
  for (std::size_t i = 0; i < receipt.objects.size(); ++i) {
    const ObjectRecord& object = receipt.objects[i];
    if (i > 0 && receipt.objects[i - 1].name >= object.name)
      return fail(Errc::kInvalid, "object {}: out of order, or twice", shown(object.name));
    TRY(check_object(receipt, object));
    roots.push_back(digest_of_hex(object.root).value_or(Sha256Digest{}));
  }
  if (receipt.root != hex(rank_root(roots)))
    return fail(Errc::kInvalid, "root: does not fit the roots of the objects");
  return {};
}

Result<void> check_shard(const TensorRecord& tensor) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kInvalid, "tensor {}: {}", shown(tensor.name), what);
  };
  if (tensor.global_shape.empty()) {
    if (!tensor.offset.empty()) return bad("an offset without a globalShape");
    return {};
  }
  if (tensor.global_shape == tensor.shape) return bad("a globalShape that is its shape");
  const std::size_t dimensions = tensor.shape.size();
  if (tensor.global_shape.size() != dimensions || tensor.offset.size() != dimensions)
    return bad("shape, globalShape and offset differ in their number of dimensions");
  if (!element_count(tensor.global_shape)) return bad("a globalShape that is too large");
  for (std::size_t d = 0; d < dimensions; ++d)
    if (tensor.shape[d] > tensor.global_shape[d] ||
        tensor.offset[d] > tensor.global_shape[d] - tensor.shape[d])
      return bad(fmt::format("dimension {} reaches outside of the whole", d));
  return {};
}

HeaderTensor place_of(const TensorRecord& tensor) {
  return {.name = tensor.name,
          .dtype = tensor.dtype,
          .encoding = tensor.encoding,
          .shape = tensor.shape,
          .begin = tensor.begin,
          .end = tensor.end};
}

Result<void> check_tensor(const Receipt& receipt, const TensorRecord& tensor) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kInvalid, "tensor {}: {}", shown(tensor.name), what);
  };
  if (tensor.name.size() > kTensorNameMax || tensor.name == kMetadataKey)
    return bad("not a name for a tensor");
  if (std::cmp_greater_equal(tensor.object, receipt.objects.size()))
    return bad(fmt::format("object {} of {}", tensor.object, receipt.objects.size()));
  const ObjectRecord& object = receipt.objects[static_cast<std::size_t>(tensor.object)];
  if (tensor.begin > tensor.end || tensor.end > object.bytes)
    return bad(fmt::format("bytes {} to {} of {}", tensor.begin, tensor.end, object.bytes));
  if (tensor.encoding != Encoding::kPlain && !object.name.ends_with(".amdahl"))
    return bad("encoded, in an object for plain tensors");
  TRY(check_stored_bytes(place_of(tensor)));
  return check_shard(tensor);
}

// Tensors of one object, which follow each other.
Result<void> check_neighbours(const Receipt& receipt, std::span<const TensorRecord* const> placed) {
  const ObjectRecord& object = receipt.objects[static_cast<std::size_t>(placed[0]->object)];
  const bool may_have_others = object.name.starts_with("blobs/");  // of other ranks
  for (std::size_t i = 1; i < placed.size(); ++i) {
    const std::int64_t before = placed[i - 1]->end;
    if (placed[i]->begin < before || (placed[i]->begin > before && !may_have_others))
      return fail(Errc::kInvalid, "tensor {}: begins at {}, {} ends at {}", shown(placed[i]->name),
                  placed[i]->begin, shown(placed[i - 1]->name), before);
  }
  if (placed.back()->end != object.bytes && !may_have_others)
    return fail(Errc::kInvalid, "object {}: {} bytes after its last tensor", object.name,
                object.bytes - placed.back()->end);
  const bool encoded = std::ranges::any_of(
      placed, [](const TensorRecord* t) { return t->encoding != Encoding::kPlain; });
  if (!encoded && object.name.ends_with(".amdahl"))
    return fail(Errc::kInvalid, "object {}: no tensor in it is encoded", object.name);
  return {};
}

Result<void> check_places(const Receipt& receipt) {
  std::vector<const TensorRecord*> placed;
  placed.reserve(receipt.tensors.size());
  for (const TensorRecord& tensor : receipt.tensors) placed.push_back(&tensor);
  std::ranges::sort(placed, {}, [](const TensorRecord* tensor) {
    return std::tie(tensor->object, tensor->begin, tensor->end, tensor->name);
  });
  std::size_t from = 0;
  for (std::size_t object = 0; object < receipt.objects.size(); ++object) {
    std::size_t to = from;
    while (to < placed.size() && std::cmp_equal(placed[to]->object, object)) ++to;
    if (to == from)
      return fail(Errc::kInvalid, "object {}: no tensor is in it", receipt.objects[object].name);
    TRY(check_neighbours(receipt, std::span(placed).subspan(from, to - from)));
    from = to;
  }
  return {};
}

}  // namespace

Result<void> check_receipt(const Receipt& receipt) {
  if (!is_hex(receipt.save_id, kSaveIdDigits))
    return fail(Errc::kInvalid, "saveId: not {} hexadecimal digits", kSaveIdDigits);
  if (receipt.rank >= receipt.world_size)
    return fail(Errc::kInvalid, "rank: {} of {}", receipt.rank, receipt.world_size);
  TRY(check_objects(receipt));
  for (std::size_t i = 0; i < receipt.tensors.size(); ++i) {
    const TensorRecord& tensor = receipt.tensors[i];
    TRY(check_tensor(receipt, tensor));
    if (i == 0) continue;
    const TensorRecord& before = receipt.tensors[i - 1];
    if (std::tie(before.object, before.name) >= std::tie(tensor.object, tensor.name))
      return fail(Errc::kInvalid, "tensor {}: out of order, or twice", shown(tensor.name));
  }
  TRY(check_places(receipt));
  TRY(check_state(receipt.state));
  return {};
}

Result<void> check_header(const Receipt& receipt, std::size_t object, const Header& header) {
  const std::string& name = receipt.objects.at(object).name;
  const bool may_have_others = name.starts_with("blobs/");
  const auto tensors = std::ranges::equal_range(receipt.tensors, static_cast<std::int32_t>(object),
                                                {}, &TensorRecord::object);
  for (const TensorRecord& tensor : tensors) {
    const HeaderTensor wanted = place_of(tensor);
    const auto at = std::ranges::lower_bound(header.tensors, wanted, by_place);
    if (at == header.tensors.end() || *at != wanted)
      return fail(Errc::kInvalid, "object {}: its header has no such tensor {}", name,
                  shown(tensor.name));
  }
  if (tensors.size() != header.tensors.size() && !may_have_others)
    return fail(Errc::kInvalid, "object {}: {} tensors, its receipt has {}", name,
                header.tensors.size(), tensors.size());
  return {};
}

}  // namespace amdahl::checkpoint
