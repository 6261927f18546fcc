#include "operator/kube/tls_material.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <utility>

namespace amdahl::kube {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, Free>;
using X509Ptr = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;

// Without this OpenSSL would ask for the password of an encrypted key on the terminal.
int no_password(char*, int, int, void*) {
  return -1;
}

Bio open_text(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// OpenSSL keeps failures in a queue of the thread; what is left there confuses later callers.
bool ended_without_more_pem() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

}  // namespace

Result<void> check_certificates(std::string_view pem) {
  ERR_clear_error();
  const Bio bio = open_text(pem);
  std::size_t count = 0;
  while (X509Ptr(PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr))) ++count;
  if (!ended_without_more_pem())
    return fail(Errc::kInvalid, "certificate {} does not parse", count + 1);
  if (count == 0) return fail(Errc::kInvalid, "there is no PEM certificate");
  return {};
}

Result<void> check_key_pair(std::string_view certificate_pem, std::string_view key_pem) {
  TRY(check_certificates(certificate_pem));
  const Bio certificate_bio = open_text(certificate_pem);
  const X509Ptr certificate(
      PEM_read_bio_X509(certificate_bio.get(), nullptr, no_password, nullptr));
  const Bio key_bio = open_text(key_pem);
  const Key key(PEM_read_bio_PrivateKey(key_bio.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (!key)
    return fail(Errc::kInvalid, "the key is not a PEM private key, or is protected by a password");
  const bool matches = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!matches) return fail(Errc::kInvalid, "the key does not belong to the certificate");
  return {};
}

TlsMaterial::TlsMaterial(const TlsConfig& config, FileReader read_file, const Clock& clock, Log log)
    : ca_(config.ca),
      certificate_(config.certificate),
      key_(config.key),
      read_file_(std::move(read_file)),
      clock_(clock),
      log_(std::move(log)) {}

Result<std::unique_ptr<TlsMaterial>> TlsMaterial::load(const TlsConfig& config,
                                                       FileReader read_file, const Clock& clock,
                                                       Log log) {
  std::unique_ptr<TlsMaterial> material(
      new TlsMaterial(config, std::move(read_file), clock, std::move(log)));
  TRY(material->reread());
  material->generation_ = 1;
  material->client_generation_ = 1;
  material->next_check_ = clock.monotonic() + kTlsRecheck;
  return material;
}

Result<std::string> TlsMaterial::text_of(const PemSource& source, std::string_view what) const {
  if (!source.data.empty()) return source.data;
  auto text = read_file_(source.file, kCredentialFileMax);
  if (!text) return wrap(std::move(text).error(), "{}", what);
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    return fail(Errc::kInvalid, "{}: {} is empty", what, source.file);
  return text;
}

Result<void> TlsMaterial::reread_ca() {
  if (ca_.empty()) return {};
  TRY(auto text, text_of(ca_, "certificate authority"));
  if (text == pem_.ca) return {};
  if (auto checked = check_certificates(text); !checked)
    return wrap(std::move(checked).error(), "certificate authority {}", ca_.file);
  pem_.ca = std::move(text);
  ++generation_;
  return {};
}

Result<void> TlsMaterial::reread_client() {
  if (certificate_.empty() || client_from_plugin_) return {};
  TRY(auto certificate, text_of(certificate_, "client certificate"));
  TRY(auto key, text_of(key_, "client key"));
  if (certificate == pem_.certificate && key == pem_.key) return {};
  // Two files change one after the other, so for a moment they may not match.
  if (auto checked = check_key_pair(certificate, key); !checked)
    return wrap(std::move(checked).error(), "client certificate {} and key {}", certificate_.file,
                key_.file);
  pem_.certificate = std::move(certificate);
  pem_.key = std::move(key);
  ++generation_;
  ++client_generation_;
  return {};
}

Result<void> TlsMaterial::reread() {
  auto ca = reread_ca();
  auto client = reread_client();  // also when the CA failed: they are independent
  return ca ? client : ca;
}

void TlsMaterial::refresh() {
  const Monotonic now = clock_.monotonic();
  if (now < next_check_) return;
  auto result = reread();
  last_error_ = result ? "" : result.error().context;
  if (!result)
    log_.warning("tls files are bad; the old ones stay in use", {{"error", result.error()}});
  next_check_ =
      now + (last_error_.empty() ? std::chrono::seconds(kTlsRecheck) : kTlsRecheckAfterFailure);
}

Result<void> TlsMaterial::set_client(std::string certificate, std::string key) {
  TRY(check_key_pair(certificate, key));
  client_from_plugin_ = true;
  if (certificate == pem_.certificate && key == pem_.key) return {};
  pem_.certificate = std::move(certificate);
  pem_.key = std::move(key);
  ++generation_;
  ++client_generation_;
  return {};
}

}  // namespace amdahl::kube
