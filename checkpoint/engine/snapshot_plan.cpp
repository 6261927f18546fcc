#include "checkpoint/engine/snapshot_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "checkpoint/engine/arena.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

using Indices = std::vector<std::size_t>;

Result<std::int64_t> stored_bytes(const TensorSpec& spec) {
  const auto count = element_count(spec.shape);
  if (!count || *count * element_bytes(spec.dtype) > kObjectBytesMax / 2)
    return fail(Errc::kTooLarge, "tensor {}: its shape is negative or too large", shown(spec.name));
  return *count * element_bytes(spec.dtype);
}

// In the order they were given, so that a part is a stretch of the model.
Result<std::vector<Indices>> cut(const std::vector<TensorSpec>& specs, bool frozen,
                                 std::int64_t part_bytes) {
  std::vector<Indices> parts;
  std::int64_t room = 0;
  std::set<std::string_view> names;  // an object has a name once, a rank may have two shards of it
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].frozen != frozen) continue;
    TRY(const std::int64_t bytes, stored_bytes(specs[i]));
    if (parts.empty() || bytes > room || names.contains(specs[i].name)) {
      parts.emplace_back();
      room = part_bytes;
      names.clear();
    }
    parts.back().push_back(i);
    names.insert(specs[i].name);
    room -= bytes;
  }
  return parts;
}

Result<PlannedObject> planned(const std::vector<TensorSpec>& specs, const Indices& part,
                              bool blob) {
  std::vector<TensorToStore> tensors;
  tensors.reserve(part.size());
  std::map<std::string_view, std::size_t> index;
  for (const std::size_t i : part) {
    tensors.push_back({.name = specs[i].name, .dtype = specs[i].dtype, .shape = specs[i].shape});
    index.emplace(specs[i].name, i);
  }
  PlannedObject object{.blob = blob};
  TRY(object.layout, lay_out(tensors));
  for (const HeaderTensor& place : object.layout.header.tensors)
    object.tensors.push_back(index.at(place.name));
  return object;
}

// A save that writes blobs also writes a data object, by which a collector sees that it is under
// way. So the smallest tensor of a state that is frozen as a whole is treated like any other.
void thaw_one(std::vector<TensorSpec>& specs) {
  const bool all = std::ranges::all_of(specs, [](const auto& spec) { return spec.frozen; });
  if (specs.empty() || !all) return;
  std::ranges::min_element(specs, {}, [](const TensorSpec& spec) {
    return element_count(spec.shape).value_or(0) * element_bytes(spec.dtype);
  })->frozen = false;
}

}  // namespace

Result<std::shared_ptr<const SnapshotPlan>> plan_snapshot(std::vector<TensorSpec> specs,
                                                          const PlanOptions& options) {
  if (!is_chunk_size(options.chunk_bytes) || options.part_bytes < 1)
    return fail(Errc::kInvalid, "plan: a chunk of {} or a part of {} bytes", options.chunk_bytes,
                options.part_bytes);
  if (specs.size() > kTensorsMax)
    return fail(Errc::kTooLarge, "{} tensors, at most {}", specs.size(), kTensorsMax);
  thaw_one(specs);
  auto plan = std::make_shared<SnapshotPlan>();
  plan->chunk_bytes = options.chunk_bytes;
  for (TensorSpec& spec : specs)
    if (spec.global_shape == spec.shape) spec.global_shape = spec.offset = {};
  for (const bool blob : {false, true}) {
    TRY(const auto parts, cut(specs, blob, options.part_bytes));
    for (const Indices& part : parts) {
      TRY(PlannedObject object, planned(specs, part, blob));
      object.begin = plan->memory_bytes;
      plan->memory_bytes += aligned_up(object.layout.header.object_bytes);
      plan->tensor_bytes +=
          object.layout.header.object_bytes - static_cast<std::int64_t>(object.layout.bytes.size());
      plan->objects.push_back(std::move(object));
    }
  }
  if (std::cmp_greater(plan->objects.size(), kPartsMax / 2))
    return fail(Errc::kTooLarge, "{} objects, at most {}", plan->objects.size(), kPartsMax / 2);
  plan->specs = std::move(specs);
  return plan;
}

std::vector<TensorRecord> tensor_records(const SnapshotPlan& plan) {
  std::vector<TensorRecord> records;
  records.reserve(plan.specs.size());
  for (std::size_t i = 0; i < plan.objects.size(); ++i) {
    const PlannedObject& object = plan.objects[i];
    for (std::size_t t = 0; t < object.tensors.size(); ++t) {
      const HeaderTensor& place = object.layout.header.tensors[t];
      const TensorSpec& spec = plan.specs[object.tensors[t]];
      records.push_back({.name = spec.name,
                         .dtype = spec.dtype,
                         .shape = spec.shape,
                         .global_shape = spec.global_shape,
                         .offset = spec.offset,
                         .object = static_cast<std::int32_t>(i),
                         .begin = place.begin,
                         .end = place.end});
    }
  }
  return records;
}

}  // namespace amdahl::checkpoint
