#include "local/cluster/data_folder.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "local/cluster/cluster_files.hpp"
#include "local/cluster/test_folder.hpp"
#include "local/cluster/whole_file.hpp"

namespace amdahl::local {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777U;
}

// The lock as another process sees it: POSIX locks do not exist between handles of one process.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("DataFolder is for its owner only") {
  const TestFolder test;
  CHECK(mode_of(test.folder.path()) == 0700U);
  REQUIRE(::chmod(test.folder.path().c_str(), 0755) == 0);
  REQUIRE(test.folder.make());
  CHECK(mode_of(test.folder.path()) == 0700U);
}

TEST_CASE("DataFolder refuses a folder of somebody else and leaves it alone") {
  const TestFolder test;
  const DataFolder other(test.root + "/other");
  std::filesystem::create_directory(other.path());
  std::ofstream(other.file("thesis.tex")) << "years";
  REQUIRE(::chmod(other.path().c_str(), 0755) == 0);
  const auto made = other.make();
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().context, Catch::Contains("thesis.tex") && Catch::Contains("--data"));
  CHECK(mode_of(other.path()) == 0755U);
  CHECK(std::filesystem::exists(other.file("thesis.tex")));
}

TEST_CASE("DataFolder says which parent cannot be made") {
  const TestFolder test;
  std::ofstream(test.root + "/file") << "x";
  const auto made = DataFolder(test.root + "/file/data").make();
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error().context, Catch::Contains(test.root + "/file"));
}

TEST_CASE("DataFolder chooses ~/.amdahl/local, or what was asked for as an absolute path") {
  kube::Environment environment;
  CHECK_FALSE(DataFolder::choose("", environment));
  environment.variables["HOME"] = "/home/ann";
  CHECK(DataFolder::choose("", environment)->path() == "/home/ann/.amdahl/local");
  CHECK(DataFolder::choose("/data/one/", environment)->path() == "/data/one");
  CHECK(DataFolder::choose("here", environment)->path() ==
        std::filesystem::current_path().string() + "/here");
}

TEST_CASE("DataFolder deletes what a cluster made and nothing else") {
  const TestFolder test;
  {
    REQUIRE(FolderLock::take(test.folder));
  }
  for (const char* name : {"objects.db", "kubeconfig", "ca.key", "kubeconfig.a1B2c3"})
    std::ofstream(test.folder.file(name)) << "x";
  std::filesystem::create_directories(test.folder.file("pods/uid/volumes"));
  std::ofstream(test.root + "/precious") << "x";
  std::filesystem::create_symlink(test.root, test.folder.file("pods/uid/link"));
  CHECK(test.folder.foreign_files()->empty());
  std::ofstream(test.folder.file("notes.txt")) << "x";
  CHECK(*test.folder.foreign_files() == std::vector<std::string>{"notes.txt"});
  REQUIRE(test.folder.remove_all());
  CHECK(std::filesystem::exists(test.folder.file("notes.txt")));
  CHECK(std::filesystem::exists(test.root + "/precious"));
  CHECK_FALSE(std::filesystem::exists(test.folder.file("objects.db")));
  std::filesystem::remove(test.folder.file("notes.txt"));
  REQUIRE(test.folder.remove_all());
  CHECK_FALSE(test.folder.exists());
}

TEST_CASE("FolderLock keeps a second process out and names the first") {
  const TestFolder test;
  CHECK(*lock_holder(test.folder) == std::nullopt);
  {
    const auto lock = FolderLock::take(test.folder);
    REQUIRE(lock);
    CHECK(in_child([&] { return FolderLock::take(test.folder) ? 1 : 0; }) == 0);
    const pid_t self = ::getpid();
    CHECK(in_child([&] { return *lock_holder(test.folder) == self ? 0 : 1; }) == 0);
  }
  CHECK(in_child([&] { return FolderLock::take(test.folder) ? 0 : 1; }) == 0);
  CHECK(*lock_holder(test.folder) == std::nullopt);
}

TEST_CASE("write_whole_file replaces, keeps the mode asked for and leaves no piece behind") {
  const TestFolder test;
  const std::string path = test.folder.file("kubeconfig");
  REQUIRE(write_whole_file(path, "one"));
  REQUIRE(write_whole_file(path, "two", 0640));
  CHECK(kube::read_file(path, 10).value() == "two");
  CHECK(mode_of(path) == 0640U);
  std::filesystem::create_directory(test.folder.file("taken"));
  const auto refused = write_whole_file(test.folder.file("taken"), "three");
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().context, Catch::Contains(test.folder.file("taken")));
  CHECK(std::distance(std::filesystem::directory_iterator(test.folder.path()), {}) ==
        3);  // and the lock
}

TEST_CASE("Settings and status survive a file, and damage is named") {
  const TestFolder test;
  CHECK(*read_settings(test.folder) == Settings{});
  const Settings settings{.port = 4711,
                          .nodes = {.count = 3, .gpus = 8, .cpu = "96", .memory = "1Ti"},
                          .merged_into = {"/home/ann/.kube/config"}};
  REQUIRE(write_settings(test.folder, settings));
  CHECK(*read_settings(test.folder) == settings);
  CHECK(read_server_status(test.folder).error().code == Errc::kNotFound);
  const ServerStatus status{.pid = 12, .port = 4711, .started = "2026-11-16T08:00:00Z"};
  REQUIRE(write_server_status(test.folder, status));
  CHECK(*read_server_status(test.folder) == status);
  std::ofstream(test.folder.file("settings.json")) << "{\"port\": ";
  const auto damaged = read_settings(test.folder);
  REQUIRE_FALSE(damaged);
  CHECK_THAT(damaged.error().context, Catch::Contains("settings.json"));
}

TEST_CASE("keep_secret makes a secret once and refuses one that was cut off") {
  const TestFolder test;
  const auto make = [] { return std::string(64, 'x'); };
  CHECK(*keep_secret(test.folder, "admin.token", make) == std::string(64, 'x'));
  CHECK(*keep_secret(test.folder, "admin.token", [] { return std::string(64, 'y'); }) ==
        std::string(64, 'x'));
  std::ofstream(test.folder.file("admin.token")) << "short";
  CHECK_FALSE(keep_secret(test.folder, "admin.token", make));
}

}  // namespace
}  // namespace amdahl::local
