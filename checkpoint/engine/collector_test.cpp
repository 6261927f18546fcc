#include "checkpoint/engine/collector.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/file_store.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

namespace fs = std::filesystem;

// A folder with the checkpoints 10, 20 and 30, and a place beside it for what links point to.
struct World {
  World() {
    RealWaiter waiter;
    EngineOptions options = test::small_options(test::identity("a"));
    options.retention.keep_last = 3;
    const auto engine = *Engine::open(store, clock, waiter, std::move(options));
    for (const std::int64_t step : {10, 20, 30}) REQUIRE(test::save_step(*engine, step));
    fs::create_directories(elsewhere);
    fs::create_directories(root / "pins");
  }
  // The entry at `name` lies elsewhere from now on, and a link leads there.
  void link_away(const std::string& name) const {
    const fs::path to = elsewhere / fs::path(name).filename();
    fs::rename(root / name, to);
    fs::create_symlink(to, root / name);
  }
  std::string pin(std::int64_t step) const {
    const std::string name = write_name({.kind = ObjectKind::kPin, .step = step});
    std::ofstream(root / name).flush();
    return name;
  }
  Result<Collected> collect(bool dry_run = false) {
    return Collector(store, test::identity("a").job_uid)
        .collect({.policy = {.keep_last = 1}, .saves = {.alone = true}, .dry_run = dry_run}, {});
  }
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file() && !entry.is_symlink()) all.push_back(entry.path().string());
    std::ranges::sort(all);
    return all;
  }
  // Refused with the name in words, and nothing is gone.
  void check_refused(const std::string& name) {
    CAPTURE(name);
    const auto before = files();
    for (const bool dry_run : {true, false}) {
      const auto collected = collect(dry_run);
      REQUIRE_FALSE(collected.has_value());
      CHECK(collected.error().code == Errc::kInvalid);
      CHECK_THAT(collected.error().context,
                 Catch::Contains(": " + name + " is a symbolic link") &&
                     Catch::Contains("replace it with the file or folder"));
    }
    CHECK(files() == before);
  }

  TestFolder folder{TestFolder::quick()};
  fs::path root = folder.path() + "/prefix";
  fs::path elsewhere = folder.path() + "/elsewhere";
  RealClock clock;
  FileStore store{{.root = root}, clock, Rng(1)};
};

TEST_CASE("Collector removes nothing where the folder of manifests is a link", "[D2]") {
  World world;
  world.link_away("manifests");
  world.check_refused("manifests");
}

TEST_CASE("Collector removes nothing where a manifest is a link", "[D2]") {
  World world;
  for (const std::int64_t step : {10, 20, 30}) {
    world.link_away(manifest_name(step));
    const auto refused = world.collect();
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Errc::kInvalid);
  }
  for (const std::int64_t step : {20, 30}) {
    fs::remove(world.root / manifest_name(step));
    fs::rename(world.elsewhere / fs::path(manifest_name(step)).filename(),
               world.root / manifest_name(step));
  }
  world.check_refused(manifest_name(10));
}

TEST_CASE("Collector removes nothing where a pin or the folder of pins is a link", "[D2]") {
  World world;
  const std::string pin = world.pin(10);
  world.link_away(pin);
  world.check_refused(pin);
  World other;
  other.pin(10);
  other.link_away("pins");
  other.check_refused("pins");
}

TEST_CASE("Collector removes nothing where a folder or a file is in the wrong place", "[D2]") {
  World world;
  fs::create_directories(world.root / write_name({.kind = ObjectKind::kPin, .step = 20}));
  world.check_refused(write_name({.kind = ObjectKind::kPin, .step = 20}));
  World other;
  fs::remove_all(other.root / "pins");
  std::ofstream(other.root / "pins") << "x";
  other.check_refused("pins");
}

TEST_CASE("Collector is not stopped by links that have none of our names") {
  World world;
  fs::create_symlink("/nowhere", world.root / "manifests" / "notes");
  fs::create_symlink("/nowhere", world.root / "latest");
  fs::create_symlink("/nowhere", world.root / "pins" / "10");
  const auto collected = world.collect();
  REQUIRE(collected.has_value());
  CHECK(collected->plan.kept == std::set<std::int64_t>{30});
  CHECK(fetch_steps(world.store, {}).value() == std::vector<std::int64_t>{30});
  // Other readers pass over a link with one of our names, as before.
  fs::create_symlink("/nowhere", world.root / manifest_name(40));
  CHECK(fetch_newest(world.store, {})->chain.front().step() == 30);
  CHECK(fs::is_symlink(world.root / "latest"));
}

}  // namespace
}  // namespace amdahl::checkpoint
