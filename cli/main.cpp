// amdahl: the command line. What it does is in command_line.cpp and one file a verb.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/complete.hpp"

namespace {
using namespace amdahl;

void write_all(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

Result<std::string> read_input(std::size_t bytes_max) {
  std::string text;
  char buffer[16 * 1024];
  while (std::cin.read(buffer, sizeof buffer), std::cin.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > bytes_max)
      return fail(Errc::kTooLarge, "standard input has more than {} bytes", bytes_max);
  }
  return text;
}

bool confirm(std::string_view question) {
  if (::isatty(STDIN_FILENO) != 1) return false;
  write_all(stdout, std::string(question) + " [y/N] ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

cli::ScreenSize screen_size() {
  cli::ScreenSize size;
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.columns = window.ws_col;
  if (window.ws_row > 0) size.rows = window.ws_row;
  return size;
}

// kubectl finds it as a plugin under these names, the second to complete words of the first.
constexpr std::string_view kPlugin = "kubectl-amdahl";
constexpr std::string_view kPluginCompletion = "kubectl_complete-amdahl";

std::string file_of(const char* first_word) {
  return std::filesystem::path(first_word).filename().string();
}

// What is installed beside this program.
std::string neighbour(const char* name) {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  return none ? std::string() : (self.parent_path() / name).string();
}
std::string launch_path() {
  const std::string path = neighbour("amdahl-launch");
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

}  // namespace

int main(int argc, char** argv) {
  RealClock clock;
  const std::string file = argc > 0 ? file_of(argv[0]) : "amdahl";
  cli::Program program{.clock = clock,
                       .seed = static_cast<std::uint64_t>(clock.wall().time_since_epoch().count()),
                       .environment = kube::process_environment(),
                       .terminal = {.out = [](std::string_view text) { write_all(stdout, text); },
                                    .err = [](std::string_view text) { write_all(stderr, text); },
                                    .live = ::isatty(STDOUT_FILENO) == 1,
                                    .size = screen_size,
                                    .input = read_input,
                                    .confirm = confirm},
                       .exit_at_once = [] { std::_Exit(cli::kFailed); },
                       .shim = neighbour("amdahl-shim"),
                       .launch = launch_path(),
                       .called = file == kPlugin ? "kubectl amdahl" : "amdahl"};
  std::vector<const char*> words(argv, argv + argc);
  if (file == kPluginCompletion) words.insert(words.begin() + 1, cli::kCompleteVerb.data());
  return cli::run(program, words);
}
