#include "local/cluster/certificates.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <memory>
#include <type_traits>

#include "local/cluster/whole_file.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::local {
namespace {

constexpr std::size_t kPemBytesMax = std::size_t{64} << 10;
constexpr std::chrono::hours kClockSlack{1};  // a client's clock may be behind ours
constexpr const char* kServerNames =
    "IP:127.0.0.1,IP:::1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,"
    "DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local";

template <auto Free>
using FreedBy = std::integral_constant<decltype(Free), Free>;
using Key = std::unique_ptr<EVP_PKEY, FreedBy<&EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, FreedBy<&X509_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<&BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, FreedBy<&X509_EXTENSION_free>>;

std::unexpected<Error> refused(std::string_view what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return fail(Errc::kTls, "{}: {}", what, text.data());
}

std::time_t seconds_of(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

struct Parsed {
  Key key = {};
  X509Ptr certificate = {};
};

Result<Parsed> parse(const KeyPair& pair) {
  const Bio certificate(
      BIO_new_mem_buf(pair.certificate.data(), static_cast<int>(pair.certificate.size())));
  const Bio key(BIO_new_mem_buf(pair.key.data(), static_cast<int>(pair.key.size())));
  Parsed parsed;
  parsed.certificate.reset(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
  if (!parsed.certificate) return refused("read certificate");
  parsed.key.reset(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
  if (!parsed.key) return refused("read private key");
  if (X509_check_private_key(parsed.certificate.get(), parsed.key.get()) != 1)
    return refused("certificate and key do not belong together");
  return parsed;
}

Result<KeyPair> printed(X509* certificate, EVP_PKEY* key) {
  const auto text_of = [](BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return std::string(data, static_cast<std::size_t>(size));
  };
  const Bio first(BIO_new(BIO_s_mem()));
  const Bio second(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(first.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(second.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return refused("print certificate");
  return KeyPair{.certificate = text_of(first.get()), .key = text_of(second.get())};
}

bool add_extension(X509* certificate, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// Random, so that a client that has seen an earlier cluster does not take this one for it.
bool set_serial(X509* certificate) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  return ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1U) == 1;
}

// Everything but issuer, extensions and signature.
Result<X509Ptr> begin(EVP_PKEY* key, const char* name, WallTime now, std::chrono::days life) {
  X509Ptr made(X509_new());
  if (!made) return refused("make certificate");
  const auto* text = reinterpret_cast<const unsigned char*>(name);
  const bool done =
      X509_set_version(made.get(), X509_VERSION_3) == 1 && set_serial(made.get()) &&
      ASN1_TIME_set(X509_getm_notBefore(made.get()), seconds_of(now - kClockSlack)) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(made.get()), seconds_of(now + life)) != nullptr &&
      X509_set_pubkey(made.get(), key) == 1 &&
      X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8, text, -1,
                                 -1, 0) == 1;
  if (!done) return refused("make certificate");
  return made;
}

Result<KeyPair> read_pair(const DataFolder& folder, std::string_view name) {
  KeyPair pair;
  const std::string base(name);
  TRY(pair.certificate, kube::read_file(folder.file(base + ".crt"), kPemBytesMax));
  TRY(pair.key, kube::read_file(folder.file(base + ".key"), kPemBytesMax));
  return pair;
}

// The key first: a certificate without its key would be taken for damage.
Result<void> write_pair(const DataFolder& folder, std::string_view name, const KeyPair& pair) {
  const std::string base(name);
  TRY(write_whole_file(folder.file(base + ".key"), pair.key));
  return write_whole_file(folder.file(base + ".crt"), pair.certificate);
}

Result<KeyPair> keep_authority(const DataFolder& folder, WallTime now) {
  auto pair = read_pair(folder, "ca");
  if (!pair && pair.error().code == Errc::kNotFound) {
    TRY(KeyPair fresh, make_authority(now));
    TRY(write_pair(folder, "ca", fresh));
    return fresh;
  }
  if (!pair) return std::unexpected(std::move(pair).error());
  if (auto parsed = parse(*pair); !parsed)
    return wrap(std::move(parsed).error(),
                "use {} and ca.key (to have new ones made, move both away; kubeconfigs that were "
                "given out end to work)",
                folder.file("ca.crt"));
  return *std::move(pair);
}

}  // namespace

Result<KeyPair> make_authority(WallTime now) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return refused("make key");
  TRY(const X509Ptr made, begin(key.get(), "amdahl-local", now, kAuthorityLife));
  X509* certificate = made.get();
  const bool done =
      X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1 &&
      add_extension(certificate, certificate, NID_basic_constraints,
                    "critical,CA:TRUE,pathlen:0") &&
      add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign") &&
      add_extension(certificate, certificate, NID_subject_key_identifier, "hash") &&
      X509_sign(certificate, key.get(), EVP_sha256()) > 0;
  if (!done) return refused("make certificate authority");
  return printed(certificate, key.get());
}

Result<KeyPair> make_server_certificate(const KeyPair& authority, WallTime now) {
  TRY(const Parsed issuer, parse(authority));
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return refused("make key");
  TRY(const X509Ptr made, begin(key.get(), "kube-apiserver", now, kServerCertificateLife));
  X509* leaf = made.get();
  X509* by = issuer.certificate.get();
  const bool done = X509_set_issuer_name(leaf, X509_get_subject_name(by)) == 1 &&
                    add_extension(leaf, by, NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(leaf, by, NID_key_usage, "critical,digitalSignature") &&
                    add_extension(leaf, by, NID_ext_key_usage, "serverAuth") &&
                    add_extension(leaf, by, NID_subject_key_identifier, "hash") &&
                    add_extension(leaf, by, NID_authority_key_identifier, "keyid") &&
                    add_extension(leaf, by, NID_subject_alt_name, kServerNames) &&
                    X509_sign(leaf, issuer.key.get(), EVP_sha256()) > 0;
  if (!done) return refused("make server certificate");
  return printed(leaf, key.get());
}

bool still_good(const KeyPair& pair, const KeyPair& authority, WallTime now) {
  const auto own = parse(pair);
  const auto issuer = parse(authority);
  if (!own || !issuer) return false;
  std::time_t soon = seconds_of(now + kRenewBefore);
  const bool signed_by = X509_verify(own->certificate.get(), issuer->key.get()) == 1;
  ERR_clear_error();
  return signed_by && X509_cmp_time(X509_get0_notAfter(own->certificate.get()), &soon) > 0;
}

Result<Certificates> keep_certificates(const DataFolder& folder, WallTime now) {
  TRY(const KeyPair authority, keep_authority(folder, now));
  Certificates kept{.authority_pem = authority.certificate};
  const auto pair = read_pair(folder, "server");
  if (!pair && pair.error().code != Errc::kNotFound) return std::unexpected(pair.error());
  if (pair && still_good(*pair, authority, now)) return kept;
  TRY(const KeyPair fresh, make_server_certificate(authority, now));
  TRY(write_pair(folder, "server", fresh));
  kept.renewed = true;
  return kept;
}

}  // namespace amdahl::local
