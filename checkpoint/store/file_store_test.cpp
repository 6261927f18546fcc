#include "checkpoint/store/file_store.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "checkpoint/store/direct_runs.hpp"
#include "checkpoint/store/test_faulty_calls.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

namespace fs = std::filesystem;
RealClock real_clock;

struct Fixture {
  explicit Fixture(FileSystemLacks lacks = {}, CallFault fault = {})
      : calls(std::move(lacks), fault),
        store({.root = folder.path() + "/prefix"}, real_clock, Rng(1), calls) {}
  Result<void> put(std::string_view name, std::string_view text) {
    const std::vector<Bytes> pieces{bytes_of(text)};
    return store.create(name, pieces, {});
  }
  std::string path(std::string_view name) const {
    return folder.path() + "/prefix/" + std::string(name);
  }
  TestFolder folder;
  FaultyCalls calls;
  FileStore store;
};

TEST_CASE("DirectRuns gives aligned writes that are the object", "[checkpoint_store]") {
  std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, 64 << 20)), &std::free);
  Rng rng(20261117);
  for (std::size_t i = 0; i < (64U << 20); i += 8) {
    const std::uint64_t word = i * 0x9E3779B97F4A7C15U;
    std::memcpy(memory.get() + i, &word, sizeof word);
  }
  for (int round = 0; round < 200; ++round) {
    std::vector<Bytes> pieces;
    std::string whole;
    for (std::uint64_t n = rng.below(6); n > 0; --n) {
      const std::size_t unit = rng.chance(0.5) ? kDirectAlignment : 1;
      const std::size_t begin = rng.below((8U << 20) / unit) * unit;
      const std::size_t size = rng.below(((rng.chance(0.2) ? 20U : 1U) << 20) / unit) * unit;
      pieces.emplace_back(memory.get() + begin, size);
      whole += text_of(pieces.back());
    }
    DirectRuns runs(pieces);
    std::string written;
    while (const auto run = runs.next()) {
      REQUIRE(run->at == static_cast<std::int64_t>(written.size()));
      REQUIRE(reinterpret_cast<std::uintptr_t>(run->bytes.data()) % kDirectAlignment == 0);
      REQUIRE(run->bytes.size() % kDirectAlignment == 0);
      REQUIRE(run->bytes.size() <= kRunBytesMax);
      written += text_of(run->bytes);
    }
    REQUIRE(written.size() - whole.size() < kDirectAlignment);
    written.resize(whole.size());
    REQUIRE(written == whole);
  }
}

TEST_CASE("DirectRuns copies only the odd ends of an arena", "[checkpoint_store]") {
  std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, 32 << 20)), &std::free);
  std::memset(memory.get(), 7, 32 << 20);
  const std::vector<Bytes> pieces{{memory.get(), (24U << 20) + 5}};
  DirectRuns runs(pieces);
  std::size_t copied = 0;
  while (const auto run = runs.next())
    if (run->bytes.data() < memory.get() || run->bytes.data() >= memory.get() + (32 << 20))
      copied += run->bytes.size();
  CHECK(copied == kDirectAlignment);
}

TEST_CASE("FileStore refuses names that would leave the directory", "[checkpoint_store]") {
  Fixture fixture;
  for (const std::string_view name :
       {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", "a\nb", "a b",
        ".amdahl-tmp/a", ".amdahl-tmp"}) {
    INFO(name);
    CHECK(fixture.put(name, "x").error().code == Errc::kInvalid);
    CHECK(fixture.store.size(name, {}).error().code == Errc::kInvalid);
    CHECK(fixture.store.remove(name, {}).error().code == Errc::kInvalid);
    std::byte one{};
    CHECK(fixture.store.read(name, 0, {&one, 1}, {}).error().code == Errc::kInvalid);
  }
  CHECK(fixture.put(std::string(256, 'a'), "x").error().code == Errc::kInvalid);
  CHECK(fs::is_empty(fixture.folder.path()));
}

