#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/http_message.hpp"

namespace amdahl {
namespace http = boost::beast::http;
namespace {

// Where an origin server's path begins: "http://host/path" is as good as "/path" (RFC 9112, 3.2.2).
std::string_view without_authority(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find_first_of("/?", scheme.size());
    return slash == target.npos ? "/" : target.substr(slash);
  }
  return target;
}

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

// An encoded slash or NUL would mean one thing to a path matcher and another to what is behind it.
std::optional<std::string> decoded_path(std::string_view raw) {
  if (!raw.starts_with('/')) return std::nullopt;
  auto path = percent_decode(raw);
  if (!path || path->find('\0') != path->npos) return std::nullopt;
  if (std::ranges::count(raw, '/') != std::ranges::count(*path, '/')) return std::nullopt;
  if (has_dot_segment(*path)) return std::nullopt;
  return path;
}

std::optional<std::vector<std::pair<std::string, std::string>>> decoded_query(
    std::string_view raw, std::size_t pairs_max) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!raw.empty()) {
    const std::string_view piece = raw.substr(0, raw.find('&'));
    raw.remove_prefix(std::min(piece.size() + 1, raw.size()));
    if (piece.empty()) continue;
    const std::size_t equals = piece.find('=');
    auto key = percent_decode(piece.substr(0, equals), true);
    auto value = percent_decode(equals == piece.npos ? "" : piece.substr(equals + 1), true);
    if (!key || !value || pairs.size() >= pairs_max) return std::nullopt;
    pairs.emplace_back(std::move(*key), std::move(*value));
  }
  return pairs;
}

constexpr std::size_t kLastChunkBytes = std::string_view("0\r\n\r\n").size();

// Long obsolete, and Beast hides it: "Transfer-Encoding:\r\n chunked" is chunked to some only.
bool has_folded_line(std::string_view head) {
  return head.find("\r\n ") != head.npos || head.find("\r\n\t") != head.npos;
}

// Whoever stands before us may have counted the body in another way than we do, and would take
// what is left of it for the next request. So only what everybody reads alike is accepted, although
// RFC 9112 (6.1, 6.3) allows more. An empty reason: fine.
template <class Message>
HttpRefusal ambiguous_length(const Message& message) {
  const std::size_t codings = message.count(http::field::transfer_encoding);
  const std::string_view coding = message[http::field::transfer_encoding];
  if (codings > 1 || (codings == 1 && !boost::beast::iequals(coding, "chunked")))
    return {.status = 501, .reason = "the only transfer coding is chunked, once"};
  if (codings == 1 && message.version() == 10)
    return {.status = 400, .reason = "HTTP/1.0 has no transfer coding"};
  const std::size_t lengths = message.count(http::field::content_length);
  const std::string_view length = message[http::field::content_length];
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (lengths > 1 || !std::ranges::all_of(length, is_digit))
    return {.status = 400, .reason = "Content-Length is one number"};
  return {};
}

// Empty: fine. Otherwise why the target is refused.
std::string fill_target(HttpRequest& request, const HttpLimits& limits) {
  if (request.target == "*" && request.method == "OPTIONS") {
    request.path = "*";
    return {};
  }
  const std::string_view origin = without_authority(request.target);
  const std::size_t question = origin.find('?');
  auto path = decoded_path(origin.substr(0, question));
  if (!path) return "the path is not valid";
  auto query = decoded_query(question == origin.npos ? "" : origin.substr(question + 1),
                             limits.query_pairs_max);
  if (!query) return "the query is not valid";
  request.path = std::move(*path);
  request.query = std::move(*query);
  return {};
}

}  // namespace

struct HttpRequestParser::Parser {
  http::request_parser<http::string_body> beast;
  boost::system::error_code error;
};

HttpRequestParser::HttpRequestParser(const HttpLimits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>()) {
  parser_->beast.header_limit(static_cast<std::uint32_t>(limits.header_bytes_max));
  parser_->beast.body_limit(limits.body_bytes_max);
}

HttpRequestParser::~HttpRequestParser() = default;

