// Which row runs, and that the environment decides. Nothing else in this program may call a
// function without a row: active_row() is asked once for each process.
#include "kernels/dispatch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "kernels/cast.hpp"
#include "kernels/crc32c.hpp"
#include "kernels/test_ranges.hpp"
#include "kernels/test_rows.hpp"

namespace amdahl::kernels {
namespace {

struct Child {
  std::string text;  // stdout and stderr
  bool aborted = false;
};

Child in_child(const std::function<std::string()>& act) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    ::dup2(ends[1], STDERR_FILENO);
    const std::string text = act();
    (void)!::write(ends[1], text.data(), text.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  Child result;
  char buffer[1024];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    result.text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return result;
}

std::string row_that_runs(const char* wanted) {
  ::setenv("AMDAHL_ISA", wanted, 1);
  const std::vector<std::byte> data = noise(1000);
  if (crc32c(data) != crc32c(data, 0, scalar_row())) return "wrong sum";
  return active_row().name;
}

std::string names_of_rows() {
  std::string names;
  for (const Row* row : available_rows())
    names += std::string(names.empty() ? "" : ",") + row->name;
  return names;
}

// From the kernel's list of features, not by the instructions that the dispatcher asks.
std::string rows_by_cpuinfo() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto has_all = [&](std::initializer_list<const char*> flags) {
    return std::ranges::all_of(flags, [&](const char* flag) {
      return text.find(" " + std::string(flag) + " ") != std::string::npos;
    });
  };
  std::string names;
  if (has_all({"avx2", "bmi1", "bmi2", "pclmulqdq", "sse4_2", "popcnt"})) {
    if (has_all({"avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_vbmi2", "vpclmulqdq"}))
      names += "avx512,";
    names += "avx2,";
  }
  if (has_all({"asimd", "crc32", "pmull"})) names += "neon,";
  return names + "scalar";
}

}  // namespace

TEST_CASE("Dispatch offers the rows that this machine can run", "[kernels]") {
  // An emulator shows the real machine in /proc/cpuinfo, so there the caller says what to expect.
  const char* told = std::getenv("AMDAHL_EXPECT_ROWS");
  CHECK(names_of_rows() == (told != nullptr ? std::string(told) : rows_by_cpuinfo()));
  WARN("rows here: " << names_of_rows());
}

TEST_CASE("Dispatch takes the best row when nobody asks", "[kernels]") {
  CHECK(choose_row("").row == available_rows().front());
}

KERNEL_TEST_CASE("AMDAHL_ISA forces the row that runs") {
  if (row_under_test<TestType>() == nullptr) return;
  const Child child = in_child([] { return row_that_runs(TestType::kName); });
  CHECK_FALSE(child.aborted);
  CHECK(child.text == TestType::kName);
}

TEST_CASE("AMDAHL_ISA of an unknown name stops the process and says what there is", "[kernels]") {
  const Child child = in_child([] { return row_that_runs("sse9"); });
  CHECK(child.aborted);
  CHECK_THAT(child.text, Catch::Contains("AMDAHL_ISA=sse9") && Catch::Contains("scalar") &&
                             Catch::Contains("no instruction set of that name"));
}

TEST_CASE("AMDAHL_ISA of another architecture is an error, not another row", "[kernels]") {
#if defined(__x86_64__)
  const char* foreign = "neon";
#else
  const char* foreign = "avx2";
#endif
  const Child child = in_child([&] { return row_that_runs(foreign); });
  CHECK(child.aborted);
  CHECK_THAT(child.text, Catch::Contains("another architecture"));
}

TEST_CASE("Every row has every kernel", "[kernels]") {
  for (const Row* row : available_rows()) {
    INFO(row->name);
    CHECK(row->crc32c != nullptr);
    CHECK(row->copy_crc32c != nullptr);
    CHECK(row->stream_crc32c != nullptr);
    CHECK(row->fp32_to_bf16 != nullptr);
    CHECK(row->bf16_to_fp32 != nullptr);
    CHECK(row->cast_delta != nullptr);
    CHECK(row->xor_delta != nullptr);
    CHECK(row->shuffle != nullptr);
    CHECK(row->unshuffle != nullptr);
    CHECK(row->split_exponents != nullptr);
    CHECK(row->merge_exponents != nullptr);
  }
}

TEST_CASE("A range of the wrong size stops the process", "[kernels]") {
  const Child child = in_child([] {
    std::vector<std::byte> fp32(12);
    std::vector<std::byte> bf16(4);
    fp32_to_bf16(bf16, fp32, scalar_row());
    return std::string();
  });
  CHECK(child.aborted);
  CHECK_THAT(child.text, Catch::Contains("fp32_to_bf16"));
}

}  // namespace amdahl::kernels
