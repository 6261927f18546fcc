// What one try to save is called, so that all ranks know it without talking.
//
//   save id = first 16 hexadecimal digits of
//             SHA-256( "amdahl-save-1\n" attempt "\n" step "\n" try "\n" )
//
// The attempt is 128 random bits that all ranks of one start of the job share, so ids of two
// starts differ, and within one start step and try make them differ. Plain values; thread any;
// failure: none.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "checkpoint/format/names.hpp"

namespace amdahl::checkpoint {

inline constexpr std::int32_t kTriesMax = 8;  // of one step in one attempt
inline constexpr std::size_t kAttemptIdMax = 128;

struct SaveKey {
  std::int64_t step = 0;
  std::string save_id = {};
  auto operator<=>(const SaveKey&) const = default;
};

std::string save_id(std::string_view attempt, std::int64_t step, std::int32_t try_number);
// Whether some try of this attempt is called so.
bool is_save_of(std::string_view attempt, const SaveKey& key);

// For an attempt of one process, which shares it with nobody. Random, from the operating system.
std::string random_attempt_id();

}  // namespace amdahl::checkpoint
