#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_dump.hpp"
#include "checkpoint/format/header.hpp"
#include "checkpoint/format/planes.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

std::string dtype_text(const HeaderTensor& tensor) {
  std::string text(enum_name(tensor.dtype));
  if (tensor.encoding == Encoding::kPlain) return text;
  return text + "/" + std::string(enum_name(tensor.encoding));
}

Json header_json(const Header& header) {
  Json json = Json::object();
  if (!header.metadata.empty()) json[std::string(kMetadataKey)] = header.metadata;
  for (const HeaderTensor& tensor : header.tensors)
    json[tensor.name] = {{"dtype", dtype_text(tensor)},
                         {"shape", tensor.shape},
                         {"data_offsets", {tensor.begin, tensor.end}}};
  return json;
}

std::string framed(std::string json) {
  const std::size_t bytes = kHeaderLengthBytes + json.size();
  json.append((kHeaderAlignment - bytes % kHeaderAlignment) % kHeaderAlignment, ' ');
  std::string frame;
  for (std::size_t i = 0; i < kHeaderLengthBytes; ++i)
    frame += static_cast<char>((json.size() >> (8 * i)) & 0xffU);
  return frame + json;
}

Result<std::vector<HeaderTensor>> placed(const std::vector<TensorToStore>& tensors) {
  std::vector<HeaderTensor> places;
  for (const TensorToStore& tensor : tensors) {
    HeaderTensor& place = places.emplace_back(HeaderTensor{.name = tensor.name,
                                                           .dtype = tensor.dtype,
                                                           .encoding = tensor.encoding,
                                                           .shape = tensor.shape});
    const auto count = element_count(tensor.shape);
    place.end = tensor.encoding == Encoding::kPlain ? count.value_or(0) * element_bytes(place.dtype)
                                                    : tensor.stored_bytes;
    TRY(check_stored_bytes(place));
  }
  std::ranges::sort(places, [](const HeaderTensor& a, const HeaderTensor& b) {
    const auto larger = element_bytes(b.dtype) <=> element_bytes(a.dtype);
    return larger != 0 ? larger < 0 : a.name < b.name;
  });
  std::int64_t at = 0;
  for (HeaderTensor& place : places) {
    place.begin = at;
    at = place.end += at;
    if (at > kElementsMax)
      return fail(Errc::kTooLarge, "tensor {}: the object becomes too large", shown(place.name));
  }
  return places;
}

}  // namespace

Result<void> check_stored_bytes(const HeaderTensor& tensor) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kInvalid, "tensor {}: {}", shown(tensor.name), what);
  };
  const auto count = element_count(tensor.shape);
  if (!count) return bad("a shape that is negative or too large");
  const std::int64_t stored = tensor.end - tensor.begin;
  if (!has_planes(tensor.encoding)) {
    const std::int64_t wanted = *count * element_bytes(tensor.dtype);
    if (stored == wanted) return {};
    return bad(fmt::format("{} bytes, its shape needs {}", stored, wanted));
  }
  if (tensor.dtype != Dtype::kBf16) return bad("only BF16 is stored in planes");
  if (stored < planes_bytes_min(*count) || stored > planes_bytes_max(*count))
    return bad(fmt::format("{} bytes, its planes take {} to {}", stored, planes_bytes_min(*count),
                           planes_bytes_max(*count)));
  return {};
}

bool is_plain(const Header& header) {
  return std::ranges::all_of(header.tensors, [](const HeaderTensor& tensor) {
    return tensor.encoding == Encoding::kPlain;
  });
}

Result<Layout> lay_out(const std::vector<TensorToStore>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  TRY(auto places, placed(tensors));
  Layout layout{.header = {.tensors = std::move(places), .metadata = metadata}};
  layout.bytes = framed(dump_json(header_json(layout.header)));
  const auto start = static_cast<std::int64_t>(layout.bytes.size());
  Header& header = layout.header;
  header.object_bytes = start + (header.tensors.empty() ? 0 : header.tensors.back().end);
  for (HeaderTensor& tensor : header.tensors) {
    tensor.begin += start;
    tensor.end += start;
  }
  std::ranges::sort(header.tensors, by_place);
  // The reader is the judge of names, counts and sizes, and of two tensors with one name.
  TRY(const Header read, read_header(bytes_of(layout.bytes), header.object_bytes));
  if (read != header) return fail(Errc::kInvalid, "names that are no UTF-8, or appear twice");
  return layout;
}

}  // namespace amdahl::checkpoint