TEST_CASE("FileStore follows no symbolic link and lists regular files only", "[checkpoint_store]") {
  Fixture fixture;
  REQUIRE(fixture.put("data/mine", "1"));
  fs::create_directories(fixture.folder.path() + "/outside");
  std::ofstream(fixture.folder.path() + "/outside/secret") << "secret";
  fs::create_directory_symlink(fixture.folder.path() + "/outside", fixture.path("linked"));
  fs::create_symlink(fixture.folder.path() + "/outside/secret", fixture.path("data/link"));
  REQUIRE(::mkfifo(fixture.path("data/pipe").c_str(), 0600) == 0);
  std::ofstream(fixture.path("foreign.txt")) << "theirs";
  fs::create_directories(fixture.path("lost+found"));

  std::byte one{};
  CHECK(fixture.store.read("data/link", 0, {&one, 1}, {}).error().code == Errc::kInvalid);
  CHECK(fixture.store.read("data/pipe", 0, {&one, 1}, {}).error().code == Errc::kNotFound);
  CHECK(fixture.store.read("linked/secret", 0, {&one, 1}, {}).error().code == Errc::kInvalid);
  CHECK(fixture.put("linked/new", "x").error().code == Errc::kInvalid);
  CHECK(fixture.store.remove("linked/secret", {}).error().code == Errc::kInvalid);
  CHECK(fixture.store.remove("data/link", {}).error().code == Errc::kInvalid);
  CHECK(fs::exists(fixture.folder.path() + "/outside/secret"));
  CHECK(list_all(fixture.store, "", {}).value() ==
        std::vector<StoredObject>{{"data/mine", 1}, {"foreign.txt", 6}});
}

TEST_CASE("FileStore says which of our names a listing leaves out", "[checkpoint_store]") {
  const std::string manifest = "manifests/00000000000000000007.jsonl";
  const std::string receipt = "receipts/00000000000000000007-0123456789abcdef-00000.jsonl";
  Fixture fixture;
  REQUIRE(fixture.put(manifest, "1"));
  fs::create_directories(fixture.path("receipts"));
  fs::create_symlink("/nowhere", fixture.path(receipt));
  fs::create_symlink("/nowhere", fixture.path("pins"));
  fs::create_symlink("/nowhere", fixture.path("linked"));
  const auto odd = [&](std::string_view prefix) {
    return fixture.store.list(prefix, "", {}).value().odd;
  };
  CHECK(odd("manifests/").empty());
  CHECK(odd("receipts/") == receipt);
  CHECK(odd(receipt.substr(0, 20)) == receipt);
  CHECK(odd("receipts/9").empty());
  CHECK(odd("pins/") == "pins");
  CHECK(odd("linked/").empty());
  CHECK_FALSE(odd("").empty());
  CHECK(list_complete(fixture.store, "manifests/", {}).value() ==
        list_all(fixture.store, "", {}).value());
  CHECK(list_complete(fixture.store, "pins/", {}).error().code == Errc::kInvalid);
  CHECK(list_all(fixture.store, "pins/", {}).value().empty());
}

TEST_CASE("FileStore keeps a name once, whoever is first", "[checkpoint_store]") {
  const TestFolder folder;
  FileStore store({.root = folder.path() + "/prefix"}, real_clock, Rng(1));
  constexpr int kThreads = 4;
  for (int round = 0; round < 20; ++round) {
    const std::string name = fmt::format("manifests/{}", round);
    std::array<Result<void>, kThreads> results;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
          const std::string text(100, static_cast<char>('a' + i));
          const std::vector<Bytes> pieces{bytes_of(text)};
          results.at(static_cast<std::size_t>(i)) = store.create(name, pieces, {});
        });
    }
    int won = -1;
    for (int i = 0; i < kThreads; ++i) {
      const auto& result = results.at(static_cast<std::size_t>(i));
      if (!result) CHECK(result.error().code == Errc::kAlreadyExists);
      if (!result) continue;
      CHECK(won == -1);
      won = i;
    }
    CHECK(read_whole(store, name, 100, {}).value() ==
          std::string(100, static_cast<char>('a' + won)));
  }
}

TEST_CASE("FileStore removes old temporaries of its own only", "[checkpoint_store]") {
  Fixture fixture({.unnamed_files = true});
  REQUIRE(fixture.put("data/a", "1"));
  const std::string folder = fixture.path(kTemporaryFolder) + "/";
  std::ofstream(folder + "new-0123456789abcdef") << "left";
  std::ofstream(folder + "notes") << "somebody's";
  const WallTime now = real_clock.wall();
  CHECK(fixture.store.remove_leftovers(now - std::chrono::hours(1), {}).value() == 0);
  CHECK(fixture.store.remove_leftovers(now + std::chrono::hours(1), {}).value() == 1);
  CHECK(fs::exists(folder + "notes"));
  CHECK(list_all(fixture.store, "", {}).value() == std::vector<StoredObject>{{"data/a", 1}});
}

