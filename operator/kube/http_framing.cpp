#include "operator/kube/http_framing.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/check.hpp"

namespace amdahl::kube {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kBlankLine = "\r\n\r\n";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::strchr("!#$%&'*+-.^_`|~", c) != nullptr;
}

bool is_value_char(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// "HTTP/1.1 200 OK"; the reason may be missing.
std::optional<int> parse_status(std::string_view line, bool& http_1_0) {
  if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ') return std::nullopt;
  if (line[7] != '0' && line[7] != '1') return std::nullopt;
  http_1_0 = line[7] == '0';
  if (line.size() > 12 && line[12] != ' ') return std::nullopt;
  int status = 0;
  const auto [end, error] = std::from_chars(line.data() + 9, line.data() + 12, status);
  if (error != std::errc() || end != line.data() + 12 || status < 100) return std::nullopt;
  return status;
}

std::optional<Header> parse_header(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
  const auto name = line.substr(0, colon);
  const auto value = trim(line.substr(colon + 1));
  if (!std::ranges::all_of(name, is_token_char)) return std::nullopt;
  if (!std::ranges::all_of(value, is_value_char)) return std::nullopt;
  return Header{std::string(name), std::string(value)};
}

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Room for sums: no body is ever near this.
  if (value >= (std::uint64_t{1} << 62U)) return std::nullopt;
  return value;
}

