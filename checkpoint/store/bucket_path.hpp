// A bucket and the prefix in it: names of objects to keys and back.
//
// Pure values. Thread: any. Failure: kInvalid for what no bucket or prefix is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {

struct BucketPath {
  std::string bucket = {};
  std::string folder = {};  // empty, or ends in a slash

  std::string key(std::string_view name) const { return folder + std::string(name); }
  // Nothing for a key outside of the folder.
  std::optional<std::string> name(std::string_view key) const {
    if (!key.starts_with(folder)) return std::nullopt;
    return std::string(key.substr(folder.size()));
  }
};

// "bucket/some/prefix", as it stands after gs:// or s3://.
Result<BucketPath> parse_bucket_path(std::string_view text);

// The bytes from `begin` on of an object in pieces.
std::vector<Bytes> slice(std::span<const Bytes> pieces, std::int64_t begin, std::int64_t bytes);

// CRC32C of all of them, and as stores write it: base64 of four bytes, the highest first.
std::uint32_t crc32c_of(std::span<const Bytes> pieces);
std::string crc32c_text(std::uint32_t sum);

}  // namespace amdahl::checkpoint
