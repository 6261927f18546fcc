// A request to an object store and its answer, as values.
//
// Plain values; thread any. Lifetime: a body refers to memory of whoever made the request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "checkpoint/format/digest.hpp"
#include "checkpoint/store/endpoint.hpp"

namespace amdahl::checkpoint {

struct HttpField {
  std::string name = {};  // lower case in requests, for signatures
  std::string value = {};
  bool operator==(const HttpField&) const = default;
};

struct StoreRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, encoded
  std::vector<HttpField> fields = {};
  std::vector<Bytes> body = {};
};

struct StoreAnswer {
  int status = 0;
  std::vector<HttpField> fields = {};
  std::string body = {};   // unless it went into the caller's buffer
  std::size_t filled = 0;  // bytes of that buffer

  std::string_view field(std::string_view name) const;  // "" when absent; case-insensitive
};

// Request line and fields with the empty line. kInvalid for a field that would break the message.
Result<std::string> render_head(const Endpoint& endpoint, const StoreRequest& request);

// "bytes 0-9/10" of a Content-Range.
struct ContentRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;    // the byte after the last
  std::int64_t bytes = 0;  // of the whole
  bool operator==(const ContentRange&) const = default;
};
std::optional<ContentRange> parse_content_range(std::string_view text);
// Of a 200 or 206: whether the buffer has the bytes from `begin` to `end`, and they are the whole
// object. kCorrupt when other bytes came than were asked for.
Result<bool> is_whole_object(const StoreAnswer& answer, std::int64_t begin, std::int64_t end);
// A decimal number without sign, spaces and leading zeros.
std::optional<std::int64_t> parse_count(std::string_view text);
// Only seconds; a date is as good as nothing.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text);

// What a body begins with, for messages: one short line without control characters and secrets.
std::string excerpt(std::string_view body);

}  // namespace amdahl::checkpoint
