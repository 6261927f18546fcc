#include "local/cluster/certificates.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "local/cluster/test_folder.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::local {
namespace {

const WallTime kNow{std::chrono::seconds{1'800'000'000}};

std::string text_of(const DataFolder& folder, std::string_view name) {
  return kube::read_file(folder.file(name), 1 << 20).value();
}

TEST_CASE("Certificates are made once and then kept") {
  const TestFolder test;
  const auto first = keep_certificates(test.folder, kNow);
  REQUIRE(first);
  CHECK(first->renewed);
  const std::string server = text_of(test.folder, "server.crt");
  const auto second = keep_certificates(test.folder, kNow + std::chrono::days{30});
  REQUIRE(second);
  CHECK_FALSE(second->renewed);
  CHECK(second->authority_pem == first->authority_pem);
  CHECK(text_of(test.folder, "server.crt") == server);
  for (const char* name : {"ca.key", "ca.crt", "server.key", "server.crt"}) {
    struct stat info{};
    REQUIRE(::stat(test.folder.file(name).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600U);
  }
}

TEST_CASE("Certificates of the server are renewed before their end, the authority stays") {
  const TestFolder test;
  const auto first = keep_certificates(test.folder, kNow);
  REQUIRE(first);
  const WallTime near_end = kNow + kServerCertificateLife - kRenewBefore;
  CHECK_FALSE(keep_certificates(test.folder, near_end - std::chrono::hours{1})->renewed);
  const auto renewed = keep_certificates(test.folder, near_end + std::chrono::hours{1});
  REQUIRE(renewed);
  CHECK(renewed->renewed);
  CHECK(renewed->authority_pem == first->authority_pem);
}

TEST_CASE("Certificates that are damaged are made again, a damaged authority is refused") {
  const TestFolder test;
  REQUIRE(keep_certificates(test.folder, kNow));
  std::ofstream(test.folder.file("server.key")) << "nonsense";
  CHECK(keep_certificates(test.folder, kNow)->renewed);
  const std::string key = text_of(test.folder, "ca.key");
  std::ofstream(test.folder.file("ca.key")) << "nonsense";
  const auto refused = keep_certificates(test.folder, kNow);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kTls);
  CHECK_THAT(refused.error().context, Catch::Contains("ca.crt"));
  CHECK(text_of(test.folder, "ca.key") == "nonsense");
}

TEST_CASE("Certificates of another authority are not good") {
  const auto one = make_authority(kNow);
  const auto other = make_authority(kNow);
  REQUIRE(one);
  REQUIRE(other);
  const auto leaf = make_server_certificate(*one, kNow);
  REQUIRE(leaf);
  CHECK(still_good(*leaf, *one, kNow));
  CHECK_FALSE(still_good(*leaf, *other, kNow));
  CHECK_FALSE(still_good({.certificate = leaf->certificate, .key = other->key}, *one, kNow));
  CHECK_FALSE(still_good({}, *one, kNow));
}

}  // namespace
}  // namespace amdahl::local
