#include "runtime/launch/world.hpp"

#include <catch2/catch.hpp>

using namespace amdahl::launch;
using namespace std::string_literals;

namespace {

Settings torchrun(std::int64_t nodes, std::int64_t processes) {
  return {.runtime = Runtime::kTorchrun, .nodes = nodes, .slots = processes};
}

std::string rank(int size) {
  return "PATH=/bin\0RANK=1\0LOCAL_RANK=1\0WORLD_SIZE="s + std::to_string(size) + "\0"s;
}

// As many looks as a launcher that lives is seen for.
void look(World& world, std::int64_t looks, const std::string& line) {
  for (std::int64_t i = 0; i < looks; ++i) {
    world.see("PATH=/bin\0PET_NNODES=2\0"s, line);
    world.looked();
  }
}

const std::string kShell = "bash\0-c\0./train.sh\0"s;
const std::string kPlain = "PATH=/bin\0PET_NNODES=2\0AMDAHL_RANK=0\0"s;

}  // namespace

TEST_CASE("World without ranks of the declared size is a fault", "[D1]") {
  SECTION("a command that starts no rank") {
    World world(torchrun(2, 2), false);
    world.see(kPlain, kShell);
    REQUIRE(world.fault());
    CHECK(world.fault()->contains("needs a world of 4"));
    CHECK(world.fault()->contains("[train.py]"));
  }
  SECTION("a command that nobody saw, because it was so short") {
    CHECK(World(torchrun(1, 2), false).fault());
  }
  SECTION("a separate world on each node") {
    World world(torchrun(2, 2), false);
    world.see(kPlain, "python3\0-m\0torch.distributed.run\0--standalone\0t.py\0"s);
    world.see(rank(2), "python3\0t.py\0"s);
    REQUIRE(world.fault());
    CHECK(world.fault()->contains("formed a world of 2 instead of 4"));
  }
  SECTION("a launcher that lives and starts a script without RANK") {
    // accelerate does with one process on a node: each node would train a model for itself.
    World world(torchrun(2, 1), false);
    look(world, World::kLauncherLooksMin, "/usr/bin/python3\0/usr/bin/accelerate\0launch\0t.py\0"s);
    REQUIRE(world.fault());
    CHECK(world.fault()->contains("needs a world of 2"));
  }
  SECTION("a launcher that ended, and a command that went on without ranks") {
    World world(torchrun(2, 2), false);
    look(world, 1, "torchrun\0--help\0"s);
    look(world, World::kLauncherLooksMin, kShell);
    CHECK(world.fault());
  }
  SECTION("one process that knows of no other") {
    World world({.runtime = Runtime::kDeepSpeed, .nodes = 2}, false);
    world.see("RANK=0\0"s, kShell);  // a rank of nothing
    CHECK(world.fault());
  }
}

TEST_CASE("World is not missed where it was seen, or where none is needed", "[D1]") {
  SECTION("ranks of the right size") {
    World world(torchrun(2, 2), false);
    world.see(rank(2), kShell);  // something that ran before
    world.see(rank(4), kShell);
    CHECK_FALSE(world.open());
    CHECK_FALSE(world.fault());
    world.see(rank(3), kShell);
    CHECK_FALSE(world.fault());
  }
  SECTION("MPI") {
    World world(torchrun(1, 2), false);
    world.see("OMPI_COMM_WORLD_SIZE=2\0OMPI_COMM_WORLD_RANK=0\0"s, kShell);
    CHECK_FALSE(world.fault());
  }
  SECTION("a launcher whose ranks were too short-lived to be seen") {
    for (const std::string& line :
         {"/usr/bin/python3\0/usr/bin/torchrun\0t.py\0"s, "torchrun\0t.py\0"s,
          "python\0-u\0-m\0torch.distributed.run\0t.py\0"s,
          "python3.11\0-umtorch.distributed.run\0t.py\0"s, "accelerate\0launch\0t.py\0"s}) {
      // Looks count and not time: on a machine that is slow to look, ranks are missed for longer.
      World world(torchrun(1, 2), false);
      look(world, World::kLauncherLooksMin - 1, line);
      CHECK_FALSE(world.fault());
    }
  }
  SECTION("a launcher that waited long for other nodes") {
    World world(torchrun(2, 1), false);
    look(world, 10 * World::kLauncherLooksMin, "torchrun\0t.py\0"s);
    world.see(rank(2), kShell);
    CHECK_FALSE(world.fault());
  }
  SECTION("processes that cannot be read, whatever others were seen") {
    World world(torchrun(2, 2), false);
    look(world, World::kLauncherLooksMin, kShell);
    world.see(rank(2), kShell);
    world.blind();
    world.see(rank(2), kShell);
    CHECK_FALSE(world.open());
    CHECK_FALSE(world.fault());
  }
  SECTION("one process, plain Python, or torchrun that we started") {
    CHECK_FALSE(World(torchrun(1, 1), false).fault());
    CHECK_FALSE(World({.runtime = Runtime::kPython, .nodes = 8, .slots = 8}, false).fault());
    CHECK_FALSE(World(torchrun(8, 8), true).fault());
  }
}

TEST_CASE("World is looked for more often once a launcher was seen", "[D1]") {
  World world(torchrun(2, 1), false);
  look(world, 5, kShell);
  CHECK(world.look_in() == World::kLook);
  look(world, 1, "torchrun\0t.py\0"s);
  CHECK(world.look_in() == World::kRankLook);
  look(world, World::kRankLooksMax, "torchrun\0t.py\0"s);
  CHECK(world.look_in() == World::kLook);
}

TEST_CASE("place_in takes any bytes") {
  CHECK_FALSE(place_in(""));
  CHECK_FALSE(place_in("WORLD_SIZE=4"));
  CHECK_FALSE(place_in("RANK=0\0WORLD_SIZE=x\0"s));
  CHECK_FALSE(place_in("XRANK=0\0WORLD_SIZE=4\0"s));
  const auto nobody = place_in("\0\0RANK=\0WORLD_SIZE=4"s);
  REQUIRE(nobody);
  CHECK(nobody->size == 4);
  CHECK_FALSE(nobody->rank);
  const auto third = place_in("OMPI_COMM_WORLD_SIZE=8\0OMPI_COMM_WORLD_RANK=3\0"s);
  REQUIRE(third);
  CHECK(third->rank == 3);
}
