#include "base/http_message.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/status.hpp>

namespace amdahl {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(left, right, {}, lower, lower);
}

bool is_field_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  };
  return !name.empty() && std::ranges::all_of(name, fits);
}

bool is_field_value(std::string_view value) {
  return std::ranges::none_of(value,
                              [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 127; });
}

// "Tue, 14 Nov 2023 22:13:20 GMT"
std::string http_date(WallTime time) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::seconds>(time - day)};
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday{day}.c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
      clock.seconds().count());
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const HttpHeader& field : headers)
    if (equals_ignoring_case(field.name, name)) return field.value;
  return {};
}

std::optional<std::string_view> HttpRequest::query_value(std::string_view key) const {
  for (const auto& [name, value] : query)
    if (name == key) return value;
  return std::nullopt;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded.push_back(' ');
      continue;
    }
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

bool http_status_has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

HttpResponse plain_http_response(int status, std::string_view reason) {
  return {.status = status, .body = fmt::format("{}\n", reason)};
}

Result<std::string> render_http_head(const HttpResponse& response, const HttpRendering& rendering,
                                     WallTime now) {
  if (response.status < 200 || response.status > 599)
    return fail(Errc::kInvalid, "answer: {} is no final HTTP status", response.status);
  const bool has_body = http_status_has_body(response.status);
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                                 std::string_view(boost::beast::http::obsolete_reason(
                                     static_cast<boost::beast::http::status>(response.status))),
                                 http_date(now));
  const auto add = [&head](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  if (has_body && rendering.body_bytes)
    add("Content-Length", fmt::format("{}", *rendering.body_bytes));
  if (has_body && !rendering.body_bytes && !rendering.http_1_0) add("Transfer-Encoding", "chunked");
  if (rendering.close)
    add("Connection", "close");
  else if (rendering.http_1_0)
    add("Connection", "keep-alive");
  if (!is_field_value(response.content_type))
    return fail(Errc::kInvalid, "answer: the content type holds control characters");
  if (has_body && !response.content_type.empty()) add("Content-Type", response.content_type);
  for (const HttpHeader& field : response.headers) {
    if (!is_field_name(field.name) || !is_field_value(field.value))
      return fail(Errc::kInvalid, "answer: header \"{}\" is not valid", field.name.substr(0, 64));
    add(field.name, field.value);
  }
  return head + "\r\n";
}

}  // namespace amdahl
