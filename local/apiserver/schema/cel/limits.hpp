// How much work rules may do, in steps: about one for each part of an expression that is evaluated
// and for each ten bytes of text that are read. The numbers are a kube-apiserver's budgets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace amdahl::local::cel {

inline constexpr std::int64_t kRuleStepsMax = 1'000'000;
inline constexpr std::int64_t kObjectStepsMax = 10'000'000;  // all rules of one object together
inline constexpr std::size_t kMessageBytesMax = 5U << 10U;

}  // namespace amdahl::local::cel