HttpRequestParser::Step HttpRequestParser::refuse(int status, std::string reason) {
  refusal_ = {.status = status, .reason = std::move(reason)};
  return Step::kRefused;
}

HttpRequestParser::Step HttpRequestParser::advance(std::string& input) {
  auto& beast = parser_->beast;
  while (!beast.is_done()) {
    // Beast 1.81 asserts that five bytes are there once it has seen "0\r\n", and no last chunk has
    // fewer. Waiting for them costs nothing: whatever else begins with a zero goes on, too.
    if (head_done_ && beast.chunked() && input.size() < kLastChunkBytes && input.starts_with('0'))
      return Step::kNeedMore;
    parser_->error = {};
    const std::size_t used = beast.put(boost::asio::buffer(input), parser_->error);
    if (parser_->error && parser_->error != http::error::need_more) return parse_error(input);
    const bool folded = !head_done_ && has_folded_line(std::string_view(input).substr(0, used));
    input.erase(0, used);
    if (folded) return refuse(400, "a header field goes on in a second line");
    // Beast leaves a part of the head out of its count, so one that came whole could be longer.
    if (!head_done_ && used > limits_.header_bytes_max) return refuse(431, "the head is too large");
    if (!head_done_ && beast.is_header_done()) return finish_head();
    if (parser_->error == http::error::need_more || input.empty()) {
      // Beast leaves what it cannot parse yet: a head, a chunk's head, trailers. All are small.
      if (input.size() > limits_.header_bytes_max) return refuse(431, "the head is too large");
      if (!beast.is_done()) return Step::kNeedMore;
    }
  }
  request_.body = std::move(beast.get().body());
  return Step::kDone;
}

// The fields are copied before the body is read, because trailers would be mixed in with them.
HttpRequestParser::Step HttpRequestParser::finish_head() {
  head_done_ = true;
  auto& message = parser_->beast.get();
  parser_->beast.eager(true);
  request_.method = std::string(message.method_string());
  request_.target = std::string(message.target());
  if (request_.target.size() > limits_.target_bytes_max)
    return refuse(414, "the request target is too long");
  for (const auto& field : message) {
    if (request_.headers.size() >= limits_.fields_max) return refuse(431, "too many header fields");
    request_.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  if (message.version() != 11 && message.version() != 10)
    return refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
  if (message.version() == 11 && message.count(http::field::host) != 1)
    return refuse(400, "exactly one Host header is needed");
  if (HttpRefusal why = ambiguous_length(message); !why.reason.empty())
    return refuse(why.status, std::move(why.reason));
  const std::string_view expect = message[http::field::expect];
  if (!expect.empty() && !boost::beast::iequals(expect, "100-continue"))
    return refuse(417, "the only expectation is 100-continue");
  if (std::string why = fill_target(request_, limits_); !why.empty())
    return refuse(400, std::move(why));
  return Step::kHead;
}

HttpRequestParser::Step HttpRequestParser::parse_error(std::string_view input) {
  const auto& error = parser_->error;
  if (error == http::error::body_limit)
    return refuse(413, fmt::format("the body is larger than {} bytes", limits_.body_bytes_max));
  if (error == http::error::header_limit) {
    const bool line_ended = input.substr(0, limits_.header_bytes_max).find("\r\n") != input.npos;
    if (!line_ended) return refuse(414, "the request line is too long");
    return refuse(431, fmt::format("the head is larger than {} bytes", limits_.header_bytes_max));
  }
  if (error == http::error::bad_version) return refuse(505, "the HTTP version is not known");
  return refuse(400, "the request is not valid HTTP: " + error.message());
}

bool HttpRequestParser::expects_continue() const {
  return !is_http_1_0() && !parser_->beast.is_done() &&
         !parser_->beast.get()[http::field::expect].empty();
}

bool HttpRequestParser::keep_alive() const {
  return parser_->beast.keep_alive();
}
bool HttpRequestParser::is_http_1_0() const {
  return parser_->beast.get().version() == 10;
}
void HttpRequestParser::time_out() {
  refuse(408, "the request came too slowly");
}
HttpRequest HttpRequestParser::take() {
  return std::move(request_);
}

}  // namespace amdahl
