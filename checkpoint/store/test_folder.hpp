// A folder for one test, gone with it.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

namespace amdahl::checkpoint {

class TestFolder {
 public:
  explicit TestFolder(const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
    std::string name = (in / "amdahl-store-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  // In memory, for tests that sync a thousand times.
  static std::filesystem::path quick() {
    const std::filesystem::path memory = "/dev/shm";
    return std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace amdahl::checkpoint
