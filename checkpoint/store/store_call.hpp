// What every store asks at the beginning of a call and between its steps.
//
// Pure but for the clock. Thread: any. Failure: kInvalid for a name that no object can have,
// kCancelled after a stop, kTimeout at the deadline.
#pragma once

#include <span>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "checkpoint/store/store.hpp"

namespace amdahl::checkpoint {

inline constexpr std::size_t kStoreNameBytesMax = 512;
inline constexpr std::size_t kStoreNamePartBytesMax = 255;
inline constexpr std::string_view kTemporaryFolder = ".amdahl-tmp";

// Relative, without empty parts, "." and "..", printable ASCII: the same file or object for every
// store, and never one outside of the prefix.
Result<void> check_store_name(std::string_view name);

Result<void> check_going(const Clock& clock, const StoreCall& call);

// Whether the pieces, one after another, are these bytes at `begin`.
bool has_bytes_at(std::span<const Bytes> pieces, std::int64_t begin, Bytes bytes);

}  // namespace amdahl::checkpoint
