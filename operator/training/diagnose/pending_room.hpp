// How many pods of a gang fit where, and what stops the others.
//
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "operator/training/diagnose/pending.hpp"

namespace amdahl::training {

struct Room {
  std::int64_t fit = 0;         // pods that fit now, on all nodes together
  std::int64_t nodes_used = 0;  // nodes on which at least one fits
  std::int64_t nodes = 0;       // nodes that may be used at all
  std::map<std::string, std::int64_t> stops =
      {};  // resource -> nodes on which it is the first to run out
};
Room count_room(const Quantities& per_pod, std::span<const NodeRoom> nodes, std::int64_t most);

// All of it `times` times; stops at Quantity's own end.
Quantities multiply(const Quantities& amounts, std::int64_t times);
// "16 nvidia.com/gpu, 400Gi memory": GPUs and other devices first.
std::string amounts_text(const Quantities& amounts);
// The resources of which `asked` exceeds what `limit` leaves after `used`; a resource that limit
// does not name has none.
Quantities beyond(const Quantities& asked, const Quantities& used, const Quantities& limit);

}  // namespace amdahl::training
