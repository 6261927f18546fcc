#include "base/http_connection.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/check.hpp"

namespace amdahl {
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
namespace {

constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kPiecesMax = 4;
constexpr std::size_t kLingerBytesMax = 1024 * 1024;

Error io_error(std::string_view what, const boost::system::error_code& error) {
  const bool cancelled = error == asio::error::operation_aborted;
  return {.code = cancelled ? Errc::kCancelled : Errc::kIo,
          .context = fmt::format("{}: {}", what, error.message())};
}

std::string peer_address(const tcp::socket& socket) {
  boost::system::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return "unknown";
  const std::string address = peer.address().to_string();
  return peer.address().is_v6() ? fmt::format("[{}]:{}", address, peer.port())
                                : fmt::format("{}:{}", address, peer.port());
}

template <class Stream>
Task<Result<std::size_t>> read_from(Stream& stream, std::span<char> into) {
  auto [error, bytes] =
      co_await stream.async_read_some(asio::buffer(into.data(), into.size()), kTuple);
  // A client that skips the closing of TLS has still only closed.
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated)
    co_return std::size_t{0};
  if (error) co_return std::unexpected<Error>(io_error("read", error));
  co_return bytes;
}

template <class Stream>
Task<Result<void>> write_to(Stream& stream, std::span<const std::string_view> pieces) {
  AMDAHL_CHECK(pieces.size() <= kPiecesMax);
  std::array<asio::const_buffer, kPiecesMax> buffers;
  for (std::size_t i = 0; i < pieces.size(); ++i) buffers[i] = asio::buffer(pieces[i]);
  auto [error, bytes] = co_await asio::async_write(stream, buffers, kTuple);
  if (error) co_return std::unexpected<Error>(io_error("write", error));
  co_return Result<void>{};
}

Task<void> linger_on(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
  std::array<char, 4096> scratch;
  std::size_t drained = 0;
  while (drained < kLingerBytesMax) {
    const auto got = co_await read_from(socket, scratch);
    if (!got || *got == 0) break;
    drained += *got;
  }
}

void close_socket(tcp::socket& socket) {
  boost::system::error_code ignored;
  socket.close(ignored);
}

class PlainConnection final : public HttpConnection {
 public:
  explicit PlainConnection(tcp::socket socket) : socket_(std::move(socket)) {}

  Task<Result<HttpPeer>> handshake() override {
    co_return HttpPeer{.address = peer_address(socket_), .client_name = {}, .client_groups = {}};
  }
  Task<Result<std::size_t>> read_some(std::span<char> into) override {
    return read_from(socket_, into);
  }
  Task<Result<void>> write(std::span<const std::string_view> pieces) override {
    return write_to(socket_, pieces);
  }
  Task<void> linger() override { return linger_on(socket_); }
  void cancel() override {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }
  void close() override { close_socket(socket_); }

 private:
  tcp::socket socket_;
};

void add_subject(HttpPeer& peer, SSL* ssl) {
  if (SSL_get_verify_result(ssl) != X509_V_OK) return;
  X509* certificate = SSL_get0_peer_certificate(ssl);
  if (!certificate) return;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(subject, i);
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(entry);
    const std::string value(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                            static_cast<std::size_t>(ASN1_STRING_length(text)));
    const int id = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (id == NID_commonName) peer.client_name = value;
    if (id == NID_organizationName) peer.client_groups.push_back(value);
  }
}

class TlsConnection final : public HttpConnection {
 public:
  TlsConnection(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  Task<Result<HttpPeer>> handshake() override {
    HttpPeer peer{
        .address = peer_address(stream_.next_layer()), .client_name = {}, .client_groups = {}};
    auto [error] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kTuple);
    if (error)
      co_return fail(Errc::kTls, "TLS handshake with {}: {}", peer.address, error.message());
    add_subject(peer, stream_.native_handle());
    co_return peer;
  }
  Task<Result<std::size_t>> read_some(std::span<char> into) override {
    return read_from(stream_, into);
  }
  Task<Result<void>> write(std::span<const std::string_view> pieces) override {
    return write_to(stream_, pieces);
  }
  Task<void> linger() override {
    // Our half of the goodbye only: waiting for the client's would wait for its unread bytes too.
    SSL_set_shutdown(stream_.native_handle(), SSL_RECEIVED_SHUTDOWN);
    (void)co_await stream_.async_shutdown(kTuple);
    co_await linger_on(stream_.next_layer());
  }
  void cancel() override {
    boost::system::error_code ignored;
    stream_.next_layer().cancel(ignored);
  }
  void close() override { close_socket(stream_.next_layer()); }

 private:
  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<HttpConnection> plain_http_connection(tcp::socket socket) {
  return std::make_unique<PlainConnection>(std::move(socket));
}

std::unique_ptr<HttpConnection> tls_http_connection(tcp::socket socket,
                                                    std::shared_ptr<asio::ssl::context> context) {
  return std::make_unique<TlsConnection>(std::move(socket), std::move(context));
}

}  // namespace amdahl
