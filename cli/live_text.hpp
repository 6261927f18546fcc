// A text that replaces itself on a terminal: what to write so that the new one stands where the
// old one stood.
//
// Pure. Lines are cut to the width and the text to the height, because a line that wraps, or one
// that has left the screen, cannot be written over. Failure: none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/program.hpp"

namespace amdahl::cli {

class LiveText {
 public:
  // The bytes that show `text`; nothing when it stands there already.
  std::string replace(std::string_view text, ScreenSize size);

 private:
  std::string shown_;
  std::size_t lines_ = 0;
};

}  // namespace amdahl::cli
