#include "local/kubelet/memory_cgroup.hpp"

#include <unistd.h>

#include <filesystem>

#include "local/kubelet/test_folder.hpp"

namespace amdahl::local {
namespace {

// A folder is no cgroup: the files that a kernel would make are put there beforehand.
struct Fake {
  TestFolder folder;

  void second_version(bool permitted) const {
    if (permitted) folder.write("own/cgroup.subtree_control", "");
    folder.write("own/amdahl/cgroup.subtree_control", "");
    for (const char* id : {"probe", "c"}) {
      folder.write(std::string("own/amdahl/") + id + "/memory.max", "");
      folder.write(std::string("own/amdahl/") + id + "/memory.oom.group", "");
    }
  }
  void first_version() const {
    for (const char* id : {"probe", "c"})
      folder.write(std::string("memory/own/amdahl/") + id + "/memory.limit_in_bytes", "");
  }
};

TEST_CASE("MemoryCgroups takes version 2 when it may, else version 1, else none") {
  const std::string both = "4:memory:/own\n0::/own\n";
  const Fake none;
  CHECK_FALSE(MemoryCgroups::detect(none.folder.path(), both, "amdahl"));
  const Fake first;
  first.first_version();
  first.second_version(false);
  const auto one = MemoryCgroups::detect(first.folder.path(), both, "amdahl");
  REQUIRE(one);
  CHECK(one->folder() == first.folder.file("memory/own/amdahl"));
  const Fake second;
  second.first_version();
  second.second_version(true);
  const auto two = MemoryCgroups::detect(second.folder.path(), both, "amdahl");
  REQUIRE(two);
  CHECK(two->folder() == second.folder.file("own/amdahl"));
  CHECK_FALSE(MemoryCgroups::detect(second.folder.path(), "1:cpu:/own\n", "amdahl"));
}

TEST_CASE("MemoryCgroups sets the limit and reads whether the kernel killed") {
  const Fake fake;
  fake.second_version(true);
  const auto groups = MemoryCgroups::detect(fake.folder.path(), "0::/own\n", "amdahl");
  REQUIRE(groups);
  const auto procs = groups->make("c", 5000);
  REQUIRE(procs);
  CHECK(*procs == fake.folder.file("own/amdahl/c/cgroup.procs"));
  CHECK(text_of(fake.folder.file("own/amdahl/c/memory.max")) == "5000");
  CHECK(text_of(fake.folder.file("own/amdahl/c/memory.oom.group")) == "1");
  fake.folder.write("own/amdahl/c/memory.events", "oom 3\noom_kill 0\noom_group_kill 0\n");
  CHECK_FALSE(groups->finish("c"));
  fake.folder.write("own/amdahl/c/memory.events", "oom 3\noom_kill 1\noom_group_kill 1\n");
  CHECK(groups->finish("c"));
}

TEST_CASE("MemoryCgroups removes groups of kubelets that were killed, and of no others") {
  const Fake fake;
  fake.second_version(true);
  const std::string own = fmt::format("own/amdahl-{}/c", ::getpid());
  // A number that no process has: above what the kernel gives out.
  for (const std::string& name :
       {std::string("own/amdahl-2000000000/c"), std::string("own/amdahl-x/c"), own})
    std::filesystem::create_directories(fake.folder.file(name));
  REQUIRE(MemoryCgroups::detect(fake.folder.path(), "0::/own\n", "amdahl"));
  CHECK_FALSE(std::filesystem::exists(fake.folder.file("own/amdahl-2000000000")));
  CHECK(std::filesystem::exists(fake.folder.file("own/amdahl-x/c")));
  CHECK(std::filesystem::exists(fake.folder.file(own)));
}

}  // namespace
}  // namespace amdahl::local
