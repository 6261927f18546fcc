// Words for a terminal: text of others made harmless, spans of time, columns in line.
//
// Pure, any thread. Failure: none.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.hpp"

namespace amdahl::cli {

// In characters, not bytes.
std::size_t width_of(std::string_view text);
// At most that many characters; none is cut in half.
std::string cut_to(std::string_view text, std::size_t characters);

// Text of others with `instead` in place of every character that a terminal may obey: controls,
// also those of U+0080 to U+009F, and changes of direction. Bytes that are no UTF-8 stay, unless
// some terminals read them as controls.
std::string replace_controls(std::string_view text,
                             function_ref<std::string(char32_t control)> instead);
// With newlines and tabs as they are, and spaces for other controls.
std::string plain_text(std::string_view text);
// One line: all controls between two words become one space.
std::string one_line(std::string_view text);

// As a POSIX shell reads it back: quoted if it has to be.
std::string shell_word(std::string_view word);

// The two largest units: "0s", "90s", "5m", "1h5m", "3d4h". A negative span is "0s".
std::string short_span(std::chrono::seconds span);
// "3600", "12.3k", "4.5M": at most three figures and a half.
std::string short_count(double value);

// Rows whose cells stand under each other; the last cell of a row is not padded.
class Columns {
 public:
  explicit Columns(std::string indent = "") : indent_(std::move(indent)) {}
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::string indent_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace amdahl::cli
