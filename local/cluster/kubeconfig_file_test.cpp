#include "local/cluster/kubeconfig_file.hpp"

#include <sys/stat.h>

#include <fstream>

#include "local/cluster/test_folder.hpp"
#include "operator/kube/environment.hpp"

namespace amdahl::local {
namespace {

const ClusterAddress kHere{
    .url = "https://127.0.0.1:4711", .authority_pem = "PEM", .token = "secret"};

std::string text_of(const std::string& path) {
  return kube::read_file(path, 1 << 20).value();
}
unsigned mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777U;
}

TEST_CASE("merge_into_file makes a missing file with its folder, for its owner") {
  const TestFolder test;
  const std::string path = test.root + "/home/.kube/config";
  REQUIRE(merge_into_file(path, kHere));
  CHECK(mode_of(path) == 0600U);
  CHECK_THAT(text_of(path), Catch::Contains("amdahl-local"));
  REQUIRE(remove_from_file(path));
  CHECK_THAT(text_of(path), !Catch::Contains("amdahl-local"));
  REQUIRE(remove_from_file(test.root + "/nowhere"));
}

TEST_CASE("merge_into_file takes a file with our token from everybody but its owner", "[A10]") {
  const TestFolder test;
  const std::string path = test.root + "/config";
  std::ofstream(path) << "apiVersion: v1\nkind: Config\n";
  REQUIRE(::chmod(path.c_str(), 0644) == 0);
  REQUIRE(merge_into_file(path, kHere));
  CHECK(mode_of(path) == 0600U);
  REQUIRE(::chmod(path.c_str(), 0644) == 0);
  REQUIRE(merge_into_file(path, kHere));  // also when its text stays as it is
  CHECK(mode_of(path) == 0600U);
}

TEST_CASE("merge_into_file follows a link and keeps its target") {
  const TestFolder test;
  const std::string real = test.root + "/real";
  std::ofstream(real) << "apiVersion: v1\nkind: Config\n";
  REQUIRE(::chmod(real.c_str(), 0640) == 0);
  std::filesystem::create_symlink(real, test.root + "/link");
  const auto where = merge_into_file(test.root + "/link", kHere);
  REQUIRE(where);
  CHECK(*where == std::filesystem::canonical(real).string());
  CHECK(std::filesystem::is_symlink(test.root + "/link"));
  CHECK(mode_of(real) == 0600U);
  CHECK_THAT(text_of(real), Catch::Contains("amdahl-local"));
}

TEST_CASE("merge_into_file leaves a file that it cannot read alone") {
  const TestFolder test;
  const std::string path = test.root + "/config";
  std::ofstream(path) << "clusters: [";
  const auto refused = merge_into_file(path, kHere);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().context, Catch::Contains(path));
  CHECK(text_of(path) == "clusters: [");
  CHECK_FALSE(merge_into_file(test.root, kHere));
}

}  // namespace
}  // namespace amdahl::local
