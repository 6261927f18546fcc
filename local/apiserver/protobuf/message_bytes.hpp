// The bytes of messages.txt, linked into the program.
#pragma once

#include <string_view>

namespace amdahl::local {

std::string_view builtin_message_bytes();

}  // namespace amdahl::local
