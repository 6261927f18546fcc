#include "cli/text_layout.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/live_text.hpp"
#include "cli/log_lines.hpp"
#include "cli/object_text.hpp"

namespace amdahl::cli {
namespace {

TEST_CASE("Text of others becomes one harmless line") {
  CHECK(one_line("plain") == "plain");
  CHECK(one_line("two\nlines\r\n\tand more\n") == "two lines and more");
  CHECK(one_line("\x1b[31mred\x1b[0m") == "[31mred [0m");
  CHECK(one_line("a\xc2\x9b"
                 "31mb") == "a 31mb");
  CHECK(one_line("a\xe2\x80\xae\xe2\x81\xa9") == "a");
  CHECK(one_line("a\x9bz\xc2") == "a z\xc2");  // bytes of no character
  CHECK(one_line("gr\xc3\xbc\xc3\x9f") == "gr\xc3\xbc\xc3\x9f");
  CHECK(one_line("").empty());
}

TEST_CASE("Objects keep every character, and escape those that a terminal obeys", "[A1]") {
  const Json object = {{"k\x7f", "a\xc2\x9b\xc2\x85\xe2\x80\xae\x1b\xc3\xbc\n"}};
  const std::string text = object_text(object, "json");
  CHECK(text == "{\n    \"k\\u007f\": \"a\\u009b\\u0085\\u202e\\u001b\xc3\xbc\\n\"\n}\n");
  CHECK(Json::parse(text) == object);
  // The same as YAML, which may not escape outside of quotes.
  CHECK(object_text(object, "yaml") == text);
  CHECK(object_text({{"k", "gr\xc3\xbcn"}}, "yaml") == "k: gr\xc3\xbcn\n");
}

TEST_CASE("Characters are counted and cut whole") {
  CHECK(width_of("gr\xc3\xbc"
                 "n") == 4);
  CHECK(cut_to("gr\xc3\xbcn", 3) == "gr\xc3\xbc");
  CHECK(cut_to("short", 80) == "short");
  CHECK(cut_to("none", 0).empty());
}

TEST_CASE("A word for a shell is quoted when it has to be") {
  CHECK(shell_word("jobs/llama-1.yaml") == "jobs/llama-1.yaml");
  CHECK(shell_word("my job.yaml") == "'my job.yaml'");
  CHECK(shell_word("it's $HOME") == "'it'\\''s $HOME'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("A span has two units at most") {
  using std::chrono::seconds;
  const std::pair<std::int64_t, std::string> rows[] = {
      {-5, "0s"},   {0, "0s"},      {119, "119s"},  {120, "2m"},      {125, "2m5s"},
      {3600, "1h"}, {3900, "1h5m"}, {86'400, "1d"}, {90'061, "1d1h"}, {8'640'000, "100d"}};
  for (const auto& [span, text] : rows) CHECK(short_span(seconds{span}) == text);
}

TEST_CASE("A count is short") {
  CHECK(short_count(0) == "0");
  CHECK(short_count(9'999) == "9999");
  CHECK(short_count(12'345) == "12.3k");
  CHECK(short_count(4.5e9) == "4500.0M");
  CHECK(short_count(1e15) == "1000.0T");
}

TEST_CASE("Columns stand under each other") {
  Columns rows("> ");
  CHECK(rows.empty());
  rows.add({"a", "long", "end"});
  rows.add({"bbb", "", ""});
  CHECK(rows.text() == "> a     long   end\n> bbb\n");
}

TEST_CASE("LiveText writes over what it wrote, and nothing when nothing changed") {
  LiveText live;
  const ScreenSize size{.columns = 5, .rows = 4};
  CHECK(live.replace("one\ntwo\n", size) == "\x1b[Jone\ntwo\n");
  CHECK(live.replace("one\ntwo\n", size).empty());
  CHECK(live.replace("longer\n", size) == "\x1b[2A\x1b[Jlonge\n");
  CHECK(live.replace("1\n2\n3\n4\n5\n", size) == "\x1b[1A\x1b[J1\n2\n... 3\n");
  CHECK(live.replace("1\n2\n3\n", size) == "\x1b[3A\x1b[J1\n2\n3\n");
}

TEST_CASE("LogLines puts its word before whole lines") {
  LogLines lines("[3] ");
  CHECK(lines.add("he").empty());
  CHECK(lines.add("llo\n\nwor") == "[3] hello\n[3] \n");
  CHECK(lines.finish() == "[3] wor\n");
  CHECK(lines.finish().empty());
  const std::string pieces = lines.add(std::string(kLogLineBytesMax + 1, 'x'));
  CHECK(pieces.size() == kLogLineBytesMax + 5);
  CHECK(lines.add("\n") == "[3] x\n");
}

}  // namespace
}  // namespace amdahl::cli
