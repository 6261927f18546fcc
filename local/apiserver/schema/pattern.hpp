// A regular expression in RE2's syntax, which is also Go's: linear in the text, bounded in memory.
//
// Immutable once compiled; shared between threads. Failure: compile() gives Go's words for what is
// wrong with the expression.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace re2 {
class RE2;
}  // namespace re2

namespace amdahl::local {

inline constexpr std::size_t kPatternBytesMax = 64U << 10U;
inline constexpr std::size_t kPatternMemoryMax = 4U << 20U;

class Pattern {
 public:
  static Result<std::shared_ptr<const Pattern>> compile(std::string_view expression);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  Pattern(Pattern&&) = delete;
  Pattern& operator=(Pattern&&) = delete;

  bool found_in(std::string_view text) const;  // anywhere, unless the expression says ^ and $
  const std::string& expression() const { return expression_; }

 private:
  Pattern(std::string expression, std::unique_ptr<re2::RE2> compiled);
  std::string expression_;
  std::unique_ptr<re2::RE2> compiled_;
};
using PatternPtr = std::shared_ptr<const Pattern>;

}  // namespace amdahl::local
