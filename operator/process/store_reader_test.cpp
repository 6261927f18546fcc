#include "operator/process/store_reader.hpp"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/task_group.hpp"
#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/file_store.hpp"

namespace amdahl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Site {
  fs::path folder = [] {
    std::string name = (fs::temp_directory_path() / "amdahl-reader-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    return fs::path(name);
  }();
  boost::asio::io_context io;
  RealClock clock;

  Site() = default;
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  ~Site() { fs::remove_all(folder); }

  void save(std::int64_t step) {
    checkpoint::RealWaiter waiter;
    checkpoint::FileStore store({.root = (folder / "here").string()}, clock, Rng(1));
    const auto engine = checkpoint::Engine::open(
        store, clock, waiter, checkpoint::test::small_options(checkpoint::test::identity("a")));
    REQUIRE(engine.has_value());
    REQUIRE(checkpoint::test::save_step(**engine, step));
  }
  Result<training::CheckpointFinding> read(std::string uri, StoreReaderOptions options,
                                           std::chrono::nanoseconds within = 20s) {
    StoreReader reader(io.get_executor(), clock, Rng(2), std::move(options));
    io.restart();
    return run_until_complete(io, reader.read({.job_uid = checkpoint::test::identity("a").job_uid,
                                               .attempt = 2,
                                               .uri = std::move(uri)},
                                              clock.monotonic() + within));
  }
  std::string here() const { return "file://" + (folder / "here").string(); }
};

TEST_CASE("StoreReader: a folder of this machine is read, where pods share it") {
  Site site;
  site.save(62);
  const auto found = site.read(site.here(), {.local_files = true});
  REQUIRE(found);
  REQUIRE(found->newest);
  CHECK(found->newest->step == 62);
}

TEST_CASE("StoreReader: where signatures are demanded, what has none is not sound") {
  Site site;
  site.save(62);
  const fs::path keys = site.folder / "keys.pem";
  const auto trusting = [&](std::string_view name) {
    return name == "AMDAHL_CHECKPOINT_TRUSTED_KEYS" ? keys.string() : std::string();
  };
  const StoreReaderOptions options{.local_files = true, .variable = trusting};
  const auto unreadable = site.read(site.here(), options);
  REQUIRE_FALSE(unreadable);
  CHECK(unreadable.error().context.find("keys.pem") != std::string::npos);
  std::ofstream(keys) << "-----BEGIN PUBLIC KEY-----\n"  // of RFC 8410, section 10.1
                         "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
                         "-----END PUBLIC KEY-----\n";
  const auto found = site.read(site.here(), options);
  REQUIRE(found);
  CHECK_FALSE(found->newest);
  REQUIRE(found->passed_over.size() == 1);
  CHECK(found->passed_over[0].why.find("not signed") != std::string::npos);
}

TEST_CASE("StoreReader: what it cannot read is said, and is no finding") {
  Site site;
  site.save(62);
  struct Row {
    std::string uri;
    bool local_files;
    Errc code;
    std::string_view words;
  };
  const Row rows[] = {
      {site.here(), false, Errc::kInvalid, "folder of the pods"},
      {site.here() + "-not", true, Errc::kNotFound, "nothing is there"},
      {"s3://bucket/prefix", true, Errc::kUnauthorized, "AWS_ACCESS_KEY_ID"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.uri, row.local_files);
    const auto found = site.read(row.uri, {.local_files = row.local_files});
    REQUIRE_FALSE(found);
    CAPTURE(found.error().context);
    CHECK(found.error().code == row.code);
    CHECK(found.error().context.find(row.words) != std::string::npos);
  }
}

TEST_CASE("StoreReader: a deadline that has passed is an error, and leaves nothing behind") {
  Site site;
  site.save(62);
  const auto found = site.read(site.here(), {.local_files = true}, -1s);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == Errc::kTimeout);
}

}  // namespace
}  // namespace amdahl
