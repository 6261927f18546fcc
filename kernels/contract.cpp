#include "kernels/contract.hpp"

#include <cstdio>
#include <cstdlib>

namespace amdahl::kernels {

void contract_broken(const char* what) {
  // tidy: allow(ban-print) the process ends here
  std::fprintf(stderr, "amdahl kernels: %s\n", what);
  std::abort();  // tidy: allow(ban-exit) a bug of the caller, see contract.hpp
}

}  // namespace amdahl::kernels
