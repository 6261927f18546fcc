#include "checkpoint/store/bucket_path.hpp"

#include <algorithm>
#include <array>

#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/store/store_call.hpp"
#include "kernels/crc32c.hpp"

namespace amdahl::checkpoint {
namespace {

bool is_bucket(std::string_view text) {
  constexpr std::size_t kBytesMin = 3;
  constexpr std::size_t kBytesMax = 222;
  return text.size() >= kBytesMin && text.size() <= kBytesMax &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._-") == text.npos;
}

}  // namespace

Result<BucketPath> parse_bucket_path(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  BucketPath path{.bucket = std::string(text.substr(0, slash))};
  if (!is_bucket(path.bucket))
    return fail(Errc::kInvalid, "{}: no name of a bucket", shown(path.bucket));
  std::string_view folder = text.substr(std::min(slash + 1, text.size()));
  if (folder.ends_with('/')) folder.remove_suffix(1);
  if (folder.empty()) return path;
  TRY(check_store_name(folder));
  path.folder = std::string(folder) + "/";
  return path;
}

std::vector<Bytes> slice(std::span<const Bytes> pieces, std::int64_t begin, std::int64_t bytes) {
  std::vector<Bytes> parts;
  auto skip = static_cast<std::size_t>(begin);
  auto left = static_cast<std::size_t>(bytes);
  for (const Bytes piece : pieces) {
    if (skip >= piece.size()) {
      skip -= piece.size();
      continue;
    }
    const std::size_t part = std::min(piece.size() - skip, left);
    if (part > 0) parts.push_back(piece.subspan(skip, part));
    left -= part;
    skip = 0;
  }
  return parts;
}

std::uint32_t crc32c_of(std::span<const Bytes> pieces) {
  std::uint32_t sum = 0;
  for (const Bytes piece : pieces) sum = kernels::crc32c(piece, sum);
  return sum;
}

std::string crc32c_text(std::uint32_t sum) {
  const std::array bytes = {static_cast<std::byte>(sum >> 24U), static_cast<std::byte>(sum >> 16U),
                            static_cast<std::byte>(sum >> 8U), static_cast<std::byte>(sum)};
  return base64(bytes);
}

}  // namespace amdahl::checkpoint
