#include "operator/training/diagnose/xid.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace amdahl::training {
namespace {

using enum XidAction;

constexpr auto kXids = std::to_array<Xid>({
    {8, kRestartApp, "the GPU stopped processing"},
    {11, kRestartApp, "invalid or corrupted push buffer stream"},
    {13, kRestartApp, "graphics engine exception, such as an access out of bounds"},
    {25, kRestartApp, "illegal push buffer stream"},
    {31, kRestartApp, "GPU memory page fault"},
    {32, kRestartApp, "invalid or corrupted push buffer stream"},
    {37, kIgnore, "driver firmware error"},
    {38, kIgnore, "driver firmware error"},
    {39, kRestartApp, "copy engine exception"},
    {40, kRestartApp, "copy engine exception"},
    {41, kRestartApp, "copy engine exception"},
    {43, kIgnore, "the GPU stopped processing a channel of the application"},
    {44, kIgnore, "fault during a context switch"},
    {45, kIgnore, "channels were removed after an earlier error"},
    {46, kResetGpu, "the GPU stopped processing"},
    {48, kResetGpu, "double bit ECC error"},
    {54, kContactSupport, "auxiliary power is not connected"},
    {56, kContactSupport, "display channel exception"},
    {57, kContactSupport, "memory link training failed"},
    {58, kContactSupport, "memory error"},
    {62, kResetGpu, "internal micro-controller halt"},
    {63, kIgnore, "a memory row was remapped"},
    {64, kResetGpu, "a memory row could not be remapped"},
    {68, kRestartApp, "video decoder exception"},
    {69, kRestartApp, "graphics engine class error"},
    {74, kResetGpu, "NVLink error"},
    {79, kRestartMachine, "the GPU has fallen off the bus"},
    {80, kRestartApp, "corrupted data was sent to the GPU"},
    {92, kIgnore, "high rate of single bit ECC errors"},
    {94, kRestartApp, "contained memory error"},
    {95, kResetGpu, "uncontained memory error"},
    {109, kResetGpu, "context switch timeout"},
    {110, kResetGpu, "security fault"},
    {119, kResetGpu, "the GPU's system processor did not answer"},
    {120, kResetGpu, "error of the GPU's system processor"},
    {121, kIgnore, "chip-to-chip link error"},
    {122, kContactSupport, "SPI read failure"},
    {123, kContactSupport, "SPI write failure"},
    {136, kResetGpu, "link training failed"},
    {137, kIgnore, "NVLink privilege error"},
    {140, kResetGpu, "unrecovered ECC error"},
    {143, kResetGpu, "the GPU could not be initialised"},
    {144, kResetGpu, "NVLink error (SAW)"},
    {145, kResetGpu, "NVLink error (RLW)"},
    {146, kResetGpu, "NVLink error (TLW)"},
    {147, kResetGpu, "NVLink error (TREX)"},
    {148, kResetGpu, "NVLink error (NVLPW)"},
    {149, kResetGpu, "NVLink error (NETIR)"},
    {150, kResetGpu, "NVLink error (MSE)"},
    {154, kIgnore, "the recovery action of a GPU changed"},
    {155, kResetGpu, "NVLink error defined by software"},
    {156, kResetGpu, "a resource was retired"},
    {158, kResetGpu, "fatal GPU timeout"},
});
static_assert(std::ranges::is_sorted(kXids, {}, &Xid::number));

constexpr std::int32_t kXidNumberMax = 999;

void add_number(std::vector<std::int32_t>& numbers, std::string_view digits) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || number <= 0 || number > kXidNumberMax) return;
  if (numbers.size() < kXidsMax && std::ranges::find(numbers, number) == numbers.end())
    numbers.push_back(number);
}

}  // namespace

std::string_view xid_action_name(XidAction action) {
  switch (action) {
    case kIgnore:
      return "IGNORE";
    case kRestartApp:
      return "RESTART_APP";
    case kResetGpu:
      return "RESET_GPU";
    case kRestartMachine:
      return "RESTART_BM";
    case kContactSupport:
      break;
  }
  return "CONTACT_SUPPORT";
}

const Xid* find_xid(std::int32_t number) {
  const auto* const row = std::ranges::lower_bound(kXids, number, {}, &Xid::number);
  return row != kXids.end() && row->number == number ? row : nullptr;
}

bool is_hardware(std::int32_t number) {
  const Xid* const xid = find_xid(number);
  return xid != nullptr && xid->action != kIgnore && xid->action != kRestartApp;
}

std::vector<std::int32_t> xids_in_log(std::string_view text) {
  constexpr std::string_view kMark = "Xid (";
  constexpr std::size_t kPlaceMax = 64;  // "PCI:0000:06:00"
  std::vector<std::int32_t> numbers;
  std::size_t at = text.find(kMark);
  while (at != std::string_view::npos && numbers.size() < kXidsMax) {
    const std::string_view rest = text.substr(at + kMark.size(), kPlaceMax);
    if (const std::size_t close = rest.find("): "); close != std::string_view::npos)
      add_number(numbers, text.substr(at + kMark.size() + close + 3, 4));
    at = text.find(kMark, at + kMark.size());
  }
  return numbers;
}

std::vector<std::int32_t> xids_in_condition(std::string_view reason) {
  std::vector<std::int32_t> numbers;
  std::size_t at = reason.find('"');
  while (at != std::string_view::npos && numbers.size() < kXidsMax) {
    const std::size_t close = reason.find('"', at + 1);
    if (close == std::string_view::npos) break;
    add_number(numbers, reason.substr(at + 1, close - at - 1));
    at = reason.find('"', close + 1);
  }
  return numbers;
}

std::int32_t gravest_xid(std::span<const std::int32_t> numbers) {
  const auto hardware = std::ranges::find_if(numbers, is_hardware);
  if (hardware != numbers.end()) return *hardware;
  return numbers.empty() ? 0 : numbers.front();
}

}  // namespace amdahl::training
