#include "tests/simulation/pods.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/simulation/subject.hpp"

namespace amdahl::simulation {
namespace {

const Actor kScheduler{.name = "scheduler"};
const Actor kKubelet{.name = "kubelet"};
constexpr int kSlotsPerNode = 4;
constexpr std::chrono::nanoseconds kGrace = std::chrono::seconds{30};
constexpr int kNodes = 3;

std::string pod_path(const std::string& name) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", kNamespace, name);
}

std::uint32_t number_in(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Of the first name that is there: the example's, or the one of the workload contract.
std::string env_of(const Json& container, std::string_view name, std::string_view other) {
  const auto env = container.find("env");
  if (env == container.end()) return {};
  for (const std::string_view wanted : {name, other})
    for (const Json& entry : *env)
      if (entry["name"].get_ref<const std::string&>() == wanted) return entry.value("value", "");
  return {};
}

std::uint32_t number_after(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  return at == text.npos ? 0 : number_in(text.substr(at + word.size()));
}

// Of a trainer whose script gives it a launcher.
void read_launcher(PodView& view, const Json& pod, std::string_view command) {
  const auto says = [&](std::string_view word) { return command.find(word) != command.npos; };
  view.ignores_term = says("ignore-term");
  view.reports = says("report");
  if (!view.reports) return;
  const Json& container = pod["spec"]["containers"][0];
  view.job = pod.value("/metadata/labels/amdahl.dev~1job"_json_pointer, std::string());
  view.job_uid = pod.value("/metadata/ownerReferences/0/uid"_json_pointer, std::string());
  view.attempt = static_cast<std::int32_t>(number_in(env_of(container, "AMDAHL_ATTEMPT", "")));
  view.resume_step = number_in(env_of(container, "AMDAHL_RESUME_STEP", ""));
  view.deaf = says("deaf");
  view.hangs = static_cast<std::uint32_t>(view.attempt) < number_after(command, "hang-below=");
  view.work = number_after(command, "work=");
}

// What its author has said, which stays.
PodView view_of(const local::StoredObject& object) {
  const Json pod = local::parsed(object);
  const Json& container = pod["spec"]["containers"][0];
  const std::string attempt = env_of(container, "ATTEMPT", "AMDAHL_ATTEMPT");
  const std::string command =
      container.contains("command") ? container["command"].dump() : std::string();
  const auto until = command.find("hold-until=");
  PodView view{
      .uid = object.uid,
      .group = pod.value("/metadata/annotations/scheduling.k8s.io~1group-name"_json_pointer,
                         std::string()),
      .rank = number_in(env_of(container, "RANK", "PET_NODE_RANK")),
      .size = number_in(env_of(container, "WORLD_SIZE", "PET_NNODES"))};
  view.gang = view.group + "/" + attempt;
  if (until != std::string::npos) {
    const std::uint32_t second = number_in(std::string_view(command).substr(until + 11));
    view.not_before = Monotonic{} + std::chrono::seconds{second};
  } else {
    view.holds = command.find("hold") != std::string::npos;
  }
  read_launcher(view, pod, command);
  view.fails = view.rank == 0 && number_in(attempt) < number_after(command, "fail-below=");
  return view;
}

// Of a member that stands once in a pod, so that its text need not be parsed: the server writes
// members without white space, and these values have nothing to escape.
std::string_view value_in(std::string_view pod, std::string_view member) {
  const auto at = pod.rfind(member);
  if (at == pod.npos) return {};
  pod.remove_prefix(at + member.size());
  return pod.substr(0, pod.find('"'));
}

// All that changes in the life of a pod.
void update(PodView& view, const local::StoredObject& object) {
  view.node = value_in(object.text, "\"nodeName\":\"");
  view.phase = value_in(object.text, "\"phase\":\"");
  if (view.phase.empty()) view.phase = "Pending";
  view.deleting = object.deleting;
}

}  // namespace

std::vector<Binding> place(const PodViews& pods, const std::map<std::string, int>& nodes) {
  std::map<std::string, int> free = nodes;
  std::map<std::string, std::vector<std::string>> waiting;  // by gang
  std::map<std::string, std::size_t> placed;                // by gang, those that are done too
  for (const auto& [name, pod] : pods) {
    const bool done = pod.phase == "Succeeded" || pod.phase == "Failed";
    if (!pod.node.empty() && !done && free.contains(pod.node)) --free[pod.node];
    if (pod.node.empty() && !done && !pod.deleting) waiting[pod.gang].push_back(name);
    if (!pod.node.empty() && pod.phase != "Failed" && !pod.deleting) ++placed[pod.gang];
  }
  std::vector<Binding> all;
  for (const auto& [gang, names] : waiting) {
    if (names.size() + placed[gang] < pods.at(names.front()).size) continue;
    std::map<std::string, int> left = free;
    std::vector<Binding> bindings;
    for (const std::string& pod : names)
      for (auto& [node, slots] : left)
        if (slots > 0) {
          --slots;
          bindings.push_back({.pod = pod, .node = node});
          break;
        }
    if (bindings.size() < names.size()) continue;
    free = std::move(left);
    all.insert(all.end(), bindings.begin(), bindings.end());
  }
  return all;
}

Pods::Pods(SimServer& server, Agenda& agenda, FaultBook& book, Rng rng)
    : server_(server), agenda_(agenda), book_(book), rng_(rng) {
  for (int i = 0; i < kNodes; ++i) nodes_[fmt::format("node-{}", i)] = kSlotsPerNode;
}

std::chrono::nanoseconds Pods::pause(std::uint64_t min_ms, std::uint64_t max_ms) {
  return std::chrono::milliseconds{min_ms + rng_.below(max_ms - min_ms + 1)};
}

void Pods::on_mutation(const local::Mutation& mutation) {
  if (!mutation.storage.starts_with("pods")) return;
  const std::string name = mutation.key.substr(mutation.key.find('/') + 1);
  if (mutation.object) {
    PodView& view = pods_[name];
    if (view.uid != mutation.object->uid) view = view_of(*mutation.object);
    update(view, *mutation.object);
  } else {
    pods_.erase(name);
  }
  soon();
}

void Pods::soon() {
  if (step_scheduled_) return;
  step_scheduled_ = true;
  std::chrono::nanoseconds delay = pause(20, 500);
  for (const Fault& fault : book_.plan())
    if (fault.kind == FaultKind::kSlowBinding && agenda_.now() >= FaultBook::start(fault) &&
        agenda_.now() < FaultBook::end(fault))
      delay += std::chrono::milliseconds{fault.arg};
  agenda_.in(delay, [this] {
    step_scheduled_ = false;
    step();
  });
}

void Pods::step() {
  for (const Binding& binding : place(pods_, nodes_))
    server_.write(kScheduler, "POST", pod_path(binding.pod) + "/binding",
                  Json{{"apiVersion", "v1"},
                       {"kind", "Binding"},
                       {"metadata", {{"name", binding.pod}}},
                       {"target", {{"kind", "Node"}, {"name", binding.node}}}}
                      .dump());
  start_bound();
  end_gangs();
}

void Pods::set_status(const std::string& pod, std::string_view uid, const Json& status) {
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.uid != uid) return;
  if (found->second.phase == "Succeeded" || found->second.phase == "Failed") return;
  if (found->second.deleting && status["phase"] != "Failed") return;
  server_.write(kKubelet, "PATCH", pod_path(pod) + "/status", Json{{"status", status}}.dump());
}