// "close, Upgrade" holds "close".
bool list_has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (equal_ignoring_case(trim(list.substr(0, comma)), word)) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view find_header(const std::vector<Header>& headers, std::string_view name) {
  const auto found = std::ranges::find_if(
      headers, [&](const Header& header) { return equal_ignoring_case(header.name, name); });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

Result<std::size_t> ResponseFraming::read_head(std::string_view input) {
  AMDAHL_CHECK(!head_done_);
  started_ = started_ || !input.empty();
  std::size_t consumed = 0;
  while (!head_done_) {
    const std::string_view rest = input.substr(consumed);
    // A blank line may straddle what was scanned before and what is new.
    const auto end = rest.find(kBlankLine, scanned_ < 3 ? 0 : scanned_ - 3);
    if (std::min(end, rest.size()) > kHeaderBytesMax)
      return fail(Errc::kTooLarge, "the response head is over {} bytes", kHeaderBytesMax);
    if (end == std::string_view::npos) {
      scanned_ = rest.size();
      // Whoever speaks something else should hear so now, not after a limit or a deadline.
      const auto seen = std::min<std::size_t>(rest.size(), 5);
      if (rest.substr(0, seen) != std::string_view("HTTP/").substr(0, seen))
        return fail(Errc::kCorrupt, "the answer is not HTTP");
      break;
    }
    scanned_ = 0;
    TRY(parse_head(rest.substr(0, end + 2)));
    consumed += end + kBlankLine.size();
    if (head_.status >= 200) {
      TRY(choose_body());
      head_done_ = true;
    } else if (head_.status == 101 || ++interim_ > kInterimResponsesMax) {
      return fail(Errc::kCorrupt, "unexpected interim response {}", head_.status);
    }
  }
  return consumed;
}

// `head` holds whole lines, each with its line end.
Result<void> ResponseFraming::parse_head(std::string_view head) {
  head_ = {};
  auto end = head.find(kLineEnd);
  const auto status = parse_status(head.substr(0, end), http_1_0_);
  if (!status) return fail(Errc::kCorrupt, "the answer is not HTTP/1.x");
  head_.status = *status;
  for (head.remove_prefix(end + 2); !head.empty(); head.remove_prefix(end + 2)) {
    end = head.find(kLineEnd);
    auto header = parse_header(head.substr(0, end));
    if (!header) return fail(Errc::kCorrupt, "header {} is malformed", head_.headers.size() + 1);
    if (head_.headers.size() == kHeaderCountMax)
      return fail(Errc::kTooLarge, "the response has over {} headers", kHeaderCountMax);
    head_.headers.push_back(std::move(*header));
  }
  return {};
}

// RFC 9112 section 6.3, refusing everything that two parties could read differently.
Result<void> ResponseFraming::choose_body() {
  bool chunked = false;
  bool close = http_1_0_;
  for (const Header& header : head_.headers) {
    if (equal_ignoring_case(header.name, "Transfer-Encoding")) {
      if (chunked || http_1_0_ || !equal_ignoring_case(header.value, "chunked"))
        return fail(Errc::kCorrupt, "unsupported Transfer-Encoding");
      chunked = true;
    } else if (equal_ignoring_case(header.name, "Content-Length")) {
      const auto length = parse_number(header.value, 10);
      if (!length || (content_length_ && content_length_ != length))
        return fail(Errc::kCorrupt, "malformed Content-Length");
      content_length_ = length;
    } else if (equal_ignoring_case(header.name, "Connection")) {
      close = list_has(header.value, "close") || (close && !list_has(header.value, "keep-alive"));
    }
  }
  if (chunked && content_length_)
    return fail(Errc::kCorrupt, "both Transfer-Encoding and Content-Length");
  const bool no_body = head_.status == 204 || head_.status == 304;
  if (no_body) content_length_ = 0;
  if (chunked && !no_body) {
    phase_ = Phase::kChunkSize;
  } else if (content_length_) {
    left_ = *content_length_;
    phase_ = left_ == 0 ? Phase::kDone : Phase::kLength;
  } else {
    phase_ = Phase::kUntilClose;
    close = true;
  }
  head_.keep_alive = !close;
  return {};
}

Result<ResponseFraming::Step> ResponseFraming::decode_body(std::string_view input,
                                                           std::span<char> output) {
  AMDAHL_CHECK(head_done_);
  Step step;
  while (phase_ != Phase::kDone) {
    const std::string_view rest = input.substr(step.consumed);
    if (rest.empty()) break;
    if (phase_ == Phase::kLength || phase_ == Phase::kChunkData || phase_ == Phase::kUntilClose) {
      std::size_t size = std::min(rest.size(), output.size() - step.produced);
      if (phase_ != Phase::kUntilClose) size = std::min<std::uint64_t>(size, left_);
      if (size == 0) break;
      std::memcpy(output.data() + step.produced, rest.data(), size);
      step.consumed += size;
      step.produced += size;
      if (phase_ == Phase::kUntilClose) continue;
      left_ -= size;
      if (left_ == 0) phase_ = phase_ == Phase::kLength ? Phase::kDone : Phase::kChunkEnd;
      continue;
    }
    TRY(const std::size_t size, framing_line(rest));
    if (size == 0) break;
    step.consumed += size;
  }
  return step;
}

// The part of the input that is framing and not body; 0 when more is needed to tell.
Result<std::size_t> ResponseFraming::framing_line(std::string_view input) {
  if (phase_ == Phase::kChunkSize) return chunk_line(input);
  if (phase_ == Phase::kTrailers) return trailer_line(input);
  if (input[0] != '\r' || (input.size() > 1 && input[1] != '\n'))
    return fail(Errc::kCorrupt, "a chunk is longer than its size says");
  if (input.size() < 2) return 0;
  phase_ = Phase::kChunkSize;
  return 2;
}

Result<std::size_t> ResponseFraming::chunk_line(std::string_view input) {
  const auto end = input.substr(0, kChunkLineBytesMax).find(kLineEnd);
  if (end == std::string_view::npos) {
    if (input.size() >= kChunkLineBytesMax) return fail(Errc::kCorrupt, "a chunk size has no end");
    return 0;
  }
  const auto line = input.substr(0, end);
  if (!std::ranges::all_of(line, is_value_char))
    return fail(Errc::kCorrupt, "malformed chunk size");
  const auto digits = trim(line.substr(0, line.find(';')));
  const auto size = parse_number(digits, 16);
  if (!size || line.front() == ' ' || line.front() == '\t')
    return fail(Errc::kCorrupt, "malformed chunk size");
  left_ = *size;
  phase_ = left_ == 0 ? Phase::kTrailers : Phase::kChunkData;
  return end + 2;
}

// Trailers are read past: nothing of Kubernetes is in them.
Result<std::size_t> ResponseFraming::trailer_line(std::string_view input) {
  const auto end = input.find(kLineEnd);
  const auto size = end == std::string_view::npos ? input.size() : end + 2;
  if (trailer_bytes_ + size > kHeaderBytesMax)
    return fail(Errc::kTooLarge, "the trailers are over {} bytes", kHeaderBytesMax);
  if (end == std::string_view::npos) return 0;
  if (end > 0 && !parse_header(input.substr(0, end)))
    return fail(Errc::kCorrupt, "malformed trailer");
  trailer_bytes_ += size;
  if (end == 0) phase_ = Phase::kDone;
  return size;
}

Result<void> ResponseFraming::finish() {
  if (!started_) return fail(Errc::kIo, "closed by the server before it answered");
  if (!head_done_) return fail(Errc::kIo, "closed by the server in the middle of the head");
  if (phase_ == Phase::kUntilClose) phase_ = Phase::kDone;
  if (phase_ == Phase::kDone) return {};
  if (phase_ == Phase::kLength || phase_ == Phase::kChunkData)
    return fail(Errc::kIo, "closed by the server with {} bytes of the {} missing", left_,
                phase_ == Phase::kLength ? "body" : "chunk");
  return fail(Errc::kIo, "closed by the server between two chunks");
}

}  // namespace amdahl::kube
