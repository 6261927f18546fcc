#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace amdahl {

void check_failed(const char* condition, const char* file, int line) {
  // stderr by hand: the log may be what is broken.
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace amdahl
