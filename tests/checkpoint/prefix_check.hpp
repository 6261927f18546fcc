// What must hold of a prefix at any time, whatever happened to those who wrote to it.
#pragma once

#include <cstdint>
#include <string>

#include "checkpoint/store/memory_store.hpp"

namespace amdahl::checkpoint::test {

inline constexpr std::string_view kForeignName = "data/notes.txt";

// Every manifest that is there loads, bit for bit what its step was; the newest step, or -1. The
// text of what is wrong, or nothing.
struct PrefixSeen {
  std::int64_t newest = -1;
  std::string wrong = {};
};
PrefixSeen look_at(Store& store, std::int32_t world_size);

// Objects of ours that no committed checkpoint needs.
std::int64_t unneeded_objects(Store& store);

}  // namespace amdahl::checkpoint::test
