#include "checkpoint/format/planes.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace amdahl::checkpoint {

std::int64_t planes_bytes(const PlanesHead& head, std::int64_t count) {
  return kPlanesHeadBytes + count + head.planes * ((count + 7) / 8) + head.exceptions;
}

std::int64_t planes_bytes_min(std::int64_t count) {
  return planes_bytes({.planes = 1, .exceptions = 0}, count);
}

std::int64_t planes_bytes_max(std::int64_t count) {
  return planes_bytes({.planes = kPlanesMax, .exceptions = count}, count);
}

std::string write_planes_head(const PlanesHead& head) {
  AMDAHL_CHECK(head.planes >= 1 && head.planes <= kPlanesMax && head.exceptions >= 0);
  std::string bytes(kPlanesHeadBytes, '\0');
  bytes[0] = static_cast<char>(head.base);
  bytes[1] = static_cast<char>(head.planes);
  auto exceptions = static_cast<std::uint64_t>(head.exceptions);
  for (std::size_t i = 8; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(exceptions & 0xffU);
    exceptions >>= 8U;
  }
  return bytes;
}

Result<PlanesHead> read_planes_head(Bytes stored, std::int64_t count) {
  if (std::cmp_less(stored.size(), kPlanesHeadBytes))
    return fail(Errc::kCorrupt, "planes: {} bytes, at least {}", stored.size(), kPlanesHeadBytes);
  PlanesHead head{.base = std::to_integer<std::uint8_t>(stored[0]),
                  .planes = std::to_integer<std::uint8_t>(stored[1])};
  if (head.planes < 1 || head.planes > kPlanesMax)
    return fail(Errc::kCorrupt, "planes: {} of them, 1 to {} are possible", head.planes,
                kPlanesMax);
  if (std::ranges::any_of(stored.subspan(2, 6), [](std::byte b) { return b != std::byte{0}; }))
    return fail(Errc::kCorrupt, "planes: bytes 2 to 8 are not zero");
  std::uint64_t exceptions = 0;
  for (std::size_t i = kPlanesHeadBytes; i-- > 8;)
    exceptions = exceptions << 8U | std::to_integer<std::uint64_t>(stored[i]);
  if (std::cmp_greater(exceptions, count))
    return fail(Errc::kCorrupt, "planes: {} exceptions for {} values", exceptions, count);
  head.exceptions = static_cast<std::int64_t>(exceptions);
  if (std::cmp_not_equal(stored.size(), planes_bytes(head, count)))
    return fail(Errc::kCorrupt, "planes: {} bytes, its head says {}", stored.size(),
                planes_bytes(head, count));
  return head;
}

}  // namespace amdahl::checkpoint
