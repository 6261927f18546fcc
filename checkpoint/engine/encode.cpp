#include "checkpoint/engine/encode.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpoint/engine/planes_codec.hpp"
#include "kernels/delta.hpp"

namespace amdahl::checkpoint {
namespace {

Bytes part_of(Bytes object, const TensorRecord& tensor) {
  return object.subspan(static_cast<std::size_t>(tensor.begin),
                        static_cast<std::size_t>(tensor.end - tensor.begin));
}

struct Stored {
  TensorRecord tensor = {};
  Bytes plain = {};
  std::optional<std::string> encoded = {};
  Bytes bytes() const { return encoded ? bytes_of(*encoded) : plain; }
};

Stored encoded(const TensorRecord& tensor, Bytes object, const BaseTensors& base) {
  Stored stored{.tensor = tensor, .plain = part_of(object, tensor)};
  if (tensor.dtype != Dtype::kBf16 || stored.plain.empty()) return stored;
  stored.encoded = encode_planes(stored.plain);
  if (stored.encoded) stored.tensor.encoding = Encoding::kBf16Planes;
  const Bytes before = base.find(tensor);
  if (before.empty()) return stored;
  std::vector<std::byte> delta(stored.plain.size());
  kernels::xor_delta(delta, stored.plain, before);
  auto planes = encode_planes(delta);
  if (planes && planes->size() < stored.bytes().size()) {
    stored.encoded = std::move(planes);
    stored.tensor.encoding = Encoding::kXorBf16Planes;
  }
  return stored;
}

// The object again, with its tensors as they are stored now.
Result<std::string> assembled(std::vector<Stored>& tensors) {
  std::vector<TensorToStore> what;
  what.reserve(tensors.size());
  std::map<std::string_view, Stored*> by_name;
  for (Stored& stored : tensors) {
    what.push_back({.name = stored.tensor.name,
                    .dtype = stored.tensor.dtype,
                    .encoding = stored.tensor.encoding,
                    .shape = stored.tensor.shape,
                    .stored_bytes = static_cast<std::int64_t>(stored.bytes().size())});
    by_name.emplace(stored.tensor.name, &stored);
  }
  TRY(const Layout layout, lay_out(what));
  std::string object = layout.bytes;
  object.reserve(static_cast<std::size_t>(layout.header.object_bytes));
  for (const HeaderTensor& place : layout.header.tensors) {
    Stored& stored = *by_name.at(place.name);
    stored.tensor.begin = place.begin;
    stored.tensor.end = place.end;
    object += text_of(stored.bytes());
  }
  return object;
}

}  // namespace

BaseTensors::Key BaseTensors::key(const TensorRecord& tensor) {
  return {tensor.name, tensor.dtype, tensor.shape, tensor.global_shape, tensor.offset};
}

BaseTensors::BaseTensors(const SnapshotRecord& record, std::span<const Bytes> objects) {
  for (const TensorRecord& tensor : record.tensors) {
    const auto object = static_cast<std::size_t>(tensor.object);
    if (tensor.encoding == Encoding::kPlain && !objects[object].empty())
      tensors_.emplace(key(tensor), part_of(objects[object], tensor));
  }
}

Bytes BaseTensors::find(const TensorRecord& tensor) const {
  const auto found = tensors_.find(key(tensor));
  return found == tensors_.end() ? Bytes() : found->second;
}

Result<EncodedSnapshot> encode_snapshot(const SnapshotRecord& record,
                                        std::span<const Bytes> objects, const BaseTensors& base) {
  EncodedSnapshot result{.record = record, .bytes = {objects.begin(), objects.end()}};
  result.record.tensors.clear();
  for (std::size_t i = 0; i < objects.size(); ++i) {
    std::vector<Stored> tensors;
    const bool data = record.objects[i].role == SnapshotRole::kData;
    for (const TensorRecord& tensor : record.tensors)
      if (std::cmp_equal(tensor.object, i))
        tensors.push_back(data ? encoded(tensor, objects[i], base) : Stored{.tensor = tensor});
    const auto is_encoded = [](const Stored& stored) { return stored.encoded.has_value(); };
    if (std::ranges::any_of(tensors, is_encoded)) {
      TRY(result.owned.emplace_back(), assembled(tensors));
      result.bytes[i] = bytes_of(result.owned.back());
      ChunkSummer summer(record.objects[i].record.chunk_bytes);
      summer.add(result.bytes[i]);
      result.record.objects[i].record = object_record("", summer.finish());
    }
    for (Stored& stored : tensors) {
      result.has_deltas = result.has_deltas || needs_base(stored.tensor.encoding);
      result.record.tensors.push_back(std::move(stored.tensor));
    }
  }
  return result;
}

}  // namespace amdahl::checkpoint
