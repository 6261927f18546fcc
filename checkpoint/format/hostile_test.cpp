// Files that somebody might put in the place of ours. Each stands in testdata/hostile with the
// error that names its fault; make_hostile.py writes them, and says what each one is.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "checkpoint/format/owner.hpp"
#include "checkpoint/format/test_sample.hpp"

namespace amdahl::checkpoint::test {
namespace {

const std::filesystem::path kFolder = "checkpoint/format/testdata/hostile";

template <class T>
std::string verdict(const Result<T>& result) {
  if (result) return "accepted";
  return std::string(name(result.error().code)) + ": " + result.error().context;
}

std::string read_as(const std::string& kind, const std::string& text) {
  const auto size = static_cast<std::int64_t>(text.size());
  if (kind == "header") return verdict(read_header(bytes_of(text), size));
  if (kind == "owner") return verdict(read_owner(text));
  if (kind == "receipt")
    return verdict(
        read_receipt("receipts/00000000000000000100-00112233445566aa-00000.jsonl", text));
  REQUIRE(kind == "manifest");
  return verdict(read_manifest("manifests/00000000000000000200.jsonl", text));
}

Json verdicts_of_files() {
  Json verdicts = Json::object();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (!entry.is_regular_file() || entry.path().filename() == "expected.json") continue;
    const std::string file = entry.path().lexically_relative(kFolder).string();
    verdicts[file] = read_as(file.substr(0, file.find('/')), file_text(entry.path().string()));
  }
  return verdicts;
}

TEST_CASE("Hostile files are refused with the error that names their fault") {
  const Json verdicts = verdicts_of_files();
  if (std::getenv("AMDAHL_UPDATE_GOLDEN") != nullptr)
    std::ofstream(kFolder / "expected.json") << verdicts.dump(1) << "\n";
  const Json expected = Json::parse(file_text((kFolder / "expected.json").string()));
  CHECK(verdicts.size() >= 120);
  CHECK(verdicts.size() == expected.size());
  for (const auto& [file, verdict] : verdicts.items()) {
    INFO(file);
    CHECK(verdict != "accepted");
    CHECK(verdict == expected.value(file, ""));
  }
}

}  // namespace
}  // namespace amdahl::checkpoint::test
