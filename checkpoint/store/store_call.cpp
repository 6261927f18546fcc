#include "checkpoint/store/store_call.hpp"

#include <algorithm>
#include <cstring>

#include "checkpoint/format/strict_json.hpp"

namespace amdahl::checkpoint {
namespace {

bool is_good_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.size() <= kStoreNamePartBytesMax;
}

bool is_good_name(std::string_view name) {
  if (name.empty() || name.size() > kStoreNameBytesMax) return false;
  if (std::ranges::any_of(name, [](char c) { return c <= ' ' || c > '~'; })) return false;
  if (name.substr(0, name.find('/')) == kTemporaryFolder) return false;
  for (std::string_view rest = name;;) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (!is_good_part(rest.substr(0, end))) return false;
    if (end == rest.size()) return true;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

Result<void> check_store_name(std::string_view name) {
  if (is_good_name(name)) return {};
  return fail(Errc::kInvalid,
              "{}: no name of an object; a name is relative, at most {} printable characters, "
              "without empty parts, \".\" and \"..\"",
              shown(name), kStoreNameBytesMax);
}

Result<void> check_going(const Clock& clock, const StoreCall& call) {
  if (call.stop.stop_requested()) return fail(Errc::kCancelled, "stopped");
  if (clock.monotonic() >= call.deadline) return fail(Errc::kTimeout, "its deadline has passed");
  return {};
}

bool has_bytes_at(std::span<const Bytes> pieces, std::int64_t begin, Bytes bytes) {
  auto skip = static_cast<std::size_t>(begin);
  for (const Bytes piece : pieces) {
    if (bytes.empty()) return true;
    if (skip >= piece.size()) {
      skip -= piece.size();
      continue;
    }
    const std::size_t part = std::min(piece.size() - skip, bytes.size());
    if (std::memcmp(piece.data() + skip, bytes.data(), part) != 0) return false;
    bytes = bytes.subspan(part);
    skip = 0;
  }
  return bytes.empty();
}

}  // namespace amdahl::checkpoint
