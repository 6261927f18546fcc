#include "checkpoint/store/test_faulty_calls.hpp"

#include <dirent.h>

#include <cstddef>
#include <cstring>

namespace amdahl::checkpoint {

void FaultyCalls::forget_types(std::span<std::byte> entries) {
  while (!entries.empty()) {
    decltype(dirent64::d_reclen) length = 0;
    std::memcpy(&length, entries.data() + offsetof(dirent64, d_reclen), sizeof length);
    entries[offsetof(dirent64, d_type)] = std::byte{DT_UNKNOWN};
    entries = entries.subspan(length);
  }
}

}  // namespace amdahl::checkpoint
