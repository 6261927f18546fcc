#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/test_death.hpp"

namespace amdahl {
namespace {
using namespace std::chrono_literals;
using Json = nlohmann::json;

enum class Colour : std::uint8_t { kRed };
std::string_view name(Colour) {
  return "red";
}

struct Key {
  std::string ns;
  std::string name;
};
std::string to_string(const Key& key) {
  return key.ns + "/" + key.name;
}

struct Fixture {
  ManualClock clock{WallTime{1'700'000'000'123'456us}};
  std::vector<std::string> lines;
  Log log{clock, [this](std::string_view line) { lines.emplace_back(line); }};

  Json last() const { return Json::parse(lines.at(lines.size() - 1)); }
};

TEST_CASE_METHOD(Fixture, "Log writes one JSON line with severity, time, message and fields") {
  log.info("restart planned", {{"trainjob", Key{"research", "llama"}}, {"attempt", 3}});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "{\"severity\":\"INFO\",\"time\":\"2023-11-14T22:13:20.123456Z\","
        "\"message\":\"restart planned\",\"trainjob\":\"research/llama\",\"attempt\":3}\n");
}

TEST_CASE_METHOD(Fixture, "Log keeps the type of every value") {
  const std::string owned = "owned";
  const char* pointer = "pointer";
  log.info("types", {{"text", owned},
                     {"pointer", pointer},
                     {"negative", -5},
                     {"large", std::numeric_limits<std::uint64_t>::max()},
                     {"ratio", 0.25},
                     {"infinite", std::numeric_limits<double>::infinity()},
                     {"yes", true},
                     {"took_seconds", 1500ms},
                     {"colour", Colour::kRed},
                     {"error", Error{.code = Errc::kGone, .context = "list pods"}}});
  const Json line = last();
  CHECK(line["text"] == "owned");
  CHECK(line["pointer"] == "pointer");
  CHECK(line["negative"] == -5);
  CHECK(line["large"] == std::numeric_limits<std::uint64_t>::max());
  CHECK(line["ratio"] == 0.25);
  CHECK(line["infinite"] == "inf");
  CHECK(line["yes"] == true);
  CHECK(line["took_seconds"] == 1.5);
  CHECK(line["colour"] == "red");
  CHECK(line["error"] == "gone: list pods");
}

TEST_CASE_METHOD(Fixture, "Log writes nothing below its threshold, which moves at run time") {
  const Log child = log.with({{"kind", "pod"}});
  log.debug("quiet");
  CHECK(lines.empty());
  log.set_threshold(Severity::kDebug);
  child.debug("heard");
  CHECK(last()["severity"] == "DEBUG");
  log.set_threshold(Severity::kError);
  child.warning("quiet");
  CHECK(lines.size() == 1);
  CHECK(*parse_severity("Warning") == Severity::kWarning);
  CHECK_FALSE(parse_severity("loud"));
  Log().critical("nobody listens");
}

TEST_CASE_METHOD(Fixture, "Log children carry their fields, and a field of the line wins") {
  const Log child = log.with({{"controller", "trainjob"}, {"attempt", 1}}).with({{"attempt", 2}});
  child.info("one");
  CHECK(last()["controller"] == "trainjob");
  CHECK(last()["attempt"] == 2);
  child.info("two", {{"attempt", 3}});
  CHECK(last()["attempt"] == 3);
  const std::string& line = lines.back();
  CHECK(line.find("attempt") == line.rfind("attempt"));
  log.info("three");
  CHECK_FALSE(last().contains("controller"));
}

TEST_CASE_METHOD(Fixture, "Log hides credentials by key and by look") {
  log.error("call failed",
            {{"token", "abc"},
             {"password", 1234},
             {"reason", "sent Authorization: Bearer abcdefghijkl"},
             {"tokens_per_second", 812},
             {"key", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"}});
  const Json line = last();
  CHECK(line["token"] == "[redacted]");
  CHECK(line["password"] == "[redacted]");
  CHECK(line["reason"] == "sent Authorization: Bearer [redacted]");
  CHECK(line["tokens_per_second"] == 812);
  CHECK(line["key"] == "[redacted]");
}

TEST_CASE_METHOD(Fixture, "Log makes any bytes one valid line of bounded length") {
  log.info("odd", {{"control", "a\n\x1b[31m\"\\b"}, {"invalid", "x\xff\xc3y"}});
  CHECK(lines[0].find('\n') == lines[0].size() - 1);
  CHECK(last()["control"] == "a\n\x1b[31m\"\\b");
  CHECK(last()["invalid"] == "x\xef\xbf\xbd\xef\xbf\xbdy");
  std::string longer(Log::kValueBytesMax - 1, 'a');
  for (int i = 0; i < 50; ++i) longer += "\xc3\xa9";  // two bytes each: one would be split
  log.info("long", {{"text", longer}});
  const std::string text = last()["text"];
  CHECK(text == std::string(Log::kValueBytesMax - 1, 'a') + "...[100 bytes cut]");
}

TEST_CASE_METHOD(Fixture, "Log counts a message that repeats too fast instead of writing it") {
  for (int i = 0; i < 250; ++i) log.warning("watch failed", {{"attempt", i}});
  CHECK(lines.size() == Log::kRepeatsMax);
  log.error("watch failed");  // another severity is another message
  log.warning("other");
  CHECK(lines.size() == Log::kRepeatsMax + 2);
  SECTION("the next line after the window tells, whatever it says") {
    clock.advance(Log::kRepeatWindow);
    log.info("calm again");
    REQUIRE(lines.size() == Log::kRepeatsMax + 4);
    const Json told = Json::parse(lines[lines.size() - 2]);
    CHECK(told["message"] == "watch failed");
    CHECK(told["severity"] == "WARNING");
    CHECK(told["suppressed"] == 150);
    log.warning("watch failed");
    CHECK_FALSE(last().contains("suppressed"));
  }
  SECTION("flush tells at once") {
    log.flush_suppressed();
    CHECK(last()["suppressed"] == 150);
    const std::size_t before = lines.size();
    log.flush_suppressed();
    CHECK(lines.size() == before);
  }
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { REQUIRE(::pipe(ends) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  std::string drain() const {
    std::string text;
    char buffer[65'536];
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }
};

TEST_CASE("fd_log_sink survives a reader that does not read, and says what was lost") {
  const Pipe pipe;
  const bool blocking = GENERATE(true, false);
  if (!blocking) ::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK);
  const LogSink sink = fd_log_sink(pipe.ends[1]);
  const std::string line = std::string(9'999, 'x') + "\n";
  for (int i = 0; i < 20; ++i) sink(line);  // a pipe holds 64 KiB; the rest has no place
  const std::string first = pipe.drain();
  CHECK(first.size() <= 65'536);
  CHECK(first.starts_with(line));
  sink("back\n");
  const std::string rest = pipe.drain();
  const auto at = rest.find("{\"severity\":\"WARNING\"");
  REQUIRE(at != rest.npos);
  CHECK(rest.ends_with("}\nback\n"));
  const Json lost = Json::parse(rest.substr(at, rest.find('\n', at) - at));
  CHECK(lost["lost"].get<int>() == 20 - static_cast<int>(first.size() / line.size()));
}

TEST_CASE("fd_log_sink outlives its reader, whatever SIGPIPE does") {
  const auto write_to_nobody = [] {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) return;
    const LogSink sink = fd_log_sink(ends[1]);
    sink("heard\n");
    ::close(ends[0]);
    for (int i = 0; i < 100; ++i) sink("nobody\n");
  };
  CHECK(fatal_signal(write_to_nobody) == 0);
}

TEST_CASE("fd_log_sink gives up on a descriptor that is closed") {
  const LogSink sink = fd_log_sink(-1);
  sink("nobody\n");
  sink("nobody\n");
}

}  // namespace
}  // namespace amdahl
