// The words of a CEL expression. Inside this library only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "local/apiserver/schema/cel/value.hpp"

namespace amdahl::local::cel {

enum class TokenKind : std::uint8_t { kEnd, kName, kLiteral, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t at = 0;
  std::string text = {};  // of names and symbols
  Value value = {};       // of literals
};

// A message that ends the way cel-go's do: the place, the line and a caret below it.
std::string at_place(std::string_view source, std::size_t at, std::string_view message);

Result<std::vector<Token>> lex(std::string_view source);

}  // namespace amdahl::local::cel
