#include "checkpoint/store/http_values.hpp"

#include <algorithm>
#include <charconv>

#include "base/redact.hpp"
#include "checkpoint/store/direct_runs.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::size_t kExcerptBytesMax = 300;
constexpr std::chrono::seconds kRetryAfterMax{300};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, lower, lower);
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string_view StoreAnswer::field(std::string_view name) const {
  for (const HttpField& field : fields)
    if (same_name(field.name, name)) return field.value;
  return {};
}

Result<std::string> render_head(const Endpoint& endpoint, const StoreRequest& request) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\nuser-agent: amdahl\r\n",
                                 request.method, request.target, host_field(endpoint));
  if (!is_printable(request.target) || request.target.contains(' '))
    return fail(Errc::kInvalid, "a request with a target that is no URL");
  for (const HttpField& field : request.fields) {
    if (!is_printable(field.value) || !is_printable(field.name) || field.name.contains(':'))
      return fail(Errc::kInvalid, "a request with a field {} that breaks it", excerpt(field.name));
    head += fmt::format("{}: {}\r\n", field.name, field.value);
  }
  const bool has_body =
      !request.body.empty() || request.method == "POST" || request.method == "PUT";
  if (has_body) head += fmt::format("content-length: {}\r\n", size_of(request.body));
  head += "\r\n";
  return head;
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t count = 0;
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  if (text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return count;
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == text.npos || slash == text.npos || slash < dash) return std::nullopt;
  const auto first = parse_count(text.substr(0, dash));
  const auto last = parse_count(text.substr(dash + 1, slash - dash - 1));
  const auto bytes = parse_count(text.substr(slash + 1));
  if (!first || !last || !bytes || *first > *last || *last >= *bytes) return std::nullopt;
  return ContentRange{.begin = *first, .end = *last + 1, .bytes = *bytes};
}

Result<bool> is_whole_object(const StoreAnswer& answer, std::int64_t begin, std::int64_t end) {
  const auto range = parse_content_range(answer.field("content-range"));
  const bool unranged = answer.status == 200 && begin == 0;
  const bool asked_for = unranged || (range && range->begin == begin && range->end == end);
  if (!asked_for || static_cast<std::int64_t>(answer.filled) != end - begin)
    return fail(Errc::kCorrupt, "{} bytes came where bytes {} to {} were asked for", answer.filled,
                begin, end);
  return begin == 0 && (unranged || range->bytes == end);
}

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text) {
  const auto seconds = parse_count(text);
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::min<std::int64_t>(*seconds, kRetryAfterMax.count()));
}

std::string excerpt(std::string_view body) {
  std::string text(body.substr(0, kExcerptBytesMax));
  for (char& c : text)
    if (c < ' ' || c > '~') c = ' ';
  return redact(text);
}

}  // namespace amdahl::checkpoint
