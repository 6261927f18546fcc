#include "runtime/launch/log_feed.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <functional>

#include "base/rng.hpp"
#include "runtime/launch/log_reader.hpp"

using namespace amdahl;
using namespace amdahl::launch;

namespace {

const std::string kFailure =
    "Traceback (most recent call last):\n  File \"/app/train.py\", line 7, in <module>\n"
    "    main()\nMemoryError: here\n";

// An observer that reads when it is told to.
struct Reader {
  explicit Reader(Channel& channel) : channel_(channel) {}

  void read(int packets_max) {
    for (int i = 0; i < packets_max; ++i) {
      const auto packet = channel_.receive();
      if (!packet || !*packet) return;
      if (reader.take(**packet, [&](const LogFact& fact) { facts.push_back(fact); })) continue;
      ended = ended || (*packet)->kind == Message::kEnded;
    }
  }
  std::vector<std::string> errors() const {
    std::vector<std::string> types;
    for (const LogFact& fact : facts)
      if (const auto* seen = std::get_if<ErrorSeen>(&fact)) types.push_back(seen->error.type);
    return types;
  }

  Channel& channel_;
  LogReader reader;
  std::vector<LogFact> facts;
  bool ended = false;
};

void end_all(LogFeed& feed, Reader& reader) {
  feed.finish();
  feed.event(Message::kEnded, "1 0 ");
  for (int i = 0; i < 1000 && !reader.ended; ++i) {
    (void)feed.flush();
    reader.read(1);
  }
  REQUIRE(reader.ended);
}

ChannelPair new_channel() {
  auto made = make_channel();
  REQUIRE(made);
  return *std::move(made);
}

}  // namespace

TEST_CASE("LogFeed hands the end of a flood to a reader that reads nothing before it", "[B11]") {
  ChannelPair channel = new_channel();
  LogFeed feed(channel.first);
  Reader reader(channel.second);
  const std::string flood(std::size_t{32} << 10U, 'x');
  for (int i = 0; i < 100; ++i) feed.copied(Message::kOut, flood);
  // As Python writes it: in pieces, with output of the other stream between them.
  for (std::size_t at = 0; at < kFailure.size(); at += 20) {
    feed.copied(Message::kErr, std::string_view(kFailure).substr(at, 20));
    feed.copied(Message::kOut, "x");
  }
  end_all(feed, reader);
  CHECK(reader.errors() == std::vector<std::string>{"MemoryError"});
  CHECK(reader.reader.bytes_unread() > 50 * flood.size());
}

TEST_CASE("LogFeed's end is read at whatever pace, and however the output is cut", "[B11]") {
  Rng rng(20'261'118);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    ChannelPair channel = new_channel();
    LogFeed feed(channel.first);
    Reader reader(channel.second);
    const int floods = static_cast<int>(rng.below(60));
    const double reads = rng.unit();  // how often somebody reads
    for (int i = 0; i < floods; ++i) {
      const std::string flood(1 + rng.below(30'000), rng.chance(0.1) ? '\n' : 'x');
      feed.copied(rng.chance(0.8) ? Message::kOut : Message::kErr, flood + "\n");
      if (rng.chance(reads)) reader.read(1 + static_cast<int>(rng.below(4)));
    }
    for (std::size_t at = 0; at < kFailure.size();) {
      const std::size_t size = 1 + rng.below(60);
      feed.copied(Message::kErr, std::string_view(kFailure).substr(at, size));
      at += size;
      if (rng.chance(0.5)) feed.copied(Message::kOut, std::string(1 + rng.below(9000), 'y'));
      if (rng.chance(reads)) reader.read(1);
    }
    end_all(feed, reader);
    const auto errors = reader.errors();
    REQUIRE_FALSE(errors.empty());
    CHECK(errors.back() == "MemoryError");
  }
}

TEST_CASE("LogFeed repeats nothing to a reader that keeps up", "[B11]") {
  ChannelPair channel = new_channel();
  LogFeed feed(channel.first);
  Reader reader(channel.second);
  for (int i = 0; i < 5000; ++i) {
    feed.copied(Message::kOut, fmt::format("line {}\n", i));
    reader.read(8);
  }
  feed.copied(Message::kErr, kFailure);
  const std::uint64_t before = reader.reader.bytes();
  end_all(feed, reader);
  CHECK(reader.errors().size() == 1);
  CHECK(reader.reader.bytes() <= before + kFailure.size());
  CHECK(reader.reader.bytes_unread() == 0);
}

TEST_CASE("LogReader reads a last line that has no end", "[B11]") {
  LogReader reader;
  std::vector<LogFact> facts;
  const auto sink = [&](const LogFact& fact) { facts.push_back(fact); };
  CHECK(reader.take({.kind = Message::kErr, .body = "\r100%|###| 3/3 [00:01<00:00]"}, sink));
  CHECK(facts.empty());
  reader.finish(sink);
  REQUIRE(facts.size() == 1);
  CHECK(std::get<StepSeen>(facts[0]).step == 3);
}
