// What one event said about an object. Plain values, any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace amdahl::training {

struct EventNote {
  std::string reason = {};
  std::string message = {};
  std::optional<WallTime> at = {};
  bool operator==(const EventNote&) const = default;
};
using EventNotesPtr = std::shared_ptr<const std::vector<EventNote>>;  // null: nothing was said

}  // namespace amdahl::training
