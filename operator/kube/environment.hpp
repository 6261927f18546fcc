// What a program is told from outside: variables, files, a terminal. A value, so that tests need
// neither the process's own variables nor a home directory.
//
// Thread: any; immutable after it was made. Failure: a missing file is Errc::kNotFound, one above
// the cap is Errc::kTooLarge; file contents never appear in an error.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace amdahl::kube {

using FileReader =
    std::function<Result<std::string>(const std::string& path, std::size_t bytes_max)>;

// The real thing.
Result<std::string> read_file(const std::string& path, std::size_t bytes_max);

struct Environment {
  std::map<std::string, std::string, std::less<>> variables = {};
  FileReader read_file = kube::read_file;
  bool terminal = false;  // standard input is a terminal, so a plugin may ask questions

  // Unset and empty are the same thing here, as they are for kubectl.
  std::optional<std::string> get(std::string_view name) const;
};

Environment process_environment();

}  // namespace amdahl::kube
