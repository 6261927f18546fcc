// For tests of what may or must stop the process: runs it in a child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

namespace amdahl {

// What the child wrote to stderr before it aborted; empty when it did not abort.
inline std::string death_message(const std::function<void()>& act) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    // The test framework would report the signal as a failure of the parent's test.
    std::signal(SIGABRT, SIG_DFL);
    ::dup2(ends[1], STDERR_FILENO);
    act();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return aborted ? text : std::string();
}

// The signal that ended the child, 0 when it lived to the end, -code when it exited early. SIGPIPE
// does what it does in a fresh process, whatever started this one.
inline int fatal_signal(const std::function<void()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

}  // namespace amdahl
