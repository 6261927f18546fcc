// Every system call of every operation, failed, cut short, or the last one of its process.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <functional>

#include "checkpoint/store/file_store.hpp"
#include "checkpoint/store/test_faulty_calls.hpp"
#include "checkpoint/store/test_folder.hpp"

namespace amdahl::checkpoint {
namespace {

constexpr std::int64_t kLargeMin = 64 << 10;
constexpr std::string_view kName = "data/object";
RealClock real_clock;

// Of odd length, so that the last block is not whole.
const std::string& content(bool large) {
  static const auto text = [](std::size_t size) {
    std::string bytes(size, '\0');
    Rng rng(size);
    for (char& byte : bytes) byte = static_cast<char>(rng.next());
    return bytes;
  };
  static const std::string small_one = text(1001);
  static const std::string large_one = text((200 << 10) + 77);
  return large ? large_one : small_one;
}

FileStore open_store_at(const TestFolder& folder, PosixCalls& calls, std::uint64_t seed) {
  return FileStore({.root = folder.path() + "/a/prefix", .direct_bytes_min = kLargeMin}, real_clock,
                   Rng(seed), calls);
}

Result<void> put(Store& store, std::string_view name, std::string_view text) {
  const std::vector<Bytes> pieces{bytes_of(text.substr(0, text.size() / 3)),
                                  bytes_of(text.substr(text.size() / 3))};
  return store.create(name, pieces, {});
}

struct Operation {
  std::string name;
  bool large = false;
  std::function<void(Store&)> before;
  std::function<Result<void>(Store&)> run;
  bool creates = false;  // kName is there when it succeeded
  bool writes = false;
};

Result<void> read_it(Store& store, bool large) {
  const std::string_view expected = content(large);
  TRY(const std::string text, read_whole(store, kName, expected.size(), {}));
  return text == expected ? Result<void>{} : fail(Errc::kCorrupt, "WRONG BYTES");
}

std::vector<Operation> operations() {
  const auto nothing = [](Store&) {};
  const auto put_it = [](Store& store) { REQUIRE(put(store, kName, content(false))); };
  return {
      {"create small", false, nothing,
       [](Store& store) { return put(store, kName, content(false)); }, true, true},
      {"create large", true, nothing, [](Store& store) { return put(store, kName, content(true)); },
       true, true},
      {"read", false, put_it, [](Store& store) { return read_it(store, false); }, true},
      {"list", false, put_it,
       [](Store& store) -> Result<void> {
         TRY(const auto all, list_all(store, "", {}));
         if (all.size() != 1 || all[0].name != kName) return fail(Errc::kCorrupt, "WRONG LIST");
         return {};
       },
       true},
      {"remove", false, put_it, [](Store& store) { return store.remove(kName, {}); }, false, true},
  };
}

std::vector<CallFault> faults_at(int call, bool writes) {
  using enum FaultKind;
  std::vector<CallFault> faults;
  for (const int error : {EIO, ENOSPC, EINTR, EACCES}) faults.push_back({call, kError, error});
  for (const int error : {EIO, ENOSPC, EROFS}) faults.push_back({call, kError, error, true});
  faults.push_back({call, kLostAnswer, EIO});
  faults.push_back({call, kLostAnswer, EEXIST});
  faults.push_back({call, kShort, 0});
  if (!writes) return faults;
  faults.push_back({call, kKillBefore, 0});
  faults.push_back({call, kKillAfter, 0});
  return faults;
}

// What holds after any fault: whole objects only, and life goes on.
void check_aftermath(const TestFolder& folder, const FileSystemLacks& lacks, bool large) {
  FaultyCalls calls(lacks);
  FileStore store = open_store_at(folder, calls, 2);
  const auto there = list_all(store, "", {});
  REQUIRE(there);
  for (const StoredObject& object : *there) {
    CHECK(object.name == kName);
    CHECK(read_it(store, large));
  }
  const Result<void> again = put(store, kName, content(large));
  if (there->empty())
    CHECK(again);
  else
    CHECK((again || again.error().code == Errc::kAlreadyExists));
  CHECK(read_it(store, large));
  CHECK(put(store, "data/another", content(large)));
  const WallTime later = real_clock.wall() + std::chrono::hours(1);
  CHECK(store.remove_leftovers(later, {}));
  const std::filesystem::path left = folder.path() + "/a/prefix/" + std::string(kTemporaryFolder);
  if (std::filesystem::exists(left)) CHECK(std::filesystem::is_empty(left));
}

// The exit code of a process that may be ended in the middle.
int run_in_child(const std::function<Result<void>()>& run) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool good = run().has_value();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void run_with_fault(const Operation& operation, const FileSystemLacks& lacks, CallFault fault) {
  const TestFolder folder(TestFolder::quick());
  FileStore plain = open_store_at(folder, system_calls(), 3);
  operation.before(plain);
  FaultyCalls calls(lacks, fault);
  FileStore store = open_store_at(folder, calls, 1);
  if (fault.kind == FaultKind::kKillBefore || fault.kind == FaultKind::kKillAfter) {
    CHECK(run_in_child([&] { return operation.run(store); }) == kKilled);
  } else {
    const Result<void> result = operation.run(store);
    if (!result) {
      CHECK(result.error().context.find("WRONG") == std::string::npos);
      CHECK(result.error().context.find(folder.path()) != std::string::npos);
    } else if (operation.creates) {
      CHECK(read_it(plain, operation.large));
    } else {
      CHECK(plain.size(kName, {}).error().code == Errc::kNotFound);
    }
    if (fault.kind == FaultKind::kShort) CHECK(result);
  }
  check_aftermath(folder, lacks, operation.large);
}

// Every fault at every call of every operation, on one file system.
void run_all(const FileSystemLacks& lacks) {
  int runs = 0;
  for (const Operation& operation : operations()) {
    std::vector<std::string> steps;
    {
      const TestFolder folder(TestFolder::quick());
      FileStore plain = open_store_at(folder, system_calls(), 3);
      operation.before(plain);
      FaultyCalls calls(lacks);
      FileStore store = open_store_at(folder, calls, 1);
      REQUIRE(operation.run(store));
      steps = calls.made();
    }
    for (int call = 0; call < static_cast<int>(steps.size()); ++call) {
      for (const CallFault fault : faults_at(call, operation.writes)) {
        INFO(operation.name << ", call " << call << " " << steps[static_cast<std::size_t>(call)]
                            << ", fault " << static_cast<int>(fault.kind) << " errno "
                            << fault.error << (fault.always ? " always" : ""));
        run_with_fault(operation, lacks, fault);
        ++runs;
      }
    }
  }
  CHECK(runs > 500);
  WARN(runs << " faults at system calls");
}

TEST_CASE("FileStore: a fault at any system call leaves whole objects only", "[checkpoint_store]") {
  run_all({});
}
TEST_CASE("FileStore: so it does without O_TMPFILE and fallocate", "[checkpoint_store]") {
  run_all({.unnamed_files = true, .allocate = true});
}
TEST_CASE("FileStore: so it does without O_TMPFILE and links", "[checkpoint_store]") {
  run_all({.unnamed_files = true, .links = true});
}
TEST_CASE("FileStore: so it does without O_DIRECT and types of entries", "[checkpoint_store]") {
  run_all({.direct_open = true, .entry_types = true});
}
TEST_CASE("FileStore: so it does without direct writes and /proc", "[checkpoint_store]") {
  run_all({.direct_write = true, .proc = true});
}

TEST_CASE("FileStore: an interrupted call is made again", "[checkpoint_store]") {
  for (const std::string_view name : {"open", "write", "sync", "allocate", "link_open"}) {
    const TestFolder folder(TestFolder::quick());
    FaultyCalls first;
    FileStore counting = open_store_at(folder, first, 1);
    REQUIRE(put(counting, "data/first", content(true)));
    const auto at = std::ranges::find(first.made(), name) - first.made().begin();
    const TestFolder other;
    FaultyCalls calls({}, {static_cast<int>(at), FaultKind::kError, EINTR});
    FileStore store = open_store_at(other, calls, 1);
    INFO(name);
    CHECK(put(store, kName, content(true)));
  }
}

TEST_CASE("FileStore reads what it may not write, and says why it cannot", "[checkpoint_store]") {
  struct Row {
    int error;
    Errc code;
    std::string next_step;
  };
  const Row rows[] = {{EROFS, Errc::kForbidden, "mount the volume so that it can be written"},
                      {EACCES, Errc::kForbidden, "fsGroup"},
                      {ENOSPC, Errc::kIo, "enlarge the volume"},
                      {EDQUOT, Errc::kIo, "raise the quota"}};
  for (const Row& row : rows) {
    INFO(row.error);
    const TestFolder folder(TestFolder::quick());
    FileStore plain = open_store_at(folder, system_calls(), 3);
    REQUIRE(put(plain, kName, content(true)));
    FaultyCalls calls({.writes = row.error});
    FileStore store = open_store_at(folder, calls, 1);
    CHECK(read_it(store, true));
    CHECK(list_all(store, "", {}).value().size() == 1);
    for (const bool large : {false, true}) {
      const Error told = put(store, "data/new", content(large)).error();
      CHECK(told.code == row.code);
      CHECK_THAT(told.context, Catch::Contains(row.next_step) && Catch::Contains("data/new"));
    }
    CHECK(store.remove(kName, {}).error().code == row.code);
    CHECK(read_it(plain, true));
    CHECK(list_all(plain, "", {}).value().size() == 1);
  }
}

}  // namespace
}  // namespace amdahl::checkpoint
