// $(VAR) in commands, arguments and variables, as Kubernetes defines it. Pure.
//
// $(NAME) becomes the variable's value; an unknown name stays as it is written; $$(NAME) becomes
// $(NAME) and is not looked up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.hpp"

namespace amdahl::local {

using FindVariable = function_ref<std::optional<std::string_view>(std::string_view name)>;
std::string expand(std::string_view text, FindVariable find);

}  // namespace amdahl::local
