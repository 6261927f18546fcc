#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "operator/training/test_scenario.hpp"

namespace amdahl::training {
namespace {

constexpr std::size_t kScenariosMin = 60;

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("operator/training/scenarios"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The first line that differs, with its number.
std::string first_difference(const std::string& is, const std::string& wanted) {
  std::istringstream a(is);
  std::istringstream b(wanted);
  std::string left;
  std::string right;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, left));
    const bool more_b = static_cast<bool>(std::getline(b, right));
    if (!more_a && !more_b) return "none";
    if (left != right || more_a != more_b)
      return fmt::format("line {}:\n  is      {}\n  wanted  {}", line, more_a ? left : "(the end)",
                         more_b ? right : "(the end)");
  }
}

TEST_CASE("Scenarios of the training controller decide as written") {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const bool update = std::getenv("AMDAHL_UPDATE_SCENARIOS") != nullptr;
  const auto files = scenario_files();
  CHECK(files.size() >= kScenariosMin);
  for (const auto& file : files) {
    const std::string wanted = content(file);
    const auto played = play_scenario(wanted);
    INFO(file.filename().string());
    if (!played) {
      FAIL_CHECK(played.error().context);
      continue;
    }
    for (const std::string& fault : played->faults) FAIL_CHECK(fault);
    if (played->text == wanted) continue;
    if (update)
      std::ofstream(file) << played->text;
    else
      FAIL_CHECK(first_difference(played->text, wanted));
  }
}

}  // namespace
}  // namespace amdahl::training
