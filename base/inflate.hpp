// gzip, with a limit on what it may become: a response of 1 MiB can stand for 1 GiB (C8).
//
// Thread: any, one at a time. Failure: Errc::kCorrupt for bytes that are not gzip or end early,
// Errc::kTooLarge past the limit; the object is of no use after either.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl {

class Inflater {
 public:
  explicit Inflater(std::size_t bytes_max);  // of output, over the whole stream
  ~Inflater();
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;

  // Appends to `out` what these bytes give.
  Result<void> feed(std::string_view compressed, std::string& out);
  // Whether the stream ended where it should; ask when the input is over.
  Result<void> finish() const;

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

Result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max);

}  // namespace amdahl
