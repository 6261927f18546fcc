// What a caller must have got right. base/check.hpp is not used: this folder stands alone, so that
// a static program and a Python extension can link it.
#pragma once

namespace amdahl::kernels {

[[noreturn]] void contract_broken(const char* what);

// In every build: a kernel on a wrong range writes into somebody else's tensor.
inline void expect(bool holds, const char* what) {
  if (!holds) [[unlikely]]
    contract_broken(what);
}

}  // namespace amdahl::kernels
