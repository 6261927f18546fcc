#include "local/apiserver/schema/cel/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace amdahl::local::cel {
namespace {

constexpr std::array<std::string_view, 8> kLongSymbols{
    "&&", "||", "==", "!=", "<=", ">=", ".?", "[?"};
constexpr std::string_view kSymbols = "()[]{}.,?:!<>+-*/%";

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&out](std::uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | (code >> 6U));
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3FU));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

char plain_escape(char c) {
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
    case '`':
    case '?':
      return c;
    default:
      return '\0';
  }
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Result<std::vector<Token>> run() {
    while (true) {
      skip_blank();
      if (at_ >= source_.size()) break;
      TRY(Token token, next());
      tokens_.push_back(std::move(token));
    }
    tokens_.push_back(Token{.at = at_});
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }
  std::unexpected<Error> wrong(std::size_t at, std::string_view message) const {
    return fail(Errc::kInvalid, "{}",
                at_place(source_, at, fmt::format("Syntax error: {}", message)));
  }

  void skip_blank() {
    while (at_ < source_.size()) {
      if (rest().starts_with("//")) {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (std::string_view(" \t\r\n\f").find(source_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  Result<Token> next() {
    const char c = source_[at_];
    if (const auto quote = quote_after_prefix()) return text(*quote);
    if (letter(c)) return word();
    if (digit(c) || (c == '.' && at_ + 1 < source_.size() && digit(source_[at_ + 1]))) {
      return number();
    }
    for (const std::string_view symbol : kLongSymbols) {
      if (rest().starts_with(symbol)) return symbol_token(symbol.size());
    }
    if (kSymbols.find(c) != std::string_view::npos) return symbol_token(1);
    return wrong(at_, fmt::format("token recognition error at: '{}'", c));
  }

  Result<Token> symbol_token(std::size_t size) {
    Token token{.kind = TokenKind::kSymbol, .at = at_, .text = std::string(rest().substr(0, size))};
    at_ += size;
    return token;
  }

  Result<Token> word() {
    const std::size_t begin = at_;
    while (at_ < source_.size() && (letter(source_[at_]) || digit(source_[at_]))) ++at_;
    Token token{.kind = TokenKind::kName,
                .at = begin,
                .text = std::string(source_.substr(begin, at_ - begin))};
    if (token.text == "true" || token.text == "false") {
      token.value = Value{token.text == "true"};
      token.kind = TokenKind::kLiteral;
    } else if (token.text == "null") {
      token.kind = TokenKind::kLiteral;
    }
    return token;
  }

  Result<Token> number() {
    const std::size_t begin = at_;
    const bool hex = rest().starts_with("0x") || rest().starts_with("0X");
    if (hex) at_ += 2;
    const auto in_number = [&](char c) {
      if (digit(c)) return true;
      if (hex) return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      const char before = source_[at_ - 1];
      const bool exponent = before == 'e' || before == 'E';
      return c == '.' || c == 'e' || c == 'E' || ((c == '+' || c == '-') && exponent);
    };
    while (at_ < source_.size() && (at_ == begin || in_number(source_[at_]))) {
      // "1.size()" is not a number with a fraction.
      if (source_[at_] == '.' && (at_ + 1 >= source_.size() || !digit(source_[at_ + 1]))) break;
      ++at_;
    }
    const std::string_view digits = source_.substr(begin, at_ - begin);
    const bool is_unsigned = at_ < source_.size() && (source_[at_] == 'u' || source_[at_] == 'U');
    if (is_unsigned) ++at_;
    return number_token(begin, hex ? digits.substr(2) : digits, hex ? 16 : 10, is_unsigned);
  }

  Result<Token> number_token(std::size_t begin, std::string_view digits, int base,
                             bool is_unsigned) {
    Token token{.kind = TokenKind::kLiteral, .at = begin};
    const char* end = digits.data() + digits.size();
    const bool fraction = base == 10 && digits.find_first_of(".eE") != std::string_view::npos;
    std::from_chars_result read{};
    if (fraction) {
      double value = 0;
      read = std::from_chars(digits.data(), end, value);
      token.value = Value{value};
    } else {
      // Up to 2^63, so that "-9223372036854775808" can be written; the parser checks the sign.
      std::uint64_t value = 0;
      read = std::from_chars(digits.data(), end, value, base);
      const bool fits = is_unsigned || value <= (1ULL << 63U);
      if (!fits) return wrong(begin, "invalid int literal");
      token.value = is_unsigned ? Value{value} : Value{static_cast<std::int64_t>(value)};
      if (!is_unsigned && value == (1ULL << 63U)) token.text = "-";
    }
    if (read.ec != std::errc{} || read.ptr != end) return wrong(begin, "invalid number literal");
    if (fraction && is_unsigned) return wrong(begin, "invalid uint literal");
    return token;
  }

  struct Quote {
    std::size_t prefix = 0;
    std::string_view mark = {};
    bool raw = false;
    bool bytes = false;
  };

  std::optional<Quote> quote_after_prefix() const {
    Quote quote;
    for (; quote.prefix < 2 && quote.prefix < rest().size(); ++quote.prefix) {
      const char c = rest()[quote.prefix];
      if ((c == 'r' || c == 'R') && !quote.raw)
        quote.raw = true;
      else if ((c == 'b' || c == 'B') && !quote.bytes)
        quote.bytes = true;
      else
        break;
    }
    const std::string_view after = rest().substr(quote.prefix);
    for (const std::string_view mark : {"'''", "\"\"\"", "'", "\""}) {
      if (!after.starts_with(mark)) continue;
      quote.mark = mark;
      return quote;
    }
    return std::nullopt;
  }

  Result<Token> text(const Quote& quote) {
    const std::size_t begin = at_;
    at_ += quote.prefix + quote.mark.size();
    std::string out;
    while (!rest().starts_with(quote.mark)) {
      if (at_ >= source_.size() || (quote.mark.size() == 1 && source_[at_] == '\n')) {
        return wrong(begin, "token recognition error: string is not closed");
      }
      if (source_[at_] == '\\' && !quote.raw) {
        TRY(escape(quote.bytes, out));
      } else {
        out.push_back(source_[at_++]);
      }
    }
    at_ += quote.mark.size();
    Token token{.kind = TokenKind::kLiteral, .at = begin};
    token.value = quote.bytes ? Value{Bytes{std::move(out)}} : Value{std::move(out)};
    return token;
  }

  Result<void> escape(bool bytes, std::string& out) {
    const std::size_t begin = at_++;
    if (at_ >= source_.size()) return wrong(begin, "string is not closed");
    const char c = source_[at_++];
    if (const char plain = plain_escape(c); plain != '\0') {
      out.push_back(plain);
      return {};
    }
    const bool octal = c >= '0' && c <= '3';
    const std::size_t count = c == 'x' || c == 'X' ? 2
                              : c == 'u'           ? 4
                              : c == 'U'           ? 8
                              : octal              ? 3
                                                   : 0;
    if (octal) --at_;
    const std::string_view digits = rest().substr(0, count);
    std::uint32_t code = 0;
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, code, octal ? 8 : 16);
    if (count == 0 || digits.size() != count || read.ec != std::errc{} || read.ptr != end ||
        code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      return wrong(begin, "invalid escape sequence");
    }
    at_ += count;
    if (bytes && code < 0x100)
      out.push_back(static_cast<char>(code));
    else
      append_utf8(code, out);
    return {};
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_ = {};
};

}  // namespace

std::string at_place(std::string_view source, std::size_t at, std::string_view message) {
  at = std::min(at, source.size());
  const std::string_view before = source.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::size_t column = at - begin;
  const std::string_view shown = source.substr(begin, source.find('\n', begin) - begin);
  return fmt::format("ERROR: <input>:{}:{}: {}\n | {}\n | {}^", line, column + 1, message, shown,
                     std::string(column, '.'));
}

Result<std::vector<Token>> lex(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace amdahl::local::cel
