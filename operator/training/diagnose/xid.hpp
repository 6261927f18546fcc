// What NVIDIA's driver reports as an Xid, and what NVIDIA says to do about each.
//
// Pure. The table follows the Xid catalogue for Ampere and newer
// (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html), column "immediate action"; where
// the catalogue names a workflow, the row has what that workflow begins with. Failure: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace amdahl::training {

inline constexpr std::size_t kXidsMax = 16;  // of one text

enum class XidAction : std::uint8_t {
  kIgnore,          // says nothing about the GPU's health
  kRestartApp,      // the application's own doing, most likely: never a reason to leave a node
  kResetGpu,        // the GPU must be reset before it is used again
  kRestartMachine,  // RESTART_BM
  kContactSupport,
};
std::string_view xid_action_name(XidAction action);  // NVIDIA's word

struct Xid {
  std::int32_t number = 0;
  XidAction action = XidAction::kContactSupport;
  std::string_view meaning = {};
};
// Null for numbers that are not in the table.
const Xid* find_xid(std::int32_t number);
// Whether it speaks of the hardware, so that another node may do better.
bool is_hardware(std::int32_t number);

// The numbers in the driver's own lines: "NVRM: Xid (PCI:0000:06:00): 79, pid=..., GPU has ...".
std::vector<std::int32_t> xids_in_log(std::string_view text);
// The numbers in the reason of GKE's node condition XidCriticalError: a JSON map from number to
// anything.
std::vector<std::int32_t> xids_in_condition(std::string_view reason);
// The one that weighs most: hardware before the rest, then the first. 0 when there is none.
std::int32_t gravest_xid(std::span<const std::int32_t> numbers);

}  // namespace amdahl::training
