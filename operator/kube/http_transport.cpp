#include "operator/kube/http_transport.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/deadline.hpp"
#include "base/inflate.hpp"
#include "base/loopback.hpp"
#include "base/rules.hpp"
#include "operator/kube/credentials.hpp"
#include "operator/kube/http_body_stream.hpp"
#include "operator/kube/http_exchange.hpp"
#include "operator/kube/tls_context.hpp"

namespace amdahl::kube {
namespace {

constexpr std::size_t kWarningsMax = 16;  // of one response
constexpr std::size_t kWarningBytesMax = 512;

// "get pods research/llama-0"
std::string describe(const Request& request) {
  return fmt::format("{} {}", name(request.verb), request.subject);
}

// A control character would end the header and begin another. The value may be a secret, so only
// its name is shown.
Result<void> append_header(std::string& wire, const Header& header) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(header.name, is_control) || std::ranges::any_of(header.value, is_control))
    return fail(Errc::kInvalid, "header {} holds a control character", header.name.substr(0, 40));
  wire.append(header.name).append(": ").append(header.value).append("\r\n");
  return {};
}

Result<void> decompress(Response& response, std::size_t bytes_max, const std::string& peer) {
  const auto encoding = response.header("Content-Encoding");
  if (encoding.empty() || equal_ignoring_case(encoding, "identity")) return {};
  if (!equal_ignoring_case(encoding, "gzip"))
    return fail(Errc::kCorrupt, "{}: unsupported Content-Encoding", peer);
  auto text = gunzip(response.body, bytes_max);
  if (!text && text.error().code == Errc::kTooLarge)
    return fail(Errc::kTooLarge, "{}: the body is over the limit of {} bytes once it is unpacked",
                peer, bytes_max);
  if (!text) return wrap(std::move(text).error(), "{}", peer);
  response.body = *std::move(text);
  return {};
}

}  // namespace

struct HttpTransport::Link {
  std::shared_ptr<Connection> connection;
  bool reused = false;
};

HttpTransport::HttpTransport(const boost::asio::any_io_executor& executor, Clock& clock,
                             HttpTransportOptions options)
    : clock_(clock), options_(std::move(options)), pool_(executor, clock, options_.pool) {
  AMDAHL_CHECK(!options_.server.tls() || options_.tls != nullptr);
}

HttpTransport::~HttpTransport() = default;

Task<Result<Response>> HttpTransport::send(Request request, Monotonic deadline) {
  ++stats_.requests;
  if (request.lane == Lane::kStream) request.lane = Lane::kDefault;  // a log that is read whole
  auto response = co_await with_deadline(clock_, deadline, perform(request, deadline),
                                         authority(options_.server));
  if (!response) co_return wrap(std::move(response).error(), "{}", describe(request));
  co_return response;
}

Task<Result<StreamResponse>> HttpTransport::open(Request request, Monotonic head_deadline) {
  ++stats_.requests;
  request.lane = Lane::kStream;
  auto response = co_await with_deadline(
      clock_, head_deadline, perform_open(request, head_deadline), authority(options_.server));
  if (!response) co_return wrap(std::move(response).error(), "{}", describe(request));
  co_return response;
}

Task<Result<Response>> HttpTransport::perform(const Request& request, Monotonic deadline) {
  CO_TRY(const auto permit, co_await pool_.admit(request.lane, clock_));
  bool retried = false;
  for (;;) {
    const Monotonic start = clock_.monotonic();
    CO_TRY(auto sent, co_await exchange(request, deadline));
    CO_TRY(auto response, co_await receive(request, std::move(sent)));
    if (!retry_unauthorized(response.status, start, retried)) co_return response;
  }
}

Task<Result<StreamResponse>> HttpTransport::perform_open(const Request& request,
                                                         Monotonic deadline) {
  CO_TRY(auto permit, co_await pool_.admit(Lane::kStream, clock_));
  bool retried = false;
  for (;;) {
    const Monotonic start = clock_.monotonic();
    CO_TRY(auto sent, co_await exchange(request, deadline));
    StreamResponse response{.head = head_of(request, *sent), .body = {}};
    if (response.head.status < 300) {
      if (!response.head.header("Content-Encoding").empty())
        co_return fail(Errc::kCorrupt, "{}: a compressed stream was not asked for",
                       sent->connection().peer());
      response.body = std::make_unique<HttpBodyStream>(std::move(sent), std::move(permit), clock_,
                                                       describe(request));
      co_return response;
    }
    response.head.body = co_await sent->read_beginning(kErrorBytesMax);
    if (!retry_unauthorized(response.head.status, start, retried)) co_return response;
  }
}

bool HttpTransport::retry_unauthorized(int status, Monotonic start, bool& retried) {
  if (status != 401 || retried || options_.credentials == nullptr) return false;
  retried = true;
  ++stats_.unauthorized_retries;
  options_.credentials->rejected(start);
  return true;
}

Task<Result<HttpTransport::Exchange>> HttpTransport::exchange(const Request& request,
                                                              Monotonic deadline) {
  CO_TRY(const std::string wire, co_await wire_of(request, deadline));
  bool fresh = request.lane == Lane::kStream;
  for (;;) {
    CO_TRY(auto used, co_await link(request.lane, fresh));
    auto exchange = std::make_unique<HttpExchange>(std::move(used.connection));
    const auto may_begin = [this, &request] { return check_fence(request); };
    auto started = co_await exchange->start(wire, may_begin);
    if (started) co_return exchange;
    // The server may close a kept connection just when a request leaves for it.
    const bool lost_unseen = used.reused && started.error().code == Errc::kIo &&
                             !exchange->answered() &&
                             (!is_write(request.verb) || !exchange->sent());
    if (!lost_unseen) co_return std::unexpected<Error>(std::move(started).error());
    ++stats_.stale_replaced;
    fresh = true;
  }
}

