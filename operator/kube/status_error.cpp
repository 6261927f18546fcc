// What an HTTP status means: the half of client.hpp that is pure.

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json_decode.hpp"
#include "base/redact.hpp"
#include "base/status_errc.hpp"
#include "base/wire_decode.hpp"
#include "operator/kube/client.hpp"
#include "operator/kube/types_meta.hpp"
#include "operator/kube/wire_envelope.hpp"

namespace amdahl::kube {
namespace {

constexpr std::size_t kStatusBytesMax = std::size_t{64} << 10;  // more is not parsed
constexpr std::size_t kMessageBytesMax = 2048;
constexpr std::size_t kQuoteBytesMax = 200;  // of a body that is no Status
constexpr std::chrono::hours kRetryAfterMax{1};

bool is_printable(unsigned char c) {
  return c >= 0x20 && c != 0x7f;
}

// Bytes of a well-formed UTF-8 sequence at text[at]; 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

// One line of valid UTF-8, at most bytes_max of it.
std::string one_line(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (out.size() + std::max<std::size_t>(length, 1) > bytes_max) {
      out += "...";
      break;
    }
    if (length == 0)
      out += '?';
    else if (length == 1)
      out += is_printable(static_cast<unsigned char>(text[at])) ? text[at] : ' ';
    else
      out.append(text.substr(at, length));
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::optional<Status> read_status(const Response& response) {
  if (response.body.empty() || response.body.size() > kStatusBytesMax) return std::nullopt;
  std::string_view text = response.body;
  if (response.header("Content-Type").starts_with("application/vnd.kubernetes.protobuf")) {
    const auto object = unwrap_object(text);
    if (!object || object->kind != "Status") return std::nullopt;
    if (object->encoding == Encoding::kProtobuf) {
      auto status = decode_wire<Status>(object->raw);
      return status ? std::optional(*std::move(status)) : std::nullopt;
    }
    text = object->raw;
  }
  auto status = decode<Status>(text);
  if (!status || (status->message.empty() && status->reason.empty())) return std::nullopt;
  return *std::move(status);
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<WallTime> parse_http_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  const auto iso = fmt::format("{}-{:02}-{}T{}Z", text.substr(12, 4), month - kMonths.begin() + 1,
                               text.substr(5, 2), text.substr(17, 8));
  const auto time = parse_time(iso);
  return time ? std::optional(*time) : std::nullopt;
}

// A date counts from the server's own Date, so that a wrong clock here does not matter.
std::optional<std::chrono::milliseconds> retry_after(const Response& response,
                                                     const std::optional<Status>& status) {
  const auto bounded = [](std::chrono::milliseconds wait) {
    return std::clamp<std::chrono::milliseconds>(wait, {}, kRetryAfterMax);
  };
  const auto text = response.header("Retry-After");
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size())
    return bounded(std::chrono::seconds{seconds});
  const auto until = parse_http_date(text);
  const auto now = parse_http_date(response.header("Date"));
  if (until && now) return bounded(std::chrono::floor<std::chrono::milliseconds>(*until - *now));
  if (status && status->details.retry_after_seconds > 0)
    return bounded(std::chrono::seconds{status->details.retry_after_seconds});
  return std::nullopt;
}

// Kubernetes calls the whole object "<nil>" and prints a placeholder for its value.
std::string without_placeholders(std::string text) {
  static constexpr std::array<std::string_view, 4> kPlaceholders = {
      "<nil>: Invalid value: null: ", "<nil>: Invalid value: \"null\": ",
      "<nil>: Invalid value: \"object\": ", "<nil>: Invalid value: \"\": "};
  for (const std::string_view one : kPlaceholders)
    for (std::size_t at = text.find(one); at != std::string::npos; at = text.find(one, at))
      text.erase(at, one.size());
  return text;
}

std::string message_of(const Response& response, const std::optional<Status>& status) {
  if (status && !status->message.empty())
    return redact(without_placeholders(one_line(status->message, kMessageBytesMax)));
  if (status) return one_line(status->reason, kMessageBytesMax);
  if (response.status >= 300 && response.status < 400)
    return "redirected elsewhere; is this address a Kubernetes API server?";
  if (response.body.empty()) return "the server gave no reason";
  // A server or proxy may echo the request.
  return fmt::format("the server said \"{}\"", redact(one_line(response.body, kQuoteBytesMax)));
}

}  // namespace

Errc errc_from_status(int code, std::string_view reason, bool version_too_large) {
  if (version_too_large || reason == "Expired" || reason == "Gone") return Errc::kGone;
  if (code == 409 && reason == "AlreadyExists") return Errc::kAlreadyExists;
  return errc_of_status(code);
}

Error error_from_status(const Request& request, const Response& response) {
  const auto status = read_status(response);
  const bool version_too_large =
      status && std::ranges::any_of(status->details.causes, [](const StatusCause& cause) {
        return cause.reason == "ResourceVersionTooLarge";
      });
  const std::string reason = status && !status->reason.empty() ? one_line(status->reason, 64) : "";
  return Error{.code = errc_from_status(response.status, reason, version_too_large),
               .context = fmt::format("{} {}: {} (HTTP {}{}{})", name(request.verb),
                                      request.subject, message_of(response, status),
                                      response.status, reason.empty() ? "" : " ", reason),
               .retry_after = retry_after(response, status)};
}

}  // namespace amdahl::kube
