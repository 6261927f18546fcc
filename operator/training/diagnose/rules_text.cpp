// Rules on what the trainer printed. Any script can print these words, so nothing here is
// Confirmed, and what only text says is paid from the job's own failure budget. Where there is a
// traceback, its exception decides, and words elsewhere in the text do not.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "operator/training/diagnose/python_error.hpp"
#include "operator/training/diagnose/rules.hpp"
#include "operator/training/diagnose/xid.hpp"

namespace amdahl::training::rules {
namespace {

using enum api::CauseClass;

bool any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool says(const PythonError& error, std::string_view words) {
  return error.message.find(words) != std::string::npos;
}

std::optional<WallTime> when(const PodFacts& facts) {
  return facts.end != nullptr ? facts.end->finished : std::nullopt;
}

// "KeyError at train.py:12 in main".
std::string artifact_of(const PythonError& error) {
  if (error.frame.empty()) return error.type;
  return fmt::format("{} at {}", error.type, error.frame);
}

Finding by_error(const PodFacts& facts, api::CauseClass cause_class) {
  const PythonError& error = *facts.text.error;
  return {.cause_class = cause_class,
          .message = told(artifact_of(error), error.message),
          .at = when(facts),
          .claimed = true};
}

Finding by_line(const PodFacts& facts, api::CauseClass cause_class, Mark mark) {
  return {.cause_class = cause_class,
          .message = told("the log says", facts.text.line(mark)),
          .at = when(facts),
          .claimed = true};
}

// The words of a mark count where the exception carries them, or where there is no exception.
std::optional<Finding> by_mark(const PodFacts& facts, api::CauseClass cause_class, Mark mark,
                               bool error_fits) {
  if (!facts.failed()) return std::nullopt;
  if (facts.text.error)
    return error_fits ? std::optional(by_error(facts, cause_class)) : std::nullopt;
  if (!facts.text.has(mark)) return std::nullopt;
  return by_line(facts, cause_class, mark);
}

bool is_plain_failure(const PythonError& error) {  // types that carry anything in their message
  return any_of(error.name(), {"RuntimeError", "ValueError", "AssertionError", "Exception",
                               "FloatingPointError", "OverflowError", "ArithmeticError"});
}

bool message_is_not_finite(const PythonError& error) {
  return scan_failure("loss " + error.message).has(Mark::kNotANumber);
}

// What Python's own sockets and torch's raise where the other end went away.
bool tells_of_lost_peer(const PythonError& error) {
  const bool plain = error.name() == "RuntimeError";
  if (plain && (says(error, "NCCL") || says(error, "nccl") || says(error, "gloo"))) return true;
  if (!plain && !any_of(error.name(), {"ConnectionError", "ConnectionResetError"})) return false;
  return says(error, "onnection closed by peer") || says(error, "onnection reset by peer");
}

}  // namespace

std::optional<Finding> gpu_fault_in_text(const PodFacts& facts) {
  if (!facts.failed()) return std::nullopt;
  const std::int32_t number = gravest_xid(facts.text.xids);
  if (is_hardware(number)) {
    const Xid& xid = *find_xid(number);
    return Finding{.cause_class = kGpuFault,
                   .message = told(fmt::format("Xid {}", number),
                                   fmt::format("{}; NVIDIA's action is {}", xid.meaning,
                                               xid_action_name(xid.action))),
                   .at = when(facts),
                   .claimed = true};
  }
  const bool in_error =
      facts.text.error && is_plain_failure(*facts.text.error) &&
      (says(*facts.text.error, "ECC error") || says(*facts.text.error, "fallen off the bus"));
  return by_mark(facts, kGpuFault, Mark::kGpuHardware, in_error);
}

// NCCL's watchdog aborts a rank that waited in vain. Who let it wait is another rank.
std::optional<Finding> collective_timeout(const PodFacts& facts) {
  if (!facts.failed() || !facts.text.collective) return std::nullopt;
  if (facts.text.error && !speaks_of_peer(*facts.text.error)) return std::nullopt;
  const CollectiveText& text = *facts.text.collective;
  std::string words = "a collective operation timed out";
  if (text.sequence) words += fmt::format(", SeqNum {}", *text.sequence);
  if (text.timeout_ms) words += fmt::format(", after {} ms", *text.timeout_ms);
  return Finding{.cause_class = kCollectiveTimeout,
                 .weight = Weight::kVictim,
                 .message = told(text.operation.empty() ? "collective" : text.operation, words),
                 .at = when(facts)};
}

std::optional<Finding> gpu_out_of_memory(const PodFacts& facts) {
  const auto fits = [](const PythonError& error) {
    return error.name() == "OutOfMemoryError" ||
           (error.name() == "RuntimeError" &&
            (says(error, "out of memory") || says(error, "ALLOC_FAILED")));
  };
  return by_mark(facts, kGpuOutOfMemory, Mark::kGpuOutOfMemory,
                 facts.text.error && fits(*facts.text.error));
}

std::optional<Finding> worker_killed(const PodFacts& facts) {
  constexpr std::int32_t kSigKill = 9;
  if (facts.failed() && facts.text.child_signal == kSigKill && !facts.text.error)
    return Finding{.cause_class = kWorkerProcessKilled,
                   .message = told("SIGKILL", "a worker process of this pod was killed"),
                   .at = when(facts)};
  const auto fits = [](const PythonError& error) {
    return error.name() == "RuntimeError" &&
           (says(error, "killed by signal") || says(error, "exited unexpectedly") ||
            says(error, "shared memory (shm)"));
  };
  return by_mark(facts, kWorkerProcessKilled, Mark::kWorkerKilled,
                 facts.text.error && fits(*facts.text.error));
}

std::optional<Finding> diverged(const PodFacts& facts) {
  const bool fits = facts.text.error && is_plain_failure(*facts.text.error) &&
                    message_is_not_finite(*facts.text.error);
  return by_mark(facts, kDiverged, Mark::kNotANumber, fits);
}

std::optional<Finding> rendezvous_timeout(const PodFacts& facts) {
  const auto fits = [](const PythonError& error) {
    return any_of(error.name(), {"RendezvousTimeoutError", "RendezvousClosedError"}) ||
           says(error, "waiting for clients");
  };
  auto finding = by_mark(facts, kRendezvousTimeout, Mark::kRendezvous,
                         facts.text.error && fits(*facts.text.error));
  if (finding) finding->weight = Weight::kVictim;  // of the rank that did not come
  return finding;
}

std::optional<Finding> peer_lost(const PodFacts& facts) {
  const auto fits = [](const PythonError& error) {
    return speaks_of_peer(error) || tells_of_lost_peer(error);
  };
  auto finding = by_mark(facts, kPeerConnectionLost, Mark::kConnection,
                         facts.text.error && fits(*facts.text.error));
  if (finding) finding->weight = Weight::kVictim;
  return finding;
}

// Mistakes that are there at every start: found before the first step, they are final.
std::optional<Finding> user_exception(const PodFacts& facts) {
  if (!facts.failed() || !facts.text.error) return std::nullopt;
  Finding finding = by_error(facts, kUserException);
  const bool mistake = any_of(
      facts.text.error->name(),
      {"ImportError", "ModuleNotFoundError", "TypeError", "KeyError", "FileNotFoundError",
       "NameError", "AttributeError", "SyntaxError", "IndentationError", "NotImplementedError"});
  if (mistake && !facts.attempt->stepped) finding.advice = Advice::kStop;
  return finding;
}

}  // namespace amdahl::training::rules
