#include "base/free_memory.hpp"

// Null in programs that do not link mimalloc.
extern "C" __attribute__((weak)) void mi_collect(bool force) noexcept;

namespace amdahl {

void return_free_memory() {
  if (mi_collect != nullptr) mi_collect(true);
}

}  // namespace amdahl
