// $(VAR) in commands, arguments and variables, as Kubernetes defines it. Pure.
//
// $(NAME) becomes the variable's value; an unknown name stays as it is written; $$(NAME) becomes
// $(NAME) and is not looked up. Variables may name each other, so a short text can ask for any
// length: once the result is longer than kExpandedBytesMax and than the text, no more values are
// inserted, and the caller refuses it.
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
