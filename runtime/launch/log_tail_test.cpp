#include "runtime/launch/log_tail.hpp"

#include <catch2/catch.hpp>

using amdahl::launch::LogTail;
using enum amdahl::launch::LogTail::Stream;

TEST_CASE("LogTail keeps all of a short log", "[D9]") {
  LogTail tail(16);
  CHECK(tail.text().empty());
  tail.add(kOut, "no newline, ");
  tail.add(kOut, "yet");
  CHECK(tail.text() == "no newline, yet");
}

TEST_CASE("LogTail keeps the end of a long log from the beginning of a line", "[D9]") {
  LogTail tail(16);
  for (int i = 0; i < 1000; ++i) tail.add(kOut, "line " + std::to_string(i) + "\n");
  CHECK(tail.text() == "line 999\n");
  tail.add(kOut, "a line that is longer than all\nlast\n");
  CHECK(tail.text() == "last\n");
}

TEST_CASE("LogTail keeps the end of a line that never ends", "[D9]") {
  LogTail tail(4096);
  tail.add(kOut, std::string(10'000, 'x') + "\rdone\n");
  CHECK(tail.text() == std::string(4090, 'x') + "\rdone\n");
  tail.add(kOut, std::string(3000, 'y'));
  // The newline is further from the cut than a partial line may be long.
  CHECK(tail.text().size() == 4096);
}

TEST_CASE("LogTail does not begin inside a character", "[D9]") {
  LogTail tail(3);
  tail.add(kOut, "\xe2\x82\xac\xe2\x82\xac.");
  CHECK(tail.text() == ".");
}

TEST_CASE("LogTail does not tear the lines of two streams apart", "[D9]") {
  LogTail tail(4096);
  tail.add(kOut, "to stdout");
  tail.add(kErr, "to stderr");
  CHECK(tail.text() == "to stdoutto stderr");  // nothing is lost of unfinished lines
  tail.add(kErr, "\nthen ");
  tail.add(kOut, "\n");
  tail.add(kErr, "more\n");
  CHECK(tail.text() == "to stderr\nto stdout\nthen more\n");
  tail.add(kOut, std::string(2000, 'x'));  // longer than a line is waited for
  tail.add(kErr, "end\n");
  CHECK(tail.text().ends_with("xxxend\n"));
}
