#include "operator/training/diagnose/test_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "operator/training/diagnose/test_fixture_line.hpp"

namespace amdahl::training {
namespace {

Quantities quantities(const Line& line) {
  Quantities amounts;
  for (const auto& [name, value] : line.values) {
    const auto amount = kube::Quantity::parse(value);
    if (!amount) refuse(line.whole);
    amounts.emplace(name, *amount);
  }
  return amounts;
}

// Reads the lines that belong to one pod.
class PodReader {
 public:
  explicit PodReader(const Line& line) {
    const auto phase = parse_enum<kube::PodPhase>(line.word(2));
    if (!phase) refuse(line.whole);
    pod_.rank = std::stoi(line.word(1));
    pod_.pod =
        line.values.contains("name") ? line.value("name") : fmt::format("train-1-{}", pod_.rank);
    pod_.node = line.value("node");
    pod_.bound = !pod_.node.empty();
    pod_.bound_at = line.time("bound");
    pod_.phase = *phase;
    pod_.deleting = line.has("deleting");
    pod_.gone = line.has("gone");
    pod_.node_gone = line.has("node-gone");
    pod_.node_spot = line.has("spot");
  }

  void read(const Line& line) {
    const std::string& verb = line.word(0);
    if (verb == "trainer" || verb == "init" || verb == "sidecar") return container(line);
    if (verb == "says") return begin_text(end().message, line);
    if (verb == "repeat") {
      for (int i = std::stoi(line.word(1)); i > 0; --i) *text_ += line.text;
      return;
    }
    if (!condition(line)) refuse(line.whole);
  }
  void append(std::string_view text) {
    if (text_ == nullptr) throw std::runtime_error("no text to append to");
    *text_ += unescape(text, false) + "\n";
  }
  PodEvidence done() { return std::move(pod_); }

 private:
  bool condition(const Line& line) {
    const std::string& verb = line.word(0);
    if (verb == "intent") {
      pod_.intent = parse_enum<Intent>(line.word(1)).value_or(Intent::kNone);
      pod_.intent_at = line.time("at");
    } else if (verb == "status") {
      pod_.reason = line.word(1);
      pod_.message = line.text;
    } else if (verb == "disruption") {
      pod_.disruption_reason = line.word(1);
      pod_.disruption_message = line.text;
      pod_.disrupted_at = line.time("at");
    } else if (verb == "unready") {
      pod_.unready_reason = line.word(1);
    } else if (verb == "scheduled") {
      pod_.scheduled_reason = line.word(1);
      pod_.scheduled_message = line.text;
    } else if (verb == "trouble") {
      pod_.node_troubles.push_back(
          {line.word(1), line.value("reason"), line.text, line.time("since")});
    } else if (verb == "event") {
      pod_.events.push_back({line.word(1), line.text});
    } else if (verb == "report") {
      pod_.report = {.step = line.number("step"),
                     .phase = line.value("phase"),
                     .error = line.text,
                     .changed = line.time("changed"),
                     .memory_peak = line.number("peak"),
                     .last_step = line.number("last"),
                     .total_steps = line.number("total"),
                     .pause_asked = line.has("pause-asked")};
    } else if (verb == "limit") {
      pod_.memory_limit = line.value("memory");
    } else {
      return false;
    }
    return true;
  }

  void container(const Line& line) {
    const bool init = line.word(0) == "init";
    const std::string name = line.values.contains("name") ? line.value("name") : line.word(0);
    auto found = std::ranges::find(pod_.containers, name, &ContainerEvidence::name);
    if (found == pod_.containers.end())
      found = pod_.containers.insert(found, {.name = name, .init = init});
    const std::string& state = line.word(1);
    if (state == "running") {
      found->running = true;
    } else if (state == "waiting") {
      found->waiting_reason = line.word(2);
      found->waiting_message = line.text;
    } else if (state == "ended" || state == "before") {
      auto& end = state == "ended" ? found->ended : found->ended_before;
      end = ContainerEnd{.exit_code = static_cast<std::int32_t>(line.number("exit").value_or(0)),
                         .signal = static_cast<std::int32_t>(line.number("signal").value_or(0)),
                         .reason = line.value("reason"),
                         .message = line.text,
                         .started = line.time("started"),
                         .finished = line.time("at")};
      container_ = static_cast<std::size_t>(found - pod_.containers.begin());
      before_ = state == "before";
    } else {
      refuse(line.whole);
    }
  }

  ContainerEnd& end() {
    if (container_ >= pod_.containers.size()) throw std::runtime_error("says: nothing has ended");
    ContainerEvidence& container = pod_.containers[container_];
    return before_ ? *container.ended_before : *container.ended;
  }
  void begin_text(std::string& into, const Line& line) {
    text_ = &into;
    *text_ += line.text;
  }