// The node shuts down, and its kubelet says so.
void Pods::kill(const std::string& pod, const std::string& uid) {
  if (!pods_.contains(pod) || pods_.at(pod).uid != uid) return;
  const Json disruption{
      {"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "TerminationByKubelet"}};
  server_.write(kKubelet, "PATCH", pod_path(pod) + "/status",
                Json{{"status", {{"phase", "Failed"}, {"conditions", {disruption}}}}}.dump());
}

void Pods::remove(const std::string& pod, const std::string& uid, bool at_once) {
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.uid != uid) return;
  Json options{{"preconditions", {{"uid", uid}}}};
  if (at_once) options["gracePeriodSeconds"] = 0;
  server_.write(kKubelet, "DELETE", pod_path(pod), options.dump());
}

// Kubelets: what is bound runs after a while; what is being deleted goes.
void Pods::start_bound() {
  for (const auto& [name, pod] : pods_) {
    std::string& planned = planned_[pod.uid];
    if (pod.deleting && planned != "gone") {
      planned = "gone";
      const auto dies = pod.ignores_term && pod.phase == "Running" ? kGrace : pause(100, 2'000);
      agenda_.in(dies, [this, name, uid = pod.uid] { remove(name, uid, true); });
    } else if (!pod.node.empty() && pod.phase == "Pending" && planned.empty()) {
      planned = "Running";
      agenda_.in(pause(200, 3'000),
                 [this, name, uid = pod.uid] { set_phase(name, "Running", uid); });
    }
  }
}

// Trainers: when all of a gang run, it goes on for a while and then ends as the script says.
void Pods::end_gangs() {
  std::map<std::string, std::vector<std::string>> running;
  std::map<std::string, std::size_t> succeeded;
  std::set<std::string> failed;
  for (const auto& [name, pod] : pods_) {
    if (pod.phase == "Running" && !pod.deleting) running[pod.gang].push_back(name);
    if (pod.phase == "Succeeded") ++succeeded[pod.gang];
    if (pod.phase == "Failed" || pod.deleting) failed.insert(pod.gang);
  }
  for (const auto& [gang, names] : running) {
    const std::size_t all = names.size() + succeeded[gang];
    const PodView& first = pods_.at(names.front());
    if (all < first.size || failed.contains(gang) || first.holds || first.reports) continue;
    std::string loser;
    for (const std::string& name : names)
      if (pods_.at(name).fails) loser = name;
    const auto length =
        std::max<std::chrono::nanoseconds>(pause(3'000, 20'000), first.not_before - agenda_.now());
    for (const std::string& name : names) {
      const PodView& pod = pods_.at(name);
      if (planned_[pod.uid] == "end" || (!loser.empty() && name != loser)) continue;
      planned_[pod.uid] = "end";
      const std::string_view phase = loser.empty() ? "Succeeded" : "Failed";
      agenda_.in(length, [this, name, phase, gang, uid = pod.uid] {
        // A rank that was lost meanwhile takes the others' success with it.
        std::size_t whole = 0;
        for (const auto& [other, view] : pods_)
          whole += view.gang == gang && view.phase != "Failed" && !view.deleting ? 1 : 0;
        const auto found = pods_.find(name);
        const bool there = found != pods_.end() && whole >= found->second.size;
        if (phase == "Failed" || there) set_phase(name, phase, uid);
      });
    }
  }
}

// The n-th one, or one that is drawn.
const std::string* Pods::pick_running(std::int64_t which) {
  std::vector<const std::string*> running;
  for (const auto& [name, pod] : pods_)
    if (pod.phase == "Running" && !pod.deleting) running.push_back(&name);
  if (running.empty() || which > std::ssize(running)) return nullptr;
  const std::size_t drawn = rng_.below(running.size());
  return running[which > 0 ? static_cast<std::size_t>(which) - 1 : drawn];
}

// A lost node takes its pods with it at once; from one that is given away they go in their time.
void Pods::take_node(const std::string& node, const Fault& fault) {
  std::vector<std::pair<std::string, std::string>> on_it;
  for (const auto& [name, pod] : pods_)
    if (pod.node == node) on_it.emplace_back(name, pod.uid);
  nodes_[node] = 0;
  for (const auto& [name, uid] : on_it) remove(name, uid, fault.kind == FaultKind::kNodeLoss);
  agenda_.at(FaultBook::end(fault), [this, node] {
    nodes_[node] = kSlotsPerNode;
    soon();
  });
}

void Pods::play(const Fault& fault) {
  if (fault.kind == FaultKind::kNodeLoss) {
    const auto drawn = static_cast<std::int64_t>(rng_.below(nodes_.size()));
    const std::int64_t which = fault.arg > 0 ? (fault.arg - 1) % kNodes : drawn;
    return take_node(std::next(nodes_.begin(), which)->first, fault);
  }
  const std::string* const victim = pick_running(fault.arg);
  if (victim == nullptr) return;
  const std::string name = *victim;
  const std::string uid = pods_.at(name).uid;
  if (fault.kind == FaultKind::kPodKill) kill(name, uid);
  if (fault.kind == FaultKind::kPodDelete) remove(name, uid, false);
  if (fault.kind == FaultKind::kPreempt) take_node(pods_.at(name).node, fault);
}

}  // namespace amdahl::simulation
