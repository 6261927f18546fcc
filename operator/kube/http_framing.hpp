// HTTP/1.1 responses from bytes: head, then body by length, by chunks, or up to the close. Sans-IO.
//
// Our own and not Beast's parser for three reasons. A watch is 90 MB in chunks of 3 to 5 KB, and
// Beast's buffer_body stops at every chunk, which costs a coroutine turn each; decode_body() fills
// the caller's buffer across chunks with one copy and no allocation. Every limit is here and named.
// And a function from bytes to bytes is what a fuzzer wants.
//
// Strict where leniency has been a hole: no bare line feeds, no folded headers, no length beside
// chunks, no two lengths, no other transfer coding. Failure: Errc::kCorrupt for bytes that are not
// HTTP, Errc::kTooLarge for a limit, with its name; either way the connection is of no more use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "operator/kube/request.hpp"

namespace amdahl::kube {

inline constexpr std::size_t kHeaderBytesMax = std::size_t{64} << 10;  // head or trailers (C8)
inline constexpr std::size_t kHeaderCountMax = 256;
inline constexpr std::size_t kChunkLineBytesMax = 256;  // size and extensions of one chunk
inline constexpr std::uint32_t kInterimResponsesMax = 8;

struct ResponseHead {
  int status = 0;
  std::vector<Header> headers = {};
  bool keep_alive = true;  // the connection may carry another request after this body
};

// One response. Feed it in order: read_head() until head_done(), then decode_body() until
// body_done(). Lifetime: one response; make a new one for the next.
class ResponseFraming {
 public:
  struct Step {
    std::size_t consumed = 0;  // of the input; give the rest again, with more behind it
    std::size_t produced = 0;  // of the output
  };

  // Bytes of `input` that belong to the head; 0 while its end has not arrived. Interim (1xx)
  // responses are skipped.
  Result<std::size_t> read_head(std::string_view input);
  // Removes the framing, as far as both sides allow.
  Result<Step> decode_body(std::string_view input, std::span<char> output);
  // The peer closed in an orderly way. An error unless the body may end here.
  Result<void> finish();

  bool head_done() const { return head_done_; }
  bool body_done() const { return phase_ == Phase::kDone; }
  bool started() const { return started_; }  // some byte of the response has been seen
  const ResponseHead& head() const { return head_; }
  // What the head promises, when it does: for a limit that is checked before anything is read.
  std::optional<std::uint64_t> content_length() const { return content_length_; }

 private:
  enum class Phase : std::uint8_t {
    kLength,  // left_ bytes of body remain
    kUntilClose,
    kChunkSize,  // a chunk's size line is next
    kChunkData,  // left_ bytes of the chunk remain
    kChunkEnd,   // the line end behind a chunk
    kTrailers,
    kDone,
  };

  Result<void> parse_head(std::string_view head);
  Result<void> choose_body();
  Result<std::size_t> chunk_line(std::string_view input);
  Result<std::size_t> trailer_line(std::string_view input);
  Result<std::size_t> framing_line(std::string_view input);

  ResponseHead head_;
  std::optional<std::uint64_t> content_length_;
  Phase phase_ = Phase::kUntilClose;
  std::uint64_t left_ = 0;
  std::size_t scanned_ = 0;  // of the head, known to hold no blank line
  std::size_t trailer_bytes_ = 0;
  std::uint32_t interim_ = 0;
  bool http_1_0_ = false;
  bool head_done_ = false;
  bool started_ = false;
};

// The value of a header, "" when absent; names compare without case.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);
bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace amdahl::kube
