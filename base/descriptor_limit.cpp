#include "base/descriptor_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace amdahl {
namespace {

constexpr rlim_t kLimitMin = 256;        // when the kernel does not say
constexpr rlim_t kLimitMax = 1'048'576;  // no more is of use, and "unlimited" is a number too

}  // namespace

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLimitMin;
  return std::min(limit.rlim_cur, kLimitMax);
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLimitMin;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
  return descriptor_limit();
}

}  // namespace amdahl