TEST_CASE("FileStore names path, cause and next step", "[checkpoint_store]") {
  const auto message = [](int error, std::string_view call) {
    Fixture counting;
    REQUIRE(counting.put("data/a", std::string(2 << 20, 'x')));
    const auto at = std::ranges::find(counting.calls.made(), call) - counting.calls.made().begin();
    Fixture fixture({}, {static_cast<int>(at), FaultKind::kError, error});
    const Error told = fixture.put("data/a", std::string(2 << 20, 'x')).error();
    CHECK(told.context.find(fixture.path("data/a")) != std::string::npos);
    return std::string(name(told.code)) + ": " + told.context;
  };
  CHECK_THAT(message(ENOSPC, "allocate"), Catch::Contains("enlarge the volume"));
  CHECK_THAT(message(EACCES, "write"),
             Catch::StartsWith("forbidden") && Catch::Contains("fsGroup"));
  CHECK_THAT(message(EROFS, "write"), Catch::Contains("mount the volume"));
  CHECK_THAT(message(EIO, "write"), Catch::StartsWith("io") && Catch::Contains("kernel's log"));
}

TEST_CASE("FileStore: an error of fsync is final, and is not asked for again",
          "[checkpoint_store]") {
  Fixture counting;
  REQUIRE(counting.put("a", std::string(2 << 20, 'x')));
  const auto& made = counting.calls.made();
  const auto at =
      std::ranges::find(made, "sync", [](const auto& name) { return name; }) - made.begin();
  // The first one syncs the parent of the new root; the file's comes after the writes.
  const auto file_sync = std::find(std::ranges::find(made, "write"), made.end(), "sync");
  CHECK(file_sync - made.begin() > at);
  Fixture fixture({}, {static_cast<int>(file_sync - made.begin()), FaultKind::kError, EIO});
  const Result<void> result = fixture.put("a", std::string(2 << 20, 'x'));
  CHECK_THAT(result.error().context, Catch::Contains("final for this file"));
  const auto& calls = fixture.calls.made();
  CHECK(std::count(calls.begin() + (file_sync - made.begin()) + 1, calls.end(), "sync") == 0);
  CHECK(std::ranges::find(calls, "link_open") == calls.end());
}

TEST_CASE("FileStore syncs the file, then names it, then syncs the directory",
          "[checkpoint_store]") {
  for (const bool unnamed : {true, false}) {
    Fixture fixture({.unnamed_files = !unnamed});
    REQUIRE(fixture.put("data/first", "1"));
    const auto before = static_cast<std::ptrdiff_t>(fixture.calls.made().size());
    REQUIRE(fixture.put("data/a", std::string(2 << 20, 'x')));
    std::vector<std::string> order;
    for (auto at = fixture.calls.made().begin() + before; at != fixture.calls.made().end(); ++at)
      if (*at == "sync" || at->starts_with("link") || *at == "unlink") order.push_back(*at);
    if (unnamed)
      CHECK(order == std::vector<std::string>{"sync", "link_open", "sync"});
    else
      CHECK(order == std::vector<std::string>{"sync", "link", "unlink", "sync"});
  }
}

TEST_CASE("FileStore ends at its deadline and when it is stopped", "[checkpoint_store]") {
  Fixture fixture;
  std::stop_source stop;
  stop.request_stop();
  const std::vector<Bytes> pieces{bytes_of("x")};
  CHECK(fixture.store.create("a", pieces, {.stop = stop.get_token()}).error().code ==
        Errc::kCancelled);
  CHECK(fixture.store.create("a", pieces, {.deadline = real_clock.monotonic()}).error().code ==
        Errc::kTimeout);
  CHECK(list_all(fixture.store, "", {}).value().empty());
}

TEST_CASE("FileStore writes from aligned memory, past the end of a page", "[checkpoint_store]") {
  for (const FileSystemLacks& lacks :
       {FileSystemLacks{}, FileSystemLacks{.direct_open = true},
        FileSystemLacks{.direct_write = true}, FileSystemLacks{.unnamed_files = true}}) {
    Fixture fixture(lacks);
    std::string text(static_cast<std::size_t>(40 << 20) + 13, '\0');
    Rng rng(7);
    for (std::size_t i = 0; i + 8 <= text.size(); i += 8) {
      const std::uint64_t word = rng.next();
      std::memcpy(text.data() + i, &word, sizeof word);
    }
    REQUIRE(fixture.put("data/large", text));
    CHECK(read_whole(fixture.store, "data/large", text.size(), {}).value() == text);
  }
}

}  // namespace
}  // namespace amdahl::checkpoint
