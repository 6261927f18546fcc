#include <openssl/ssl.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <fstream>

#include "base/http_connection.hpp"

namespace amdahl {
namespace ssl = boost::asio::ssl;
namespace {

constexpr std::size_t kPemBytesMax = 1024 * 1024;

Result<std::string> read_pem(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(Errc::kNotFound, "open {}: {}", path, std::generic_category().message(errno));
  std::string text(kPemBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kPemBytesMax)
    return fail(Errc::kTooLarge, "read {}: larger than {} bytes", path, kPemBytesMax);
  return text;
}

Result<void> checked(const boost::system::error_code& error, std::string_view what,
                     const std::string& path) {
  if (error) return fail(Errc::kTls, "{} {}: {}", what, path, error.message());
  return {};
}

}  // namespace

struct HttpTlsContexts::Files {
  std::string certificate;
  std::string key;
  std::string client_ca;
  bool operator==(const Files&) const = default;

  static Result<Files> read(const HttpTlsOptions& options) {
    Files files;
    TRY(files.certificate, read_pem(options.certificate_file));
    TRY(files.key, read_pem(options.key_file));
    if (!options.client_ca_file.empty()) {
      TRY(files.client_ca, read_pem(options.client_ca_file));
    }
    return files;
  }

  Result<void> add_client_ca(ssl::context& context, const HttpTlsOptions& options) const {
    boost::system::error_code error;
    context.add_certificate_authority(boost::asio::buffer(client_ca), error);
    TRY(checked(error, "use client CA", options.client_ca_file));
    auto mode = ssl::verify_peer;
    if (options.client_certificate_required) mode |= ssl::verify_fail_if_no_peer_cert;
    context.set_verify_mode(mode, error);
    // Without it a resumed session with a client certificate is refused by OpenSSL.
    constexpr unsigned char kSessionId[] = "amdahl-http";
    SSL_CTX_set_session_id_context(context.native_handle(), kSessionId, sizeof kSessionId - 1);
    return checked(error, "verify clients with", options.client_ca_file);
  }

  Result<std::shared_ptr<ssl::context>> build(const HttpTlsOptions& options) const {
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    SSL_CTX* native = context->native_handle();
    SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
    SSL_CTX_set_options(
        native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    boost::system::error_code error;
    context->use_certificate_chain(boost::asio::buffer(certificate), error);
    TRY(checked(error, "use certificate", options.certificate_file));
    context->use_private_key(boost::asio::buffer(key), ssl::context::pem, error);
    TRY(checked(error, "use private key", options.key_file));
    if (SSL_CTX_check_private_key(native) != 1)
      return fail(Errc::kTls, "{} is not the key of {}", options.key_file,
                  options.certificate_file);
    if (!client_ca.empty()) TRY(add_client_ca(*context, options));
    return context;
  }
};

HttpTlsContexts::HttpTlsContexts(HttpTlsOptions options, Log log)
    : options_(std::move(options)), log_(std::move(log)) {}
HttpTlsContexts::~HttpTlsContexts() = default;

Result<void> HttpTlsContexts::load() {
  TRY(auto files, Files::read(options_));
  TRY(context_, files.build(options_));
  files_ = std::make_unique<Files>(std::move(files));
  return {};
}

std::shared_ptr<ssl::context> HttpTlsContexts::current(Monotonic now) {
  if (now < next_check_) return context_;
  next_check_ = now + options_.reload_period;
  auto files = Files::read(options_);
  if (files && *files == *files_) return context_;
  auto context = files ? files->build(options_) : std::unexpected<Error>(std::move(files.error()));
  if (!context) {
    log_.error("new server certificate is not usable, the old one stays",
               {{"error", context.error()}});
    return context_;
  }
  context_ = std::move(*context);
  *files_ = std::move(*files);
  log_.info("server certificate reloaded", {{"certificate_file", options_.certificate_file}});
  return context_;
}

}  // namespace amdahl
