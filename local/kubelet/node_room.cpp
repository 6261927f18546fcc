#include "local/kubelet/node_room.hpp"

#include <fmt/format.h>

namespace amdahl::local {
namespace {

constexpr std::uint32_t kAddressesMax = 1U << 22U;  // 127.64.0.0/10
constexpr std::uint32_t kFirst = (127U << 24U) + (64U << 16U);

// Last parts 0 and 255 are left out: some programs take them for networks.
std::optional<std::string> address_at(std::uint32_t index) {
  const std::uint32_t value = kFirst + index;
  const std::uint32_t last = value & 0xffU;
  if (last == 0 || last == 0xffU) return std::nullopt;
  return fmt::format("{}.{}.{}.{}", value >> 24U, (value >> 16U) & 0xffU, (value >> 8U) & 0xffU,
                     last);
}

}  // namespace

std::optional<std::vector<int>> GpuSlots::take(const std::string& holder, std::int64_t wanted) {
  if (wanted > free()) return std::nullopt;
  std::vector<int> slots;
  for (int slot = 0; static_cast<std::int64_t>(slots.size()) < wanted; ++slot)
    if (holders_.emplace(slot, holder).second) slots.push_back(slot);
  return slots;
}

void GpuSlots::give_back(const std::string& holder) {
  std::erase_if(holders_, [&](const auto& entry) { return entry.second == holder; });
}

bool Addresses::claim(const std::string& holder, const std::string& address) {
  if (!taken_.insert(address).second) return false;
  by_holder_[holder] = address;
  return true;
}

std::optional<std::string> Addresses::take(const std::string& holder, std::string_view wish) {
  if (const auto own = by_holder_.find(holder); own != by_holder_.end()) return own->second;
  if (!wish.empty() && claim(holder, std::string(wish))) return std::string(wish);
  for (std::uint32_t tries = 0; tries < kAddressesMax; ++tries) {
    const auto address = address_at(next_ = (next_ + 1) % kAddressesMax);
    if (address && claim(holder, *address)) return address;
  }
  return std::nullopt;
}

void Addresses::give_back(const std::string& holder) {
  const auto own = by_holder_.find(holder);
  if (own == by_holder_.end()) return;
  taken_.erase(own->second);
  by_holder_.erase(own);
}

}  // namespace amdahl::local
