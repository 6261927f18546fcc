// Whose file a frame of a Python traceback is in: the script's, or a library's.
//
// For ReportError::where and for the diagnosis, which must not differ: an exception is raised
// inside a library and made in the line of the script that called it. Pure. Failure: none.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace amdahl::api {

// Installed packages, Python's own files, and our package, which is often on PYTHONPATH. A folder
// of the user's that is called amdahl is none of these.
inline bool is_library_file(std::string_view path) {
  constexpr auto kFolders =
      std::to_array<std::string_view>({"/site-packages/", "/dist-packages/", "/lib/python3",
                                       "/lib64/python3", "/amdahl/checkpoint/"});
  constexpr auto kOurs = std::to_array<std::string_view>(
      {"/amdahl/__init__.py", "/amdahl/agreement.py", "/amdahl/job.py", "/amdahl/launcher_lines.py",
       "/amdahl/rank_failure.py", "/amdahl/ranks.py"});
  return path.starts_with('<') ||
         std::ranges::any_of(kFolders, [&](auto part) { return path.contains(part); }) ||
         std::ranges::any_of(kOurs, [&](auto file) { return path.ends_with(file); });
}

}  // namespace amdahl::api
