// `amdahl checkpoint` on a directory that an engine has written.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "checkpoint/engine/test_state.hpp"
#include "checkpoint/store/file_store.hpp"
#include "cli/checkpoint_text.hpp"
#include "cli/command_line.hpp"

namespace amdahl::cli {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = [] {
    std::string name = (fs::temp_directory_path() / "amdahl-cli-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    return fs::path(name);
  }();
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

struct Said {
  int code = -1;
  std::string out = {};
  std::string err = {};
};

Said say(std::vector<std::string> words) {
  words.insert(words.begin(), {"amdahl", "checkpoint"});
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  RealClock clock;
  Said said;
  Program program{.clock = clock, .seed = 7};
  program.terminal = {.out = [&](std::string_view text) { said.out += text; },
                      .err = [&](std::string_view text) { said.err += text; },
                      .input = [](std::size_t) { return Result<std::string>(""); },
                      .confirm = [](std::string_view) { return false; }};
  program.environment.variables["HOME"] = "/nowhere";
  said.code = run(program, pointers);
  return said;
}

void save(const fs::path& path, const std::vector<std::int64_t>& steps) {
  RealClock clock;
  checkpoint::RealWaiter waiter;
  checkpoint::FileStore store({.root = path.string()}, clock, Rng(1));
  auto options = checkpoint::test::small_options(checkpoint::test::identity("a"));
  options.retention.keep_last = 10;
  const auto engine = checkpoint::Engine::open(store, clock, waiter, std::move(options));
  REQUIRE(engine.has_value());
  for (const std::int64_t step : steps) REQUIRE(checkpoint::test::save_step(**engine, step));
}

// Of a data object of that step.
fs::path object_of(const fs::path& prefix, const std::string& step) {
  for (const auto& entry : fs::directory_iterator(prefix / "data"))
    if (entry.path().filename().string().starts_with(std::string(20 - step.size(), '0') + step))
      return entry.path();
  return {};
}

TEST_CASE("Checkpoint ls, show and export tell what an engine has saved") {
  const Folder folder;
  const std::string where = (folder.path / "job").string();
  CHECK_THAT(say({"ls", where}).out, Catch::Contains("No checkpoint is committed"));
  CHECK(say({"show", where}).code == kFailed);
  save(where, {10, 20});
  const Said listed = say({"ls", where});
  CHECK(listed.code == kDone);
  CHECK(listed.out.find("20 ") < listed.out.find("10 "));
  const Json json = Json::parse(say({"ls", where, "-o", "json"}).out);
  REQUIRE(json.size() == 2);
  CHECK(json[0]["step"] == 20);
  CHECK(json[0]["manifest"]["receipts"].size() == 1);
  const Said shown = say({"show", where, "--step", "10", "--tensors"});
  CHECK(shown.code == kDone);
  CHECK_THAT(shown.out, Catch::Contains("Step:") && Catch::Contains("F32"));
  const std::string file = (folder.path / "x.safetensors").string();
  const Said exported = say({"export-safetensors", where, file});
  INFO(exported.err);
  CHECK(exported.code == kDone);
  CHECK_THAT(exported.out, Catch::Contains("Step 20 is in"));
  CHECK(fs::file_size(file) > 100);
  CHECK(say({"export-safetensors", where, file}).code == kFailed);  // never over a file
}

TEST_CASE("Checkpoint verbs print an address that does not move the cursor", "[A1]") {
  const Folder folder;
  const std::string where = (folder.path / "job\x1b[31m\x07\xc2\x9b").string();
  const Said listed = say({"ls", where});
  CHECK(listed.code == kDone);
  CHECK_THAT(listed.out, Catch::Contains("/job [31m  .\n"));
  CHECK_THAT(say({"show", where}).err, Catch::Contains("/job [31m  : no checkpoint"));
}

TEST_CASE("Checkpoint verify names what is damaged, and show falls back") {
  const Folder folder;
  const std::string where = (folder.path / "job").string();
  save(where, {10, 20});
  CHECK(say({"verify", where, "--all"}).code == kDone);
  {
    std::fstream object(object_of(where, "20"), std::ios::in | std::ios::out | std::ios::binary);
    object.seekp(-1, std::ios::end);
    object.put('\x5a');
  }
  const Said bad = say({"verify", where});
  CHECK(bad.code == kFailed);
  CHECK_THAT(bad.out, Catch::Contains("BAD") && Catch::Contains("chunk"));
  CHECK(say({"verify", where, "--step", "10"}).code == kDone);
  std::ofstream(fs::path(where) / "manifests" / "00000000000000000020.jsonl") << "{}\n";
  CHECK_THAT(say({"ls", where}).out, Catch::Contains("cannot be used"));
  const Said shown = say({"show", where});
  CHECK(shown.code == kDone);
  CHECK_THAT(shown.err, Catch::Contains("step 20 cannot be used"));
  CHECK_THAT(shown.out, Catch::Contains("10"));
}

TEST_CASE("Checkpoint verbs call a step that nobody saved by that name, and not damaged") {
  const Folder folder;
  const std::string where = (folder.path / "job").string();
  save(where, {10});
  for (const char* const verb : {"verify", "show"}) {
    const Said said = say({verb, where, "--step", "11"});
    CHECK(said.code == kFailed);
    CHECK_THAT(said.err, Catch::Contains("step 11 is not committed there") &&
                             Catch::Contains("amdahl checkpoint ls file://" + where));
    CHECK(said.out.empty());
  }
}

TEST_CASE("Checkpoint verbs count only what a trusted key has signed, if asked to") {
  const Folder folder;
  const std::string where = (folder.path / "job").string();
  save(where, {10});
  const std::string keys = (folder.path / "keys.pem").string();
  // Of RFC 8410, section 10.1.
  std::ofstream(keys) << "-----BEGIN PUBLIC KEY-----\n"
                         "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
                         "-----END PUBLIC KEY-----\n";
  CHECK(say({"show", where}).code == kDone);
  const Said shown = say({"show", where, "--trust", keys});
  CHECK(shown.code == kFailed);
  CHECK_THAT(shown.err, Catch::Contains("not signed"));
  CHECK_THAT(say({"ls", where, "--trust", keys}).out, Catch::Contains("cannot be used"));
  const Said missing = say({"ls", where, "--trust", keys + ".old"});
  CHECK(missing.code == kFailed);
  CHECK_THAT(missing.err, Catch::Contains("keys.pem.old"));
}

TEST_CASE("Checkpoint gc removes what is not kept, and only that") {
  const Folder folder;
  const std::string where = (folder.path / "job").string();
  save(where, {10, 20, 30});
  std::ofstream(fs::path(where) / "data" / "notes.txt") << "mine";
  CHECK(say({"pin", where, "10"}).code == kDone);
  const Said none = say({"pin", where, "11"});
  CHECK(none.code == kFailed);
  CHECK_THAT(none.err, Catch::Contains("step 11 is not pinned") &&
                           Catch::Contains("amdahl checkpoint ls file://" + where));
  CHECK_FALSE(fs::exists(fs::path(where) / "pins" / "00000000000000000011"));
  const Said planned = say({"gc", where, "--keep-last", "1", "--dry-run"});
  CHECK_THAT(planned.out, Catch::Contains("would remove manifests/00000000000000000020.jsonl") &&
                              Catch::Contains("1 objects are not ours"));
  CHECK(Json::parse(say({"ls", where, "-o", "json"}).out).size() == 3);
  CHECK(say({"gc", where, "--keep-last", "1", "--job-has-ended"}).code == kDone);
  const Json left = Json::parse(say({"ls", where, "-o", "json"}).out);
  REQUIRE(left.size() == 2);
  CHECK(left[0]["step"] == 30);
  CHECK(left[1]["pinned"] == true);
  CHECK(fs::exists(fs::path(where) / "data" / "notes.txt"));
  CHECK(say({"verify", where, "--all"}).code == kDone);
  CHECK(say({"unpin", where, "10"}).code == kDone);
  CHECK(say({"gc", where, "--keep-last", "1"}).code == kDone);
  CHECK(Json::parse(say({"ls", where, "-o", "json"}).out).size() == 1);
}

TEST_CASE("Checkpoint verbs refuse places that cannot be") {
  CHECK(say({"ls", "ftp://x/y"}).code != kDone);
  CHECK_THAT(say({"ls", "ftp://x/y"}).err, Catch::Contains("ftp"));
  const Said collected = say({"gc", "/nowhere/at/all"});
  CHECK(collected.code == kFailed);
  CHECK_THAT(collected.err, Catch::Contains("file:///nowhere/at/all: no job has saved there"));
  CHECK(say({"pin", "/tmp", "-1"}).code == kWrongUsage);
}

TEST_CASE("Sizes have one figure behind the point") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(std::int64_t{24} << 30) == "24.0 GiB");
}

}  // namespace
}  // namespace amdahl::cli
