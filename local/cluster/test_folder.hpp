// A data folder of a test, below a fresh temporary one; gone with it.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "local/cluster/data_folder.hpp"

namespace amdahl::local {

class TestFolder {
 public:
  TestFolder() { REQUIRE(folder.make()); }
  ~TestFolder() { std::filesystem::remove_all(root); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string root = make_root();
  const DataFolder folder{root + "/data"};

 private:
  static std::string make_root() {
    std::string path = (std::filesystem::temp_directory_path() / "amdahl-cluster-XXXXXX").string();
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    return path;
  }
};

}  // namespace amdahl::local
