#include "cli/stored_logs.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "checkpoint/engine/kept_log.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::cli {
namespace {

struct World {
  RealClock clock = {};
  Program program{.clock = clock, .seed = 1};
  checkpoint::TestFolder folder;
  TrainingJob job = {};

  World() {
    job.metadata.uid = "uid-1";
    job.status.attempt = 5;
  }
  void keep(std::int64_t attempt, std::string_view text) {
    const auto store = open_found(program, {}, {.address = folder.path()}).value();
    REQUIRE(checkpoint::keep_log(*store, {.job_uid = "uid-1", .attempt = attempt}, text, {}));
  }
  std::string refusal(std::uint32_t attempt, std::string from = "") {
    const auto text = StoredLogs(program, std::move(from)).read(job, attempt, 0);
    REQUIRE(!text);
    CHECK(text.error().code == Errc::kNotFound);
    return text.error().context;
  }
};

TEST_CASE("StoredLogs reads what the launcher left beside the checkpoints", "[D9]") {
  World world;
  world.keep(4, "from attempt 4\n");
  world.job.spec.checkpoint.uri = "file://" + world.folder.path();
  StoredLogs logs(world.program, "");
  CHECK(logs.read(world.job, 4, 0).value() == "from attempt 4\n");
  CHECK(logs.where() == "file://" + world.folder.path() + "/.amdahl-logs");
  // The volume is mounted elsewhere on this machine.
  world.job.spec.checkpoint.uri = "file:///no/such/folder";
  StoredLogs elsewhere(world.program, world.folder.path());
  CHECK(elsewhere.read(world.job, 4, 0).value() == "from attempt 4\n");
  world.job.metadata.uid = "uid-2";
  CHECK(elsewhere.read(world.job, 4, 0).error().code == Errc::kNotFound);
}

TEST_CASE("StoredLogs says why there is no log and what to do", "[D9]") {
  World world;
  CHECK(world.refusal(4).starts_with(
      "the logs of attempt 4 went with its pods: the job keeps no checkpoints. Set "
      "spec.checkpoint.uri"));
  world.job.spec.checkpoint.uri = "file:///no/such/folder";
  CHECK(world.refusal(4).contains("file:///no/such/folder/.amdahl-logs, which is not on this"));
  CHECK(world.refusal(4).contains("--from"));
  world.job.spec.checkpoint.uri = "file:///no/such\n\x1b[31m/folder";
  CHECK(world.refusal(4).contains("file:///no/such [31m/folder/.amdahl-logs"));
  world.job.spec.checkpoint.uri = "file:///no/such/folder";
  CHECK(world.refusal(2, world.folder.path()).contains("the logs of the last 3 attempts only"));
  CHECK(world.refusal(4, world.folder.path()).contains("was killed before the launcher"));
}

TEST_CASE("StoredLogs shows the last lines that were asked for", "[D9]") {
  CHECK(last_lines("a\nb\nc\n", std::nullopt) == "a\nb\nc\n");
  CHECK(last_lines("a\nb\nc\n", 2) == "b\nc\n");
  CHECK(last_lines("a\nb\nc", 2) == "b\nc");
  CHECK(last_lines("a\nb\n", 9) == "a\nb\n");
  CHECK(last_lines("\n\n", 1) == "\n");
  CHECK(last_lines("a\n", 0).empty());
  CHECK(last_lines("", 3).empty());
}

}  // namespace
}  // namespace amdahl::cli
