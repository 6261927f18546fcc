#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "checkpoint/format/header.hpp"
#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr int kHeaderDepthMax = 3;

std::uint64_t little_endian(Bytes bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = kHeaderLengthBytes; i-- > 0;)
    number = number << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return number;
}

bool read_dtype(std::string_view text, HeaderTensor& into) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto dtype = parse_enum<Dtype>(text.substr(0, slash));
  auto encoding = std::optional(Encoding::kPlain);
  if (slash < text.size()) {
    encoding = parse_enum<Encoding>(text.substr(slash + 1));
    if (encoding == Encoding::kPlain) return false;  // is spelled without a slash
  }
  if (!dtype || !encoding) return false;
  into.dtype = *dtype;
  into.encoding = *encoding;
  return true;
}

bool is_integer_list(const Json& json, std::size_t items_max) {
  return json.is_array() && json.size() <= items_max &&
         std::ranges::all_of(json, [](const Json& item) { return item.is_number_integer(); });
}

// Begin and end still count from the first tensor.
Result<HeaderTensor> read_tensor(const std::string& name, const Json& json) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::kInvalid, "tensor {}: {}", shown(name), what);
  };
  if (name.empty() || name.size() > kTensorNameMax)
    return bad(fmt::format("a name has 1 to {} bytes", kTensorNameMax));
  HeaderTensor tensor{.name = name};
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return bad("expected dtype, shape and data_offsets, and nothing else");
  const Json& dtype = json["dtype"];
  if (!dtype.is_string() || !read_dtype(dtype.get_ref<const std::string&>(), tensor))
    return bad("unknown dtype " + (dtype.is_string() ? shown(dtype.get<std::string>()) : ""));
  if (!is_integer_list(json["shape"], kDimensionsMax))
    return bad(fmt::format("a shape is a list of at most {} integers", kDimensionsMax));
  tensor.shape = json["shape"].get<Shape>();
  const Json& offsets = json["data_offsets"];
  if (!is_integer_list(offsets, 2) || offsets.size() != 2)
    return bad("data_offsets are two integers");
  tensor.begin = offsets[0].get<std::int64_t>();
  tensor.end = offsets[1].get<std::int64_t>();
  if (tensor.begin < 0 || tensor.begin > tensor.end || tensor.end > kElementsMax)
    return bad("data_offsets are out of order or too large");
  return tensor;
}

Result<std::map<std::string, std::string>> read_metadata(const Json& json) {
  if (!json.is_object() || json.size() > kMetadataMax)
    return fail(Errc::kInvalid, "{}: expected an object of at most {} names", kMetadataKey,
                kMetadataMax);
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string())
      return fail(Errc::kInvalid, "{}: {} is not a string", kMetadataKey, shown(key));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Every byte after the header belongs to one tensor.
Result<void> check_places(const std::vector<HeaderTensor>& tensors, std::int64_t data_bytes) {
  std::int64_t at = 0;
  for (const HeaderTensor& tensor : tensors) {
    if (tensor.end > data_bytes)
      return fail(Errc::kCorrupt, "tensor {}: ends at byte {} of {}", shown(tensor.name),
                  tensor.end, data_bytes);
    if (tensor.begin != at)
      return fail(Errc::kInvalid, "tensor {}: {} at byte {}, the one before it ends at {}",
                  shown(tensor.name), tensor.begin < at ? "an overlap" : "a hole", tensor.begin,
                  at);
    TRY(check_stored_bytes(tensor));
    at = tensor.end;
  }
  if (at != data_bytes)
    return fail(Errc::kCorrupt, "{} bytes after the last tensor", data_bytes - at);
  return {};
}

}  // namespace

Result<std::size_t> header_bytes(Bytes first_eight, std::int64_t object_bytes) {
  if (first_eight.size() < kHeaderLengthBytes || std::cmp_less(object_bytes, kHeaderLengthBytes))
    return fail(Errc::kCorrupt, "header: the object has {} bytes, at least {}", object_bytes,
                kHeaderLengthBytes);
  const std::uint64_t length = little_endian(first_eight);
  if (length > kHeaderBytesMax)
    return fail(Errc::kTooLarge, "header: {} bytes, at most {}", length, kHeaderBytesMax);
  if (std::cmp_greater(length + kHeaderLengthBytes, object_bytes))
    return fail(Errc::kCorrupt, "header: {} bytes, the object has {}", length, object_bytes);
  return kHeaderLengthBytes + static_cast<std::size_t>(length);
}

Result<Header> read_header(Bytes from_start, std::int64_t object_bytes) {
  TRY(const std::size_t bytes, header_bytes(from_start, object_bytes));
  if (from_start.size() < bytes)
    return fail(Errc::kCorrupt, "header: cut off at byte {} of {}", from_start.size(), bytes);
  const std::string_view text =
      text_of(from_start.subspan(kHeaderLengthBytes)).substr(0, bytes - kHeaderLengthBytes);
  auto json = parse_strict(text, kHeaderDepthMax);
  if (!json) return wrap(std::move(json).error(), "header");
  if (!text.starts_with('{')) return fail(Errc::kInvalid, "header: does not begin with an object");
  if (json->size() > kTensorsMax + 1)
    return fail(Errc::kTooLarge, "header: {} tensors, at most {}", json->size(), kTensorsMax);
  Header header{.object_bytes = object_bytes};
  for (const auto& [name, value] : json->items()) {
    if (name == kMetadataKey) {
      TRY(header.metadata, read_metadata(value));
      continue;
    }
    TRY(header.tensors.emplace_back(), read_tensor(name, value));
  }
  std::ranges::sort(header.tensors, by_place);
  TRY(check_places(header.tensors, object_bytes - static_cast<std::int64_t>(bytes)));
  for (HeaderTensor& tensor : header.tensors) {
    tensor.begin += static_cast<std::int64_t>(bytes);
    tensor.end += static_cast<std::int64_t>(bytes);
  }
  return header;
}

}  // namespace amdahl::checkpoint
