#include "local/kubelet/log_file.hpp"

#include <signal.h>
#include <sys/resource.h>

#include "base/rng.hpp"
#include "local/kubelet/log_stream.hpp"
#include "local/kubelet/test_folder.hpp"
#include "local/kubelet/test_pods.hpp"

namespace amdahl::local {
namespace {

std::string all_of(LogStream& stream) {
  std::string text;
  for (auto next = stream.next(); next.ready == WatchStream::Ready::kFrame; next = stream.next())
    text += next.bytes;
  return text;
}
std::string all_of(LogRead read) {
  LogStream stream(std::move(read));
  return all_of(stream);
}

TEST_CASE("LogStream shows what LogWriter was given, with the options of kubectl logs") {
  const TestFolder folder;
  const auto log = LogWriter::open(folder.file("c"), 0);
  REQUIRE(log);
  (*log)->write("one\ntw", at(1));
  (*log)->write("o\n", at(2));
  (*log)->write("three\nopen", at(3));
  const std::string where = folder.file("c");
  CHECK(all_of(LogRead{.folder = where}) == "one\ntwo\nthree\nopen");
  CHECK(all_of(LogRead{.folder = where, .timestamps = true}) ==
        "2027-01-15T08:00:01.000000000Z one\n2027-01-15T08:00:01.000000000Z two\n"
        "2027-01-15T08:00:03.000000000Z three\n2027-01-15T08:00:03.000000000Z open");
  CHECK(all_of(LogRead{.folder = where, .tail_lines = 0}) == "");
  CHECK(all_of(LogRead{.folder = where, .tail_lines = 2}) == "three\nopen");
  CHECK(all_of(LogRead{.folder = where, .tail_lines = 9}) == "one\ntwo\nthree\nopen");
  CHECK(all_of(LogRead{.folder = where, .limit_bytes = 5}) == "one\nt");
  CHECK(all_of(LogRead{.folder = where, .since = at(3)}) == "three\nopen");
  CHECK(all_of(LogRead{.folder = where, .run = 1}) == "");
  CHECK(log_tail(where, 0, 2, 100) == "three\nopen");
  CHECK(log_tail(where, 0, 2, 6) == "e\nopen");
}

TEST_CASE("LogStream follows until the container has ended") {
  const TestFolder folder;
  const auto log = LogWriter::open(folder.file("c"), 0);
  REQUIRE(log);
  LogStream stream({.folder = folder.file("c"), .follow = *log});
  CHECK(stream.next().ready == WatchStream::Ready::kNothingYet);
  (*log)->write("a", at(1));
  CHECK(stream.next().bytes == "a");
  CHECK(stream.next().ready == WatchStream::Ready::kNothingYet);
  (*log)->write("b\n", at(1));
  (*log)->close();
  CHECK(stream.next().bytes == "b\n");
  CHECK(stream.next().ready == WatchStream::Ready::kEnd);
}

TEST_CASE("LogWriter keeps the last pieces of a run, and the run before") {
  const TestFolder folder;
  const std::string where = folder.file("c");
  for (int run = 0; run < 4; ++run) {
    const auto log = LogWriter::open(where, run, 200);
    REQUIRE(log);
    LogStream slow({.folder = where, .run = run, .follow = *log});
    for (int line = 0; line < 20; ++line)
      (*log)->write(fmt::format("run {} line {}\n", run, line), at(line));
    (*log)->close();
    const std::string kept = all_of(LogRead{.folder = where, .run = run});
    CHECK(kept.ends_with(fmt::format("run {} line 19\n", run)));
    CHECK_FALSE(kept.contains("line 0\n"));
    CHECK(kept.size() < 400);
  }
  CHECK(last_log_run(where) == 3);
  CHECK_FALSE(log_pieces(where, 2).empty());
  CHECK(log_pieces(where, 1).empty());
}

TEST_CASE("LogStream that falls behind loses the oldest pieces and goes on") {
  const TestFolder folder;
  const std::string where = folder.file("c");
  const auto log = LogWriter::open(where, 0, 200);
  REQUIRE(log);
  LogStream slow({.folder = where, .follow = *log});
  (*log)->write("first\n", at(0));
  CHECK(all_of(slow) == "first\n");
  for (int line = 0; line < 60; ++line) (*log)->write(fmt::format("line {}\n", line), at(line));
  const std::string late = all_of(slow);
  CHECK(late.ends_with("line 58\nline 59\n"));
  CHECK_FALSE(late.contains("line 30\n"));
  (*log)->write("last\n", at(61));
  CHECK(all_of(slow) == "last\n");
  // What was asked for is chosen when the stream is opened.
  LogStream tail({.folder = where, .tail_lines = 1});
  for (int line = 0; line < 60; ++line) (*log)->write("more\n", at(99));
  CHECK(all_of(tail).starts_with("last\nmore\n"));
}

TEST_CASE("LogWriter loses whole lines when the disk is full, and goes on") {
  const TestFolder folder;
  const auto log = LogWriter::open(folder.file("c"), 0);
  REQUIRE(log);
  (*log)->write("before\n", at(1));
  struct rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small{.rlim_cur = 60, .rlim_max = old.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  (*log)->write("there is room for a part of this\n", at(2));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  ::signal(SIGXFSZ, handler);
  (*log)->write("after\n", at(3));
  CHECK(all_of(LogRead{.folder = folder.file("c")}) == "before\nafter\n");
}

TEST_CASE("LogStream gives back any bytes, however they were cut") {
  const std::uint64_t seed = 20261116;
  INFO("seed " << seed);
  Rng rng(seed);
  for (int round = 0; round < 50; ++round) {
    const TestFolder folder;
    const auto log = LogWriter::open(folder.file("c"), 0);
    REQUIRE(log);
    LogStream follower({.folder = folder.file("c"), .follow = *log});
    std::string given;
    std::string followed;
    for (std::uint64_t piece = rng.below(30); piece > 0; --piece) {
      std::string bytes(rng.below(40), 'x');
      for (char& byte : bytes)
        byte = rng.chance(0.2) ? '\n' : static_cast<char>('a' + rng.below(26));
      (*log)->write(bytes, at(static_cast<int>(piece)));
      given += bytes;
      if (rng.chance(0.3)) followed += all_of(follower);
    }
    (*log)->close();
    CHECK(all_of(LogRead{.folder = folder.file("c")}) == given);
    CHECK(followed + all_of(follower) == given);
  }
}

}  // namespace
}  // namespace amdahl::local
