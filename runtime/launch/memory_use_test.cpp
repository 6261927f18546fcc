#include "runtime/launch/memory_use.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

using namespace amdahl::launch;

namespace {

// A tree of cgroup files in a folder of the test.
struct Cgroups {
  Cgroups() {
    char name[] = "/tmp/amdahl-memory-test-XXXXXX";
    mount = ::mkdtemp(name);
  }
  ~Cgroups() { std::filesystem::remove_all(mount); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(mount + file).parent_path());
    std::ofstream(mount + file) << text;
  }
  std::string mount;
};

}  // namespace

TEST_CASE("find_memory_file takes the best figure that the kernel keeps", "[D10]") {
  const Cgroups groups;
  groups.write("/pods/x/cgroup.procs", "1\n7\n");
  CHECK_FALSE(find_memory_file(groups.mount, "0::/pods/x\n", {1, 7}));
  groups.write("/pods/x/memory.current", "1000\n");
  CHECK(find_memory_file(groups.mount, "0::/pods/x\n", {1, 7}) ==
        groups.mount + "/pods/x/memory.current");
  groups.write("/pods/x/memory.peak", "2000\n");
  CHECK(find_memory_file(groups.mount, "0::/pods/x\n", {1, 7}) ==
        groups.mount + "/pods/x/memory.peak");
}

TEST_CASE("find_memory_file knows cgroup v1 and the mount of a container", "[D10]") {
  const Cgroups groups;
  groups.write("/memory/cgroup.procs", "1\n");
  groups.write("/memory/memory.max_usage_in_bytes", "4096\n");
  const std::string file = groups.mount + "/memory/memory.max_usage_in_bytes";
  CHECK(find_memory_file(groups.mount, "5:cpu,memory:/docker/ab\n0::/\n", {1}) == file);
  CHECK(find_memory_file(groups.mount, "0::/\n5:memory:/docker/ab\n", {1}) == file);
}

TEST_CASE("find_memory_file refuses a group with processes of others", "[D10]") {
  const Cgroups groups;
  groups.write("/user/memory.peak", "2000\n");
  for (const char* const processes : {"1\n7\n99\n", "0\n1\n", "", "1\nx\n"}) {
    groups.write("/user/cgroup.procs", processes);
    INFO(processes);
    CHECK_FALSE(find_memory_file(groups.mount, "0::/user\n", {1, 7}));
  }
  CHECK_FALSE(find_memory_file(groups.mount, "0::/../user\n", {1, 7}));
  CHECK_FALSE(find_memory_file(groups.mount, "", {1, 7}));
}

TEST_CASE("MemoryUse keeps the highest figure and tells growth once", "[D10]") {
  MemoryUse use(::getpid());
  CHECK_FALSE(use.peak());
  use.look();
  REQUIRE(use.peak());
  CHECK(*use.peak() > 1 << 20);
  const std::int64_t large = std::int64_t{1} << 40;
  use.at_least(large);
  use.at_least(5);
  CHECK(use.peak() == large);
  CHECK(use.is_news());
  use.told();
  use.at_least(large + large / 16);
  CHECK_FALSE(use.is_news());
  use.at_least(large + large / 4);
  CHECK(use.is_news());
}
