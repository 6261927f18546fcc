#include "runtime/launch/small_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "runtime/launch/channel.hpp"
#include "runtime/launch/checkpoint_source.hpp"
#include "runtime/launch/find_program.hpp"
#include "runtime/launch/install.hpp"

using namespace amdahl;
using namespace amdahl::launch;

namespace {

struct TestFolder {
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "launch-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~TestFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

}  // namespace

TEST_CASE("read_small_file refuses what is too large") {
  const TestFolder folder;
  REQUIRE(write_file_atomically(folder / "a", "12345", 0644));
  CHECK(read_small_file(folder / "a", 5).value() == "12345");
  CHECK(read_small_file(folder / "a", 4).error().code == Errc::kTooLarge);
  CHECK(read_small_file(folder / "b", 4).error().code == Errc::kNotFound);
  CHECK(read_small_file(folder.path, 4).error().code == Errc::kIo);
}

TEST_CASE("write_termination_log_if_empty leaves what somebody wrote") {
  const TestFolder folder;
  write_termination_log_if_empty("", {});
  write_termination_log_if_empty(folder / "t", {.exit = api::ReportExit{.code = 3}});
  const std::string first = read_small_file(folder / "t", 4096).value();
  CHECK(first.contains(R"("exit":{"code":3})"));
  write_termination_log_if_empty(folder / "t", {.exit = api::ReportExit{.code = 4}});
  CHECK(read_small_file(folder / "t", 4096).value() == first);
}

TEST_CASE("CheckpointMarker tells of every marker once") {
  const TestFolder folder;
  CheckpointMarker marker(folder / "m");
  CHECK_FALSE(marker.poll());
  REQUIRE(write_file_atomically(folder / "m", R"({"step":5,"path":"/c/5"})", 0644));
  CHECK(marker.poll() == api::ReportCheckpoint{.step = 5, .path = "file:///c/5"});
  CHECK_FALSE(marker.poll());
  REQUIRE(write_file_atomically(folder / "m", "{\"step\":", 0644));
  CHECK_FALSE(marker.poll());
  REQUIRE(write_file_atomically(folder / "m", R"({"step":6})", 0644));
  CHECK(marker.poll()->step == 6);
  CHECK_FALSE(CheckpointMarker("").poll());
}

TEST_CASE("find_program follows PATH and tells missing from not executable") {
  const TestFolder folder;
  REQUIRE(write_file_atomically(folder / "run", "#!", 0755));
  REQUIRE(write_file_atomically(folder / "text", "x", 0644));
  CHECK(find_program("run", "/nowhere::" + folder.path).value() == folder / "run");
  CHECK(find_program(folder / "run", "").value() == folder / "run");
  CHECK(find_program("gone", folder.path).error().code == Errc::kNotFound);
  CHECK(find_program("", folder.path).error().code == Errc::kNotFound);
  CHECK(find_program(folder / "gone", "").error().code == Errc::kNotFound);
  CHECK(find_program(folder.path, "").error().code == Errc::kNotFound);  // a folder
  CHECK(find_program("text", folder.path).error().code == Errc::kForbidden);
}

TEST_CASE("install replaces what is there and can be executed") {
  const TestFolder folder;
  REQUIRE(write_file_atomically(folder / "self", "one", 0600));
  CHECK(install(folder / "self", folder.path).value() == folder / kProgramName);
  REQUIRE(write_file_atomically(folder / "self", "two", 0600));
  CHECK(install(folder / "self", folder.path));
  CHECK(read_small_file(folder / kProgramName, 10).value() == "two");
  CHECK(::access((folder / kProgramName).c_str(), X_OK) == 0);
  CHECK_FALSE(install(folder / "self", folder / "nowhere"));
  CHECK_FALSE(install(folder / "gone", folder.path));
  CHECK_FALSE(std::filesystem::exists(folder / "amdahl-launch.new"));
}

TEST_CASE("Channel keeps packets apart and says when it is full or alone") {
  auto pair = make_channel();
  REQUIRE(pair);
  CHECK(pair->first.send(Message::kOut, "abc") == Channel::Sent::kYes);
  CHECK(pair->first.send(Message::kEnded, "") == Channel::Sent::kYes);
  auto packet = pair->second.receive();
  REQUIRE((packet && *packet));
  CHECK((*packet)->kind == Message::kOut);
  CHECK((*packet)->body == "abc");
  packet = pair->second.receive();
  REQUIRE((packet && *packet));
  CHECK((*packet)->kind == Message::kEnded);
  CHECK((*packet)->body.empty());
  packet = pair->second.receive();
  REQUIRE(packet);
  CHECK_FALSE(packet->has_value());
  const std::string large(kPacketBytesMax, 'x');
  Channel::Sent sent = Channel::Sent::kYes;
  for (int i = 0; i < 10'000 && sent == Channel::Sent::kYes; ++i)
    sent = pair->first.send(Message::kOut, large);
  CHECK(sent == Channel::Sent::kFull);
  pair->second.close();
  CHECK(pair->first.send(Message::kOut, "x") == Channel::Sent::kGone);
  CHECK_FALSE(pair->first.receive());
}
