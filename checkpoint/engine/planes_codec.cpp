#include "checkpoint/engine/planes_codec.hpp"

#include <array>
#include <limits>

#include "base/check.hpp"
#include "checkpoint/format/planes.hpp"
#include "kernels/dispatch.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kExponents = 256;
using Histogram = std::array<std::int64_t, kExponents>;

Histogram exponents_of(Bytes bf16) {
  Histogram counts{};
  for (std::size_t i = 0; i + 1 < bf16.size(); i += 2) {
    const auto high = std::to_integer<unsigned>(bf16[i + 1]);
    const auto low = std::to_integer<unsigned>(bf16[i]);
    ++counts[((high << 1U) | (low >> 7U)) & 0xffU];
  }
  return counts;
}

// The fewest bytes: a window of 2^planes - 1 exponents, wherever most of them lie.
PlanesHead best_head(const Histogram& counts, std::int64_t count) {
  PlanesHead best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::uint8_t planes = 1; planes <= kPlanesMax; ++planes) {
    const std::size_t window = (std::size_t{1} << planes) - 1;
    std::int64_t inside = 0;
    for (std::size_t i = 0; i < window; ++i) inside += counts[i];
    for (std::size_t base = 0; base < kExponents; ++base) {
      const PlanesHead head{
          .base = static_cast<std::uint8_t>(base), .planes = planes, .exceptions = count - inside};
      if (planes_bytes(head, count) < least) {
        least = planes_bytes(head, count);
        best = head;
      }
      inside += counts[(base + window) % kExponents] - counts[base];
    }
  }
  return best;
}

std::uint8_t* raw(std::string& text, std::size_t at) {
  return reinterpret_cast<std::uint8_t*>(text.data() + at);
}

}  // namespace

std::optional<std::string> encode_planes(Bytes bf16) {
  const std::size_t count = bf16.size() / 2;
  const PlanesHead head = best_head(exponents_of(bf16), static_cast<std::int64_t>(count));
  const auto size = static_cast<std::size_t>(planes_bytes(head, static_cast<std::int64_t>(count)));
  if (size >= bf16.size()) return std::nullopt;
  std::string stored = write_planes_head(head);
  const std::size_t stride = (count + 7) / 8;
  stored.resize(size + kernels::kExceptionSlack);
  const std::size_t planes_at = kPlanesHeadBytes + count;
  const std::size_t written = kernels::active_row().split_exponents(
      {.values = kernels::raw(bf16),
       .count = count,
       .base = head.base,
       .planes = head.planes,
       .sign_mantissa = raw(stored, kPlanesHeadBytes),
       .plane_bits = raw(stored, planes_at),
       .plane_stride = stride,
       .exceptions = raw(stored, planes_at + head.planes * stride)});
  AMDAHL_CHECK(std::cmp_equal(written, head.exceptions));
  stored.resize(size);
  return stored;
}

Result<void> decode_planes(Bytes stored, kernels::MutableBytes bf16) {
  const std::size_t count = bf16.size() / 2;
  TRY(const PlanesHead head, read_planes_head(stored, static_cast<std::int64_t>(count)));
  const std::size_t stride = (count + 7) / 8;
  const std::uint8_t* bytes = kernels::raw(stored);
  const std::size_t planes_at = kPlanesHeadBytes + count;
  const auto exceptions = static_cast<std::size_t>(head.exceptions);
  const std::size_t used =
      kernels::active_row().merge_exponents({.sign_mantissa = bytes + kPlanesHeadBytes,
                                             .plane_bits = bytes + planes_at,
                                             .plane_stride = stride,
                                             .exceptions = bytes + planes_at + head.planes * stride,
                                             .exception_count = exceptions,
                                             .count = count,
                                             .base = head.base,
                                             .planes = head.planes,
                                             .values = kernels::raw(bf16)});
  if (used != exceptions)
    return fail(Errc::kCorrupt, "planes: the codes ask for {} exceptions, there are {}", used,
                exceptions);
  return {};
}

}  // namespace amdahl::checkpoint
