#include "local/apiserver/journal/journal.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace amdahl::local {
namespace {
namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "amdahl-journal-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name = "objects.db") const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

JournalContents contents_of(const std::string& path) {
  const auto journal = Journal::open(path);
  REQUIRE(journal);
  const auto contents = (*journal)->read();
  REQUIRE(contents);
  return *contents;
}

std::vector<std::string> texts(const JournalContents& contents) {
  std::vector<std::string> all;
  for (const JournalObject& object : contents.objects) all.push_back(object.storage + object.text);
  return all;
}

void execute(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

TEST_CASE("Journal gives back what was appended, and the newest version even of what is gone") {
  const Folder folder;
  {
    const auto journal = Journal::open(folder.file());
    REQUIRE(journal);
    const std::vector<JournalRecord> first = {
        {.version = 1, .storage = "pods", .key = "a/x", .text = R"({"n":1})"},
        {.version = 2, .storage = "nodes", .key = "n", .text = R"({"n":2})"},
        {.version = 3, .storage = "pods", .key = "a/x", .text = R"({"n":3})"}};
    REQUIRE((*journal)->append(first));
    const std::vector<JournalRecord> second = {{.version = 9, .storage = "nodes", .key = "n"}};
    REQUIRE((*journal)->append(second));
    REQUIRE((*journal)->append({}));
  }
  const JournalContents contents = contents_of(folder.file());
  CHECK(texts(contents) == std::vector<std::string>{R"(pods{"n":3})"});
  CHECK(contents.last_version == 9);
}

TEST_CASE("Journal keeps its file from other users") {
  const Folder folder;
  const auto journal = Journal::open(folder.file());
  REQUIRE(journal);
  for (const std::string suffix : {"", "-wal"}) {
    struct stat found{};
    REQUIRE(::stat((folder.file() + suffix).c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
  }
}

TEST_CASE("Journal refuses a file that another process has open, and says so") {
  const Folder folder;
  const auto first = Journal::open(folder.file());
  REQUIRE(first);
  const auto second = Journal::open(folder.file());
  REQUIRE_FALSE(second);
  CHECK(second.error().code == Errc::kConflict);
  CHECK(second.error().context.find("another process") != std::string::npos);
  CHECK(second.error().context.find(folder.file()) != std::string::npos);
}

TEST_CASE("Journal leaves alone what is no journal, or a newer one") {
  const Folder folder;
  const std::string path = folder.file();
  SECTION("garbage") {
    std::ofstream(path) << std::string(5000, 'x');
    const auto opened = Journal::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == Errc::kCorrupt);
    CHECK(fs::file_size(path) == 5000);
  }
  SECTION("another program's database") {
    execute(path, "CREATE TABLE theirs (x)");
    const auto opened = Journal::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == Errc::kCorrupt);
  }
  SECTION("a newer schema") {
    REQUIRE(Journal::open(path));
    execute(path, "PRAGMA user_version = 99");
    const auto opened = Journal::open(path);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == Errc::kInvalid);
    CHECK(opened.error().context.find("newer amdahl (schema 99") != std::string::npos);
  }
  SECTION("a folder that is not there") {
    const auto opened = Journal::open(folder.file("absent/objects.db"));
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == Errc::kIo);
  }
}

TEST_CASE("Journal opens files of every earlier schema") {
  const Folder folder;
  fs::copy_file("local/apiserver/journal/testdata/schema-1.db", folder.file());
  const JournalContents contents = contents_of(folder.file());
  CHECK(texts(contents) == std::vector<std::string>{R"(configmaps{"old":1})", R"(pods{"old":2})"});
  CHECK(contents.last_version == 41);
}

TEST_CASE("Journal takes a batch as a whole or not at all when the disk is full") {
  const Folder folder;
  const auto journal = Journal::open(folder.file());
  REQUIRE(journal);
  const std::vector<JournalRecord> small = {
      {.version = 1, .storage = "pods", .key = "a", .text = "{}"}};
  REQUIRE((*journal)->append(small));
  // A file size limit is the disk that is full; the signal that comes with it is not wanted.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{.rlim_cur = 256U << 10U, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  const std::string large(1U << 20U, 'x');
  const std::vector<JournalRecord> batch = {
      {.version = 2, .storage = "pods", .key = "b", .text = "{}"},
      {.version = 3, .storage = "pods", .key = "c", .text = large}};
  const auto refused = (*journal)->append(batch);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::kIo);
  const auto contents = (*journal)->read();
  REQUIRE(contents);
  CHECK(texts(*contents) == std::vector<std::string>{"pods{}"});
  CHECK(contents->last_version == 1);
  REQUIRE((*journal)->append(batch));
}

// The child writes and says through a pipe what was accepted; then it is killed at some instant.
TEST_CASE("Journal has everything it acknowledged after SIGKILL at any instant") {
  for (int round = 0; round < 8; ++round) {
    const Folder folder;
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto journal = Journal::open(folder.file());
      for (std::uint64_t version = 1; journal; ++version) {
        const std::string key = std::to_string(version);
        const std::vector<JournalRecord> one = {
            {.version = version, .storage = "pods", .key = key, .text = key}};
        if (!(*journal)->append(one)) break;
        if (::write(pipe[1], &version, sizeof version) != sizeof version) break;
      }
      ::_exit(1);
    }
    ::close(pipe[1]);
    std::uint64_t acknowledged = 0;
    const std::uint64_t enough = 3 + static_cast<std::uint64_t>(round) * 5;
    while (acknowledged < enough)
      REQUIRE(::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged);
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    while (::read(pipe[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) continue;
    ::close(pipe[0]);
    const JournalContents contents = contents_of(folder.file());
    CHECK(contents.last_version >= acknowledged);
    CHECK(contents.objects.size() == contents.last_version);
  }
}

}  // namespace
}  // namespace amdahl::local
