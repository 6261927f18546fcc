// Rules on what the kubelet says of the containers: waiting reasons, terminated reasons, exit
// codes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "operator/training/diagnose/error_file.hpp"
#include "operator/training/diagnose/rules.hpp"
#include "operator/training/diagnose/xid.hpp"

namespace amdahl::training::rules {
namespace {

using enum api::CauseClass;
constexpr auto kConfirmed = api::CauseConfidence::kConfirmed;
constexpr auto kSupported = api::CauseConfidence::kSupported;

bool any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// Of a termination message: its words, without the JSON that the launcher puts around them.
std::string words_of(const std::string& message) {
  const auto file = parse_error_file(message);
  return file && !file->message.empty() ? file->message : message;
}

bool waited(const PodFacts& facts, std::chrono::seconds least) {
  return facts.pod->bound_at && facts.attempt->now - *facts.pod->bound_at >= least;
}

// The kubelet quotes it: Back-off pulling image "registry.example/llama:1".
std::string image_of(const ContainerEvidence& container) {
  const std::string_view message = container.waiting_message;
  const std::size_t open = message.find('"');
  const std::size_t close = open == std::string_view::npos ? open : message.find('"', open + 1);
  if (close == std::string_view::npos) return fmt::format("image of container {}", container.name);
  return fmt::format("image {}", message.substr(open + 1, close - open - 1));
}

Finding image_finding(const PodFacts& facts, const ContainerEvidence& container) {
  const std::string_view message = container.waiting_message;
  Finding finding{.cause_class = kImagePullFailed,
                  .confidence = kConfirmed,
                  .message = told(image_of(container), message),
                  .at = facts.pod->bound_at,
                  .over = waited(facts, kHoldGpus)};
  if (any_of(container.waiting_reason, {"InvalidImageName", "ErrImageNeverPull"}) ||
      has_any(message, {"not found", "manifest unknown", "does not exist", "invalid reference"})) {
    finding.cause_class = kImageNotFound;
    finding.over = waited(facts, kImageTries);
  }
  // Registries that hide what exists say "not found or denied": then it may be either.
  if (has_any(message, {"denied", "unauthorized", "Unauthorized", "403", "401", "forbidden"})) {
    finding.cause_class = kImagePullDenied;
    finding.over = waited(facts, kHoldGpus);
  }
  return finding;
}

const EventEvidence* find_event(const PodEvidence& pod,
                                std::initializer_list<std::string_view> reasons) {
  const auto event = std::ranges::find_if(
      pod.events, [&](const EventEvidence& row) { return any_of(row.reason, reasons); });
  return event == pod.events.end() ? nullptr : &*event;
}

// A node's events are about whatever ran there: this one fell into the container's last minute.
bool fits_the_end(const EventEvidence& event, const ContainerEnd& end) {
  constexpr std::chrono::seconds kApart{60};
  if (!event.at || !end.finished) return true;
  return *event.at >= *end.finished - kApart && *event.at <= *end.finished + kApart;
}

std::string exit_words(const PodFacts& facts) {
  return fmt::format("container {} ended with exit code {}", facts.container->name,
                     facts.end->exit_code);
}

// Of what the trainer left behind: plain text, or a report of the launcher with the log's end.
std::string last_line(const std::string& message) {
  std::string text = message;
  if (const auto file = parse_error_file(message))
    text = file->message;
  else if (text.starts_with('{'))
    text.clear();
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.pop_back();
  if (text.empty()) return "it left no message";
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

std::optional<Finding> image_not_pulled(const PodFacts& facts) {
  for (const ContainerEvidence& container : facts.pod->containers)
    if (any_of(container.waiting_reason, {"ImagePullBackOff", "ErrImagePull", "InvalidImageName",
                                          "ErrImageNeverPull", "RegistryUnavailable"}))
      return image_finding(facts, container);
  return std::nullopt;
}

std::optional<Finding> configuration_missing(const PodFacts& facts) {
  Finding finding{.cause_class = kConfigurationMissing,
                  .confidence = kConfirmed,
                  .at = facts.pod->bound_at,
                  .over = waited(facts, kHoldGpus)};
  for (const ContainerEvidence& container : facts.pod->containers) {
    if (!any_of(container.waiting_reason, {"CreateContainerConfigError", "CreateContainerError"}))
      continue;
    finding.message = told(container.waiting_reason, container.waiting_message);
    return finding;
  }
  const bool started = std::ranges::any_of(
      facts.pod->containers, [](const auto& row) { return row.running || row.ended; });
  const auto* const event = find_event(*facts.pod, {"FailedMount", "FailedAttachVolume"});
  if (event == nullptr || started) return std::nullopt;
  finding.message = told(event->reason, event->message);
  return finding;
}

// Python started, and what it was to run is not there.
std::optional<Finding> python_finds_nothing(const PodFacts& facts) {
  if (!facts.failed() || facts.text.error || facts.attempt->stepped) return std::nullopt;
  const bool script = facts.text.has(Mark::kNoScript);
  if (!script && !facts.text.has(Mark::kNoModule)) return std::nullopt;
  return Finding{
      .cause_class = kCommandNotFound,
      .confidence = kSupported,
      .message = script ? told("no such script", facts.text.line(Mark::kNoScript))
                        : told("no such module", facts.text.line(Mark::kNoModule)),
      .hint = script ? "Correct the path of the script in the command of the trainer container; "
                       "it must exist in the image or on a volume, seen from workingDir."
                     : "The Python of the trainer container lacks this module: install it in the "
                       "image, or put a Python that has it first in PATH. The runtimes Torchrun "
                       "and DeepSpeed need torch.",
      .at = facts.end->finished};
}

std::optional<Finding> command_not_found(const PodFacts& facts) {
  const auto& containers = facts.pod->containers;
  const auto cannot =
      std::ranges::find(containers, "RunContainerError", &ContainerEvidence::waiting_reason);
  if (cannot != containers.end())
    return Finding{.cause_class = kCommandNotFound,
                   .confidence = kConfirmed,
                   .message = told(cannot->waiting_reason, cannot->waiting_message)};
  if (facts.end == nullptr) return std::nullopt;
  if (auto finding = python_finds_nothing(facts)) return finding;
  const bool refused = any_of(facts.end->reason, {"ContainerCannotRun", "StartError"});
  const bool by_code = facts.end->exit_code >= 126 && facts.end->exit_code <= 128;
  if (!refused && !by_code) return std::nullopt;
  return Finding{.cause_class = kCommandNotFound,
                 .confidence = refused ? kConfirmed : kSupported,
                 .message = told(exit_words(facts), words_of(facts.end->message)),
                 .at = facts.end->finished};
}

// The kubelet came back and did not find the container any more.
std::optional<Finding> container_lost(const PodFacts& facts) {
  if (facts.end == nullptr || facts.end->reason != "ContainerStatusUnknown") return std::nullopt;
  return Finding{.cause_class = kNodeLost,
                 .confidence = kSupported,
                 .message = told("ContainerStatusUnknown", facts.end->message),
                 .at = facts.end->finished};
}

// GKE's device plugin writes the node condition XidCriticalError. One that is older than the
// container tells of another job's fault. Xids that an application causes do not count.
std::optional<Finding> gpu_fault_on_node(const PodFacts& facts) {
  if (!facts.failed()) return std::nullopt;
  for (const NodeTrouble& trouble : facts.pod->node_troubles) {
    if (trouble.type != "XidCriticalError") continue;
    const bool old = trouble.since && facts.end != nullptr && facts.end->started &&
                     *trouble.since < *facts.end->started;
    const auto numbers = xids_in_condition(trouble.reason);
    const std::int32_t number = gravest_xid(numbers);
    const Xid* const xid = find_xid(number);
    if (old || (xid != nullptr && !is_hardware(number))) continue;
    Finding finding{.cause_class = kGpuFault, .confidence = kConfirmed, .at = trouble.since};
    finding.message = xid == nullptr ? told("XidCriticalError", trouble.reason)
                                     : told(fmt::format("Xid {}", number),
                                            fmt::format("{}; NVIDIA's action is {}", xid->meaning,
                                                        xid_action_name(xid->action)));
    return finding;
  }
  return std::nullopt;
}

// Not the event's own words: others than the owner of the job can write events about a node.
constexpr std::string_view kNodeOutOfMemoryWords =
    "the node ran out of memory, and its kernel killed a process";

std::optional<Finding> node_out_of_memory(const PodFacts& facts) {
  if (!facts.exited(137)) return std::nullopt;
  const auto* const event = find_event(*facts.pod, {"OOMKilling", "SystemOOM"});
  const bool of_another = event != nullptr && !fits_the_end(*event, *facts.end);
  const auto& troubles = facts.pod->node_troubles;
  const bool pressure =
      std::ranges::find(troubles, "MemoryPressure", &NodeTrouble::type) != troubles.end();
  const bool told_so = event != nullptr && !of_another;
  if (!told_so && !pressure) return std::nullopt;
  return Finding{.cause_class = kNodeOutOfMemory,
                 .confidence = told_so ? kConfirmed : kSupported,
                 .message = told_so ? told(event->reason, kNodeOutOfMemoryWords)
                                    : "killed while the node had MemoryPressure",
                 .at = facts.end->finished};
}

std::optional<Finding> killed(const PodFacts& facts) {
  if (!facts.exited(137)) return std::nullopt;
  return Finding{.cause_class = kKilled,
                 .confidence = api::CauseConfidence::kUnknown,
                 .message = told("SIGKILL", exit_words(facts) + ", and nothing says who sent it"),
                 .at = facts.end->finished};
}

// SIGTERM that we did not send is what other ranks and their agents get: a victim, if anything.
std::optional<Finding> told_to_stop(const PodFacts& facts) {
  const bool by_agent = facts.failed() && facts.text.has(Mark::kToldToStop) && !facts.text.error &&
                        !facts.text.collective;
  if (!facts.exited(143) && !facts.exited(130) && !by_agent) return std::nullopt;
  return Finding{.cause_class = api::CauseClass::kUnknown,
                 .weight = Weight::kVictim,
                 .confidence = api::CauseConfidence::kUnknown,
                 .message = told("SIGTERM", "told to stop, and nothing says by whom"),
                 .hint =
                     "Look for who stops pods here: a node that shuts down, a liveness probe, "
                     "another controller.",
                 .at = facts.end != nullptr ? facts.end->finished : std::nullopt};
}

// Exit codes that launchers have given a meaning: 93 of NVIDIA's resiliency extension, 201 and 202
// of DLRover.
std::optional<Finding> agreed_exit_code(const PodFacts& facts) {
  if (facts.exited(93))
    return Finding{.cause_class = kUserException,
                   .confidence = kSupported,
                   .message = told("exit code 93", "the launcher asks not to be restarted"),
                   .hint = "Look at the launcher's log: it decided that a restart cannot help.",
                   .advice = Advice::kStop,
                   .at = facts.end->finished};
  if (!facts.exited(201) && !facts.exited(202)) return std::nullopt;
  return Finding{.cause_class = kGpuFault,
                 .confidence = kSupported,
                 .message = told(fmt::format("exit code {}", facts.end->exit_code),
                                 "the launcher blames the GPU driver"),
                 .at = facts.end->finished,
                 .claimed = true};
}

std::optional<Finding> native_crash(const PodFacts& facts) {
  using Crash = std::pair<std::int32_t, std::string_view>;  // signal and name
  constexpr auto kCrashes = std::to_array<Crash>({{4, "SIGILL, an illegal instruction"},
                                                  {6, "SIGABRT, it aborted itself"},
                                                  {7, "SIGBUS, a bad memory access"},
                                                  {8, "SIGFPE, an arithmetic error"},
                                                  {11, "SIGSEGV, a bad memory access"}});
  if (!facts.failed()) return std::nullopt;
  std::int32_t signal = facts.text.child_signal.value_or(0);
  if (facts.end != nullptr && facts.end->exit_code > 128) signal = facts.end->exit_code - 128;
  const auto* const crash = std::ranges::find(kCrashes, signal, &Crash::first);
  if (crash == kCrashes.end()) return std::nullopt;
  const std::string_view name = crash->second.substr(0, crash->second.find(','));
  return Finding{.cause_class = kNativeCrash,
                 .confidence = kSupported,
                 .message = told(name, fmt::format("a process ended by {}", crash->second)),
                 .at = facts.end != nullptr ? facts.end->finished : std::nullopt};
}

std::optional<Finding> ended_without_a_word(const PodFacts& facts) {
  if (!facts.failed()) return std::nullopt;
  if (facts.end == nullptr)
    return Finding{.confidence = api::CauseConfidence::kUnknown,
                   .message = told(facts.pod->reason.empty() ? "the pod failed" : facts.pod->reason,
                                   facts.pod->message)};
  return Finding{.confidence = api::CauseConfidence::kUnknown,
                 .message = told(exit_words(facts), last_line(facts.end->message)),
                 .at = facts.end->finished};
}

}  // namespace amdahl::training::rules
