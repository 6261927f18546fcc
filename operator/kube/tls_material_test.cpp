#include "operator/kube/tls_material.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <catch2/catch.hpp>

#include "base/test_certificates.hpp"

namespace amdahl::kube {
namespace {
using namespace std::chrono_literals;

using Files = std::map<std::string, std::string>;

// Reads `files` as they are at that moment; the map must outlive the reader.
FileReader reader_of(const Files& files) {
  return [&files](const std::string& path, std::size_t /*bytes_max*/) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return fail(Errc::kNotFound, "read {}: no such file", path);
    return found->second;
  };
}

const Files kNoFiles;
const TlsConfig kFromFiles = {
    .ca = {.file = "/ca"}, .certificate = {.file = "/crt"}, .key = {.file = "/key"}};

struct Disk {
  CertificateAuthority authority;
  Certificate first = authority.issue({.common_name = "first"});
  Certificate second = authority.issue({.common_name = "second"});
  Files files = {{"/ca", authority.certificate_pem()},
                 {"/crt", first.certificate_pem},
                 {"/key", first.key_pem}};
  ManualClock clock;
  std::unique_ptr<TlsMaterial> load() {
    return std::move(TlsMaterial::load(kFromFiles, reader_of(files), clock).value());
  }
};

TEST_CASE("TLS material is loaded from files or inline data", "[C2][C3]") {
  Disk disk;
  const auto from_files = disk.load();
  CHECK(from_files->pem().ca == disk.authority.certificate_pem());
  CHECK(from_files->pem().certificate == disk.first.certificate_pem);
  CHECK(from_files->pem().key == disk.first.key_pem);
  CHECK(from_files->generation() == 1);

  const TlsConfig inline_config = {.ca = {.data = disk.authority.certificate_pem()},
                                   .certificate = {.data = disk.first.certificate_pem},
                                   .key = {.data = disk.first.key_pem}};
  const auto from_data = TlsMaterial::load(inline_config, reader_of(kNoFiles), disk.clock);
  REQUIRE(from_data);
  CHECK((*from_data)->pem().key == disk.first.key_pem);
  const auto none = TlsMaterial::load({}, reader_of(kNoFiles), disk.clock);
  REQUIRE(none);
  CHECK((*none)->pem().ca.empty());
}

TEST_CASE("A CA that changed on disk is seen within five minutes", "[C2]") {
  Disk disk;
  const auto material = disk.load();
  const CertificateAuthority other;
  disk.files["/ca"] = other.certificate_pem();
  disk.clock.advance(kTlsRecheck - 1s);
  material->refresh();
  CHECK(material->generation() == 1);
  disk.clock.advance(1s);
  material->refresh();
  CHECK(material->generation() == 2);
  CHECK(material->client_generation() == 1);
  CHECK(material->pem().ca == other.certificate_pem());
  disk.clock.advance(kTlsRecheck);
  material->refresh();
  CHECK(material->generation() == 2);  // the same text is no change
}

TEST_CASE("A CA file that turns empty, bad or missing keeps the old text", "[C2]") {
  const auto check = [](std::optional<std::string> bad) {
    Disk disk;
    const auto material = disk.load();
    if (bad)
      disk.files["/ca"] = *bad;
    else
      disk.files.erase("/ca");
    disk.clock.advance(kTlsRecheck);
    material->refresh();
    CHECK(material->generation() == 1);
    CHECK(material->pem().ca == disk.authority.certificate_pem());
    CHECK_THAT(material->last_error(), Catch::StartsWith("certificate authority"));

    // It looks again soon, and recovers.
    const CertificateAuthority other;
    disk.files["/ca"] = other.certificate_pem();
    disk.clock.advance(kTlsRecheckAfterFailure);
    material->refresh();
    CHECK(material->generation() == 2);
    CHECK(material->last_error().empty());
  };
  check("");
  check(" \n\n");
  check("not PEM at all");
  check("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  check(std::nullopt);
}

TEST_CASE("A rotated client certificate is taken up once its key is there too", "[C2]") {
  Disk disk;
  const auto material = disk.load();
  disk.files["/crt"] = disk.second.certificate_pem;
  disk.clock.advance(kTlsRecheck);
  material->refresh();
  CHECK(material->client_generation() == 1);
  CHECK(material->pem().certificate == disk.first.certificate_pem);
  CHECK_THAT(material->last_error(), Catch::Contains("does not belong"));

  disk.files["/key"] = disk.second.key_pem;
  disk.clock.advance(kTlsRecheckAfterFailure);
  material->refresh();
  CHECK(material->client_generation() == 2);
  CHECK(material->generation() == 2);
  CHECK(material->pem().certificate == disk.second.certificate_pem);
  CHECK(material->pem().key == disk.second.key_pem);
}

TEST_CASE("A bad CA does not keep a good client certificate from being taken up", "[C2]") {
  Disk disk;
  const auto material = disk.load();
  disk.files["/ca"] = "";
  disk.files["/crt"] = disk.second.certificate_pem;
  disk.files["/key"] = disk.second.key_pem;
  disk.clock.advance(kTlsRecheck);
  material->refresh();
  CHECK(material->client_generation() == 2);
  CHECK_FALSE(material->last_error().empty());
}

TEST_CASE("A pair from a plugin replaces the configured one for good", "[C2][C4]") {
  Disk disk;
  const auto material = disk.load();
  REQUIRE(material->set_client(disk.second.certificate_pem, disk.second.key_pem));
  CHECK(material->client_generation() == 2);
  REQUIRE(material->set_client(disk.second.certificate_pem, disk.second.key_pem));
  CHECK(material->client_generation() == 2);
  disk.clock.advance(kTlsRecheck);
  material->refresh();
  CHECK(material->pem().certificate == disk.second.certificate_pem);
  CHECK_FALSE(material->set_client(disk.first.certificate_pem, disk.second.key_pem));
  CHECK(material->pem().certificate == disk.second.certificate_pem);
}

TEST_CASE("Bad TLS files stop the start, and no key is in the error", "[C2]") {
  const auto check = [](const std::string& path, std::optional<std::string> text,
                        const std::string& expected) {
    Disk disk;
    if (text)
      disk.files[path] = *text;
    else
      disk.files.erase(path);
    const auto material = TlsMaterial::load(kFromFiles, reader_of(disk.files), disk.clock);
    REQUIRE_FALSE(material);
    CHECK_THAT(material.error().context, Catch::Contains(expected));
    CHECK(material.error().context.find("PRIVATE KEY") == std::string::npos);
  };
  const Disk other;
  check("/ca", std::nullopt, "certificate authority: read /ca");
  check("/ca", "junk", "there is no PEM certificate");
  check("/ca", other.authority.certificate_pem() + "-----BEGIN CERTIFICATE-----\nAA\n",
        "certificate 2 does not parse");
  check("/crt", "", "client certificate: /crt is empty");
  check("/key", std::nullopt, "client key: read /key");
  check("/key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "not a PEM private");
  check("/key", other.first.key_pem, "does not belong");
}

std::string with_password(const std::string& key_pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(
      BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())), BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
  unsigned char password[] = "test";
  PEM_write_bio_PrivateKey(out.get(), key.get(), EVP_aes_256_cbc(), password, 4, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

TEST_CASE("A key with a password is refused without asking for it", "[C2]") {
  CertificateAuthority authority;
  const Certificate leaf = authority.issue();
  REQUIRE(check_key_pair(leaf.certificate_pem, leaf.key_pem));
  const std::string locked = with_password(leaf.key_pem);
  REQUIRE_THAT(locked, Catch::StartsWith("-----BEGIN ENCRYPTED PRIVATE KEY"));
  const auto checked = check_key_pair(leaf.certificate_pem, locked);
  REQUIRE_FALSE(checked);
  CHECK_THAT(checked.error().context, Catch::Contains("protected by a password"));
}

}  // namespace
}  // namespace amdahl::kube
