#include "checkpoint/engine/kept_log.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "checkpoint/engine/catalog.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/store/file_store.hpp"
#include "checkpoint/store/memory_store.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

namespace fs = std::filesystem;

KeptLogPlace place(std::int64_t attempt, std::int64_t rank = 0, std::string uid = "uid-1") {
  return {.job_uid = std::move(uid), .job = "ns/llama", .attempt = attempt, .rank = rank};
}

void put(Store& store, std::string_view name, std::string_view text) {
  const Bytes bytes = bytes_of(text);
  REQUIRE(store.create(name, {&bytes, 1}, {}).has_value());
}

TEST_CASE("Kept logs have names that are not of the checkpoint format", "[D9]") {
  const std::string name = kept_log_name(place(2, 3)).value();
  CHECK(name == ".amdahl-logs/uid-1/00003/0000000002.log");
  CHECK(!parse_name(name));
  for (const std::string uid : {"", "..", "a/b", "a b", "../../etc"})
    CHECK(kept_log_name(place(1, 0, uid)).error().code == Errc::kInvalid);
}

TEST_CASE("Kept logs are those of the newest three attempts of each rank", "[D9]") {
  MemoryStore store;
  put(store, ".amdahl-logs/uid-1/00000/notes.txt", "somebody's");
  put(store, ".amdahl-logs/uid-1/00000/1.log", "somebody's");
  REQUIRE(keep_log(store, place(1, 1), "rank 1", {}).has_value());
  for (const std::int64_t attempt : {1, 2, 4, 7, 8})  // some ended before they could be kept
    REQUIRE(keep_log(store, place(attempt), fmt::format("attempt {}", attempt), {}).has_value());
  for (const std::int64_t attempt : {4, 7, 8})
    CHECK(read_kept_log(store, place(attempt), {}).value() == fmt::format("attempt {}", attempt));
  for (const std::int64_t attempt : {1, 2, 3})
    CHECK(read_kept_log(store, place(attempt), {}).error().code == Errc::kNotFound);
  CHECK(read_kept_log(store, place(1, 1), {}).value() == "rank 1");
  CHECK(store.objects().contains(".amdahl-logs/uid-1/00000/notes.txt"));
  CHECK(store.objects().contains(".amdahl-logs/uid-1/00000/1.log"));
  CHECK(store.objects().size() == 6);
}

TEST_CASE("Kept logs are replaced by a later container of the attempt", "[D9]") {
  MemoryStore store;
  REQUIRE(keep_log(store, place(1), "first", {}).has_value());
  REQUIRE(keep_log(store, place(1), "second", {}).has_value());
  CHECK(read_kept_log(store, place(1), {}).value() == "second");
  REQUIRE(keep_log(store, place(2), "", {}).has_value());
  CHECK(read_kept_log(store, place(2), {}).value().empty());
}

TEST_CASE("Kept logs are never written to another job's prefix", "[D9][D4]") {
  MemoryStore store;
  REQUIRE(claim_prefix(store, {.job_uid = "uid-2", .job = "ns/other"}, {}).has_value());
  const auto kept = keep_log(store, place(1), "text", {});
  REQUIRE(!kept.has_value());
  CHECK(kept.error().code == Errc::kForbidden);
  CHECK(store.objects().size() == 1);
  CHECK(keep_log(store, place(1, 0, "uid-2"), "text", {}).has_value());
}

TEST_CASE("Kept logs are at most 64 KiB, written and read", "[D9]") {
  MemoryStore store;
  const std::string large = std::string(100, 'a') + std::string(kKeptLogBytesMax, 'b');
  REQUIRE(keep_log(store, place(1), large, {}).has_value());
  CHECK(read_kept_log(store, place(1), {}).value() == std::string(kKeptLogBytesMax, 'b'));
  store.replace(kept_log_name(place(1)).value(), std::string(std::size_t{3} << 20U, 'x') + "end");
  const std::string read = read_kept_log(store, place(1), {}).value();
  CHECK(read.size() == kKeptLogBytesMax);
  CHECK(read.ends_with("xend"));
}

TEST_CASE("Kept logs in a folder are plain files of any size and nothing else", "[D9]") {
  const TestFolder folder;
  RealClock clock;
  FileStore store({.root = folder.path()}, clock, Rng(1));
  REQUIRE(keep_log(store, place(9), "text", {}).has_value());
  const fs::path logs = fs::path(folder.path()) / ".amdahl-logs/uid-1/00000";
  const auto file = [&](int attempt) { return logs / fmt::format("{:010}.log", attempt); };
  fs::create_symlink("/etc/passwd", file(1));
  fs::create_directory(file(2));
  REQUIRE(::mkfifo(file(3).c_str(), 0600) == 0);
  std::ofstream(file(4)).put('x');
  fs::resize_file(file(4), std::uintmax_t{1} << 30U);
  for (const std::int64_t attempt : {1, 2, 3})
    CHECK(read_kept_log(store, place(attempt), {}).error().code == Errc::kNotFound);
  CHECK(read_kept_log(store, place(4), {}).value().size() == kKeptLogBytesMax);
  // What is no file is neither in the way nor removed.
  for (const std::int64_t attempt : {10, 11, 12})
    CHECK(keep_log(store, place(attempt), "text", {}).has_value());
  CHECK(!fs::exists(file(4)));
  CHECK(fs::is_symlink(file(1)));
}

}  // namespace
}  // namespace amdahl::checkpoint
