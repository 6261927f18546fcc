#include "local/apiserver/front/journal_writer.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/task_group.hpp"

namespace amdahl::local {
namespace {
namespace fs = std::filesystem;

constexpr int kBatches = 50;
using TextPtr = std::shared_ptr<const std::string>;

// What a server does: the journal reads texts whose other owners come and go on the loop.
struct Writing {
  JournalWriter& writer;
  std::vector<TextPtr> texts = {};
  int written = 0;
  int turns = 0;  // of the loop while a batch was written
  bool busy = false;

  Task<void> write() {
    for (int number = 1; number <= kBatches; ++number) {
      texts.push_back(std::make_shared<const std::string>(fmt::format("{{\"n\":{}}}", number)));
      const std::string key = fmt::format("default/m-{:03}", number);
      const TextPtr text = texts.back();
      busy = true;
      const auto done = co_await writer.append({{.version = static_cast<std::uint64_t>(number),
                                                 .storage = "configmaps",
                                                 .key = key,
                                                 .text = *text}});
      busy = false;
      if (done) ++written;
    }
  }
  Task<void> go_on() {
    while (written < kBatches) {
      const std::vector<TextPtr> mine = texts;
      if (busy) ++turns;
      co_await boost::asio::post(boost::asio::use_awaitable);
    }
  }
};

void run(Writing& writing) {
  boost::asio::io_context io(1);
  RealClock clock;
  TaskGroup tasks(io.get_executor());
  tasks.spawn("write", writing.write());
  tasks.spawn("go on", writing.go_on());
  const Monotonic deadline = clock.monotonic() + std::chrono::seconds{20};
  REQUIRE(run_until_complete(io, tasks.join(clock, deadline)));
}

TEST_CASE("JournalWriter lets the loop go on while the disk is written") {
  std::string folder = (fs::temp_directory_path() / "amdahl-writer-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  {
    const auto journal = *Journal::open(folder + "/objects.db");
    REQUIRE(journal->on_disk());
    JournalWriter writer(*journal);
    Writing writing{.writer = writer};
    run(writing);
    CHECK(writing.written == kBatches);
    CHECK(writing.turns >= kBatches);
    const auto kept = journal->read();
    REQUIRE(kept);
    CHECK(kept->last_version == kBatches);
    REQUIRE(kept->objects.size() == kBatches);
    CHECK(kept->objects.back().text == *writing.texts.back());
  }
  fs::remove_all(folder);
}

TEST_CASE("JournalWriter writes a journal in memory at once") {
  const auto journal = *Journal::open(":memory:");
  REQUIRE_FALSE(journal->on_disk());
  JournalWriter writer(*journal);
  Writing writing{.writer = writer};
  run(writing);
  CHECK(writing.written == kBatches);
  CHECK(writing.turns == 0);
}

}  // namespace
}  // namespace amdahl::local
