// owner.jsonl: whose prefix it is. Created once, only if absent; without it, or with another job's
// UID in it, nothing below the prefix is written or deleted.
//
// Plain values; thread any. Failure: see document.hpp; the text names the object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fields.hpp"
#include "base/result.hpp"
#include "checkpoint/format/seal.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kOwnerBytesMax = 4096;
inline constexpr std::uint32_t kUidMax = 253;
inline constexpr std::uint32_t kJobNameMax = 507;  // namespace/name

struct Owner {
  std::int32_t format = kFormatVersion;
  std::string job_uid = {};
  std::string job = {};
  WallTime created_at = {};
  bool operator==(const Owner&) const = default;
};
template <class V>
constexpr void fields(V& v, Owner& owner) {
  v.required("format", owner.format,
             {.doc = "Version of this format.", .min = kFormatVersion, .max = kFormatVersion});
  v.required(
      "jobUid", owner.job_uid,
      {.doc = "UID of the job whose prefix this is.", .length_min = 1, .length_max = kUidMax});
  v.optional("job", owner.job,
             {.doc = "Its namespace and name, for people.", .length_max = kJobNameMax});
  v.required("createdAt", owner.created_at, {.doc = "When the prefix was taken."});
}

std::string write_owner(const Owner& owner);
Result<Owner> read_owner(std::string_view text);

}  // namespace amdahl::checkpoint
