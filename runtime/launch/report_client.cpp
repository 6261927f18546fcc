#include "runtime/launch/report_client.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "base/deadline.hpp"
#include "base/resolver.hpp"
#include "base/status_errc.hpp"
#include "runtime/launch/cut.hpp"
#include "runtime/launch/json_input.hpp"
#include "runtime/launch/small_files.hpp"

namespace amdahl::launch {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Parser = http::response_parser<http::string_body>;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

std::string host_field(const ReportTarget& target) {
  const bool v6 = target.host.contains(':');
  std::string text = v6 ? fmt::format("[{}]", target.host) : target.host;
  if (target.port != (target.tls ? 443 : 80)) text += fmt::format(":{}", target.port);
  return text;
}

std::unexpected<Error> broken(const error_code& error, std::string_view doing) {
  if (error == asio::error::operation_aborted) return fail(Errc::kCancelled, "{}", doing);
  return fail(Errc::kIo, "{}: {}", doing, error.message());
}

template <class Stream>
Task<Result<void>> send_and_read(Stream& stream, Request& request, Parser& parser) {
  auto [write_error, written] = co_await http::async_write(stream, request, kTuple);
  if (write_error) co_return broken(write_error, "write");
  boost::beast::flat_buffer buffer;
  auto [read_error, size] = co_await http::async_read(stream, buffer, parser, kTuple);
  if (read_error) co_return broken(read_error, "read");
  co_return Result<void>{};
}

Result<api::ReportReply> read_reply(const Parser& parser) {
  const auto& message = parser.get();
  const auto status = static_cast<int>(message.result_int());
  if (status < 200 || status > 299)
    return fail(errc_of_status(status), "HTTP {}: {}", status, cut_utf8(message.body(), 200));
  if (message.body().empty()) return api::ReportReply{};
  const Json json = parse_input(message.body());
  api::ReportReply reply;
  if (!read_input(json, reply))
    return fail(Errc::kCorrupt, "the answer is not a reply: {}", cut_utf8(message.body(), 80));
  return reply;
}

}  // namespace

struct ReportClient::Connection {
  explicit Connection(tcp::socket the_socket) : plain(std::move(the_socket)) {}

  tcp::socket plain;
  std::optional<asio::ssl::context> context = {};
  std::optional<asio::ssl::stream<tcp::socket&>> tls = {};
  bool used = false;

  Result<void> add_tls(const std::string& host, const std::string& ca_file) {
    error_code error;
    context.emplace(asio::ssl::context::tls_client);
    context->set_options(asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                             asio::ssl::context::no_tlsv1_1,
                         error);
    if (ca_file.empty())
      context->set_default_verify_paths(error);
    else
      context->load_verify_file(ca_file, error);
    if (error) return fail(Errc::kTls, "certificates {}: {}", ca_file, error.message());
    context->set_verify_mode(asio::ssl::verify_peer);
    context->set_verify_callback(asio::ssl::host_name_verification(host));
    tls.emplace(plain, *context);
    error_code not_a_name;
    asio::ip::make_address(host, not_a_name);
    if (not_a_name) SSL_set_tlsext_host_name(tls->native_handle(), host.c_str());
    return {};
  }
};

ReportClient::ReportClient(asio::any_io_executor executor, Clock& clock,
                           ReportClientOptions options)
    : executor_(std::move(executor)), clock_(clock), options_(std::move(options)) {}

ReportClient::~ReportClient() = default;

Result<std::string> ReportClient::authorization() const {
  if (options_.token_file.empty()) return std::string();
  TRY(const std::string text, read_small_file(options_.token_file, kTokenBytesMax));
  const std::string_view token = trim(text);
  for (const char c : token)
    if (c <= ' ' || c > '~') return fail(Errc::kInvalid, "{} holds no token", options_.token_file);
  return "Bearer " + std::string(token);
}

Task<Result<std::unique_ptr<ReportClient::Connection>>> ReportClient::connect(Monotonic deadline) {
  const ReportTarget& target = options_.target;
  const auto found =
      co_await resolve(clock_, {target.host}, read_hosts(options_.hosts_file), deadline);
  if (found[0].empty()) co_return fail(Errc::kIo, "no address for {}", target.host);
  error_code last;
  for (const asio::ip::address& address : found[0]) {
    tcp::socket socket(executor_);
    auto [error] = co_await socket.async_connect({address, target.port}, kTuple);
    last = error;
    if (error == asio::error::operation_aborted) break;
    if (error) continue;
    auto connection = std::make_unique<Connection>(std::move(socket));
    if (!target.tls) co_return connection;
    CO_TRY(connection->add_tls(target.host, options_.ca_file));
    auto [refused] =
        co_await connection->tls->async_handshake(asio::ssl::stream_base::client, kTuple);
    if (refused) co_return fail(Errc::kTls, "{}: {}", target.host, refused.message());
    co_return connection;
  }
  co_return broken(last, "connect " + target.host);
}

Task<Result<api::ReportReply>> ReportClient::exchange(std::string body, Monotonic deadline) {
  CO_TRY(const std::string authorization, this->authorization());
  Request request(http::verb::post, options_.target.path, 11);
  request.set(http::field::host, host_field(options_.target));
  request.set(http::field::user_agent, "amdahl-launch");
  request.set(http::field::content_type, "application/json");
  if (!authorization.empty()) request.set(http::field::authorization, authorization);
  request.body() = std::move(body);
  request.prepare_payload();
  for (;;) {
    // Taken out: whatever ends this call early must not leave half an exchange behind.
    auto connection = std::move(connection_);
    const bool fresh = connection == nullptr;
    if (fresh) {
      CO_TRY(connection, co_await connect(deadline));
    }
    Parser parser;
    parser.body_limit(api::kReportReplyBytesMax);
    const auto sent = connection->tls ? co_await send_and_read(*connection->tls, request, parser)
                                      : co_await send_and_read(connection->plain, request, parser);
    if (!sent && !fresh && sent.error().code != Errc::kCancelled) continue;  // it was closed
    if (!sent) co_return std::unexpected(sent.error());
    // A replica that does not lead says 503: the next connection may reach the one that does.
    const bool elsewhere = parser.get().result() == http::status::service_unavailable;
    if (parser.keep_alive() && !elsewhere) connection_ = std::move(connection);
    co_return read_reply(parser);
  }
}

Task<Result<api::ReportReply>> ReportClient::post(std::string body, Monotonic deadline) {
  return with_deadline(clock_, deadline, exchange(std::move(body), deadline), "report");
}

}  // namespace amdahl::launch
