#include "runtime/launch/error_lines.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "operator/api/report_frames.hpp"

using namespace amdahl;
using namespace amdahl::launch;

namespace {

// As Python 3.11 prints it when our package finds no shared library.
constexpr std::string_view kOurs =
    R"(Traceback (most recent call last):
  File "/data/python/amdahl/checkpoint/library.py", line 43, in _load
    return ctypes.CDLL(path)
           ^^^^^^^^^^^^^^^^^
  File "/usr/lib64/python3.11/ctypes/__init__.py", line 376, in __init__
    self._handle = _dlopen(self._name, mode)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^
OSError: libamdahl-checkpoint.so: cannot open shared object file: No such file or directory

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/x/amdahl/train.py", line 7, in <module>
    save(3)
  File "/home/x/amdahl/train.py", line 4, in save
    ck = amdahl.checkpoint.Checkpointer("nonsense://x")
         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/data/python/amdahl/checkpoint/checkpointer.py", line 70, in __init__
    self._session = library.Session({key: v for key, v in given.items() if v != ""})
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/data/python/amdahl/checkpoint/library.py", line 103, in __init__
    self._call = functions()
                 ^^^^^^^^^^^
  File "/data/python/amdahl/checkpoint/library.py", line 89, in functions
    library = _load()
              ^^^^^^^
  File "/data/python/amdahl/checkpoint/library.py", line 46, in _load
    raise CheckpointError(
amdahl.checkpoint.library.CheckpointError: libamdahl-checkpoint.so cannot be loaded
)";

std::optional<api::ReportError> last_error(std::string_view text) {
  ErrorLines lines;
  std::optional<api::ReportError> last;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto error = lines.read(text.substr(0, end))) last = std::move(error);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return last;
}

}  // namespace

TEST_CASE("ErrorLines names the script's line of an exception of our own package", "[D10]") {
  const auto error = last_error(kOurs);
  REQUIRE(error);
  CHECK(error->type == "amdahl.checkpoint.library.CheckpointError");
  CHECK(error->where == "/home/x/amdahl/train.py:4 in save");
}

TEST_CASE("ErrorLines names a library's line where there is no other", "[D10]") {
  const auto error = last_error(kOurs.substr(0, kOurs.find("\nThe above")));
  REQUIRE(error);
  CHECK(error->where == "/usr/lib64/python3.11/ctypes/__init__.py:376 in __init__");
}

TEST_CASE("ErrorLines knows what Python says of a module that it does not find", "[D10]") {
  const auto error = last_error(
      "/usr/bin/python3: Error while finding module specification for 'nopkg.train' "
      "(ModuleNotFoundError: No module named 'nopkg')\n");
  REQUIRE(error);
  CHECK(error->kind == api::ReportErrorKind::kCommandNotFound);
  CHECK(error->message.find("'nopkg.train'") != std::string::npos);
}

TEST_CASE("is_library_file tells the script's files from those that it uses", "[D10]") {
  for (const std::string_view path :
       {"<frozen runpy>", "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py",
        "/usr/lib/python3/dist-packages/torch/serialization.py",
        "/usr/lib/python3.11/json/decoder.py", "/usr/lib64/python3.9/json/decoder.py",
        "/amdahl/python/amdahl/job.py", "/opt/amdahl/checkpoint/directories.py"}) {
    CAPTURE(path);
    CHECK(api::is_library_file(path));
  }
  for (const std::string_view path :
       {"train.py", "job.py", "/app/job.py", "/home/x/amdahl/train.py", "/home/x/amdahl/jobs.py",
        "/home/x/amdahl/src/job.py", "/home/x/my-amdahl/job.py", "/app/checkpoint/library.py",
        ""}) {
    CAPTURE(path);
    CHECK_FALSE(api::is_library_file(path));
  }
}

TEST_CASE("is_library_file knows every module of our package", "[D10]") {
  const std::filesystem::path folder = "python/amdahl";
  std::size_t modules = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".py") continue;
    const std::string path = entry.path().string();
    CAPTURE(path);
    CHECK(api::is_library_file(path));
    ++modules;
  }
  CHECK(modules > 10);
}
