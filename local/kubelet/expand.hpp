// $(VAR) in commands, arguments and variables, as Kubernetes defines it. Pure.
//
// $(NAME) becomes the variable's value; an unknown name stays as it is written; $$(NAME) becomes
// $(NAME) and is not looked up. Values may name each other, so that a short text can ask for any
// length: the result stops growing soon after kExpandedBytesMax, and who gets one that is longer
// refuses it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"

namespace amdahl::local {

// The kernel gives a process no longer argument or variable.
inline constexpr std::size_t kExpandedBytesMax = std::size_t{128} << 10U;

using FindVariable = function_ref<std::optional<std::string_view>(std::string_view name)>;
std::string expand(std::string_view text, FindVariable find);

}  // namespace amdahl::local