  PodEvidence pod_ = {};
  std::size_t container_ = 0;
  bool before_ = false;
  std::string* text_ = nullptr;
};

// Calls `other` for lines that are not of a pod; returns the pods.
std::vector<PodEvidence> read_lines(const std::string& head, const auto& other) {
  std::vector<PodEvidence> pods;
  std::optional<PodReader> pod;
  std::istringstream stream(head);
  for (std::string text; std::getline(stream, text) && text != "---";) {
    if (text.empty() || text[0] == '#') continue;
    if (text.starts_with("  | ") || text == "  |") {
      if (!pod) refuse(text);
      pod->append(text.size() > 4 ? std::string_view(text).substr(4) : "");
      continue;
    }
    const Line line(text);
    if (pod && text.starts_with("  ")) {
      pod->read(line);
      continue;
    }
    if (pod) pods.push_back(pod->done());
    pod.reset();
    if (line.word(0) == "pod")
      pod.emplace(line);
    else
      other(line);
  }
  if (pod) pods.push_back(pod->done());
  return pods;
}

std::string ascii(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x80U)
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string render_root(const api::Cause& root) {
  std::string text = fmt::format("root {} rank={} pod={}", enum_name(root.cause_class),
                                 root.rank.value_or(-1), root.pod);
  if (!root.node.empty()) text += " node=" + root.node;
  if (root.exit_code) text += fmt::format(" exit={}", *root.exit_code);
  if (root.signal) text += fmt::format(" signal={}", *root.signal);
  text += fmt::format("\nis {}, {}, {}\nsays {}\nhint {}\n", enum_name(root.domain),
                      enum_name(root.outlook), enum_name(root.confidence), ascii(root.message),
                      ascii(root.hint));
  return text;
}

}  // namespace

std::vector<Fixture> read_fixtures(const std::string& folder) {
  std::vector<Fixture> fixtures;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    std::ostringstream whole;
    whole << file.rdbuf();
    const std::string text = whole.str();
    const std::size_t dashes = text.find("\n---\n");
    if (dashes == std::string::npos) refuse(entry.path().string() + ": no ---");
    fixtures.push_back({.path = entry.path().string(),
                        .head = text.substr(0, dashes + 5),
                        .expected = text.substr(dashes + 5)});
  }
  std::ranges::sort(fixtures, {}, &Fixture::path);
  return fixtures;
}

void write_expected(const Fixture& fixture, const std::string& actual) {
  std::ofstream(fixture.path) << fixture.head << actual;
}

AttemptEvidence read_attempt(const Fixture& fixture) {
  AttemptEvidence attempt;
  const auto other = [&](const Line& line) {
    if (line.word(0) == "attempt") {
      attempt.ranks = static_cast<std::int32_t>(line.number("ranks").value_or(0));
      attempt.now = line.time("now").value_or(WallTime{});
      attempt.stepped = line.has("stepped");
      attempt.left_early = line.value("left");
    } else if (line.word(0) == "standstill") {
      attempt.standstill = Standstill{.seconds = line.number("seconds").value_or(0)};
      if (const auto step = line.number("step"))
        attempt.standstill->step_seconds = static_cast<double>(*step);
      attempt.standstill->quiet_seconds = line.number("quiet");
    } else {
      refuse(line.whole);
    }
  };
  attempt.pods = read_lines(fixture.head, other);
  return attempt;
}

PendingEvidence read_pending(const Fixture& fixture) {
  PendingEvidence pending;
  const auto other = [&](const Line& line) {
    const std::string& verb = line.word(0);
    if (verb == "gang") {
      pending.ranks = static_cast<std::int32_t>(line.number("ranks").value_or(0));
      pending.queue_name = line.value("queue");
    } else if (verb == "asks") {
      pending.per_pod = quantities(line);
    } else if (verb == "queue") {
      pending.queue = QueueEvidence{.exists = !line.has("missing"),
                                    .open = !line.has("closed"),
                                    .state = line.has("closed") ? "Closed" : "Open"};
    } else if (verb == "capability") {
      pending.queue->capability = quantities(line);
    } else if (verb == "used") {
      pending.queue->allocated = quantities(line);
    } else if (verb == "group") {
      pending.group =
          PodGroupEvidence{.inqueue = line.has("inqueue"),
                           .resources_min = quantities(line),
                           .reason = line.has("unschedulable") ? "NotEnoughResources" : "",
                           .message = line.text};
    } else if (verb == "node") {
      pending.nodes.push_back({line.word(1), !line.has("cordoned"), quantities(line)});
    } else if (verb == "refused") {
      pending.refusal = Refusal{.message = line.text, .quota = line.has("quota")};
    } else {
      refuse(line.whole);
    }
  };
  pending.pods = read_lines(fixture.head, other);
  return pending;
}

std::string render(const Diagnosis& diagnosis) {
  if (!diagnosis.root) return "nothing is wrong\n";
  std::string text = render_root(*diagnosis.root);
  if (diagnosis.too_early) text += "too early\n";
  text += fmt::format("advice {}, spends {}\n", enum_name(diagnosis.advice),
                      enum_name(diagnosis.budget));
  if (!diagnosis.avoid.empty()) text += fmt::format("avoid {}\n", fmt::join(diagnosis.avoid, " "));
  for (const PodFinding& finding : diagnosis.findings)
    text += fmt::format("pod {} {} {} {}\n", finding.rank, finding.pod, enum_name(finding.role),
                        enum_name(finding.cause_class));
  return text;
}

std::string render(const api::PendingStatus& pending) {
  return fmt::format("{}\n{}\n", pending.reason, ascii(pending.message));
}

}  // namespace amdahl::training
