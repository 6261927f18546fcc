#include "base/test_certificates.hpp"

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.hpp"

namespace amdahl {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

Key make_key() {
  Key key(EVP_EC_gen("P-256"));
  AMDAHL_CHECK(key != nullptr);
  return key;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const Bio bio(BIO_new(BIO_s_mem()));
  AMDAHL_CHECK(PEM_write_bio_X509(bio.get(), certificate) == 1);
  return text_of(bio.get());
}

std::string pem_of(EVP_PKEY* key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  AMDAHL_CHECK(PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr));
  return text_of(bio.get());
}

void add_name(X509* certificate, const char* field, const std::string& value) {
  if (value.empty()) return;
  AMDAHL_CHECK(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), field, MBSTRING_UTF8,
                                          reinterpret_cast<const unsigned char*>(value.c_str()), -1,
                                          -1, 0) == 1);
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  AMDAHL_CHECK(extension != nullptr);
  AMDAHL_CHECK(X509_add_ext(certificate, extension.get(), -1) == 1);
}

X509Ptr begin_certificate(EVP_PKEY* key, const CertificateOptions& options, std::int64_t serial) {
  X509Ptr certificate(X509_new());
  AMDAHL_CHECK(X509_set_version(certificate.get(), X509_VERSION_3) == 1);
  AMDAHL_CHECK(ASN1_INTEGER_set_int64(X509_get_serialNumber(certificate.get()), serial) == 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), options.valid_from.count());
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), options.valid_until.count());
  AMDAHL_CHECK(X509_set_pubkey(certificate.get(), key) == 1);
  add_name(certificate.get(), "O", options.organization);
  add_name(certificate.get(), "CN", options.common_name);
  return certificate;
}

std::string alternative_names(const CertificateOptions& options) {
  std::string names;
  for (const std::string& name : options.dns_names) names += ",DNS:" + name;
  for (const std::string& address : options.addresses) names += ",IP:" + address;
  return names.empty() ? names : names.substr(1);
}

}  // namespace

struct CertificateAuthority::Keys {
  Key key;
  X509Ptr certificate;
};

CertificateAuthority::CertificateAuthority(std::string common_name)
    : keys_(std::make_unique<Keys>()) {
  keys_->key = make_key();
  keys_->certificate =
      begin_certificate(keys_->key.get(), {.common_name = std::move(common_name)}, 1);
  X509* certificate = keys_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
  AMDAHL_CHECK(X509_sign(certificate, keys_->key.get(), EVP_sha256()) > 0);
  certificate_pem_ = pem_of(certificate);
}

CertificateAuthority::~CertificateAuthority() = default;

Certificate CertificateAuthority::issue(const CertificateOptions& options) {
  const Key key = make_key();
  const X509Ptr leaf = begin_certificate(key.get(), options, next_serial_++);
  X509* issuer = keys_->certificate.get();
  X509_set_issuer_name(leaf.get(), X509_get_subject_name(issuer));
  add_extension(leaf.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(leaf.get(), issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(leaf.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(leaf.get(), issuer, NID_authority_key_identifier, "keyid");
  if (const std::string names = alternative_names(options); !names.empty())
    add_extension(leaf.get(), issuer, NID_subject_alt_name, names);
  AMDAHL_CHECK(X509_sign(leaf.get(), keys_->key.get(), EVP_sha256()) > 0);
  return {.certificate_pem = pem_of(leaf.get()), .key_pem = pem_of(key.get())};
}

}  // namespace amdahl
