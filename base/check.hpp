// AMDAHL_CHECK(condition): a bug stops the process, in every build, with the place and the text.
// For what callers may get wrong at run time use Result instead.
#pragma once

namespace amdahl {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace amdahl

#define AMDAHL_CHECK(...)                                       \
  do {                                                          \
    if (!(__VA_ARGS__)) [[unlikely]]                            \
      ::amdahl::check_failed(#__VA_ARGS__, __FILE__, __LINE__); \
  } while (false)
