#include "runtime/launch/ended_ranks.hpp"

#include <catch2/catch.hpp>

using namespace amdahl;
using namespace amdahl::launch;
using namespace std::string_literals;
using Ranks = std::vector<std::int64_t>;

namespace {

constexpr Monotonic kStart{};

// The processes of a trainer whose command is process 1.
class Node {
 public:
  explicit Node(Settings settings) : ended(settings) {}

  void runs(pid_t process, std::int64_t rank, std::int64_t size) {
    environments_[process] =
        "RANK=" + std::to_string(rank) + "\0WORLD_SIZE="s + std::to_string(size) + "\0"s;
  }
  // A zombie at first: its environment is empty.
  void ends(pid_t process) { environments_[process].clear(); }
  // As setproctitle does: what was the environment holds the title.
  void takes_title(pid_t process) { environments_[process] = "train: rank\0\0\0\0"s; }
  void becomes_another_user(pid_t process) { closed_.insert(process); }
  void look(std::int64_t second) {
    const auto read = [this](pid_t process) -> Result<std::string> {
      const auto found = environments_.find(process);
      if (found == environments_.end()) return fail(Errc::kNotFound, "{} is gone", process);
      if (closed_.contains(process) && !found->second.empty())
        return fail(Errc::kForbidden, "{} is another user's", process);
      return found->second;
    };
    if (ended.unchanged(read)) return;
    std::vector<pid_t> family = {1};
    for (const auto& [process, environment] : environments_) family.push_back(process);
    ended.look(family, read, kStart + std::chrono::seconds{second});
  }

  EndedRanks ended;

 private:
  std::map<pid_t, std::string> environments_;
  std::set<pid_t> closed_;
};

Settings torchrun(std::int64_t nodes, std::int64_t processes) {
  return {.runtime = Runtime::kTorchrun, .nodes = nodes, .slots = processes};
}

}  // namespace

TEST_CASE("EndedRanks tells which rank has ended, and since when", "[D10]") {
  Node node(torchrun(1, 2));
  node.look(0);
  node.runs(10, 0, 2);
  node.runs(11, 1, 2);
  node.runs(20, 0, 2);  // a worker of rank 0's data loader
  node.look(1);
  CHECK(node.ended.ranks().empty());
  CHECK_FALSE(node.ended.since());
  node.ends(10);
  node.ends(20);
  node.look(2);
  CHECK(node.ended.ranks() == Ranks{0});
  CHECK(node.ended.since() == kStart + std::chrono::seconds{2});
  node.ends(11);
  node.look(9);
  CHECK(node.ended.ranks() == Ranks{0, 1});
  CHECK(node.ended.since() == kStart + std::chrono::seconds{2});
}

TEST_CASE("EndedRanks takes a rank as running while any process has it", "[D10]") {
  Node node(torchrun(2, 1));
  node.runs(10, 1, 2);
  node.runs(20, 1, 2);
  node.look(1);
  node.ends(20);
  node.look(2);
  CHECK(node.ended.ranks().empty());
  node.runs(20, 1, 2);
  node.ends(10);
  node.look(3);
  CHECK(node.ended.ranks().empty());
}

TEST_CASE("EndedRanks forgets workers that were replaced", "[D10]") {
  Node node(torchrun(2, 2));
  node.runs(10, 0, 4);
  node.runs(11, 1, 4);
  node.look(1);
  SECTION("by others, which have other ranks") {
    node.ends(10);
    node.ends(11);
    node.look(2);
    CHECK(node.ended.ranks() == Ranks{0, 1});
  }
  SECTION("between two looks") {
    node.ends(10);
    node.ends(11);
  }
  node.runs(30, 2, 4);
  node.runs(31, 3, 4);
  node.look(3);
  CHECK(node.ended.ranks().empty());
  CHECK_FALSE(node.ended.since());
  node.ends(30);
  node.look(4);
  CHECK(node.ended.ranks() == Ranks{2});
}

TEST_CASE("EndedRanks takes a rank that hides its environment as running while it lives", "[D10]") {
  Node node(torchrun(1, 2));
  node.runs(10, 0, 2);
  node.runs(11, 1, 2);
  node.look(1);
  node.takes_title(10);
  node.becomes_another_user(11);
  node.runs(12, 0, 1);  // something to look at, so that the others are seen again
  for (std::int64_t second = 2; second < 5; ++second) node.look(second);
  CHECK(node.ended.ranks().empty());
  node.ends(10);
  node.look(5);
  CHECK(node.ended.ranks() == Ranks{0});
  node.look(6);
  CHECK(node.ended.ranks() == Ranks{0});
  node.ends(11);
  node.look(7);
  CHECK(node.ended.ranks() == Ranks{0, 1});
}

TEST_CASE("EndedRanks knows no rank of a process that never said it was one", "[D10]") {
  Node node(torchrun(1, 2));
  node.runs(10, 0, 2);
  node.becomes_another_user(10);
  node.look(1);
  node.ends(10);
  node.look(2);
  CHECK(node.ended.ranks().empty());
}

TEST_CASE("EndedRanks forgets workers that were replaced by a smaller world", "[D10]") {
  Node node(torchrun(2, 2));
  node.runs(10, 0, 4);
  node.runs(11, 1, 4);
  node.look(1);
  node.ends(10);
  node.ends(11);
  node.look(2);
  REQUIRE(node.ended.ranks() == Ranks{0, 1});
  node.runs(30, 0, 2);  // torchrun --nnodes=1:2 went on without the other node
  node.runs(31, 1, 2);
  node.look(3);
  CHECK(node.ended.ranks().empty());
  CHECK_FALSE(node.ended.since());
}

TEST_CASE("EndedRanks passes over what is no rank of this world", "[D10]") {
  SECTION("a world inside of a rank") {
    Node node(torchrun(1, 2));
    node.runs(10, 0, 2);
    node.runs(11, 1, 2);
    node.runs(20, 0, 1);
    node.look(1);
    node.ends(20);
    node.look(2);
    CHECK(node.ended.ranks().empty());
  }
  SECTION("a number that is none of its ranks") {
    Node node(torchrun(1, 2));
    node.runs(10, 7, 2);
    node.look(1);
    node.ends(10);
    node.look(2);
    CHECK(node.ended.ranks().empty());
  }
  SECTION("a job without a world") {
    CHECK_FALSE(EndedRanks({.runtime = Runtime::kPython, .nodes = 2}).wanted());
    CHECK_FALSE(EndedRanks(torchrun(1, 1)).wanted());
    CHECK(EndedRanks(torchrun(2, 1)).wanted());
  }
}
