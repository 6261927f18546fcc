#include "checkpoint/store/tls_trust.hpp"

#include <boost/asio/ssl/context.hpp>

namespace amdahl::checkpoint {

using Context = boost::asio::ssl::context;

TlsTrust::TlsTrust() : context_(std::make_unique<Context>(Context::tls_client)) {}
TlsTrust::~TlsTrust() = default;

Result<std::shared_ptr<TlsTrust>> TlsTrust::load(const std::string& ca_file) {
  auto trust = std::make_shared<TlsTrust>();
  Context& context = trust->context();
  boost::system::error_code error;
  context.set_options(Context::no_sslv3 | Context::no_tlsv1 | Context::no_tlsv1_1, error);
  context.set_verify_mode(boost::asio::ssl::verify_peer);
  if (ca_file.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(ca_file, error);
  if (error) return fail(Errc::kTls, "certificates {}: {}", ca_file, error.message());
  return trust;
}

}  // namespace amdahl::checkpoint
