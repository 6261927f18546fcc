// The lines of a stream of bytes, of each only its beginning.
//
// A line ends at \n or at \r, because progress bars are drawn with carriage returns. Memory is
// bounded by kLineBytesMax however long a line is; what is beyond is skipped. Thread: one.
// Failure: none.
#pragma once

#include <string>
#include <string_view>

#include "base/function_ref.hpp"

namespace amdahl::launch {

class LineSplitter {
 public:
  static constexpr std::size_t kLineBytesMax = 4096;

  // Calls `line` for each line that is not empty and has ended.
  void feed(std::string_view bytes, function_ref<void(std::string_view)> line);
  // Something is missing before what comes next: the line that was begun is dropped, and so is the
  // rest of the one that comes.
  void gap();
  void clear();  // what comes next is the beginning of a line
  // The stream is over: a line that was begun is one.
  void finish(function_ref<void(std::string_view)> line);

 private:
  std::string begun_;
  bool skipping_ = false;
};

}  // namespace amdahl::launch
