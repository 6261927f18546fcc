#include "local/apiserver/schema/pattern.hpp"

#include <re2/re2.h>

namespace amdahl::local {
namespace {

std::string_view go_words(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case RE2::ErrorPatternTooLarge:
      return "expression too large";
    case RE2::NoError:
    case RE2::ErrorInternal:
      break;
  }
  return "internal error";
}

}  // namespace

Pattern::Pattern(std::string expression, std::unique_ptr<re2::RE2> compiled)
    : expression_(std::move(expression)), compiled_(std::move(compiled)) {}
Pattern::~Pattern() = default;

Result<PatternPtr> Pattern::compile(std::string_view expression) {
  if (expression.size() > kPatternBytesMax) {
    return fail(Errc::kTooLarge, "error parsing regexp: expression too large: {} bytes",
                expression.size());
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryMax);
  const re2::StringPiece piece(expression.data(), expression.size());
  auto compiled = std::make_unique<RE2>(piece, options);
  if (!compiled->ok()) {
    return fail(Errc::kInvalid, "error parsing regexp: {}: `{}`", go_words(compiled->error_code()),
                compiled->error_arg());
  }
  return PatternPtr(new Pattern(std::string(expression), std::move(compiled)));
}

bool Pattern::found_in(std::string_view text) const {
  const re2::StringPiece piece(text.data(), text.size());
  return RE2::PartialMatch(piece, *compiled_);
}

}  // namespace amdahl::local
