// The opaque text that says where a list goes on: base64 of {"v", "rv", "start"}.
//
// Pure. The start is relative to the list's own range, so a token cannot leave it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "local/apiserver/core/status.hpp"

namespace amdahl::local {

struct ContinueToken {
  std::int64_t version = 0;  // -1: whatever is newest, after the wanted version was lost
  std::string start = {};
};
std::string encode(const ContinueToken& token);
Outcome<ContinueToken> decode_continue(std::string_view text);

}  // namespace amdahl::local
