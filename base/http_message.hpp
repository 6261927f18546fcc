// HTTP/1.1 messages as a server sees them: values, parsing and rendering; no socket.
//
// Thread: any, one at a time. Failure: a request we refuse is an HttpRefusal, which says how to
// answer it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace amdahl {

struct HttpHeader {
  std::string name{};
  std::string value{};
};

struct HttpRequest {
  std::string method{};
  std::string target{};  // as it was sent
  std::string path{};    // decoded; has no "." and ".." segments and no encoded slash
  std::vector<std::pair<std::string, std::string>> query{};  // decoded, in order
  std::vector<HttpHeader> headers{};
  std::string body{};
  std::string peer{};                        // "127.0.0.1:40312"
  std::string client_name{};                 // common name of a verified client certificate
  std::vector<std::string> client_groups{};  // and its organizations

  std::string_view header(std::string_view name) const;  // "" when absent; case-insensitive
  std::optional<std::string_view> query_value(std::string_view key) const;  // the first
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<HttpHeader> headers{};
  std::string body{};
};

struct HttpLimits {
  std::size_t header_bytes_max = 64 * 1024;  // request line and fields (C8)
  std::size_t target_bytes_max = 16 * 1024;
  std::size_t fields_max = 256;
  std::size_t query_pairs_max = 256;
  std::size_t body_bytes_max = 1024 * 1024;
  std::size_t connections_max = 1024;
  std::uint64_t requests_per_connection_max = 100'000;
  std::chrono::milliseconds header_time{10'000};  // from the first byte to the end of the head
  std::chrono::milliseconds body_time{30'000};
  std::chrono::milliseconds idle_time{120'000};  // between requests
  std::chrono::milliseconds write_time{30'000};  // for each piece of an answer
  // Of clients that no handler has vouched for. 0: all clients are alike.
  std::size_t strangers_per_peer_max = 0;           // connections from one address
  std::chrono::milliseconds stranger_time{10'000};  // from its start to the vouching
  std::chrono::milliseconds vouch_time{120'000};    // from one vouching to the next
  // Connections that a handler vouched for with one name. 0: as many as there are places.
  std::size_t connections_per_owner_max = 0;
};

// A request that gets a short answer from us and never reaches a handler.
struct HttpRefusal {
  int status = 400;
  std::string reason{};
};

// One request out of a stream of bytes. For each request a new one.
class HttpRequestParser {
 public:
  enum class Step : std::uint8_t { kNeedMore, kHead, kDone, kRefused };

  explicit HttpRequestParser(const HttpLimits& limits);
  ~HttpRequestParser();

  // Takes what it can from the front of `input`. kHead comes once, before the body is looked at.
  // After kNeedMore the input is bounded: it holds less than one head.
  Step advance(std::string& input);
  bool expects_continue() const;  // the client waits for "100 Continue" before the body
  bool keep_alive() const;        // the client would send another request
  bool is_http_1_0() const;
  const HttpRefusal& refusal() const { return refusal_; }
  HttpRequest take();  // after kDone
  void time_out();     // the rest did not come in time: refused with 408

 private:
  struct Parser;
  Step refuse(int status, std::string reason);
  Step finish_head();
  Step parse_error(std::string_view input);

  const HttpLimits limits_;
  std::unique_ptr<Parser> parser_;
  HttpRequest request_;
  HttpRefusal refusal_;
  bool head_done_ = false;
};

struct HttpRendering {
  bool http_1_0 = false;
  bool close = false;                       // this is the last answer on the connection
  std::optional<std::size_t> body_bytes{};  // none: the body is chunked, or ends with 1.0's close
};
// Status line and fields with the empty line. Errc::kInvalid for a field that would break the
// message: a newline in a value is how answers get forged.
Result<std::string> render_http_head(const HttpResponse& response, const HttpRendering& rendering,
                                     WallTime now);
bool http_status_has_body(int status);
HttpResponse plain_http_response(int status, std::string_view reason);

// Decodes %41 and, for queries, '+'. Nothing for a broken escape.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

}  // namespace amdahl
