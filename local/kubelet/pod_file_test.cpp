#include "local/kubelet/pod_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local/kubelet/kept_logs.hpp"
#include "local/kubelet/log_stream.hpp"
#include "local/kubelet/pod_folder.hpp"
#include "local/kubelet/test_folder.hpp"
#include "local/kubelet/test_pods.hpp"

namespace amdahl::local {
namespace {

constexpr const char* kRecord = "2026-11-16T08:00:00.123456000Z F somebody else's\n";

std::string shown(const std::string& folder, std::int32_t run = 0) {
  LogStream stream({.folder = folder, .run = run});
  std::string text;
  for (auto next = stream.next(); next.ready == WatchStream::Ready::kFrame; next = stream.next())
    text += next.bytes;
  return text;
}

TEST_CASE("A file of a pod is opened only when it is a regular one, and without waiting", "[A10]") {
  const TestFolder folder;
  folder.write("plain", "text");
  REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  REQUIRE(::symlink(folder.file("plain").c_str(), folder.file("link").c_str()) == 0);
  CHECK(open_pod_file(folder.file("plain"), O_RDONLY));
  for (const char* name : {"fifo", "link", "."})
    for (const int flags : {O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC}) {
      const auto opened = open_pod_file(folder.file(name), flags);
      INFO(name << " " << flags);
      REQUIRE_FALSE(opened);
      CHECK_THAT(opened.error().context, Catch::Contains(folder.file(name)));
    }
  CHECK_THAT(open_pod_file(folder.file("fifo"), O_RDONLY).error().context,
             Catch::Contains("not a regular file"));
  CHECK(text_of(folder.file("plain")) == "text");
}

TEST_CASE("Logs that a program replaced are not read, and hold up nobody", "[A10]") {
  const TestFolder folder;
  const PodFolder pod(folder.path(), "uid");
  const std::string where = pod.logs("c");
  const auto log = LogWriter::open(where, 0, 200);
  REQUIRE(log);
  (*log)->write("first\n", at(0));
  REQUIRE(::unlink(log_piece(where, 0, 1).c_str()) == 0);
  SECTION("by a FIFO") {
    REQUIRE(::mkfifo(log_piece(where, 0, 1).c_str(), 0600) == 0);
  }
  SECTION("by a link") {
    folder.write("outside", kRecord);
    REQUIRE(::symlink(folder.file("outside").c_str(), log_piece(where, 0, 1).c_str()) == 0);
  }
  CHECK(shown(where).empty());
  CHECK(log_tail(where, 0, 80, 2048).empty());
  const Container container{.name = "c", .termination_policy = "FallbackToLogsOnError"};
  CHECK(pod.termination_message(container, 0, true).empty());
  // A FIFO waits where the next piece will be.
  REQUIRE(::mkfifo(log_piece(where, 0, 2).c_str(), 0600) == 0);
  for (int line = 0; line < 10; ++line) (*log)->write(fmt::format("line {}\n", line), at(line));
  CHECK(shown(where).ends_with("line 9\n"));
}

TEST_CASE("A log that a program made endless is read to a limit", "[A10]") {
  const TestFolder folder;
  const PodFolder pod(folder.path(), "uid");
  const std::string where = pod.logs("c");
  REQUIRE(LogWriter::open(where, 0));
  REQUIRE(::truncate(log_piece(where, 0, 1).c_str(), off_t{1} << 40) == 0);
  CHECK(log_tail(where, 0, 80, 2048).size() <= 2048);
}

TEST_CASE("Files with any numbers among the logs do not hold up the keeping of logs", "[A10]") {
  const TestFolder folder;
  const PodFolder pod(folder.path(), "uid");
  const std::string where = pod.logs("c");
  REQUIRE(LogWriter::open(where, 0));
  for (const std::uint32_t piece : {0U, 4'294'967'295U})
    folder.write(log_piece("pods/uid/logs/c", 0, piece), kRecord);
  Pod gone;
  gone.metadata.ns = "default";
  gone.metadata.name = "llama-1-0";
  gone.metadata.labels = PackedMap{{std::string(kAttemptLabel), "1"}};
  gone.metadata.owners = {{.kind = "TrainingJob", .name = "llama", .uid = "u", .controller = true}};
  gone.spec.containers.push_back({.name = "c"});
  KeptLogs kept(folder.file("kept"));
  kept.keep(gone, pod, {});
  CHECK(kept.find("default", "llama-1-0", "c"));
}

TEST_CASE("A volume is not written through a link that a program made", "[A10]") {
  const TestFolder folder;
  const PodFolder pod(folder.path(), "uid");
  folder.write("outside", "mine");
  REQUIRE(::chmod(folder.file("outside").c_str(), 0400) == 0);
  REQUIRE(pod.write_volume("v", {{"k", {.bytes = "one", .mode = 0400}}}));
  REQUIRE(pod.write_volume("v", {{"k", {.bytes = "two", .mode = 0400}}}));
  CHECK(text_of(folder.file("pods/uid/volumes/v/k")) == "two");
  const std::string path = pod.volume("v") + "/k";
  REQUIRE(::unlink(path.c_str()) == 0);
  REQUIRE(::symlink(folder.file("outside").c_str(), path.c_str()) == 0);
  const auto written = pod.write_volume("v", {{"k", {.bytes = "three", .mode = 0644}}});
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().context, Catch::Contains("not a regular file"));
  CHECK(text_of(folder.file("outside")) == "mine");
  struct stat info{};
  REQUIRE(::stat(folder.file("outside").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777U) == 0400U);
}

}  // namespace
}  // namespace amdahl::local