Task<Result<Response>> HttpTransport::receive(const Request& request, Exchange exchange) {
  Response response = head_of(request, *exchange);
  if (response.status >= 300) {
    response.body = co_await exchange->read_beginning(kErrorBytesMax);
  } else {
    const bool list = request.verb == Verb::kList || request.verb == Verb::kDeleteCollection;
    const std::size_t bytes_max = list ? options_.list_bytes_max : options_.object_bytes_max;
    CO_TRY(response.body, co_await exchange->read_all(bytes_max));
    CO_TRY(decompress(response, bytes_max, exchange->connection().peer()));
  }
  if (auto connection = exchange->take_connection())
    pool_.give_back(request.lane, std::move(connection));
  co_return response;
}

Result<void> HttpTransport::check_fence(const Request& request) {
  if (!is_write(request.verb) || !request.fenced || fence_ == nullptr) return {};
  if (fence_->may_write(clock_.monotonic()) || !rule_on(Rule::kE2)) return {};
  ++stats_.fenced;
  return fail(Errc::kFenced, "not sent: this process may no longer be the leader");
}

Task<Result<std::string>> HttpTransport::wire_of(const Request& request, Monotonic deadline) {
  std::string wire = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\n",
                                 request.method, options_.server.base_path, request.target,
                                 authority(options_.server), options_.user_agent);
  for (const Header& header : request.headers) CO_TRY(append_header(wire, header));
  if (options_.credentials != nullptr) {
    CO_TRY(const auto headers, co_await options_.credentials->headers(deadline));
    if (!headers.empty() && !options_.server.tls() && !is_loopback_host(options_.server.host))
      co_return fail(Errc::kInvalid, "credentials are not sent over plain http to {}",
                     options_.server.host);
    for (const Header& header : headers) CO_TRY(append_header(wire, header));
  }
  if (!request.body.empty() || is_write(request.verb))
    wire += fmt::format("Content-Length: {}\r\n", request.body.size());
  wire.append("\r\n").append(request.body);
  co_return wire;
}

Task<Result<HttpTransport::Link>> HttpTransport::link(Lane lane, bool fresh) {
  CO_TRY(auto where, target());  // first: new certificates may close what is kept
  if (!fresh) {
    if (auto kept = pool_.take(lane)) {
      ++stats_.connections_reused;
      co_return Link{std::move(kept), true};
    }
  }
  CO_TRY(auto connection, co_await Connection::open(std::move(where), clock_));
  ++stats_.connections_opened;
  if (connection->resumed()) ++stats_.sessions_resumed;
  pool_.watch(connection);
  co_return Link{std::move(connection), false};
}

Result<ConnectTarget> HttpTransport::target() {
  if (options_.tls != nullptr) TRY(follow_certificates());
  const Url& server = options_.server;
  return ConnectTarget{.host = server.host,
                       .port = server.port,
                       .tls = server.tls() ? context_ : nullptr,
                       .server_name = options_.server_name,
                       .proxy = options_.proxy,
                       .proxy_tls = proxy_context_,
                       .address_timeout = options_.address_timeout};
}

// C2: a new authority closes idle connections, a new client certificate all of them.
Result<void> HttpTransport::follow_certificates() {
  TlsMaterial& material = *options_.tls;
  material.refresh();
  if (context_ && material.generation() == tls_generation_) return {};
  auto context = TlsContext::make(material.pem(), options_.insecure);
  // Unusable material never replaces what works.
  if (!context && context_) return {};
  TRY(context_, std::move(context));
  if (options_.proxy && options_.proxy->tls) {
    // The proxy is judged by the same authorities but never shown the client's certificate.
    TRY(proxy_context_, TlsContext::make({.ca = material.pem().ca, .certificate = {}, .key = {}},
                                         options_.insecure));
  }
  const bool client_changed =
      client_generation_ != 0 && material.client_generation() != client_generation_;
  tls_generation_ = material.generation();
  client_generation_ = material.client_generation();
  if (client_changed)
    pool_.abort_all("closed because the client certificate changed");
  else
    pool_.close_idle();
  return {};
}

Response HttpTransport::head_of(const Request& request, const HttpExchange& exchange) {
  Response response{
      .status = exchange.head().status, .headers = exchange.head().headers, .body = {}};
  std::size_t count = 0;
  for (const Header& header : response.headers) {
    if (!equal_ignoring_case(header.name, "Warning") || ++count > kWarningsMax) continue;
    ++stats_.warnings;
    if (options_.on_warning) options_.on_warning(request, warning_text(header.value));
  }
  return response;
}

std::string warning_text(std::string_view header) {
  const auto open = header.find('"');
  if (open == std::string_view::npos) return std::string(header.substr(0, kWarningBytesMax));
  std::string text;
  for (std::size_t at = open + 1; at < header.size() && header[at] != '"'; ++at) {
    if (header[at] == '\\' && at + 1 < header.size()) ++at;
    if (text.size() < kWarningBytesMax) text += header[at];
  }
  return text;
}

}  // namespace amdahl::kube
