#include "checkpoint/engine/save_id.hpp"

#include <sys/random.h>

#include <array>

#include <fmt/format.h>

#include "base/check.hpp"
#include "checkpoint/format/digest.hpp"

namespace amdahl::checkpoint {

std::string save_id(std::string_view attempt, std::int64_t step, std::int32_t try_number) {
  Sha256 sum;
  sum.add(fmt::format("amdahl-save-1\n{}\n{}\n{}\n", attempt, step, try_number));
  return hex(sum.finish()).substr(0, kSaveIdDigits);
}

bool is_save_of(std::string_view attempt, const SaveKey& key) {
  for (std::int32_t number = 0; number < kTriesMax; ++number)
    if (save_id(attempt, key.step, number) == key.save_id) return true;
  return false;
}

std::string random_attempt_id() {
  std::array<std::byte, 16> bits{};
  AMDAHL_CHECK(::getrandom(bits.data(), bits.size(), 0) == static_cast<ssize_t>(bits.size()));
  return hex(bits);
}

}  // namespace amdahl::checkpoint
